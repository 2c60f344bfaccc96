"""The lock of the wagers at the start of a round: which wagers count, and which are refused and why."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from controller.rules.game.wagers import RefusedWager, Wager, place, placing, stand
from controller.table.facts import ProgressiveWagers, WagersLocked
from controller.table.states import Table


def refusal(table: Table, wager: Wager) -> str | None:
    """Return the code that says why the wager may not lie on its spot, as far as this is known before wagers are
    locked. Return None if the wager may lie there."""
    if not table.rules.bet_recognition:
        return "no_wagers_known"
    rules = table.rules
    beside, closed = table.placed, table.closed_spots
    code = placing(rules.wagers, rules.bets, rules.seat_numbers, beside, wager, _actives(table), closed)
    return code or (None if wager.cents == 0 or _sits(table, wager.seat) else "not_occupied")


def lies(table: Table, wager: Wager) -> bool:
    """Tell whether the table already knows this wager: the same chips lie on the same spot of the layout."""
    return set(place(table.placed, wager)) == set(table.placed)


def wagers_differ(table: Table, sensed: AbstractSet[int]) -> tuple[int, ...]:
    """Return the seats at which the sensor and bet recognition disagree on whether a wager lies on the spot that the
    sensor watches.

    The result is empty if the bet on that spot is closed. No wager on a closed bet counts, so a chip that was left on
    the spot must not stop the table.
    """
    if not table.rules.bet_recognition or table.rules.sensed in table.closed_spots:
        return ()
    seen = {wager.seat for wager in table.placed if wager.spot == table.rules.sensed}
    return tuple(seat for seat in table.rules.sensors if (seat in sensed) != (seat in seen))


def why_no_round(table: Table) -> str | None:
    """Return a code that says why no round may begin although wagers are open: nobody would play the round. Return None
    if a round may begin."""
    play = table.rules.play
    actives = _actives(table)
    if play.roles_play and (not actives or not set(actives) <= set(table.occupied)):
        return "no_actives"
    if play.seats_play and not lock(table, "", frozenset(), pit_fresh=False).in_play:  # no progressive bet plays a hand
        return "no_seats"
    return None


def lock(table: Table, by: str, sensed: AbstractSet[int], pit_fresh: bool, *, late: bool = False) -> WagersLocked:
    """Return the journalled fact that locks the wagers as they lie on the layout.

    No progressive wager counts if the pit was not heard lately (`pit_fresh` is False). No progressive wager counts
    either if the lock is `late`: the round's first card was missed, and nobody knows which chips lay at the seats when
    that card was drawn. If a card of the round has already left the shoe, a chip counts only if it lay on its spot both
    when that card left and at the lock (see `early_cards.py`). A wager that was put down before its bet closed does not
    count, because the bet must be open for the round that is locked.
    """
    rules, closed = table.rules, table.closed_spots
    code = "locked_late" if late else None if pit_fresh else "pit_stale"
    if not rules.bet_recognition:
        code = code or ("bet_closed" if rules.sensed in closed else None)
        return _lock_sensed(table, by, sensed & set(rules.seat_numbers), code)
    on_each_hand = {bet.spot for bet in rules.bets if bet.each_hand}
    differ = wagers_differ(table, sensed)
    progressives = [bet.spot for bet in rules.progressives]
    unfit = {
        wager: "wagers_differ" if wager.spot == rules.sensed and wager.seat in differ else code
        for wager in table.placed
        if wager.spot in progressives
    } | {wager: "not_occupied" for wager in table.placed if not _sits(table, wager.seat)}
    refused = [RefusedWager(wager, why) for wager, why in unfit.items() if why is not None]
    placed = [wager for wager in table.placed if unfit.get(wager) is None]
    stands, falls = stand(rules.wagers, rules.bets, rules.seat_numbers, placed, _actives(table), closed)
    refused += falls
    on_each = (_on(spot, stands, refused, differ if spot == rules.sensed else ()) for spot in progressives)
    return WagersLocked(
        by,
        tuple(on for on in on_each if on.seats or on.refused_seats),
        wagers=stands,
        refused=tuple(refused),
        in_play=tuple(sorted({wager.seat for wager in stands if wager.spot in on_each_hand})),
        differ=differ,
    )


def _lock_sensed(table: Table, by: str, sensed: AbstractSet[int], code: str | None) -> WagersLocked:
    """Return the fact that locks the wagers at a table that knows only the wagers that its sensors see. If `code` is
    not None, none of these wagers counts, and `code` says why."""
    before = sensed if table.chips_noted is None else set(table.chips_noted)
    seats = tuple(sorted(seat for seat in sensed & before if code is None and _sits(table, seat)))
    refused_seats = tuple(sorted(sensed - {*seats}))
    why = code or ("card_out" if sensed - before else "not_occupied")
    on = ProgressiveWagers(table.rules.sensed or "", seats, refused_seats, why if refused_seats else None)
    return WagersLocked(
        by,
        (on,) if sensed else (),
        in_play=table.occupied if table.rules.play.seats_play else (),
        chips_added=tuple(sorted(sensed - before)),
        chips_taken=tuple(sorted(before - sensed)),
    )


def _on(
    spot: str, stands: Iterable[Wager], refused: Iterable[RefusedWager], differ: Iterable[int]
) -> ProgressiveWagers:
    """Return the wagers on the progressive bet at `spot`: the seats whose wagers count, and the seats whose wagers are
    refused, with a code that says why.

    `differ` are the seats at which the sensor and bet recognition disagree.
    """
    codes = {each.wager.seat: each.code for each in refused if each.wager.spot == spot}
    codes |= dict.fromkeys(differ, "wagers_differ")
    seats = tuple(sorted(wager.seat for wager in stands if wager.spot == spot))
    return ProgressiveWagers(spot, seats, tuple(sorted(codes)), next(iter(codes.values()), None))


def _sits(table: Table, seat: int) -> bool:
    """Tell whether somebody may be sitting at the seat. The answer is True for every seat if nobody has told the table
    which seats are occupied."""
    return not table.occupied or seat in table.occupied


def _actives(table: Table) -> tuple[int, ...]:
    return (table.actives.player, table.actives.banker) if table.actives else ()
