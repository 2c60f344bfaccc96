"""The protocol that every game of the table implements, and the list of all games.

A game's own file reads like its sheet. The table treats every game alike: it uses only the members of the protocol.
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
    """A game by the rules of one house. Pure: each answer is computed from all plays of the round so far."""

    @property
    def tableau(self) -> Tableau | None:
        """The rules for third cards, by which a shoe may decide too. None for a game in which people choose."""

    @property
    def naturals(self) -> tuple[int, ...]:
        """The two-card totals that end a round before any third card; empty where the game has none."""

    @property
    def squeezed(self) -> bool:
        """True where seats are handed the cards and turn them up themselves (Midi Baccarat)."""

    @property
    def deals_face_down(self) -> bool:
        """True where any card is dealt face down."""

    @property
    def roles_play(self) -> bool:
        """True where two active seats play each other. Their roles are drawn by lot at first, and then go round."""

    @property
    def on_win(self) -> WinMoves:
        """Which of the two active seats' roles move after a win. In a game without such roles the value has no
        meaning."""

    @property
    def on_tie(self) -> TieMoves:
        """Where the roles of the two active seats go after a tie. In a game without such roles the value has no
        meaning."""

    @property
    def seats_play(self) -> bool:
        """True where every seat in play has a hand of its own."""

    @property
    def house_ways(self) -> Mapping[str, str]:
        """The house's choices where the game leaves one, for players to read: by the name of the choice, what the house
        chose."""

    @property
    def drawing(self) -> Drawing:
        """The rules for third cards, as a table for players to read."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls that the dealer may have to make in a round."""

    def next_step(self, seating: Seating, plays: Sequence[Play], /) -> Draw | Choose | Reveal | Done:
        """Return the next step of the round after these plays. Raises ValueError for plays that the game does not
        allow."""

    def laid(self, seating: Seating, plays: Sequence[Play], /) -> tuple[Laid, ...]:
        """Return every hand as it lies on the layout. Raises ValueError for plays that the game does not allow."""

    def corrected(self, before: Done, hands: Mapping[str, tuple[Card, ...]], /) -> Done:
        """Return the finished round `before` with other hands: those that people read on the layout, by their names.
        Raises HandsError."""

    def seen(self, done: Done, seating: Seating, seat: int | None, printed: Printed, /) -> tuple[Finished, ...]:
        """Return the finished round as the bets of `seat` see it, once for each hand that the seat has. With None as
        `seat`, the round is seen by no seat in particular."""

    def most_cards(self, seats: int, /) -> int:
        """Return the most cards that one round can take with this number of seats in play."""


class Section(Protocol):
    """The section of a game file with the rules of one game."""

    def dealt(self, how: Literal["mini", "midi"]) -> Game | None:
        """Return the game for a table that deals in this way, or None where this game is not dealt so."""


KINDS: dict[str, type[Section]] = {
    "punto_banco": baccarat.Section,
    "baccarat_royal": BaccaratRoyal,
    "lucky9": Lucky9,
}
"""Every kind of game, by the name that a game file uses for the kind and for its section."""

GAMES: tuple[type[Game], ...] = (baccarat.PuntoBanco, BaccaratRoyal, Lucky9)
"""The types of the games. The journal names a table's game by its type."""
