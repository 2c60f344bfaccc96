"""The table's events and its status in words for people: at a terminal and in the log."""

from __future__ import annotations

from typing import Any

from controller.contract.face.status import PitLink, Waits
from controller.contract.face.table import Public, PublicHit
from controller.words.language import Language, language


def event_line(event: dict[str, Any]) -> str:
    """An event of the stream in one line for people."""
    where = f"{event['seq']:>5} shoe {event['shoe'] or '-'} round {event['round'] or '-'}"
    return f"{where}  {event['type']:<13} {event_sentence(event)}"


def event_sentence(event: dict[str, Any]) -> str:
    """An event in words, without its number and place. A fault or an alarm begins with its code."""
    match event["type"]:
        case "round" if "dealer" in event:
            return _seats_round(event) + _house(event) + _typed(event)
        case "round":
            marks = [mark for mark in ("natural", "simulated", "last_hand") if event[mark]]
            return _hands(event) + (f" ({', '.join(marks)})" if marks else "") + _house(event) + _typed(event)
        case "correction":
            hands = _seats_round(event) if "dealer" in event else _hands(event)
            return f"{hands} (by {event['by']} and {event['witness']})"
        case "wagers_locked":
            wagers = [counted(len(event["wagers"]), "wager")] if event["wagers"] else []
            on = [bet for bet in event["progressive"] if bet["seats"] or bet["refused_seats"]]
            return ", ".join([*map(_progressive, on), *wagers]) or "no wagers"
        case "hit":
            fixed, meter = event["fixed"], event["progressive"]
            pays = dollars(fixed["cents"]).removesuffix(".00") if fixed else of_meter(meter["meter"], meter["share"])
            return f"seat {event['seat']} {event['spot']}, {event['tier']}: {pays}{_typed(event)}"
        case "void":
            return _void(event)
        case "odd_card":
            fate = event["fate"].replace("_", " ")
            return f"{counted(event['cards'], 'card')} drawn in error: {fate}, by {_people(event)}"
        case "fault":
            return f"{event['code']}: {language().fault(event['code']).what}"
        case "alarm":
            return f"{event['code']}: {language().alarm(event['code']).what}"
        case "test_hit":
            return f"seat {event['seat']}, a test by {event['by']}: nothing was won"
        case "award":
            what = f"seat {event['seat']} {event['spot']}, {event['tier']}"
            return f"{what}: {dollars(event['cents'])} {event['step']}, by {event['by']}"
        case "commission":
            return f"seat {event['seat']} paid {dollars(event['cents'])}, by {event['by']}"
        case "fault_cleared" if event.get("cards_unheard") is not None:
            return f"by {event['by']}, who counted the cards: {event['cards_unheard']} left the shoe unheard"
        case "shoe_closed":
            return f"{event['reason']}, {counted(event['rounds'], 'round')}"
        case _:
            return f"by {event['by']}"


def _people(event: dict[str, Any]) -> str:
    return f"{event['by']} and {event['witness']}" if event["witness"] else str(event["by"])


def _void(event: dict[str, Any]) -> str:
    """Who ended the round, the cards that were seen, and the awards that they had won."""
    hands = [f"{hand['hand'].replace('_', ' ')} {' '.join(hand['cards'])}" for hand in event["hands"] if hand["cards"]]
    held = [f"held {' '.join(event['held'])}"] if event["held"] else []
    awards = [f"seat {won['seat']} had won {won['spot']} {won['tier']}" for won in event["awards"]]
    return "; ".join([f"by {_people(event)}", *hands, *held, *awards])


def _typed(event: dict[str, Any]) -> str:
    """The cards that people typed, and who they are."""
    return "".join(f"; card {each['drawn']}, {each['card']}, typed by {_people(each)}" for each in event["not_read"])


def counted(number: int, what: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _progressive(bet: dict[str, Any]) -> str:
    refused = f", refused {bet['refused_seats']}" if bet["refused_seats"] else ""
    return f"{bet['spot']} at seats {bet['seats']}{refused}"


def of_meter(meter: str, share: str) -> str:
    """What a hit wins of a meter."""
    return f"meter {meter}" if share == "1:1" else f"{share} of meter {meter}"


def dollars(cents: int) -> str:
    """An amount in dollars and cents."""
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}.{abs(cents) % 100:02}"


def commission_line(face: Public) -> str:
    """The commission that each seat owes; empty where no seat does."""
    owed = ", ".join(f"seat {seat} {dollars(cents)}" for seat, cents in face.commission_owed.items())
    return f"commission owed: {owed}" if owed else ""


def meters_line(pit: PitLink) -> str:
    """The progressive levels in a table's status; empty where there are none."""
    levels = ", ".join(f"{name.replace('_', ' ')} {dollars(cents)}" for name, cents in pit.meters.items())
    return f"{levels}{'' if pit.meters_fresh else ' (not fresh)'}" if levels else ""


def hit_line(hit: PublicHit) -> str:
    """A hit of a table's public face: its bet and tier, the amount that the meter showed or that the pit says, and its
    step at the pit."""
    cents = hit.shown_cents if hit.cents is None else hit.cents
    meter = f", {of_meter(hit.meter, hit.share)}" if hit.meter else ""
    amount = "" if cents is None else f" {dollars(cents)}"
    return f"seat {hit.seat} {hit.spot}, {hit.tier}{meter}{amount}: {hit.step}".replace("_", " ")


def hand_name(hand: str, words: Language) -> str:
    """A hand's name for people: `seat_3_hand_2` is "seat 3, hand 2"."""
    kind, _, of_seat = hand.partition("_")
    if kind != "seat":
        return words.name("hand", hand)
    seat, _, number = of_seat.partition("_hand_")
    return words.name("hand", "split" if number else "seat").format(seat=seat, hand=number)


def asked(waits: Waits, words: Language) -> str:
    """The act that waits for a second person, in words: "correct round 12: Player KS 9H, Banker 2C 5D"."""
    details = dict(waits.details)
    if (hands := details.pop("hands", None)) is not None:
        details |= {"hands": "; ".join(f"{hand_name(name, words)} {' '.join(cards)}" for name, cards in hands.items())}
    if (cents := details.get("cents")) is not None:
        details |= {"amount": dollars(cents)}
    return words.name("asks", waits.act).format(**details)


def locked_lines(event: dict[str, Any]) -> list[str]:
    """Who plays the round after the lock, and which wagers are refused and why, a line each."""
    actives = event["actives"]
    return [
        *([f"seat {actives['player']} plays Player's hand, seat {actives['banker']} Banker's"] if actives else []),
        *([f"in play: seat {', '.join(map(str, event['in_play']))}"] if event["in_play"] else []),
        *(f"{_lying(wager)}  plays" for wager in event["wagers"]),
        *(f"{_lying(wager)}  refused: {language().refusal(wager['code'])}" for wager in event["refused"]),
        *_refused_seats(event),
    ]


def _refused_seats(event: dict[str, Any]) -> list[str]:
    """The refused progressive wagers, where the table knows only the wagers that its sensors see."""
    return [
        f"seat {', '.join(map(str, bet['refused_seats']))} {bet['spot']}: refused: {language().refusal(bet['refusal'])}"
        for bet in event["progressive"]
        if bet["refused_seats"] and not event["refused"]
    ]


def _lying(wager: dict[str, Any]) -> str:
    return f"seat {wager['seat']}{' back' * wager['back']:<8} {wager['spot']:<13} {dollars(wager['cents']):>10}"


def settlement_lines(event: dict[str, Any]) -> list[str]:
    """The result of each wager of a round, void or correction, a line each, and the totals."""
    settlement = event.get("settlement")
    if settlement is None:
        return []
    totals = {name.removesuffix("_cents"): dollars(cents) for name, cents in settlement["totals"].items()}
    return [
        *map(_settled, settlement["wagers"]),
        "staked {staked}, returned {returned}, house {house}, commission taken {commission_taken}, "
        "owed {commission_owed}".format(**totals),
    ]


def _settled(wager: dict[str, Any]) -> str:
    who = f"seat {wager['seat']}{' back' * wager['back']}"
    if wager["hand"]:
        who += f" hand {wager['hand']}"
    line = f"{who:<14} {wager['spot']:<13} {dollars(wager['cents']):>10}  {wager['result'].replace('_', ' ')}"
    if wager["meter"]:
        line += f", the meter {wager['meter']}"
    if wager["pays_cents"]:
        line += f", wins {dollars(wager['pays_cents'])}"
    return line + (f", commission {dollars(wager['commission_cents'])}" if wager["commission_cents"] else "")


def _house(event: dict[str, Any]) -> str:
    settlement = event["settlement"]
    return f"; house {dollars(settlement['totals']['house_cents'])}" if settlement else ""


def _seats_round(event: dict[str, Any]) -> str:
    dealer = event["dealer"]
    return "; ".join([f"dealer {' '.join(dealer['cards'])} = {dealer['total']}", *map(_seat_hand, event["hands"])])


def _seat_hand(hand: dict[str, Any]) -> str:
    number = f"/{hand['hand']}" if hand["hand"] > 1 else ""
    return f"seat {hand['seat']}{number} {' '.join(hand['cards'])} = {hand['total']} {hand['result']}"


def _hands(event: dict[str, Any]) -> str:
    hands = (f"{side} {' '.join(event[side]['cards'])} = {event[side]['total']}" for side in ("player", "banker"))
    return "  ".join(hands) + f"  -> {event['outcome']}"
