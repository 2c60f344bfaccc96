"""The games a table can run, and whatever differs between them: the only place that asks which game is played.

A game's own file reads like its sheet; this one only picks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from controller.game import baccarat, baccarat_royal, lucky9
from controller.game.baccarat import PuntoBanco, Tableau
from controller.game.baccarat_royal import Actives, BaccaratRoyal
from controller.game.bets import Bet, Finished
from controller.game.cards import Card
from controller.game.lucky9 import Lucky9
from controller.game.play import Choose, Draw, Laid, Play, Result, Reveal
from controller.game.settlement import Rounding, Settlement, settle_baccarat_royal, settle_lucky9, settle_punto_banco
from controller.game.wagers import Wager

Game = PuntoBanco | BaccaratRoyal | Lucky9
Done = baccarat.Done | lucky9.Done


@dataclass(frozen=True, slots=True)
class Seating:
    """Who plays the hand: Lucky 9's seats in play, in order; Baccarat Royal's two active seats."""

    in_play: tuple[int, ...] = ()
    actives: Actives | None = None


NOBODY = Seating()
"""Punto banco's: no seat has a hand of its own."""


def next_step(game: Game, seating: Seating, plays: Sequence[Play]) -> Draw | Choose | Reveal | Done:
    """What follows the hand's plays so far. Raises ValueError when they are none the game allows."""
    match game:
        case PuntoBanco():
            return baccarat.next_play(game, plays)
        case BaccaratRoyal():
            assert seating.actives is not None, "wagers are not locked without them"
            return baccarat_royal.next_step(game, seating.actives, plays)
        case Lucky9():
            return lucky9.next_step(game, seating.in_play, plays)
        case never:
            assert_never(never)


def laid(game: Game, seating: Seating, plays: Sequence[Play]) -> tuple[Laid, ...]:
    """Every hand as it lies on the layout."""
    match game:
        case PuntoBanco():
            return baccarat.laid(game, plays)
        case BaccaratRoyal():
            assert seating.actives is not None, "wagers are not locked without them"
            return baccarat_royal.laid(game, seating.actives, plays)
        case Lucky9():
            return lucky9.laid(game, seating.in_play, plays)
        case never:
            assert_never(never)


def cards(done: Done) -> tuple[Card, ...]:
    """Every card of a finished hand."""
    match done:
        case baccarat.Done(player, banker):
            return *player, *banker
        case lucky9.Done(dealer, hands):
            return *(card for hand in hands for card in hand.cards), *dealer
        case never:
            assert_never(never)


def seating(game: Game, in_play: tuple[int, ...], actives: Actives | None) -> Seating:
    """Who plays a hand for which wagers are locked so."""
    return Seating(in_play, actives if roles_play(game) else None)


def roles_play(game: Game) -> bool:
    """Whether two active seats play each other, each in a role that is drawn and goes round."""
    return isinstance(game, BaccaratRoyal)


def seats_play(game: Game) -> bool:
    """Whether every seat in play has a hand of its own."""
    return isinstance(game, Lucky9)


def tableau(game: Game) -> Tableau | None:
    """The rules of drawing that a shoe may judge by too; None where people choose."""
    return game.tableau if isinstance(game, PuntoBanco) else None


def is_squeezed(game: Game) -> bool:
    """Whether seats are handed the cards, to turn them up themselves (Midi Baccarat)."""
    return isinstance(game, PuntoBanco) and game.reveal != "dealt"


def deals_face_down(game: Game) -> bool:
    """Whether any card is dealt face down."""
    return is_squeezed(game) or not isinstance(game, PuntoBanco)


def naturals(game: Game) -> tuple[int, ...]:
    """The two-card totals that end a hand at once; none where the game knows none."""
    return () if isinstance(game, Lucky9) else game.tableau.natural if isinstance(game, PuntoBanco) else game.natural


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
        assert isinstance(done, lucky9.Done)
        return settle_lucky9(game, bets, rounding, wagers, done)
    if isinstance(game, BaccaratRoyal):
        assert seating.actives is not None, "wagers are not locked without them"
        return settle_baccarat_royal(bets, rounding, seating.actives, seen_at, wagers)
    return settle_punto_banco(bets, rounding, seen_at, wagers)


def hand_results(game: Game, done: lucky9.Done) -> list[Result]:
    """What becomes of a wager on each seat's hand."""
    assert isinstance(game, Lucky9), "the other games have no such hands"
    return [lucky9.hand_verdict(game, hand, done.dealer).result for hand in done.hands]


def seats_as_they_lie(
    game: Game, told: Done, hands: Mapping[int, Sequence[tuple[Card, ...]]], dealer: tuple[Card, ...]
) -> lucky9.Done:
    """A finished round with the hands that people say it had. Raises ValueError where the game lets none lie so."""
    assert isinstance(game, Lucky9), "the other games have no such hands"
    assert isinstance(told, lucky9.Done)
    return lucky9.as_they_lie(game, told, hands, dealer)
