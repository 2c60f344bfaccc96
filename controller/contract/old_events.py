"""Translates events of earlier contract versions into the field names and words of the present version.

A journal or a ledger keeps an event as it was signed at the time. So every program passes an event through `as_now`
before use. Until version 2 the only progressive bet was Royal 9, and fields were named after that bet. Version 4 added
fields, and writes "round" where earlier versions wrote "hand". `as_now` adds the missing fields to an older event, with
the values in `NEW_IN_4`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NAMED_SPOTS_SINCE = 3

NEW_IN_4: dict[str, dict[str, Any]] = {
    "wagers_locked": {"told": None},
    "round": {"not_read": []},
    "hit": {"not_read": [], "doubts": []},
    "void": {"witness": None, "hands": [], "held": [], "awards": [], "would_settle": None},
}
"""By an event's type, the fields that contract 4 added, and what an event of an earlier contract says by not having
them."""

_SPOT = "royal9"
_CODES = {"royal9_wagers_differ": "wagers_differ"}


def as_now(event: Mapping[str, Any], meters: Sequence[str] = ()) -> dict[str, Any]:
    """Return the event with the field names and words of the present contract version. An event of the present version
    stays as it is. A message that is no event of the contract raises no error.

    `meters` are the names of the progressive meters to which wagers added money. They are needed because the oldest
    events do not name them. A table passes the meters of its bet, and the pit passes all meters.
    """
    contract = event.get("contract")
    named_spots = type(contract) is int and contract >= _NAMED_SPOTS_SINCE
    now = _of_rounds(dict(event) if named_spots else _with_named_spots(event, meters))
    return NEW_IN_4.get(str(now.get("type")), {}) | now


_ROUNDS = {"last_hand": "final_round", "wagered_hands": "wagered_rounds"}
"""By its name until version 3, the name of a field that counts or marks rounds."""


def _of_rounds(event: dict[str, Any]) -> dict[str, Any]:
    """Return the event with the word "round" in place of "hand", which contract versions before 4 wrote in the events
    `round` and `shoe_closed`."""
    if event.get("type") not in ("round", "shoe_closed"):
        return event
    now = {_ROUNDS.get(name, name): value for name, value in event.items()}
    return now | {"reason": "final_round"} if now.get("reason") == "last_hand" else now


def _with_named_spots(event: Mapping[str, Any], meters: Sequence[str]) -> dict[str, Any]:
    now = dict(event)
    match now.get("type"):
        case "wagers_locked":
            old = ("royal9_seats", "royal9_price_cents", "refused_seats", "refusal")
            seats, price_cents, refused_seats, refusal = (now.pop(name, None) for name in old)
            locked = {"price_cents": price_cents, "meters": [*meters], "seats": seats}
            locked |= {"refused_seats": refused_seats, "refusal": refusal}
            has_bet = price_cents is not None or seats
            now["progressive"] = [{"spot": _SPOT, **locked}] if has_bet else []
        case "round" if "royal9_seats" in now:
            now["progressive"] = _on(now.pop("royal9_seats"))
            now["awards"] = _awards(now.pop("royal9", None))
        case "correction" if "royal9" in now:
            now["awards"] = _awards(now.pop("royal9"))
            now["awards_before"] = _awards(now.pop("royal9_before", None))
        case "void":
            now["progressive"] = _on(now.pop("royal9_seats", None))
            now["reason"] = _CODES.get(str(now.get("reason")), now.get("reason"))
        case "hit":
            now["spot"] = _SPOT
            if isinstance(now.get("progressive"), dict):
                now["progressive"] = now["progressive"] | {"share": "1:1"}
        case "award":
            now["spot"] = _SPOT
        case "fault" | "fault_cleared" if (code := _CODES.get(str(now.get("code")))) is not None:
            now["code"] = code
            if isinstance(now.get("details"), dict):
                now["details"] = now["details"] | {"spot": _SPOT}
    return now


def _on(seats: Any) -> Any:
    return [{"spot": _SPOT, "seats": seats}] if seats else []


def _awards(won: Any) -> Any:
    return (
        [{"spot": _SPOT, **each} if isinstance(each, dict) else each for each in won] if isinstance(won, list) else won
    )
