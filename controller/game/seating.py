"""Who plays a hand: the seats in play, or the two active seats that play each other and how their roles go round."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal

from controller.game.hands import Outcome

TieMoves = Literal["next_seat", "free_seat"]
"""Where both roles go on a tie: each to the next occupied seat, or to the next that had no role."""


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


def next_actives(actives: Actives, outcome: Outcome, occupied: Collection[int], on_tie: TieMoves) -> Actives:
    """Who plays the next round: the loser's position moves on clockwise, on a tie both.

    Clockwise is by ascending seat number, and after the highest the lowest. The loser's position moves to the next
    occupied seat that held neither, and stays where there is none. On a tie both move at once. By "next_seat" each
    goes to the next occupied seat, also to the one that the other is just leaving: Player 4 and Banker 5 of the seats
    4, 5 and 6 become Player 5 and Banker 6. Where a player has left his chair inside the round both can come to one
    seat; Player has it, and Banker takes the one after. By "free_seat" each goes to the next seat that held neither;
    where both would go to the same one, the nearer has it.
    """
    free = set(occupied) - {actives.player, actives.banker}
    if outcome is Outcome.PLAYER:
        return replace(actives, banker=_next_seat(actives.banker, free))
    if outcome is Outcome.BANKER:
        return replace(actives, player=_next_seat(actives.player, free))
    if on_tie == "next_seat":
        player = _next_seat(actives.player, set(occupied) - {actives.player})
        return Actives(player, _next_seat(actives.banker, set(occupied) - {actives.banker, player}))
    # The nearer moves first. Both aim at one seat only where none is free between them.
    if _next_seat(actives.player, free | {actives.banker}) == actives.banker:
        banker = _next_seat(actives.banker, free)
        return Actives(_next_seat(actives.player, free - {banker}), banker)
    player = _next_seat(actives.player, free)
    return Actives(player, _next_seat(actives.banker, free - {player}))


def _next_seat(seat: int, free: Collection[int]) -> int:
    """The first of these seats clockwise from `seat`, or `seat` itself where there is none."""
    return min(free, key=lambda other: (other < seat, other), default=seat)
