"""The moment wagers are locked: which of them play, and which are refused and why."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from controller.game.bets import ROYAL9
from controller.game.wagers import RefusedWager, Wager, place, placing, stand
from controller.table.facts import WagersLocked
from controller.table.states import Table


def refusal(table: Table, wager: Wager) -> str | None:
    """Why the wager may not lie there, as far as it can be told before the lock; None when it may."""
    if not table.rules.bet_recognition:
        return "no_wagers_known"
    rules = table.rules
    return placing(rules.wagers, rules.bets, rules.seat_numbers, table.placed, wager, _actives(table))


def lies(table: Table, wager: Wager) -> bool:
    """Whether the chips on the layout are already as this wager says."""
    return set(place(table.placed, wager)) == set(table.placed)


def royal9_wagers_differ(table: Table, sensed: AbstractSet[int]) -> tuple[int, ...]:
    """The seats where the sensor and bet recognition disagree on the Royal 9 wager."""
    if not table.rules.bet_recognition:
        return ()
    seen = {wager.seat for wager in table.placed if wager.spot == ROYAL9}
    return tuple(seat for seat in table.rules.sensors if (seat in sensed) != (seat in seen))


def lock(table: Table, by: str, sensed: AbstractSet[int], pit_fresh: bool, *, late: bool = False) -> WagersLocked:
    """The lock as the wagers lie. Without a fresh pit there is no progressive to bet on; `late`, the hand's first card
    came unseen, and nobody knows what lay at the seats then."""
    rules = table.rules
    if not rules.bet_recognition:
        seats = tuple(sorted(sensed & set(rules.seat_numbers)))
        code = _no_royal9(pit_fresh, late)
        in_play = table.occupied if rules.play.seats_play else ()
        if code is None or not seats:
            return WagersLocked(by, royal9_seats=seats, in_play=in_play)
        return WagersLocked(by, royal9_seats=(), refused_seats=seats, refusal=code, in_play=in_play)
    differ = royal9_wagers_differ(table, sensed)
    refused: list[RefusedWager] = []
    placed: list[Wager] = []
    for wager in table.placed:
        code = None
        if wager.spot == ROYAL9:
            code = "royal9_wagers_differ" if wager.seat in differ else _no_royal9(pit_fresh, late)
        if code is None:
            placed.append(wager)
        else:
            refused.append(RefusedWager(wager, code))
    on_each_hand = {bet.spot for bet in rules.bets if bet.each_hand}
    stands, falls = stand(rules.wagers, rules.bets, rules.seat_numbers, placed, _actives(table))
    refused += falls
    refused_seats = {each.wager.seat: each.code for each in refused if each.wager.spot == ROYAL9}
    refused_seats |= dict.fromkeys(differ, "royal9_wagers_differ")
    return WagersLocked(
        by,
        royal9_seats=tuple(sorted(wager.seat for wager in stands if wager.spot == ROYAL9)),
        refused_seats=tuple(sorted(refused_seats)),
        refusal=next(iter(refused_seats.values()), None),
        wagers=stands,
        refused=tuple(refused),
        in_play=tuple(sorted({wager.seat for wager in stands if wager.spot in on_each_hand})),
    )


def _no_royal9(pit_fresh: bool, late: bool) -> str | None:
    if late:
        return "locked_late"
    return None if pit_fresh else "pit_stale"


def _actives(table: Table) -> tuple[int, ...]:
    return (table.actives.player, table.actives.banker) if table.actives else ()
