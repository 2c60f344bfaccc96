"""The seats that play a round: the seats in play at Lucky 9, or the two active seats of Baccarat Royal and how the
roles of Player and Banker move from seat to seat."""

from __future__ import annotations

from collections.abc import Collection
from itertools import permutations
from typing import Literal

from msgspec import Struct

from controller.rules.game.hands import Outcome

TieMoves = Literal["next_seat", "free_seat", "nowhere"]
"""Where both roles go on a tie: each to the next occupied seat, each to the next seat that had no role, or nowhere."""

WinMoves = Literal["loser_to_free_seat", "loser_to_next_seat", "both"]
"""Which roles move after a win: the loser's, to the next occupied seat that had no role; the loser's, to the next
occupied seat, from where a winner moves to the loser's seat; or both, as after a tie."""


class Actives(Struct, frozen=True, forbid_unknown_fields=True):
    """The two active seats, which play Player and Banker against each other. Raises ValueError if both are the same
    seat."""

    player: int
    banker: int

    def __post_init__(self) -> None:
        if self.player == self.banker:
            raise ValueError("one seat cannot be both Player and Banker")


class Seating(Struct, frozen=True):
    """The seats that play a round: at Lucky 9 the seats in play, in order, and at Baccarat Royal the two
    active seats."""

    in_play: tuple[int, ...] = ()
    actives: Actives | None = None


NOBODY = Seating()
"""The seating of punto banco: no seat has a hand of its own."""


def drawn_actives(occupied: Collection[int], lot: int) -> Actives:
    """Return the two active seats, Player and Banker, that the number `lot` selects among the occupied seats. With n
    occupied seats, each run of n(n-1) consecutive numbers selects every ordered pair of seats once.

    Raises ValueError if fewer than two seats are occupied.
    """
    pairs = list(permutations(sorted(set(occupied)), 2))
    if not pairs:
        raise ValueError("two seats must be occupied to draw Player and Banker")
    return Actives(*pairs[lot % len(pairs)])


def next_actives(
    actives: Actives, outcome: Outcome, occupied: Collection[int], on_win: WinMoves, on_tie: TieMoves
) -> Actives:
    """Return the two seats that play Player and Banker in the next round.

    Roles move clockwise: by rising seat number, and from the highest number to the lowest. `on_win` says what happens
    after a win:

    - "loser_to_free_seat": the loser's role moves to the next occupied seat that had no role. It stays if there is no
      such seat.
    - "loser_to_next_seat": the loser's role moves to the next occupied seat. If the winner sits at that seat, the
      winner moves to the loser's seat and keeps the winner's role.
    - "both": the two roles move as after a tie.

    `on_tie` says what happens after a tie:

    - "next_seat": each role moves to the next occupied seat, even to the seat that the other role is leaving. Example:
      seats 4, 5 and 6 are occupied; Player 4 and Banker 5 become Player 5 and Banker 6. If a player left during the
      round, both roles can come to the same seat: then Player takes that seat, and Banker the seat after it.
    - "free_seat": each role moves to the next seat that had no role. If both would take the same seat, the role that is
      nearer to that seat takes it.
    - "nowhere": both roles stay.
    """
    free = set(occupied) - {actives.player, actives.banker}
    if outcome is not Outcome.TIE and on_win != "both":
        loser, winner = actives.player, actives.banker
        if outcome is Outcome.PLAYER:
            loser, winner = winner, loser
        to = _next_seat(loser, free if on_win == "loser_to_free_seat" else set(occupied) - {loser})
        kept = loser if to == winner else winner
        return Actives(kept, to) if outcome is Outcome.PLAYER else Actives(to, kept)
    if on_tie == "nowhere":
        return actives
    if on_tie == "next_seat":
        player = _next_seat(actives.player, set(occupied) - {actives.player})
        return Actives(player, _next_seat(actives.banker, set(occupied) - {actives.banker, player}))
    # The nearer role moves first. Both come to the same seat only where no free seat lies between them.
    if _next_seat(actives.player, free | {actives.banker}) == actives.banker:
        banker = _next_seat(actives.banker, free)
        return Actives(_next_seat(actives.player, free - {banker}), banker)
    player = _next_seat(actives.player, free)
    return Actives(player, _next_seat(actives.banker, free - {player}))


def _next_seat(seat: int, free: Collection[int]) -> int:
    """Return the first of the `free` seats clockwise from `seat`, or `seat` itself if no seat is free."""
    return min(free, key=lambda other: (other < seat, other), default=seat)
