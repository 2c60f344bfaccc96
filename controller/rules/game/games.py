"""The games that a table can run: the protocol that each game keeps, and the only list of games.

A game's own file reads like its sheet. The table treats every game alike: it asks only what the protocol says.
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
    """A game by the rules of a house. Pure: each answer is computed from all plays of the round so far."""

    @property
    def tableau(self) -> Tableau | None:
        """The rules of drawing, by which a shoe may judge too; None where people choose."""

    @property
    def naturals(self) -> tuple[int, ...]:
        """The two-card totals that end a round at once; empty where the game has none."""

    @property
    def squeezed(self) -> bool:
        """Whether seats get the cards to turn them up themselves (Midi Baccarat)."""

    @property
    def deals_face_down(self) -> bool:
        """Whether any card is dealt face down."""

    @property
    def roles_play(self) -> bool:
        """Whether two active seats play each other. Their roles are drawn by lot at first, and then go round."""

    @property
    def on_win(self) -> WinMoves:
        """Which of the two active seats' roles move after a win. Without such roles the answer has no meaning."""

    @property
    def on_tie(self) -> TieMoves:
        """Where the roles of the two active seats go after a tie. Without such roles the answer has no meaning."""

    @property
    def seats_play(self) -> bool:
        """Whether every seat in play has a hand of its own."""

    @property
    def house_ways(self) -> Mapping[str, str]:
        """The house's own ways to play the game, as players are told: by the name of a way, the way itself."""

    @property
    def drawing(self) -> Drawing:
        """Who draws a third card, as players are told."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """What the dealer may have to call in a round."""

    def next_step(self, seating: Seating, plays: Sequence[Play], /) -> Draw | Choose | Reveal | Done:
        """What follows the plays so far. Raises ValueError for plays that the game does not allow."""

    def laid(self, seating: Seating, plays: Sequence[Play], /) -> tuple[Laid, ...]:
        """Every hand as it lies on the layout. Raises ValueError as `next_step` does."""

    def corrected(self, before: Done, hands: Mapping[str, tuple[Card, ...]], /) -> Done:
        """The finished round `before`, but with the hands that people read, by their names. Raises HandsError."""

    def seen(self, done: Done, seating: Seating, seat: int | None, printed: Printed, /) -> tuple[Finished, ...]:
        """The finished round as this seat's bets see it, once for each hand that the seat has. None: no seat's bets."""

    def most_cards(self, seats: int, /) -> int:
        """The most cards that one round can take with this number of seats in play."""


class Section(Protocol):
    """The section of a game file that says how a game is dealt."""

    def dealt(self, how: Literal["mini", "midi"]) -> Game | None:
        """The game as a table deals it; None for a way in which this game is not dealt."""


KINDS: dict[str, type[Section]] = {
    "punto_banco": baccarat.Section,
    "baccarat_royal": BaccaratRoyal,
    "lucky9": Lucky9,
}
"""Every kind of game, by the name that a game file uses for the kind and for its section."""

GAMES: tuple[type[Game], ...] = (baccarat.PuntoBanco, BaccaratRoyal, Lucky9)
"""The types of the games. The journal names a table's game by its type."""
