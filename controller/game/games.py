"""The games a table can run: the one protocol that each keeps, and the only place that lists them.

A game's own file reads like its sheet. To the table every game is the same: it asks what the protocol says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from controller.game import baccarat
from controller.game.baccarat import Tableau
from controller.game.baccarat_royal import BaccaratRoyal
from controller.game.bets import Finished, Printed
from controller.game.cards import Card
from controller.game.hands import Done, Shape
from controller.game.lucky9 import Lucky9
from controller.game.play import Call, Choose, Draw, Laid, Play, Reveal
from controller.game.seating import Seating, TieMoves


class Game(Protocol):
    """A game by the rules of a house. Pure: a hand is the plays so far, and everything is recomputed from them."""

    @property
    def tableau(self) -> Tableau | None:
        """The rules of drawing that a shoe may judge by too; None where people choose."""

    @property
    def naturals(self) -> tuple[int, ...]:
        """The two-card totals that end a hand at once; none where the game knows none."""

    @property
    def squeezed(self) -> bool:
        """Whether seats are handed the cards, to turn them up themselves (Midi Baccarat)."""

    @property
    def deals_face_down(self) -> bool:
        """Whether any card is dealt face down."""

    @property
    def roles_play(self) -> bool:
        """Whether two active seats play each other, each in a role that is drawn and goes round."""

    @property
    def on_tie(self) -> TieMoves:
        """Where the roles of two active seats go after a tie; of no meaning where no roles are played."""

    @property
    def seats_play(self) -> bool:
        """Whether every seat in play has a hand of its own."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """What the dealer has to call in the course of a hand."""

    def next_step(self, seating: Seating, plays: Sequence[Play], /) -> Draw | Choose | Reveal | Done:
        """What follows the hand's plays so far. Raises ValueError when they are none the game allows."""

    def laid(self, seating: Seating, plays: Sequence[Play], /) -> tuple[Laid, ...]:
        """Every hand as it lies on the layout. Raises ValueError as `next_step` does."""

    def corrected(self, told: Done, hands: Mapping[str, tuple[Card, ...]], /) -> Done:
        """The round that was `told`, with the hands that people read, by their names. Raises HandsError."""

    def seen(self, done: Done, seating: Seating, seat: int | None, printed: Printed, /) -> tuple[Finished, ...]:
        """The finished hand as the bets of this seat see it (None: of none), once for each hand that it has."""

    def most_cards(self, seats: int, /) -> int:
        """The most cards that one hand can take with so many seats in play."""

    def shapes(self) -> Sequence[tuple[Shape, Shape]]:
        """The two hands that may lie beside each other at the end, each as the rules of drawing see it."""


class Section(Protocol):
    """The section of a game file that says how a game is dealt."""

    def dealt(self, how: Literal["mini", "midi"]) -> Game | None:
        """The game as a table deals it; None where it is not dealt so."""


KINDS: dict[str, type[Section]] = {
    "punto_banco": baccarat.Section,
    "baccarat_royal": BaccaratRoyal,
    "lucky9": Lucky9,
}
"""Every kind of game, by the name that a game file has for the kind and for its section."""

GAMES: tuple[type[Game], ...] = (baccarat.PuntoBanco, BaccaratRoyal, Lucky9)
"""The types of the games: the journal keeps a table's game by the name of its type."""
