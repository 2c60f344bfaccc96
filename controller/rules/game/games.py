"""The protocol that every game at a table implements, and the list of all games.

Each game's own module follows the rule sheet of that game. The table treats every game alike: it uses only the members
of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from controller.rules.game import baccarat
from controller.rules.game.baccarat import Tableau
from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.bets import Finished, Printed
from controller.rules.game.cards import Card
from controller.rules.game.drawing import Drawing
from controller.rules.game.hands import Done
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.play import Call, Choose, Draw, Laid, Play, Reveal
from controller.rules.game.seating import Seating, TieMoves, WinMoves


@runtime_checkable  # msgspec looks whether what it read is a game
class Game(Protocol):
    """A game by the rules of one house. Pure: each answer is computed from all cards and calls of the round so far."""

    @property
    def tableau(self) -> Tableau | None:
        """The rules for third cards, for a shoe that can tell by itself how a round ends. None for a game in which
        people choose."""

    @property
    def naturals(self) -> tuple[int, ...]:
        """The two-card totals that end a round before any third card. Empty if the game has no naturals."""

    @property
    def squeezed(self) -> bool:
        """True if seats are handed the cards and turn them up themselves (Midi Baccarat)."""

    @property
    def deals_face_down(self) -> bool:
        """True if the game deals any card face down."""

    @property
    def roles_play(self) -> bool:
        """True if two active seats play against each other, as Player and Banker. These roles are drawn by lot at
        first, and then move from seat to seat."""

    @property
    def on_win(self) -> WinMoves:
        """Which roles, Player's and Banker's, move to another seat after a win. The value has no meaning in a game
        whose hands are not played by seats."""

    @property
    def on_tie(self) -> TieMoves:
        """To which seats the roles of Player and Banker move after a tie. The value has no meaning in a game whose
        hands are not played by seats."""

    @property
    def seats_play(self) -> bool:
        """True if every seat in play has a hand of its own."""

    @property
    def house_ways(self) -> Mapping[str, str]:
        """The house's choices, for players to read. A game leaves some rules to the house: the keys name these rules,
        and the values are what the house has chosen."""

    @property
    def drawing(self) -> Drawing:
        """The rules for third cards, as lists of totals for players to read."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every signal that the dealer may give during a round by pressing a button."""

    def next_step(self, seating: Seating, plays: Sequence[Play], /) -> Draw | Choose | Reveal | Done:
        """Return the next step of the round after these cards and calls (`plays`). Raises ValueError for cards or calls
        that the game does not allow."""

    def laid(self, seating: Seating, plays: Sequence[Play], /) -> tuple[Laid, ...]:
        """Return every hand as it lies on the layout after these cards and calls (`plays`). Raises ValueError for cards
        or calls that the game does not allow."""

    def corrected(self, before: Done, hands: Mapping[str, tuple[Card, ...]], /) -> Done:
        """Return the finished round `before` with other cards in its hands. `hands` maps the name of each hand to the
        cards that people read on the layout. Raises HandsError if the game does not allow these hands."""

    def seen(self, done: Done, seating: Seating, seat: int | None, printed: Printed, /) -> tuple[Finished, ...]:
        """Return the finished round in the form in which the bets of `seat` are judged, once for each hand that the
        seat has. If `seat` is None, the round is judged for no seat in particular. `printed` are the King and 9 printed
        at each seat."""

    def most_cards(self, seats: int, /) -> int:
        """Return the most cards that one round can take with this number of seats in play."""


class Section(Protocol):
    """The section of a game file that holds the rules of one kind of game."""

    def dealt(self, how: Literal["mini", "midi"]) -> Game | None:
        """Return the game for a table that deals as "mini" or as "midi", or None if this game cannot be dealt in that
        way."""


KINDS: dict[str, type[Section]] = {
    "punto_banco": baccarat.Section,
    "baccarat_royal": BaccaratRoyal,
    "lucky9": Lucky9,
}
"""Every kind of game, by the name that a game file uses for the kind and for its section."""

GAMES: tuple[type[Game], ...] = (baccarat.PuntoBanco, BaccaratRoyal, Lucky9)
"""The types of the games. The journal names a table's game by its type."""
