"""Says in words what an act (such as voiding a round) would do, before a person confirms the act."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from controller.basics.money import amount
from controller.contract.events import AwardWon, SettledShown
from controller.contract.face.foreseen import Would, WouldClose, WouldCorrect, WouldVoid
from controller.contract.face.table import PublicHand
from controller.words.events import of_meter, settled_lines


def would_lines(would: Would | None) -> list[str]:
    """Return lines that say what an act, such as voiding a round, would do. `would` is what the table itself foresees.
    The list is empty if the table foresees nothing to show."""
    match would:
        case WouldCorrect():
            return [*_correction(would)]
        case WouldVoid():
            return [*_void(would), *_returned(would)]
        case WouldClose():
            return [*_closed(would)]
        case None:
            return []


def _void(would: WouldVoid) -> Iterator[str]:
    yield f"Round {would.round} of shoe {would.shoe} ends without a result."
    for won in would.awards:
        award = f"{won.spot} {won.tier}".replace("_", " ")
        yield f"  WARNING: seat {won.seat} has won {award}, whatever card comes. The void takes that award away."


def _correction(would: WouldCorrect) -> Iterator[str]:
    yield f"Round {would.round} of shoe {would.shoe}"
    yield f"  was told:   {_hands(would.hands_before)}"
    yield f"  would be:   {_hands(would.hands)}" + ("" if would.outcome is None else f" -> {would.outcome}")
    if not would.by_the_rules:
        yield "  WARNING: the rules do not deal these cards so. Check again which card went to which hand."
    yield from _wagers(would)
    yield from _awards(would)


def _hands(hands: Iterable[PublicHand]) -> str:
    return ", ".join(f"{hand.hand.replace('_', ' ')} {' '.join(hand.cards)} = {hand.total}" for hand in hands)


def _wagers(would: WouldCorrect) -> Iterator[str]:
    """Yield a line for each wager whose result or payment would change if a round is corrected. The line says how much
    more or less money the bettor would get. The last line says the same of the house. If the table does not know the
    round's wagers, one line says only that."""
    before, after = would.settlement_before, would.settlement
    if before is None or after is None:
        yield "  The table does not know this round's wagers: pay and take by hand."
        return
    unsettled = {_wager(wager): wager for wager in before.wagers}
    same = True
    for wager in after.wagers:
        was = unsettled.pop(_wager(wager), None)
        cents = wager.returned_cents - (was.returned_cents if was else 0)
        if was is None or (was.result, cents) != (wager.result, 0):
            same = False
            result = f"{was.result} -> {wager.result}" if was else wager.result
            yield f"  {_wager(wager)}: {result.replace('_', ' ')}, {_difference(cents)}"
    for name, was in unsettled.items():
        same = False
        yield f"  {name}: {was.result} -> not there, {_difference(-was.returned_cents)}"
    if same:
        yield "  Nothing changes for any wager."
    house = after.totals.house_cents - before.totals.house_cents
    yield f"  The house: {_difference(house)}."


def _wager(wager: SettledShown) -> str:
    hand = f" hand {wager.hand}" if wager.hand else ""
    return f"seat {wager.seat}{' back' * wager.back}{hand} {wager.spot} {amount(wager.cents)}"


def _difference(cents: int) -> str:
    return f"{amount(abs(cents))} {'more' if cents > 0 else 'less'}" if cents else "no money"


def _awards(would: WouldCorrect) -> Iterator[str]:
    """Yield a line for each hit that the correction of a round would take away, and for each hit that it would add."""
    before, after = _counted(would.awards_before), _counted(would.awards)
    for won, change in ((before - after, "is no longer a hit"), (after - before, "becomes a hit")):
        for spot, seat, tier in won:
            award = would.worth[spot][tier]
            worth = f"the {of_meter(award.meter, award.share)}" if award.meter else amount(award.cents or 0)
            yield f"  seat {seat} {spot.replace('_', ' ')}, {tier.replace('_', ' ')}, {worth}: {change}"


def _counted(awards: Iterable[AwardWon]) -> Counter[tuple[str, int, str]]:
    return Counter((won.spot, won.seat, won.tier) for won in awards)


def _returned(would: WouldVoid) -> Iterator[str]:
    yield from (f"  {line}" for line in settled_lines(would.settlement))
    for bet in would.progressive:
        yield f"  The {bet.spot.replace('_', ' ')} wagers go back: seat {', '.join(map(str, bet.seats))}."


def _closed(would: WouldClose) -> Iterator[str]:
    yield f"Shoe {would.shoe} ends here, after {would.rounds} rounds, with {would.cards_left} cards left in it."
    for owes in would.commission_owed:
        yield f"  seat {owes.seat} owes commission: {amount(owes.cents)}"
