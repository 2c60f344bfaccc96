"""The conformance checks of how a pit handles money: its meters, hits and awards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from controller.contract.bounds import MOST_LEAP_MS
from controller.contract.pit_words import AwardStep, moment_ms
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.far_table import LOCK_CENTS, SPOT, FarTable
from controller.pit.conformance.pit_kit import (
    MUCH_CENTS,
    Holding,
    PitKit,
    a_meter,
    committed,
    corrected,
    echo,
    hits,
    level,
    levels,
    over_starts,
    repeated,
    take_back,
)
from controller.pit.conformance.wire import Wire, at_text, first_heard

_METERS_WATCHED_S = 6.0
_ODD_PRICE_CENTS = 333
_ODD_LOCKS = 10
_SEVERAL = 3  # words on the meters
_DAY_MS = 24 * 60 * 60 * 1000
_CLOSE = Fraction(1, 4)
_SEATS = (1, 2, 3, 4, 5, 6, 7)

CHECKS: Checks[PitKit] = Checks()
_clause = CHECKS.clause


# The meters.


@_clause("P22")
def _meters_come(kit: PitKit) -> None:
    table = kit.table()
    a_meter(table)
    later = Wire(kit.address, [table.topics.meters])
    try:
        later.wait(lambda: bool(later.heard), ANSWERS_WITHIN_S)
        if not later.heard or not later.heard[0].retained:
            raise BrokenError(
                "A client that connects later does not hear the meters at once: their word is not retained."
            )
        ends_s = time.monotonic() + _METERS_WATCHED_S
        table.send(*(table.lock(a_meter(table), (1,)) for _ in range(10)))
        time.sleep(max(0.0, ends_s - time.monotonic()))
    finally:
        later.close()
    times_s = [heard.at_s for heard in later.heard if not heard.retained]
    gaps_s = [after - before for before, after in pairwise([ends_s - _METERS_WATCHED_S, *times_s, ends_s])]
    if max(gaps_s) > 2.5:
        raise BrokenError(
            f"For {max(gaps_s):.1f} s no word on the meters came. A pit says the meters at least every 2 s."
        )
    if len(times_s) > 4 * _METERS_WATCHED_S + 2:
        raise BrokenError(f"{len(times_s)} words on the meters came in {_METERS_WATCHED_S:.0f} s: at most 4 a second.")


@_clause("P23")
def _meters_numbers(kit: PitKit) -> None:
    table = kit.table()
    a_meter(table)

    def look() -> None:
        since = len(table.wire.heard)
        if not table.wire.wait(lambda: len(table.meters(since)) >= _SEVERAL, _SEVERAL * ANSWERS_WITHIN_S):
            raise BrokenError(f"Fewer than {_SEVERAL} words on the meters came in {_SEVERAL * ANSWERS_WITHIN_S:.0f} s.")
        words = table.meters()
        for before, after in pairwise(words):
            if after.seq <= before.seq and after != before:
                raise BrokenError(
                    f"The meters' number {after.seq} came after {before.seq}: a table refuses the later word."
                )
        for word in words:
            if word.seq > (moment_ms(word.at) or 0) + MOST_LEAP_MS:
                raise BrokenError(
                    f"The meters' number {word.seq} is a time more than a second after the word's own `at`, {word.at}."
                )

    look()
    over_starts(kit, table, look)


@_clause("P24")
def _to_the_cent(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    share, holds = kit.share(table, meter), Holding(table, meter)
    others = _but(levels(table), meter)

    def wagered(what: str, spots: Sequence[str] = (SPOT,), **other: object) -> None:
        """Play ten rounds, in each of which three seats wager on the bet at each of the `spots`. Check that the meter
        grew by the right amount. `what` describes the wagers in the error's text. `other` gives fields that replace
        fields of the events."""
        locks = [table.lock(meter, (1, 3, 6), _ODD_PRICE_CENTS, spots=spots) for _ in range(_ODD_LOCKS)]
        table.send_bytes(*[table.make(lock, **other) for lock in locks])
        committed(table)
        wagered_cents = len(locks) * len(spots) * 3 * _ODD_PRICE_CENTS
        holds.moved(share * wagered_cents, f"{_ODD_LOCKS} rounds with three wagers of {_ODD_PRICE_CENTS} cents {what}")

    begun = table.round
    wagered("on a bet of the meter")
    wagered("on each of two bets of the meter", (SPOT, f"{SPOT}_2"))
    wagered("at a table that was cut off for a day", at=at_text(time.time_ns() // 1_000_000 - _DAY_MS))
    wagered("at a table whose clock is not set", at=at_text(1000), clock_synchronised=False)
    table.shoe, table.round = table.shoe + 1, begun
    wagered("in the next shoe, whose rounds are numbered anew")
    if (now := _but(levels(table), meter)) != others:
        raise BrokenError(f"Wagers on a bet of the meter {meter} alone moved other meters: from {others} to {now}.")
    if others:
        _each_meter_of_a_bet(kit, table, meter, max(others))
    _no_part_lost_at_a_restart(kit, table, meter)


def _but(levels_cents: dict[str, int], meter: str) -> dict[str, int]:
    return {name: cents for name, cents in levels_cents.items() if name != meter}


def _each_meter_of_a_bet(kit: PitKit, table: FarTable, meter: str, other: str) -> None:
    """Check a bet that feeds two meters, `meter` and `other`: it must add as much to `other` as a bet that feeds
    `other` alone does."""
    grown_cents = []
    for first, also in ((other, ()), (meter, (other,))):
        before_cents = level(table, other)
        table.send(table.lock(first, (1,), MUCH_CENTS, also=also))  # each in a round of its own, which is then voided
        committed(table)
        grown_cents.append(level(table, other) - before_cents)
        take_back(kit, table, (1,))
    alone, beside = grown_cents
    if abs(alone - beside) > 1:
        raise BrokenError(
            f"A wager on a bet of {other} grew that meter by {alone} cents. The same wager on a bet of {meter} and"
            f" {other} grew {other} by {beside} cents."
        )


def _no_part_lost_at_a_restart(kit: PitKit, table: FarTable, meter: str) -> None:
    """Check that the pit keeps a meter's fraction of a cent when its program is restarted. Before the restart, wagers
    bring the fraction to nearly a whole cent. After the restart, a small wager must complete the cent."""
    share, holds = kit.share(table, meter), Holding(table, meter)
    grain = share.denominator  # a wager adds so many parts of a cent, or a multiple of them

    def add(parts: int) -> None:
        """Make a wager that adds to the meter some whole cents and a fraction of a cent. The fraction is `parts`
        divided by `grain`."""
        price_cents = grain + parts * pow(share.numerator, -1, grain) % grain
        table.send(table.lock(meter, (1,), price_cents))
        committed(table)
        holds.moved(share * price_cents, f"a wager of {price_cents} cents, of which {share} goes on the meter")

    width = Fraction(2)
    while width > (width := holds.below - holds.least) > _CLOSE:
        add(ceil((1 - holds.least - width / 2) * grain) % grain)  # the upper half makes a cent, and the lower does not
    add(floor((1 - holds.below) * grain))
    kit.restart(table)
    add(ceil((1 - holds.least) * grain) % grain)


@_clause("P25")
def _refused_gives_nothing(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    before_cents = level(table, meter)
    table.send(table.lock(meter, (), refused=(1, 2)))
    committed(table)
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(f"Wagers that were refused moved the meter {meter} from {before_cents} to {now_cents} cents.")


@_clause("P26")
def _void(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    share, holds = kit.share(table, meter), Holding(table, meter)
    price_cents = _ODD_PRICE_CENTS * 100
    table.send(
        table.lock(meter, _SEATS, price_cents),
        table.dealt(_SEATS, ()),
        table.lock(meter, _SEATS, price_cents, spots=(SPOT, f"{SPOT}_2")),
    )
    committed(table)
    holds.moved(share * price_cents * 21, "two rounds with seven wagers, of which the second has two bets")
    for voided, what, taken in (((3,), "one wager", 1), (_SEATS, "the bet's other six wagers", 6)):
        void = table.send(table.void(voided))
        committed(table)
        holds.moved(0, f"the void of {what} in the second round")
        kit.restart(table)
        holds.moved(0, f"the void of {what}, and a restart")
        corrected(kit, table, void)
        holds.moved(-share * price_cents * taken, f"the correction of the void of {what}")
        kit.correct(table, void)
        holds.moved(0, "the correction of a void that was corrected before")
    for won, left in (("1:10", Fraction(9, 10)), ("1:1", Fraction(0))):
        begun_cents = level(kit.table(), meter)
        table, holds, award, void = _voided_after_a_hit(kit, price_cents, won)
        what = f"the correction of a void of two wagers that were locked before a hit won {won} of the meter"
        if left:
            corrected(kit, table, void)
        else:
            kit.correct(table, void)
        holds.moved(-share * price_cents * 2 * left, what)
        reject(kit, table, award)
        if not left:
            kit.correct(table, void)  # where a correction of nothing counted, the meter bears it now
        void = table.send(table.void((1,)))
        committed(table)
        corrected(kit, table, void)
        _must_hold(table, begun_cents, f"A hit won {won}, it was rejected, and every void was corrected")


def _voided_after_a_hit(kit: PitKit, price_cents: int, won: str) -> tuple[FarTable, Holding, AwardStep, int]:
    """Void two wagers after a hit has won the meter to which they were added. The wagers are locked in one round, a hit
    wins the share `won` of the meter in the next round, and only then are the two wagers voided.

    Returns the table, the amount that its meter holds after the hit, the hit's award, and the number of the event that
    voided the wagers.
    """
    table = kit.table()
    meter = a_meter(table)
    table.send(table.lock(meter, (1, 2), price_cents))
    committed(table)
    before = table.round
    table, _, (award,) = hits(kit, [("", won)])
    holds, last = Holding(table, meter), table.round
    table.round = before
    void = table.send(table.void((1, 2)))
    committed(table)
    holds.moved(0, f"the void of two wagers that were locked before a hit won {won} of the meter")
    table.round = last
    return table, holds, award, void


# Hits and awards.


@_clause("P27")
def _hit_of_a_meter(kit: PitKit) -> None:
    meter = a_meter(kit.table())
    others = _but(levels(kit.table()), meter)
    table, before_cents, (step,) = hits(kit, [("", "1:1")])
    if (step.table, step.seat, step.tier, step.meter) != (table.table, 1, "kit", meter):
        raise BrokenError(f"The award of a hit at seat 1 on {meter} says seat {step.seat}, {step.tier}, {step.meter}.")
    if step.cents != before_cents:
        raise BrokenError(f"The award of the meter {meter} is of {step.cents} cents. The meter was at {before_cents}.")
    if (now := _but(levels(table), meter)) != others:
        raise BrokenError(f"A hit of the meter {meter} moved other meters: from {others} to {now}.")
    if level(table, meter) == before_cents:
        raise BrokenError(
            f"The meter {meter} was won and stays at {before_cents} cents: a meter that was won must begin again."
        )


@_clause("P28")
def _hit_of_a_fixed_amount(kit: PitKit) -> None:
    table, before_cents, (step,) = hits(kit, [5000])
    if (step.cents, step.meter) != (5000, None):
        raise BrokenError(f"The award of a fixed 5000 cents is of {step.cents} cents, meter {step.meter}.")
    meter = a_meter(table)
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(f"A fixed award moved the meter {meter} from {before_cents} to {now_cents} cents.")


@_clause("P29")
def _two_hits_divide(kit: PitKit) -> None:
    for count, restarts in ((2, False), (2, True), (3, False)):
        _, before_cents, steps = hits(kit, [("", "1:1")] * count, restarts)
        cents = [step.cents for step in steps]
        each_cents, odd_cents = divmod(before_cents, count)
        due_cents = [each_cents + (place < odd_cents) for place in range(count)]
        if cents != due_cents:
            between = ", with a restart of the pit before the last of them," if restarts else ""
            raise BrokenError(
                f"{count} hits of one round{between} won {cents} of a meter at {before_cents} cents. Their parts are"
                f" {due_cents}: cents that are left over go to the first hits, one each."
            )


@_clause("P30")
def _a_share(kit: PitKit) -> None:
    table, before_cents, (step,) = hits(kit, [("", "1:10")])
    if step.cents != before_cents // 10:
        raise BrokenError(f"A tenth of a meter at {before_cents} cents is {step.cents} cents by the pit.")
    rest_cents = before_cents - step.cents
    if (now_cents := level(table, a_meter(table))) != rest_cents:
        raise BrokenError(f"After a tenth was won the meter is at {now_cents} cents. The rest is {rest_cents}.")
    _, before_cents, steps = hits(kit, [("", "1:2"), ("", "1:10")])
    cents, half_cents = [step.cents for step in steps], before_cents // 2
    if cents != [half_cents, (before_cents - half_cents) // 10]:
        raise BrokenError(
            f"Hits of one round won half of a meter at {before_cents} cents and then a tenth of the rest. By the pit"
            f" that is {cents}."
        )


@_clause("P31")
def _no_second_award(kit: PitKit) -> None:
    table, _, (step,) = hits(kit, [7700])
    since = len(table.wire.heard)
    table.send_bytes(*table.made[-4:])
    repeated(table, since, "a hit that the pit has")
    time.sleep(QUIET_S)
    said = table.steps()
    table.go()
    table.come()
    table.send(table.reset())
    committed(table)
    time.sleep(QUIET_S)
    names = {each.award for each in [*said, *table.steps()] if each.hit == step.hit} - {step.award}
    if names:
        raise BrokenError(f"A hit that was told twice has two awards: {step.award} and {', '.join(names)}.")


@_clause("P32")
def _said_until_told(kit: PitKit) -> None:
    table = kit.table()

    def hit(cents: int) -> str:
        """Play a round with a hit that wins a fixed amount of `cents`, wait until the pit has committed the hit, and
        return the hit's id."""
        table.send(table.lock(a_meter(table), (1,)), table.dealt((1,), (1,)), table.hit(1, cents))
        committed(table)
        return f"{table.table}/{table.epoch}/{len(table.made)}"

    def said(id_: str) -> list[AwardStep]:
        return [step for step in table.steps() if step.hit == id_]

    def must_be_said(id_: str, when: str) -> AwardStep:
        if not table.wire.wait(lambda: bool(said(id_)), ANSWERS_WITHIN_S):
            raise BrokenError(f"{when} no award of the hit {id_} came, which the stream has not told.")
        return said(id_)[-1]

    def must_not_be_said(id_: str, when: str) -> None:
        if said(id_):
            raise BrokenError(f"{when} a step of the hit {id_} was said again, which the stream has told.")

    first = hit(1100)
    must_be_said(first, "After the hit")
    _come_back(table)
    must_be_said(first, "After the table came back")
    table.go()
    table.connect()
    table.send(table.award(must_be_said(first, "After the table's connection was cut, and stood again,")))
    second = hit(1200)
    must_be_said(second, "After the hit")
    kit.restart(table)
    _come_back(table)
    table.wire.wait(lambda: bool(said(first) or said(second)), ANSWERS_WITHIN_S)
    must_not_be_said(first, "After the pit's restart")
    table.send(table.award(must_be_said(second, "After the pit's restart")))
    committed(table)
    _come_back(table)
    table.send(table.reset())
    committed(table)
    table.wire.wait(lambda: bool(said(first) or said(second)), QUIET_S)
    for told in (first, second):
        must_not_be_said(told, "After the table came back")


def _come_back(table: FarTable) -> None:
    """End and restart the simulated table's program, so that the table forgets all messages that it has received."""
    table.go()
    table.come()


@_clause("P33")
def _decided(kit: PitKit) -> None:
    _all_hits_come_first(kit)
    table, _, (award, other) = hits(kit, [2200, 1300])
    before = levels(table)
    kit.must_refuse(table, award, "pay", which="nobody has verified")
    last = award
    for deed, step in (("verify", "verified"), ("pay", "paid")):
        kit.decide(deed, table, award)
        last = _next_step(table, last, step)
        if last.cents != 2200:
            raise BrokenError(f"The award of 2200 cents is of {last.cents} cents in its step {step!r}.")
    kit.decide("verify", table, other)
    verified = _next_step(table, other, "verified")
    kit.must_refuse(table, award, "pay", "reject", which="is paid")
    if (now := levels(table)) != before:
        raise BrokenError(f"Fixed awards were verified and paid, which moved meters from {before} to {now}.")
    kit.restart(table)
    kit.decide("pay", table, other)  # so decisions are possible again
    _next_step(table, verified, "paid")
    kit.must_refuse(table, award, "pay", "reject", which="was paid before the pit's restart")
    time.sleep(QUIET_S)
    if after := [each for each in table.steps() if each.award == award.award and each.seq > last.seq]:
        raise BrokenError(f"After the award {award.award} was paid, the pit said its step {after[-1].step!r}.")


def _all_hits_come_first(kit: PitKit) -> None:
    """Check that nobody can decide on the award of the first of two hits that share a meter, before the second hit has
    come. Until the second hit comes, the first award is the meter's whole level, which is too much."""
    table = kit.table()
    meter, since = a_meter(table), len(table.wire.heard)
    table.send(table.lock(meter, (1, 2)), table.dealt((1, 2), (1, 2)), table.hit(1, (meter, "1:1", 0)))
    committed(table)
    hit = f"{table.table}/{table.epoch}/{len(table.made)}"
    echo(table, since, {hit})
    award = next(step for step in table.steps(since) if step.hit == hit)
    kit.must_refuse(table, award, "verify", "reject", which="shares its level with a hit that is still to come")
    since = len(table.wire.heard)
    table.send(table.hit(2, (meter, "1:1", 0)))
    committed(table)
    echo(table, since, {hit})
    kit.decide("verify", table, award)
    _next_step(table, award, "verified")


def _next_step(table: FarTable, last: AwardStep, step: str) -> AwardStep:
    def came() -> list[AwardStep]:
        return [each for each in table.steps() if each.award == last.award and each.step == step]

    if not table.wire.wait(lambda: bool(came()), ANSWERS_WITHIN_S):
        raise BrokenError(f"The award {last.award} was {step} by a person, and the table did not hear it.")
    told = came()[-1]
    if told.seq <= last.seq:
        raise BrokenError(f"The step {step!r} has number {told.seq}, not higher than {last.seq} before it.")
    if not told.by.strip():
        raise BrokenError(f"The step {step!r} does not name the person who took it.")
    table.send(table.award(told))
    committed(table)
    return told


@_clause("P34")
def _rejected(kit: PitKit) -> None:
    table, before_cents, (pending,) = hits(kit, [("", "1:1")])
    reject(kit, table, pending)
    kit.must_refuse(table, pending, "verify", "pay", "reject", which="is rejected")
    _must_hold(table, before_cents, "A whole level was won, and its award was rejected")
    _rejected_of_a_shared_level(kit)
    _rejected_before_a_later_level(kit)


def reject(kit: PitKit, table: FarTable, award: AwardStep) -> AwardStep:
    """Have a person at the pit reject the award, wait for the pit's step "rejected", and confirm it in an event of the
    table. Returns the step."""
    kit.decide("reject", table, award)
    return _next_step(table, award, "rejected")


def _must_hold(table: FarTable, due_cents: int, when: str) -> None:
    meter = a_meter(table)
    if (now_cents := level(table, meter)) != due_cents:
        raise BrokenError(f"{when}. Then the meter {meter} is at {now_cents} cents, and must be at {due_cents}.")


def _rejected_of_a_shared_level(kit: PitKit) -> None:
    """Check what a pit does when two hits share a meter and one of them is rejected. If the award of the second hit is
    still pending, it becomes the whole level. If the second hit is already paid, the rejected share goes back on the
    meter."""
    table, before_cents, (first, second) = hits(kit, [("", "1:1"), ("", "1:1")])
    begun_cents = level(table, a_meter(table))
    reject(kit, table, first)

    def anew() -> list[AwardStep]:
        return [step for step in table.steps() if step.award == second.award and step.seq > second.seq]

    table.wire.wait(lambda: bool(anew()), ANSWERS_WITHIN_S)
    if [(step.step, step.cents) for step in anew()[:1]] != [("pending", before_cents)]:
        raise BrokenError(
            f"Two hits share a level of {before_cents} cents, and the first is rejected. The second must be pending"
            " again, with the whole level."
        )
    table.send(table.award(anew()[0]))
    committed(table)
    _must_hold(table, begun_cents, "Of two hits that share a level the first was rejected")
    reject(kit, table, anew()[0])
    _must_hold(table, before_cents, "Both hits that share a level were rejected")
    table, _, (first, second) = hits(kit, [("", "1:1"), ("", "1:1")])
    begun_cents = level(table, a_meter(table))
    for deed, step in (("verify", "verified"), ("pay", "paid")):
        kit.decide(deed, table, first)
        _next_step(table, first, step)
    reject(kit, table, second)
    _must_hold(table, begun_cents + second.cents, "Of two hits that share a level the first was paid, then the second"
               " was rejected")  # fmt: skip


def _rejected_before_a_later_level(kit: PitKit) -> None:
    """Check that a pit treats a meter's seed (the amount with which the meter begins anew after a win) correctly, if
    two hits win the whole meter one after the other and both are rejected.

    When the first hit is rejected, its amount goes back on the meter and the seed stays. When the second hit is
    rejected as well, its amount goes back and one seed is taken off again.
    """
    table, before_cents, (first,) = hits(kit, [("", "1:1")])
    begun_cents = level(table, a_meter(table))
    table, later_cents, (second,) = hits(kit, [("", "1:1")])
    now_cents = level(table, a_meter(table))
    reject(kit, table, first)
    _must_hold(table, now_cents + first.cents, "Two rounds won the whole level one after the other, and the first hit"
               " was rejected")  # fmt: skip
    reject(kit, table, second)
    due_cents = before_cents + later_cents - begun_cents
    _must_hold(table, due_cents, "Two rounds won the whole level one after the other, and both hits were rejected")


@_clause("P35")
def _awards_are_not_retained(kit: PitKit) -> None:
    table, _, _ = hits(kit, [3300])
    heard = first_heard(kit.address, table.topics.award, QUIET_S)
    if heard is not None and heard.retained:
        raise BrokenError("A step of an award is retained: a table that comes back would hear an old step.")


@_clause("P36")
def _tables_are_apart(kit: PitKit) -> None:
    one = kit.table()
    other = kit.new_table()
    since, at = len(one.wire.heard), len(one.made)
    other.send(*(other.reset() for _ in range(5)))
    committed(other)
    if any(ack.seq != at for ack in one.acks(since)):
        raise BrokenError("The events of one table moved the ack of another table.")
    meter = a_meter(other)
    locked_cents, holds = kit.share(other, meter) * LOCK_CENTS, Holding(other, meter)
    one.round = other.round = max(one.round, other.round)
    for table in (one, other):
        table.send(table.lock(meter, (1,)))
        committed(table)
    holds.moved(2 * locked_cents, "a wager at each of two tables, in rounds of the same number")
    back = take_back(kit, other, (1,))
    holds.moved(-locked_cents if back else 0, "the void of one table's wager, in rounds of the same number")


@_clause("P37")
def _test_hit(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    before_cents, since = level(table, meter), len(table.wire.heard)
    table.send({"type": "test_hit", "round": None, "seat": 1, "by": "Kit"})
    committed(table)
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(f"A test hit moved the meter {meter} from {before_cents} to {now_cents} cents.")
    if steps := table.steps(since):
        raise BrokenError(f"A test hit made an award of {steps[0].cents} cents.")


@_clause("P38")
def _no_such_meter(kit: PitKit) -> None:
    table, other = kit.new_table(), kit.new_table()
    meter = a_meter(table)
    table.send(table.lock(meter, (1,)))
    committed(table)
    lacked = _no_name_of(levels(table))
    before = table.round
    for body, what in (
        (table.lock(lacked, (1,)), "a wager"),
        (table.lock(meter, (1,), also=(lacked,)), "a wager on a bet of two meters"),
        (table.hit(1, (lacked, "1:1", 0)), "a hit"),
    ):
        waits, later = table.event(body), table.event(table.reset(), table.next_seq + 1)
        for payload in (waits, later):
            since = len(table.wire.heard)
            table.send_bytes(payload)
            repeated(table, since, f"{what} on a meter that the pit does not have, or the event after it,")
    other.send(other.lock(meter, (1,)))
    committed(other)
    table.round = before
    table.send(table.lock(meter, (1,)), table.lock(lacked, (), refused=(1,)))
    committed(table)


def _no_name_of(meters: dict[str, int]) -> str:
    return f"{max(meters, key=len)[:50]}_2"
