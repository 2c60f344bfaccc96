"""Prepares what the players' page shows of the round in play: hands, seats, meters, and what the table waits for. The
functions use only the table's public state.

No function remembers anything from one status message of the table to the next.
"""

from __future__ import annotations

import re
from typing import Any

from controller.basics.money import short
from controller.contract.face.awaited import awaited
from controller.contract.face.placard import Placard
from controller.contract.face.status import Status, WinShown
from controller.contract.face.table import (
    BETWEEN_SHOES,
    Public,
    PublicChoice,
    PublicFault,
    PublicHand,
    PublicHit,
    PublicSettled,
)
from controller.people.screen.placards import award_cents, award_name, bet_name, meter_name, meters_of
from controller.people.screen.wording import Text, card_text, either, joined, knows, same, say

_SIGNS = {
    "flash": "invitation",
    "slow_blink": "seen",
    "steady": "accepted",
    "double_flash": "refused",
    "fast_blink": "hit",
    "long_flash": "turn",
}
"""What a seat's lamp says, by the pattern it burns in."""


_UNREAD = "??"
"""Stands for the card that the table has stopped at, in the hand that takes it."""

_LONGEST_WAIT = ("disputed", "hit", "pending", "verified", "rejected", "paid")
"""The steps of a hit. Of several hits of a seat, the one is told whose step stands here first."""


def hand_view(placard: Placard, status: Status) -> dict[str, Any]:
    """Return the parts of the players' page that change with every card, such as hands, seats and hits."""
    face = status.face
    hands = [PublicHand(hand, (), None) for hand in _unread_in(face)] if face.phase == "wagers_locked" else face.hands
    outcome = _outcome(face)
    return {
        "shoe": face.shoe,
        "round": face.round,
        "outcome": outcome,
        "between": face.phase in BETWEEN_SHOES,
        "marks": [
            *([say("label", "simulated")] if face.simulated else []),
            *([say("label", "final_round")] if face.final_round and face.phase not in _WAIT_SAYS_LAST else []),
            *_closed(placard, face),
        ],
        "hands": [_hand(hand, placard, face, outcome) for hand in hands],
        "closed": [*face.closed],
        "waits": _no_wagers(face) if _closed_for_all(placard, face) else waits(face),
        "stop": _stop(face.fault),
        "seats": {seat: _seat(seat, placard, face, status.lamps) for seat in face.seats},
        "hits": [_hit(hit, placard, face, status.pit.epoch) for hit in face.hits],
    }


def _closed(placard: Placard, face: Public) -> list[Text]:
    """Return the badge that names the bets on which no more wagers are taken. Return an empty list if no bet is closed,
    and also if all bets are closed, because then another sentence on the page says that."""
    if not face.closed or _closed_for_all(placard, face):
        return []
    names = list({str(name): name for name in (bet_name(placard.bets, spot) for spot in face.closed)}.values())
    return [say("label", "closed", bets=joined(names, "list"))]


def _closed_for_all(placard: Placard, face: Public) -> bool:
    return face.phase == "wagers_open" and {bet.spot for bet in placard.bets} <= {*face.closed}


def _no_wagers(face: Public) -> Text:
    return joined([*_over(face), say("waits", "wagers_closed")], "stop")


def meters_view(placard: Placard, status: Status) -> dict[str, Any]:
    """Return what the players' page shows of the progressive meters: the levels of those that can be won at this table
    (`cents`), the last win at another table (`win`), and whether progressive wagers are taken (`fresh`)."""
    pit = status.pit
    cents = {meter: pit.meters.get(meter) for meter in meters_of(placard)}
    return {"fresh": pit.meters_fresh, "cents": cents, "win": pit.win and _won_elsewhere(pit.win)}


def _won_elsewhere(win: WinShown) -> Text:
    amounts = {"amount": short(win.cents), "base": short(win.base_cents)}
    return say("label", "won_elsewhere", table=win.table, meter=meter_name(win.meter), **amounts)


def hand_label(hand: str) -> Text:
    """Return a hand's name as people read it. `hand` is a code such as "player", "seat_3" or "seat_3_hand_2"."""
    if (seat := re.fullmatch(r"seat_(\d+)(?:_hand_(\d+))?", hand)) is None:
        return say("label", hand)
    number, split = seat.groups()
    return say("label", "seat_hand", seat=number, hand=split) if split else say("label", "seat", seat=number)


def _hand(hand: PublicHand, placard: Placard, face: Public, outcome: str | None) -> dict[str, Any]:
    name, cards = hand.hand, hand.cards
    return {
        "hand": name,
        "label": hand_label(name),
        "seat": int(own[1]) if (own := re.match(r"seat_(\d+)", name)) else None,
        "result": _result(next((each.result for each in face.results if each.hand == name), None)),
        "cards": [*cards, *([_UNREAD] if name in _unread_in(face) else [])],
        "total": hand.total if cards else None,
        "natural": len(cards) == 2 and hand.total in placard.naturals,
        "won": outcome == name,
        "tied": outcome == "tie",
        "holder": _holder(name, face),
    }


def _unread_in(face: Public) -> list[str]:
    """Return a list with the hand whose next card stopped the table, for example because the card could not be read.
    The list is empty if the table has not stopped in a round, or if its fault names no hand."""
    where = face.fault and face.phase in ("wagers_locked", "round_in_play") and face.fault.details.get("where")
    return [str(where)] if where else []


def _holder(hand: str, face: Public) -> Text | None:
    """Return a text that names the seat or the dealer that turns the hand's cards or, if nobody turns them, the seat of
    the hand. Return None if the page shows no such text.

    In a finished round the seat is taken from the results, because the roles may have moved to other seats since.
    """
    if hand in face.squeezing:
        if face.fault or face.next_hand is not None:
            return None
        seat = face.squeezing[hand]
        return say("label", "squeezes", seat=seat) if seat else say("label", "dealer_turns")
    played = {each.hand: each.seat for each in face.results} or face.actives
    return say("label", "seat", seat=played[hand]) if hand in played else None


def _result(result: str | None) -> dict[str, Any] | None:
    """Return the mark and the text that the page shows for a result, such as "won". Return None if there is no result
    yet."""
    return {"mark": result, "says": say("result", result)} if result else None


def _settled(settled: PublicSettled, placard: Placard) -> dict[str, Any]:
    """Return the mark and the text that the page shows for all settled wagers of a seat. For example, "wins Dragon
    Bonus +1" names the bet that won most, and counts the other bets that won."""
    said, won = [say("result", settled.result)], settled.won
    if settled.result == "won":
        said += [bet_name(placard.bets, won[0]), *([same(f"+{len(won) - 1}")] if len(won) > 1 else [])]
    return {"mark": settled.result, "says": joined(said, same(" "))}


def _outcome(face: Public) -> str | None:
    """Return who won the round whose cards lie on the layout. Return None if that round is not over, or if it is
    simulated."""
    in_round = face.phase in ("wagers_locked", "round_in_play")
    return None if in_round or face.simulated else face.outcome


_WAIT_SAYS_LAST = ("wagers_open", "shoe_ended")
"""Phases in which the sentence of what the table waits for says itself that the round is the shoe's last."""


def waits(face: Public) -> Text:
    """Return the sentence on the players' page that says what the table is waiting for, in every language."""
    match code := awaited(face):
        case "choice" if face.choice is not None:
            return _choice(face.choice)
        case "reveal":
            return say("waits", code, hands=joined([hand_label(hand) for hand in face.reveal], say("waits", "and")))
        case "burning" if face.first_card is not None:
            return say("waits", code, card=card_text(face.first_card), left=face.burn_left or 0)
        case "card" | "odd_card":
            return say("waits", "card", hand=hand_label(face.next_hand or ""))
        case "any_card":
            return say("waits", face.phase)
        case "wagers_open" if face.final_round:
            return joined([*_over(face), say("waits", "wagers_open_last")], "stop")
        case "wagers_open" | "wagers_stand":
            return joined([*_over(face), say("waits", code)], "stop")
        case "shoe_ended" | "commission":
            return joined([*_over(face), say("waits", "shoe_ended")], "stop")
        case _:
            return say("waits", code if knows("waits", code) else "nothing")


def _choice(choice: PublicChoice) -> Text:
    hand = choice.hand
    who = (
        say("waits", "choose", seat=choice.seat)
        if hand.startswith("seat_")
        else say("waits", "choose_hand", seat=choice.seat, hand=hand_label(hand))
    )
    if choice.options is None:
        return who
    return joined([who, either([say("choice", option) for option in choice.options])], "colon")


def _over(face: Public) -> list[Text]:
    """Return a list with a text that says who won the finished round on the layout. At Lucky 9 each seat has its own
    result, so the text says only that the round is over. The list is empty if there is no such round, or if it is
    simulated."""
    if (outcome := _outcome(face)) is None:
        return [say("waits", "over")] if face.results and not face.simulated else []
    return [say("waits", "tie") if outcome == "tie" else say("waits", "won", hand=say("label", outcome))]


def _stop(fault: PublicFault | None) -> dict[str, Any] | None:
    """Return what the players' page shows of a stop: its code, a text that says why the table has stopped, and a text
    that calms the players. Return None if the table has not stopped."""
    if fault is None:
        return None
    code = fault.code
    why = joined([say("stop", "title"), say("stop", code if knows("stop", code) else "other")], "colon")
    return {"code": code, "why": why, "calm": say("stop", "calm")}


def _seat(seat: int, placard: Placard, face: Public, lamps: dict[str, str]) -> dict[str, Any]:
    sign = _SIGNS.get(lamps.get(f"seat_{seat}", "dark"))
    hits = [hit for hit in face.hits if hit.seat == seat]
    steps = [hit.step for hit in hits]
    settled = face.settled.get(str(seat))
    role = next((role for role, active in face.actives.items() if active == seat), None)
    return {
        "sign": sign,
        "says": say("hit_waits", min(steps, key=_LONGEST_WAIT.index)) if steps else say("sign", sign) if sign else None,
        "award": _award(hits, placard) if hits else None,
        "role": role,
        "turns": [hand for hand, holder in face.squeezing.items() if holder == seat and not face.fault],
        "result": settled and _settled(settled, placard),
        "empty": bool(face.occupied) and seat not in face.occupied,
    }


def _cents(hit: PublicHit, placard: Placard) -> int | None:
    """Return how many cents the hit wins, as far as that is known: the awarded amount, else the amount that was shown,
    else the fixed amount of its award. Return None if none of them is known."""
    cents = hit.cents if hit.cents is not None else hit.shown_cents
    return cents if cents is not None else award_cents(placard, hit.tier)


def _award(hits: list[PublicHit], placard: Placard) -> dict[str, Any]:
    """Return what the page shows at a seat that has hits. For example, "$5,000 +1" tells the largest amount, and counts
    the other hits. A progressive award needs no name at the seat, because the whole screen shows it."""
    most = max(hits, key=lambda hit: _cents(hit, placard) or 0)
    cents = _cents(most, placard)
    amount = short(cents) if cents is not None else ""
    more = f"+{len(hits) - 1}" if len(hits) > 1 else ""
    name = None if most.meter else award_name(placard, most.spot, most.tier)
    return {"amount": f"{amount} {more}".strip(), "name": name}


def _hit(hit: PublicHit, placard: Placard, face: Public, epoch: str) -> dict[str, Any]:
    cents = _cents(hit, placard)
    shoe, round_, tier = hit.shoe, hit.round, hit.tier
    shown = (shoe, round_) == (face.shoe, face.round)
    return {
        "key": f"{epoch} {shoe} {round_} {hit.seat} {hit.spot} {tier}",
        "at": [shoe, round_, hit.seat],
        "title": say("hit", "title" if hit.meter else "award"),
        "seat": say("label", "seat", seat=hit.seat),
        "tier": award_name(placard, hit.spot, tier),
        "earlier": None if shown else say("hit", "earlier", shoe=shoe, round=round_),
        "amount": short(cents) if cents is not None else "",
        "cents": cents,
        "waits": say("step", hit.step),
        "progressive": bool(hit.meter),
        "open": hit.step not in ("paid", "rejected"),
    }
