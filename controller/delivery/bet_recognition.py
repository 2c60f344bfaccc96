"""What a bet-recognition system says of a seat's chips, as JSON, on the table's `wager` topic."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.bounds import MOST_WAGER_CENTS, NAME, is_count
from controller.game.wagers import Wager

BET_RECOGNITION = "bet recognition"
"""Who saw a wager that came over the network."""


def wager_from_json(value: Mapping[str, object]) -> Wager | None:
    """`{"seat": 3, "back": false, "spot": "tie", "cents": 500}` as a wager, `back` being false when left out; None when
    it is none. Whether the game has such a spot is for the table to say. 0 cents: the chips were taken away."""
    match value:
        case {"seat": int(seat), "spot": str(spot), "cents": int(cents), **rest} if (
            rest.keys() <= {"back"}
            and isinstance(back := rest.get("back", False), bool)
            and is_count(seat, 1, 99)
            and is_count(cents, 0, MOST_WAGER_CENTS)
            and NAME.fullmatch(spot)
        ):
            return Wager(seat, spot, cents, back)
        case _:
            return None


def wager_to_json(wager: Wager) -> dict[str, object]:
    """The wager as JSON values, as it came."""
    return {"seat": wager.seat, "back": wager.back, "spot": wager.spot, "cents": wager.cents}
