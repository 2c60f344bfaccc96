"""Writes the outcomes of a script (a table played from text) as lines for a dealer to read: the essential fields of
each event, and each refusal or fault."""

from __future__ import annotations

import json
from typing import Any

from controller.daemon.script import Complaint
from tests.support.contract import check_event


def line(outcome: bytes | Complaint) -> str:
    """Return the line of text for one outcome of a script (a table played from text). An outcome is either the bytes of
    an event, which are checked against the contract, or a complaint (a refusal or a fault)."""
    if isinstance(outcome, Complaint):
        assert outcome.what
        assert outcome.do
        return f"line {outcome.line}, {outcome.token}: {outcome.code}"
    event = check_event(outcome, signed=False)
    return _LINES[event["type"]](event)


def _shoe_opened(event: dict[str, Any]) -> str:
    return f"shoe {event['shoe']} opened by {event['by']}"


def _wagers_locked(event: dict[str, Any]) -> str:
    actives = event["actives"]
    told = [
        *(line for bet in event["progressive"] for line in _progressive(bet)),
        *([f"seat {actives['player']} is player, seat {actives['banker']} banker"] if actives else []),
        *([f"in play {_seats(event['in_play'])}"] if event["in_play"] else []),
        *map(_wager, event["wagers"]),
        *(f"{_wager(refused)} refused: {refused['code']}" for refused in event["refused"]),
    ]
    return f"wagers locked for round {event['round']} by {event['by']}: {', '.join(told) or 'none known'}"


def _progressive(bet: dict[str, Any]) -> list[str]:
    refused = [f"refused at {_seats(bet['refused_seats'])}: {bet['refusal']}"] if bet["refused_seats"] else []
    return [f"{_on(bet)} for {bet['price_cents']}", *refused]


def _on(bet: dict[str, Any]) -> str:
    return f"{bet['spot']} at {_seats(bet['seats'])}"


def _round(event: dict[str, Any]) -> str:
    return _seats_round(event) if "dealer" in event else _two_hands_round(event)


def _seats_round(event: dict[str, Any]) -> str:
    hands = [f"seat {hand['seat']} hand {hand['hand']} {_hand(hand)} {hand['result']}" for hand in event["hands"]]
    marks = [mark for mark in ("simulated", "final_round") if event[mark]]
    said = ", ".join([*hands, *marks, *_settled(event["settlement"]), f"{event['cards_left']} left"])
    return f"round {event['round']}: dealer {_hand(event['dealer'])}: {said}{_typed(event)}"


def _two_hands_round(event: dict[str, Any]) -> str:
    outcome = "tie" if event["outcome"] == "tie" else f"{event['outcome']} by {event['margin']}"
    marks = [mark for mark in ("natural", "simulated", "final_round") if event[mark]]
    pairs = [f"{hand}_pair" for hand in ("player", "banker") if event["pairs"][hand]]
    dragon = event["dragon_bonus"]
    bonus = [f"dragon_{hand} {dragon[hand]}" for hand in ("player", "banker") if dragon and dragon[hand] != "lose"]
    pays = [f"pays {dragon['pays_to_one']}"] if dragon and dragon["pays_to_one"] else []
    won = [f"seat {won['seat']} {won['tier']}" for won in event["awards"]]
    wagered = [_on(bet) for bet in event["progressive"]]
    settled = _settled(event["settlement"])
    said = ", ".join([outcome, *marks, *pairs, *bonus, *pays, *wagered, *won, *settled, f"{event['cards_left']} left"])
    hands = f"player {_hand(event['player'])}, banker {_hand(event['banker'])}"
    return f"round {event['round']}: {hands}: {said}{_typed(event)}"


def _hit(event: dict[str, Any]) -> str:
    award = f"meter {event['progressive']['meter']}" if event["progressive"] else f"{event['fixed']['cents']} cents"
    assert event["player"]["cards"]
    assert event["banker"]["cards"]
    return f"HIT in round {event['round']}: seat {event['seat']}, {event['tier']}, {award}{_typed(event)}"


def _correction(event: dict[str, Any]) -> str:
    by = f"round {event['round']} corrected by {event['by']} and {event['witness']}"
    if "dealer" in event:
        hands = [f"seat {hand['seat']} hand {hand['hand']} {_hand(hand)} {hand['result']}" for hand in event["hands"]]
        return f"{by}: dealer {_hand(event['dealer'])}: {', '.join(hands)}"
    return f"{by}: player {_hand(event['player'])}, banker {_hand(event['banker'])}: {event['outcome']}"


def _void(event: dict[str, Any]) -> str:
    back = [f"{bet['spot']} back to {_seats(bet['seats'])}" for bet in event["progressive"]]
    seen = [f"{hand['hand']} {' '.join(hand['cards'])}" for hand in event["hands"] if hand["cards"]]
    held = [f"held {' '.join(event['held'])}"] if event["held"] else []
    won = [f"seat {won['seat']} had {won['tier']}" for won in event["awards"]]
    marks = ["simulated"] if event["simulated"] else back
    said = ", ".join([event["reason"], *marks, *seen, *held, *won, *_settled(event["settlement"])])
    return f"round {event['round']} void by {_people(event)}: {said}"


def _odd_card(event: dict[str, Any]) -> str:
    return f"odd cards {event['cards']}: {event['fate']} by {_people(event)}"


def _people(event: dict[str, Any]) -> str:
    return f"{event['by']} and {event['witness']}" if event["witness"] else str(event["by"])


def _typed(event: dict[str, Any]) -> str:
    return "".join(f", card {each['drawn']} {each['card']} typed by {_people(each)}" for each in event["not_read"])


def _commission(event: dict[str, Any]) -> str:
    return f"seat {event['seat']} paid {event['cents']} of commission, by {event['by']}"


def _shoe_closed(event: dict[str, Any]) -> str:
    hands = f"{event['rounds']} rounds, {event['wagered_rounds']} wagered, {event['cards_left']} left"
    owed = "".join(f", seat {owes['seat']} owes {owes['cents']}" for owes in event["commission_owed"])
    return f"shoe {event['shoe']} closed by {event['by']}: {event['reason']}, {hands}{owed}"


def _fault(event: dict[str, Any]) -> str:
    return f"FAULT {event['code']}{_details(event)}; exits {' '.join(event['exits']) or 'none'}"


def _fault_cleared(event: dict[str, Any]) -> str:
    unheard = f", {event['cards_unheard']} cards unheard" if "cards_unheard" in event else ""
    return f"fault {event['code']} left by {event['by']}: {event['exit']}{unheard}"


def _alarm(event: dict[str, Any]) -> str:
    return f"ALARM {event['code']}{_details(event)}"


_LINES = {
    "shoe_opened": _shoe_opened,
    "wagers_locked": _wagers_locked,
    "round": _round,
    "hit": _hit,
    "correction": _correction,
    "void": _void,
    "odd_card": _odd_card,
    "commission": _commission,
    "shoe_closed": _shoe_closed,
    "fault": _fault,
    "fault_cleared": _fault_cleared,
    "alarm": _alarm,
}


def _hand(hand: dict[str, Any]) -> str:
    return f"{' '.join(hand['cards'])} = {hand['total']}"


def _wager(wager: dict[str, Any]) -> str:
    return f"seat {wager['seat']}{'b' if wager['back'] else ''} {wager['spot']} {wager['cents']}"


def _settled(settlement: dict[str, Any] | None) -> list[str]:
    """Return a text for each wager of a round, which says how the wager ended, and a text for the commission that the
    round adds. The list is empty if the table does not know the wagers."""
    if settlement is None:
        return []
    owed = settlement["totals"]["commission_owed_cents"]
    told = [
        f"{_wager(one)}{_on_hand(one)} {one['result']} back {one['returned_cents']}" for one in settlement["wagers"]
    ]
    return [*told, *([f"commission owed {owed}"] if owed else [])]


def _on_hand(settled: dict[str, Any]) -> str:
    return f" on hand {settled['hand']}" if settled["hand"] else ""


def _seats(seats: list[int]) -> str:
    return " ".join(map(str, seats)) if seats else "no seat"


def _details(event: dict[str, Any]) -> str:
    return f" {json.dumps(event['details'], sort_keys=True)}" if event["details"] else ""
