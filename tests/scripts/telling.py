"""What a script gave, as lines a dealer can read: each event's essential fields, and what went wrong."""

from __future__ import annotations

import json
from typing import Any

from controller.script import Told
from tests.support.contract import check_event


def line(outcome: bytes | Told) -> str:
    """The line for one outcome of a script: an event's bytes, which must keep the contract, or a refusal or fault."""
    if isinstance(outcome, Told):
        assert outcome.what
        assert outcome.do
        return f"line {outcome.line}, {outcome.token}: {outcome.code}"
    event = check_event(outcome, signed=False)
    return _LINES[event["type"]](event)


def _shoe_opened(event: dict[str, Any]) -> str:
    return f"shoe {event['shoe']} opened by {event['by']}"


def _wagers_locked(event: dict[str, Any]) -> str:
    wagers = f"royal 9 at {_seats(event['royal9_seats'])} for {event['royal9_price_cents']}"
    refused = f", refused at {_seats(event['refused_seats'])}: {event['refusal']}" if event["refused_seats"] else ""
    return f"wagers locked for round {event['round']} by {event['by']}: {wagers}{refused}"


def _round(event: dict[str, Any]) -> str:
    outcome = "tie" if event["outcome"] == "tie" else f"{event['outcome']} by {event['margin']}"
    marks = [mark for mark in ("natural", "simulated", "last_hand") if event[mark]]
    pairs = [f"{hand}_pair" for hand in ("player", "banker") if event["pairs"][hand]]
    dragon = event["dragon_bonus"]
    bonus = [f"dragon_{hand} {dragon[hand]}" for hand in ("player", "banker") if dragon[hand] != "lose"]
    pays = [f"pays {dragon['pays_to_one']}"] if dragon["pays_to_one"] else []
    won = [f"seat {won['seat']} {won['tier']}" for won in event["royal9"]]
    wagered = [f"royal 9 at {_seats(event['royal9_seats'])}"] if event["royal9_seats"] else []
    said = ", ".join([outcome, *marks, *pairs, *bonus, *pays, *wagered, *won, f"{event['cards_left']} left"])
    return f"round {event['round']}: player {_hand(event['player'])}, banker {_hand(event['banker'])}: {said}"


def _hit(event: dict[str, Any]) -> str:
    award = f"meter {event['progressive']['meter']}" if event["progressive"] else f"{event['fixed']['cents']} cents"
    assert event["player"]["cards"]
    assert event["banker"]["cards"]
    return f"HIT in round {event['round']}: seat {event['seat']}, {event['tier']}, {award}"


def _void(event: dict[str, Any]) -> str:
    whose = "simulated" if event["simulated"] else f"royal 9 back to {_seats(event['royal9_seats'])}"
    return f"round {event['round']} void by {event['by']}: {event['reason']}, {whose}"


def _shoe_closed(event: dict[str, Any]) -> str:
    hands = f"{event['rounds']} rounds, {event['wagered_hands']} wagered, {event['cards_left']} left"
    return f"shoe {event['shoe']} closed by {event['by']}: {event['reason']}, {hands}"


def _fault(event: dict[str, Any]) -> str:
    return f"FAULT {event['code']}{_details(event)}; exits {' '.join(event['exits']) or 'none'}"


def _fault_cleared(event: dict[str, Any]) -> str:
    return f"fault {event['code']} left by {event['by']}: {event['exit']}"


def _alarm(event: dict[str, Any]) -> str:
    return f"ALARM {event['code']}{_details(event)}"


_LINES = {
    "shoe_opened": _shoe_opened,
    "wagers_locked": _wagers_locked,
    "round": _round,
    "hit": _hit,
    "void": _void,
    "shoe_closed": _shoe_closed,
    "fault": _fault,
    "fault_cleared": _fault_cleared,
    "alarm": _alarm,
}


def _hand(hand: dict[str, Any]) -> str:
    return f"{' '.join(hand['cards'])} = {hand['total']}"


def _seats(seats: list[int]) -> str:
    return " ".join(map(str, seats)) if seats else "no seat"


def _details(event: dict[str, Any]) -> str:
    return f" {json.dumps(event['details'], sort_keys=True)}" if event["details"] else ""
