"""The games a table can run, behind one pair of functions: what follows in a hand, and how it lies.

A game's own file reads like its sheet; this one only picks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from controller.game import baccarat, baccarat_royal, lucky9
from controller.game.baccarat import PuntoBanco
from controller.game.baccarat_royal import Actives, BaccaratRoyal
from controller.game.cards import Card
from controller.game.lucky9 import Lucky9
from controller.game.play import Choose, Draw, Laid, Play, Reveal

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


def naturals(game: Game) -> tuple[int, ...]:
    """The two-card totals that end a hand at once; none where the game knows none."""
    return () if isinstance(game, Lucky9) else game.tableau.natural if isinstance(game, PuntoBanco) else game.natural
