"""What a bet-recognition system says of a seat's chips on the table's `wager` topic, and the table's refusal."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.bounds import MOST_SEAT, MOST_WAGER_CENTS, NAME, is_count
from controller.contract.canonical import canonical
from controller.game.wagers import Wager

BET_RECOGNITION = "bet recognition"
"""The name under which a wager that came over the network is journalled."""


def wager_from_json(value: Mapping[str, object]) -> Wager | None:
    """The wager of a message such as `{"seat": 3, "back": false, "spot": "tie", "cents": 500}`; None for any other.

    Without `back` the wager is the seated player's. 0 cents: the chips were taken away. The table judges later whether
    the game has such a spot.
    """
    match value:
        case {"seat": int(seat), "spot": str(spot), "cents": int(cents), **rest} if (
            rest.keys() <= {"back"}
            and isinstance(back := rest.get("back", False), bool)
            and is_count(seat, 1, MOST_SEAT)
            and is_count(cents, 0, MOST_WAGER_CENTS)
            and NAME.fullmatch(spot)
        ):
            return Wager(seat, spot, cents, back)
        case _:
            return None


def wager_to_json(wager: Wager) -> dict[str, object]:
    """The wager as JSON values, as it came."""
    return {"seat": wager.seat, "back": wager.back, "spot": wager.spot, "cents": wager.cents}


def refused_wager(wager: Wager, code: str) -> bytes:
    """The table's answer to a wager that the rules refuse with this code."""
    return canonical(wager_to_json(wager) | {"code": code})
