"""The games a table can run: the one protocol that each keeps, and the only place that lists them.

A game's own file reads like its sheet. To the table every game is the same: it asks what the protocol says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from controller.game.baccarat import PuntoBanco, Tableau
from controller.game.baccarat_royal import BaccaratRoyal
from controller.game.bets import Bet, Finished
from controller.game.cards import Card
from controller.game.hands import Done, SeatHands
from controller.game.lucky9 import Lucky9, hand_verdict
from controller.game.play import Call, Choose, Draw, Laid, Play, Result, Reveal
from controller.game.seating import Seating
from controller.game.settlement import Rounding, Settlement, settle_baccarat_royal, settle_lucky9, settle_punto_banco
from controller.game.wagers import Wager


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


GAMES: tuple[type[Game], ...] = (PuntoBanco, BaccaratRoyal, Lucky9)
"""Every game. The journal keeps a table's game by the name of its type."""


def settle(
    game: Game,
    bets: Sequence[Bet],
    rounding: Rounding,
    seating: Seating,
    seen_at: Callable[[int], Finished],
    wagers: Sequence[Wager],
    done: Done,
) -> Settlement:
    """A finished hand, settled. `seen_at`: two finished hands as they are seen from a seat."""
    if isinstance(game, Lucky9):
        assert isinstance(done, SeatHands)
        return settle_lucky9(game, bets, rounding, wagers, done)
    if isinstance(game, BaccaratRoyal):
        assert seating.actives is not None, "wagers are not locked without them"
        return settle_baccarat_royal(bets, rounding, seating.actives, seen_at, wagers)
    return settle_punto_banco(bets, rounding, seen_at, wagers)


def hand_results(game: Game, done: SeatHands) -> list[Result]:
    """What becomes of a wager on each seat's hand."""
    assert isinstance(game, Lucky9), "the other games have no such hands"
    return [hand_verdict(game, hand, done.dealer).result for hand in done.hands]
