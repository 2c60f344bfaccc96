"""Puts a table's events and its status into sentences for people, at a terminal and in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.basics.money import amount, short
from controller.contract import events
from controller.contract.event_reading import read
from controller.contract.face.status import PitLink, Waits
from controller.contract.face.table import Public, PublicHit
from controller.words.language import Language, language


def event_line(event: Mapping[str, Any]) -> str:
    """Return one line of text about an event of a table: its number, its shoe and round, its type, and a sentence."""
    seq, type_, shoe, round_ = (event.get(name) for name in ("seq", "type", "shoe", "round"))
    return f"{seq:>5} shoe {shoe or '-'} round {round_ or '-'}  {type_:<13} {event_sentence(event)}"


def event_sentence(event: Mapping[str, Any]) -> str:
    """Return a sentence for people about an event of a table. It does not name the event's number, shoe or round. For a
    fault or an alarm, the sentence begins with the code."""
    match read(event):
        case events.Round() as it:
            marks = ["natural"] * it.natural + ["simulated"] * it.simulated + ["final_round"] * it.final_round
            return _hands(it) + (f" ({', '.join(marks)})" if marks else "") + _house(it) + _typed(it)
        case events.SeatsRound() as it:
            return _seats_round(it) + _house(it) + _typed(it)
        case events.Correction() as it:
            return f"{_hands(it)} (by {it.by} and {it.witness})"
        case events.SeatsCorrection() as it:
            return f"{_seats_round(it)} (by {it.by} and {it.witness})"
        case events.WagersLocked() as it:
            wagers = [counted(len(it.wagers), "wager")] if it.wagers else []
            on = [bet for bet in it.progressive if bet.seats or bet.refused_seats]
            return ", ".join([*map(_progressive, on), *wagers]) or "no wagers"
        case events.Hit() as it:
            return f"seat {it.seat} {it.spot}, {it.tier}: {_pays(it)}{_typed(it)}"
        case events.Void() as it:
            return _void(it)
        case events.OddCard() as it:
            return f"{counted(it.cards, 'card')} drawn in error: {it.fate.replace('_', ' ')}, by {_people(it)}"
        case events.Fault() as it:
            return f"{it.code}: {language().fault(it.code).what}"
        case events.Alarm() as it:
            return alarm_sentence(it)
        case events.TestHit() as it:
            return f"seat {it.seat}, a test by {it.by}: nothing was won"
        case events.ShoeReconciled() | events.ShoeInspected() as it:
            return _looked_at(it)
        case events.Award() as it:
            return f"seat {it.seat} {it.spot}, {it.tier}: {amount(it.cents)} {it.step}, by {it.by}"
        case events.Commission() as it:
            return f"seat {it.seat} paid {amount(it.cents)}, by {it.by}"
        case events.FaultCleared(by=by, cards_unheard=int(unheard)):
            return f"by {by}, who counted the cards: {unheard} left the shoe unheard"
        case events.ShoeClosed() as it:
            return f"{it.reason}, {counted(it.rounds, 'round')}"
        case _:
            return f"by {event.get('by', '-')}"


def alarm_sentence(alarm: events.Alarm) -> str:
    """Return the code of an alarm, followed by a sentence that says what happened."""
    return f"{alarm.code}: {language().alarm(alarm.code).what}"


def _people(it: events.OddCard | events.Void | events.NotRead) -> str:
    return f"{it.by} and {it.witness}" if it.witness else it.by


def _pays(hit: events.Hit) -> str:
    if hit.fixed is not None:
        return short(hit.fixed.cents)
    won = hit.progressive
    return "" if won is None else of_meter(won.meter, won.share)


def _looked_at(it: events.ShoeReconciled | events.ShoeInspected) -> str:
    if isinstance(it, events.ShoeInspected):
        return f"serial number {it.serial}, firmware {it.firmware}, inspected by {it.by}"
    lists = (("missing", it.missing), ("extra", it.extra))
    amiss = [f"{what} {' '.join(cards)}" for what, cards in lists if cards]
    told = ["complete" if it.complete else "NOT complete", *amiss]
    return f"{it.gone} cards gone, {it.rest} left of {it.cards}, read by {it.by}: {', '.join(told)}"


def _void(it: events.Void) -> str:
    """Return a text about a round that ended without a result: who ended it, the cards that people saw, and the awards
    that these cards had already won."""
    hands = [f"{hand.hand.replace('_', ' ')} {' '.join(hand.cards)}" for hand in it.hands if hand.cards]
    held = [f"held {' '.join(it.held)}"] if it.held else []
    awards = [f"seat {won.seat} had won {won.spot} {won.tier}" for won in it.awards]
    return "; ".join([f"by {_people(it)}", *hands, *held, *awards])


def _typed(it: events.Round | events.SeatsRound | events.Hit) -> str:
    """Return a text about the cards that people typed because the shoe did not read them, with the names of these
    people."""
    return "".join(f"; card {each.drawn}, {each.card}, typed by {_people(each)}" for each in it.not_read)


def counted(number: int, what: str) -> str:
    """Return the number with its noun in the singular or the plural: `1 round`, `2 rounds`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _progressive(bet: events.ProgressiveLocked) -> str:
    refused = f", refused {[*bet.refused_seats]}" if bet.refused_seats else ""
    return f"{bet.spot} at seats {[*bet.seats]}{refused}"


def of_meter(meter: str, share: str) -> str:
    """Return the part of a progressive meter that a winning wager gets, in words: "meter royal" for all of it, or "1:10
    of meter royal"."""
    return f"meter {meter}" if share == "1:1" else f"{share} of meter {meter}"


def commission_line(face: Public) -> str:
    """Return a line with the commission that each seat owes, or an empty string if no seat owes any."""
    owed = ", ".join(f"seat {seat} {amount(cents)}" for seat, cents in face.commission_owed.items())
    return f"commission owed: {owed}" if owed else ""


def meters_line(pit: PitLink) -> str:
    """Return a line with the levels of the progressive meters that a table knows, or an empty string if it knows none.
    The line says so if the levels are not fresh."""
    levels = ", ".join(f"{name.replace('_', ' ')} {amount(cents)}" for name, cents in pit.meters.items())
    return f"{levels}{'' if pit.meters_fresh else ' (not fresh)'}" if levels else ""


def hit_line(hit: PublicHit) -> str:
    """Return a line about a seat's winning wager on a progressive bet: its seat, bet and tier, its amount, and the
    award's step at the pit. Until the pit names an amount, the amount is what the meter showed."""
    cents = hit.shown_cents if hit.cents is None else hit.cents
    meter = f", {of_meter(hit.meter, hit.share)}" if hit.meter else ""
    worth = "" if cents is None else f" {amount(cents)}"
    return f"seat {hit.seat} {hit.spot}, {hit.tier}{meter}{worth}: {hit.step}".replace("_", " ")


def hand_name(hand: str, words: Language) -> str:
    """Return the name of a hand for people, such as "seat 3, hand 2" for `seat_3_hand_2`."""
    kind, _, of_seat = hand.partition("_")
    if kind != "seat":
        return words.name("hand", hand)
    seat, _, number = of_seat.partition("_hand_")
    return words.name("hand", "split" if number else "seat").format(seat=seat, hand=number)


def asked(waits: Waits, words: Language) -> str:
    """Return in words the act that a second person has yet to confirm: "correct round 12: Player KS 9H, Banker
    2C 5D"."""
    details = dict(waits.details)
    if (hands := details.pop("hands", None)) is not None:
        details |= {"hands": "; ".join(f"{hand_name(name, words)} {' '.join(cards)}" for name, cards in hands.items())}
    if (cents := details.get("cents")) is not None:
        details |= {"amount": amount(cents)}
    return words.name("asks", waits.act).format(**details)


def locked_lines(event: Mapping[str, Any]) -> list[str]:
    """Return lines about a `wagers_locked` event: the active seats, the seats in play, the wagers that count, and the
    refused wagers with the reasons."""
    it = read(event)
    if not isinstance(it, events.WagersLocked):
        return []
    actives = it.actives
    return [
        *([f"seat {actives.player} plays Player's hand, seat {actives.banker} Banker's"] if actives else []),
        *([f"in play: seat {', '.join(map(str, it.in_play))}"] if it.in_play else []),
        *(f"{_lying(wager)}  plays" for wager in it.wagers),
        *(f"{_lying(wager)}  refused: {language().refusal(wager.code)}" for wager in it.refused),
        *_refused_seats(it),
    ]


def _refused_seats(it: events.WagersLocked) -> list[str]:
    """Return a line for each progressive bet on which seats were refused. Return no lines if the event lists each
    refused wager itself, which it does at a table with bet recognition."""
    return [
        f"seat {', '.join(map(str, bet.refused_seats))} {bet.spot}: refused: {language().refusal(bet.refusal or '')}"
        for bet in it.progressive
        if bet.refused_seats and not it.refused
    ]


def _lying(wager: events.WagerShown | events.RefusedShown) -> str:
    return f"seat {wager.seat}{' back' * wager.back:<8} {wager.spot:<13} {amount(wager.cents):>10}"


def settlement_lines(event: Mapping[str, Any]) -> list[str]:
    """Return a line for the result of each wager in an event of type `round`, `void` or `correction`, and a line for
    the sums."""
    match read(event):
        case events.Round(settlement=settlement) | events.SeatsRound(settlement=settlement):
            return settled_lines(settlement)
        case events.Correction(settlement=settlement) | events.SeatsCorrection(settlement=settlement):
            return settled_lines(settlement)
        case events.Void(settlement=settlement):
            return settled_lines(settlement)
        case _:
            return []


def settled_lines(settlement: events.SettlementShown | None) -> list[str]:
    """Return a line for the result of each wager in a settlement, and a line for the sums."""
    if settlement is None:
        return []
    totals = settlement.totals
    moved = {
        "staked": totals.staked_cents,
        "returned": totals.returned_cents,
        "house": totals.house_cents,
        "commission taken": totals.commission_taken_cents,
        "owed": totals.commission_owed_cents,
    }
    return [
        *map(_settled, settlement.wagers),
        ", ".join(f"{name} {amount(cents)}" for name, cents in moved.items()),
    ]


def _settled(wager: events.SettledShown) -> str:
    who = f"seat {wager.seat}{' back' * wager.back}"
    if wager.hand:
        who += f" hand {wager.hand}"
    line = f"{who:<14} {wager.spot:<13} {amount(wager.cents):>10}  {wager.result.replace('_', ' ')}"
    if wager.meter:
        line += f", the meter {wager.meter}"
    if wager.pays_cents:
        line += f", wins {amount(wager.pays_cents)}"
    return line + (f", commission {amount(wager.commission_cents)}" if wager.commission_cents else "")


def _house(it: events.Round | events.SeatsRound) -> str:
    return f"; house {amount(it.settlement.totals.house_cents)}" if it.settlement else ""


def _seats_round(it: events.SeatsRound | events.SeatsCorrection) -> str:
    dealer = f"dealer {' '.join(it.dealer.cards)} = {it.dealer.total}"
    return "; ".join([dealer, *map(_seat_hand, it.hands)])


def _seat_hand(hand: events.SeatHandShown) -> str:
    number = f"/{hand.hand}" if hand.hand > 1 else ""
    return f"seat {hand.seat}{number} {' '.join(hand.cards)} = {hand.total} {hand.result}"


def _hands(it: events.Round | events.Correction) -> str:
    sides = (("player", it.player), ("banker", it.banker))
    hands = (f"{side} {' '.join(hand.cards)} = {hand.total}" for side, hand in sides)
    return "  ".join(hands) + f"  -> {it.outcome}"
