"""Who plays a hand: the seats in play, or the two active seats that play each other and how their roles go round."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import permutations

from controller.game.hands import Outcome


@dataclass(frozen=True, slots=True)
class Actives:
    """The seats that play each other. Raises ValueError where they are one seat."""

    player: int
    banker: int

    def __post_init__(self) -> None:
        if self.player == self.banker:
            raise ValueError("one seat cannot be both Player and Banker")


@dataclass(frozen=True, slots=True)
class Seating:
    """Who plays the hand: Lucky 9's seats in play, in order; Baccarat Royal's two active seats."""

    in_play: tuple[int, ...] = ()
    actives: Actives | None = None


NOBODY = Seating()
"""Punto banco's: no seat has a hand of its own."""


def drawn_actives(occupied: Collection[int], lot: int) -> Actives:
    """The lot's ordered pair of n occupied seats: every n(n-1) lots in a row name each pair once.

    Raises ValueError with fewer than two seats.
    """
    pairs = list(permutations(sorted(set(occupied)), 2))
    if not pairs:
        raise ValueError("two seats must be occupied to draw Player and Banker")
    return Actives(*pairs[lot % len(pairs)])


def next_actives(actives: Actives, outcome: Outcome, occupied: Collection[int]) -> Actives:
    """Who plays the next round: the loser's position moves on clockwise, on a tie both.

    Clockwise is by ascending seat number, and after the highest the lowest. A position moves to the next occupied
    seat that held neither, and stays where there is none. On a tie both look at the seats as they were; where both
    would move to the same one, the nearer has it and the other takes the one after.
    """
    free = set(occupied) - {actives.player, actives.banker}
    if outcome is Outcome.PLAYER:
        return replace(actives, banker=_next_seat(actives.banker, free))
    if outcome is Outcome.BANKER:
        return replace(actives, player=_next_seat(actives.player, free))
    # The nearer moves first. Both aim at one seat only where none is free between them.
    if _next_seat(actives.player, free | {actives.banker}) == actives.banker:
        banker = _next_seat(actives.banker, free)
        return Actives(_next_seat(actives.player, free - {banker}), banker)
    player = _next_seat(actives.player, free)
    return Actives(player, _next_seat(actives.banker, free - {player}))


def _next_seat(seat: int, free: Collection[int]) -> int:
    """The first of these seats clockwise from `seat`, or `seat` itself where there is none."""
    return min(free, key=lambda other: (other < seat, other), default=seat)
