"""Tools for the conformance checks of a pit: tables that the pit has adopted, levels of meters, hits, and restarts of
the pit."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from itertools import pairwise

from controller.contract.fingerprint import fingerprint
from controller.contract.pit_words import AckWord, AwardStep, MetersWord, PitKeyWord, moment_ms
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError
from controller.pit.conformance.deeds import DeedFailedError, Deeds, NotTriedError
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.wire import Address, Message, first_heard

MUCH_CENTS = 100_000_000
"""The price of a wager that is large enough to measure what it moves, such as a meter's share."""
_PRICES_CENTS = range(500, 600, 9)
_WINDOW = 50
_STREAM_EVERY_S = 0.005
_AGAIN_AFTER_S = 2.0
_HEARD_AGAIN = 10  # events that the pit has acknowledged, and hears again after its start
_BEHIND_S = 60  # far more than a pit may count ahead of its clock, and no day
_STREAMED = 20  # events that are acknowledged before the program's end comes


class PitKit:
    """What every conformance check of a pit needs: the broker's address, the acts of people, a simulated table that the
    pit has adopted, and the pit's key."""

    def __init__(self, address: Address, deeds: Deeds) -> None:
        self.address = address
        self.deeds = deeds
        self._name = f"kit-{os.urandom(2).hex()}"
        self._tables: list[FarTable] = []
        self._share: Fraction | None = None
        self.limited: tuple[FarTable, str, int, Fraction] | None = None  # a meter that people gave a limit

    def close(self) -> None:
        """Disconnect all simulated tables of this test from the broker."""
        for table in self._tables:
            table.wire.close()

    def table(self) -> FarTable:
        """Return a simulated table of which the pit has committed every event. This is the table used last, or a new
        one if the pit's last acknowledgement does not match that table's events."""
        if self._tables:
            last = self._tables[-1]
            acks = last.acks()
            if acks and acks[-1].seq == len(last.made) and acks[-1].chain == last.chain_of(len(last.made)):
                return last
        return self.new_table()

    def new_table(self) -> FarTable:
        """Return a new simulated table under a name that was never used before, which the pit has adopted."""
        table = self.keep(FarTable(self.address, f"{self._name}-{len(self._tables) + 1}"))
        self.adopt(table)
        return table

    def keep(self, table: FarTable) -> FarTable:
        """Keep the table connected until the tests end, and return it. A pit may refuse decisions on awards while no
        adopted table is connected."""
        self._tables.append(table)
        return table

    def adopt(self, table: FarTable) -> None:
        """Have a person at the pit adopt the table's key and its epoch (the random name of its journal), and wait for
        the pit's first acknowledgement. Raises BrokenError if none comes in time."""
        self.deeds.do("adopt", **_adoption(table))
        if not table.wire.wait(lambda: bool(table.acks()), ANSWERS_WITHIN_S):
            raise BrokenError(f"No ack of epoch {table.epoch} came on {table.topics.ack} after its adoption.")

    def adopt_again(self, table: FarTable) -> None:
        """Have a person at the pit adopt a table that the pit has already adopted. The pit may refuse this."""
        self.deeds.refusal("adopt", **_adoption(table))

    def decide(self, deed: str, table: FarTable, award: AwardStep) -> None:
        """Have a person at the pit verify, pay or reject an award, as `deed` says. A refused decision is repeated for
        some seconds, because a pit that has just started may refuse at first. Raises DeedFailedError if the pit still
        refuses after that time."""
        ends_s = time.monotonic() + ANSWERS_WITHIN_S
        while (refusal := self._refusal(deed, table, award)) is not None:
            if time.monotonic() > ends_s:
                raise DeedFailedError(refusal)

    def must_refuse(self, table: FarTable, award: AwardStep, *deeds: str, which: str) -> None:
        """Have a person at the pit try each of these decisions (such as "pay") on the award. Raises BrokenError if the
        pit allows one of them. `which` says in the error's text why the pit must refuse, such as "is rejected"."""
        for deed in deeds:
            if self._refusal(deed, table, award) is None:
                raise BrokenError(f"The pit let a person {deed} the award {award.award}, which {which}.")

    def _refusal(self, deed: str, table: FarTable, award: AwardStep) -> str | None:
        return self.deeds.refusal(deed, table=table.table, award=award.award)

    def correct(self, table: FarTable, void: int) -> bool:
        """Have two people correct the meters after a voided round: they subtract what the voided wagers had added.
        `void` is the number of the event that voided the round. Returns whether the pit allowed the correction."""
        if self.deeds.refusal("correct", event=f"{table.table}/{table.epoch}/{void}") is not None:
            return False
        table.send(table.reset())  # a level that is said after this event's ack is a level after the correction
        committed(table)
        return True

    def restart(self, table: FarTable) -> None:
        """Have the pit's program end as in a power cut and start anew, and wait until the pit repeats its
        acknowledgement to the table."""
        since = len(table.wire.heard)
        self.deeds.do("restart")
        repeated(table, since, "its restart")

    def set_clock(self, table: FarTable, behind_s: int) -> None:
        """Have the pit's program end and start anew with a clock that is `behind_s` seconds slow, and wait until the
        pit repeats its acknowledgement to the table."""
        since = len(table.wire.heard)
        self.deeds.do("clock", behind_s=str(behind_s))
        repeated(table, since, f"a start with its clock {behind_s} s behind")

    def share(self, table: FarTable, meter: str) -> Fraction:
        """Return the part of a wager that the pit adds to the meter, such as 12/100. The first call measures this part
        with a large wager, voids the wager, and has people correct the meter if they can.

        Raises BrokenError if the wager does not change the meter.
        """
        if self._share is None:
            before_cents = level(table, meter)
            table.send(table.lock(meter, (1,), MUCH_CENTS))
            committed(table)
            self._share = Fraction(level(table, meter) - before_cents, MUCH_CENTS).limit_denominator(10_000)
            take_back(self, table, (1,))
        if self._share <= 0:
            raise BrokenError(f"A wager of {MUCH_CENTS} cents on a bet of the meter {meter} did not move that meter.")
        return self._share

    def pit_key(self) -> bytes:
        """Return the public key that the pit announces. Raises BrokenError if the pit announces none."""
        heard = first_heard(self.address, f"{self.address.root}/pit-key", ANSWERS_WITHIN_S)
        word = None if heard is None else PitKeyWord.read(heard.message)
        if word is None:
            raise BrokenError("No word in the form of pit_key.schema.json came on the topic pit-key.")
        return bytes.fromhex(word.public_key)


def over_starts(kit: PitKit, table: FarTable, look: Callable[[], None]) -> None:
    """Start the pit anew three times, and call `look`, which checks the pit, after each start. The first start is a
    plain restart. The second has a clock that is a minute slow. The third has the right clock again.

    Raises NotTriedError if nobody can restart the pit, or if nobody can set its clock. In the second case the check
    after the plain restart was still made.
    """
    try:
        kit.restart(table)
    except NotTriedError as not_tried:
        raise NotTriedError(f"while the pit runs, the clause is kept; {not_tried}") from None
    look()
    try:
        kit.deeds.need("clock")
    except NotTriedError as not_tried:
        raise NotTriedError(f"over a restart, the clause is kept; {not_tried}") from None
    try:
        kit.set_clock(table, _BEHIND_S)
        look()
    finally:
        kit.set_clock(table, 0)
    look()


def _adoption(table: FarTable) -> dict[str, str]:
    key = table.key.public
    return {"table": table.table, "epoch": table.epoch, "key": key.hex(), "fingerprint": fingerprint(key)}


def committed(table: FarTable, since: int = 0) -> AckWord:
    """Wait until the pit has acknowledged the table's last event, and return that acknowledgement. Raises BrokenError
    if none comes in time, or if it has a wrong event number or a wrong chain value. Only messages in the list of
    received messages from index `since` onwards count."""
    wanted = len(table.made)
    if not table.wire.wait(lambda: any(ack.seq >= wanted for ack in table.acks(since)), ANSWERS_WITHIN_S):
        acks = table.acks()
        at = f"the last ack is of {acks[-1].seq}" if acks else "no ack came"
        raise BrokenError(f"Event {wanted} was not acknowledged within {ANSWERS_WITHIN_S:.0f} s: {at}.")
    ack = next(ack for ack in table.acks(since) if ack.seq >= wanted)
    if ack.seq != wanted:
        raise BrokenError(f"The ack is of event {ack.seq}. The table has made {wanted} events.")
    if ack.chain != table.chain_of(wanted):
        raise BrokenError(
            f"The ack of event {wanted} has the chain {ack.chain}. The event's chain is {table.chain_of(wanted)}."
        )
    return ack


def repeated(table: FarTable, since: int, what: str) -> None:
    """Wait until the pit repeats its last acknowledgement to the table. Raises BrokenError if none comes in time, or if
    one names another event than the table's last event, or another chain value.

    Only acknowledgements from index `since` of the list of received messages onwards count. The error's text begins
    with "After" and `what`, such as "its restart".
    """
    head = len(table.made)
    if not table.wire.wait(lambda: bool(table.acks(since)), ANSWERS_WITHIN_S):
        raise BrokenError(f"After {what} the pit did not say its last ack again.")
    wrong = [ack for ack in table.acks(since) if ack.seq != head or ack.chain != table.chain_of(head)]
    if wrong:
        raise BrokenError(f"After {what} the pit acknowledged event {wrong[0].seq} with the chain {wrong[0].chain}.")


def not_committed(table: FarTable, payload: bytes, what: str) -> None:
    """Send a payload that the pit must not commit, and after it a correct event. Raises BrokenError unless the pit
    acknowledges the correct event alone. `what` describes the payload in the error's text."""
    table.send_bytes(payload)
    since = len(table.wire.heard)
    table.send(table.reset())
    try:
        committed(table, since)
    except BrokenError as broken:
        raise BrokenError(f"After {what}: {broken}") from None


def levels(table: FarTable) -> dict[str, int]:
    """Return the pit's present amount on each meter: a dictionary from the meter's name to cents. Every event that the
    pit has committed so far is included.

    The amounts come from the pit's newest message on the meters. The message must have arrived after the pit's last
    acknowledgement, and its time `at` must be later than the acknowledgement's. Both are needed, because a message may
    already be on its way when the pit commits an event, and its `at` may be ahead of the clock.
    """
    acked = max((place for place, heard in enumerate(table.wire.heard) if heard.topic == table.topics.ack), default=0)
    committed_ms = max((moment_ms(ack.at) or 0 for ack in table.acks(acked)), default=0)

    def said() -> list[MetersWord]:
        return [word for word in table.meters(acked) if (moment_ms(word.at) or 0) > committed_ms]

    if not table.wire.wait(lambda: bool(said()), ANSWERS_WITHIN_S):
        raise BrokenError(f"No word on the meters came within {ANSWERS_WITHIN_S:.0f} s.")
    return dict(said()[-1].meters)


def level(table: FarTable, meter: str) -> int:
    """Return the pit's present amount on one meter, in cents. Every event that the pit has committed so far is
    included."""
    return levels(table)[meter]


class Holding:
    """The amount that a meter must hold by the test's own count. It has two parts: the whole cents that the pit
    announces, and a fraction of a cent that the pit does not announce.

    The test knows only that the fraction is at least `least` and less than `below`, and narrows these two bounds at
    every change of the meter. Example: a tenth of a cent was added, and the announced level grew by 1. So the fraction
    was at least 9/10 before, and is less than 1/10 now. If no fraction is possible, the pit has lost money or made it
    up.
    """

    def __init__(self, table: FarTable, meter: str) -> None:
        self._table = table
        self._meter = meter
        self.cents = level(table, meter)
        self.least, self.below = Fraction(0), Fraction(1)

    def moved(self, by_cents: Fraction | int, what: str) -> None:
        """Check that the meter's level has changed by exactly `by_cents`. Raises BrokenError if the level that the pit
        announces does not fit. `what` names in the error's text what caused the change."""
        now_cents = level(self._table, self._meter)
        to_whole = by_cents - (now_cents - self.cents)
        least, below = max(Fraction(0), self.least + to_whole), min(Fraction(1), self.below + to_whole)
        if least >= below:
            raise BrokenError(
                f"After {what}, the meter {self._meter} is at {now_cents} cents. Before, the meter was at {self.cents}"
                f" cents and a part of a cent from {float(self.least):.4f}, below {float(self.below):.4f}."
                f" {float(by_cents):.4f} cents were due."
            )
        self.cents, self.least, self.below = now_cents, least, below


def take_back(kit: PitKit, table: FarTable, seats: Sequence[int]) -> bool:
    """Void the wagers of these seats in the last round, and have people correct the meters, so that later checks find
    the meters unchanged. Returns whether the meters were corrected."""
    table.send(table.void(seats))
    committed(table)
    return last_void_corrected(kit, table)


def last_void_corrected(kit: PitKit, table: FarTable) -> bool:
    """Have people correct the meters after a voided round: they subtract what the voided wagers had added. The table's
    last event is the one that voided the round. Returns False if nobody can make this correction."""
    with suppress(NotTriedError):
        corrected(kit, table, len(table.made))
        return True
    return False


def corrected(kit: PitKit, table: FarTable, void: int) -> None:
    """Have two people correct the meters after a voided round: they subtract what the voided wagers had added. `void`
    is the number of the event that voided the round.

    A refused correction is repeated for some seconds, because a pit that has just started may refuse at first. Raises
    BrokenError if the pit still refuses after that time.
    """
    ends_s = time.monotonic() + ANSWERS_WITHIN_S
    while not kit.correct(table, void):
        if time.monotonic() > ends_s:
            raise BrokenError(f"Two people could not correct the meters after the void that is event {void}.")


@contextmanager
def _streaming(table: FarTable, body: Callable[[], Message]) -> Iterator[None]:
    """While the `with` block runs, let the table send events in a thread, one every few milliseconds. `body` makes the
    body of each event. At most 50 events wait for their acknowledgement at any time."""
    ends = threading.Event()

    def stream() -> None:
        while not ends.wait(_STREAM_EVERY_S):
            if table.next_seq - table.acked() <= _WINDOW:
                table.send(body())

    thread = threading.Thread(target=stream, name="stream", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def restart_while_streaming(kit: PitKit, table: FarTable, body: Callable[[], Message]) -> None:
    """End the pit's program as in a power cut while the table sends many events, start it anew, and check that no event
    is lost. `body` makes the body of each event.

    The table repeats unacknowledged events as real tables do: after 2 s, and immediately when the pit announces its
    key. Raises BrokenError if the pit does not acknowledge all events in the end. Raises BrokenError too if an
    acknowledgement names an earlier event than the acknowledgement before it.
    """
    since, begun = len(table.wire.heard), len(table.made)
    with _streaming(table, body):
        if not table.wire.wait(lambda: table.acked() >= begun + _STREAMED, ANSWERS_WITHIN_S):
            raise BrokenError(f"Of a stream of events {table.acked() - begun} were acknowledged in time.")
        heard = len(table.wire.heard)
        kit.deeds.do("restart")
    table.send(table.reset())  # an event that only the new program can acknowledge
    _send_until_acknowledged(table, heard)
    _never_back(table, since)


def _send_until_acknowledged(table: FarTable, heard: int) -> None:
    """Repeat the unacknowledged events, as a table does, until the pit has acknowledged all of them. Raises BrokenError
    if that takes too long.

    `heard` is an index in the list of received messages. If the pit's key comes at this index or later, the events are
    repeated immediately.
    """
    ends_s = time.monotonic() + ANSWERS_WITHIN_S

    def due() -> bool:
        """Return True if the pit has acknowledged every event, or if it has announced its key. The key shows that the
        pit has begun to listen."""
        return table.acked() == len(table.made) or bool(table.heard_on(table.topics.pit_key, heard))

    while (acked := table.acked()) < len(table.made):
        if time.monotonic() > ends_s:
            raise BrokenError(f"After its restart the pit acknowledged event {acked} of {len(table.made)} at last.")
        table.wire.wait(due, _AGAIN_AFTER_S)
        heard = len(table.wire.heard)
        table.send_bytes(*table.made[max(0, table.acked() - _HEARD_AGAIN) :])


def _never_back(table: FarTable, since: int) -> None:
    """Check that no acknowledgement names an earlier event than the one before it, and that each has the chain value of
    its own event. Only messages in the list of received messages from index `since` onwards count."""
    acks = table.acks(since)
    for before, after in pairwise(acks):
        if after.seq < before.seq:
            raise BrokenError(
                f"Event {before.seq} was acknowledged, and after the pit's restart only event {after.seq}:"
                " acknowledged events are lost."
            )
    for ack in acks:
        if ack.seq > len(table.made) or ack.chain != table.chain_of(ack.seq):
            raise BrokenError(f"The ack of event {ack.seq} has the chain {ack.chain}, which is of no such event.")


def a_meter(table: FarTable) -> str:
    """Return the name of the pit's first meter in alphabetical order. Raises NotTriedError if the pit has no meter."""
    table.wire.wait(lambda: bool(table.meters()), ANSWERS_WITHIN_S)
    for word in table.meters():
        if word.meters:
            return min(word.meters)
    raise NotTriedError("the pit has no meter: give the pit a meter")


def hits(
    kit: PitKit, won: Sequence[tuple[str, str] | int], restarts: bool = False
) -> tuple[FarTable, int, list[AwardStep]]:
    """Play a round at a simulated table in which the first seats have a hit, one hit for each entry of `won`. Returns
    the table, the level of its meter in cents before the hits, and the awards in the order of the seats.

    An entry of `won` is either a fixed amount in cents, or a pair: the meter (empty for the pit's first meter), and the
    share of it that is won. For several hits, the wagers are chosen so that the level does not divide evenly: with
    three hits, 2 cents are left over. With `restarts`, the pit's program is restarted before it hears of the last hit.
    """
    table = kit.table()
    meter = a_meter(table)
    seats = tuple(range(1, len(won) + 1))
    for price_cents in _PRICES_CENTS:
        table.send(table.lock(meter, seats, price_cents))
        committed(table)
        before_cents = level(table, meter)
        if before_cents % len(won) == len(won) - 1:
            break
    since = len(table.wire.heard)
    each = [one if isinstance(one, int) else (one[0] or meter, one[1], before_cents) for one in won]
    *first, last = [table.hit(seat, one) for seat, one in zip(seats, each, strict=True)]
    table.send(table.dealt(seats, seats), *first)
    if restarts:
        committed(table)
        kit.restart(table)
    table.send(last)
    committed(table)
    ids = [f"{table.table}/{table.epoch}/{len(table.made) - len(won) + place}" for place in range(1, len(won) + 1)]
    echo(table, since, set(ids))
    steps = {step.hit: step for step in table.steps(since)}
    return table, before_cents, [steps[id_] for id_ in ids]


def win(table: FarTable, meter: str, share: str = "1:1") -> AwardStep:
    """End the round whose wagers are locked, with a hit of seat 1 that wins this share of the meter ("1:1" is all of
    it). Returns the award."""
    since = len(table.wire.heard)
    hit = table.send(table.dealt((1,), (1,)), table.hit(1, (meter, share, 0)))
    committed(table)
    echo(table, since, {f"{table.table}/{table.epoch}/{hit}"})
    return table.steps(since)[-1]


def echo(table: FarTable, since: int, wanted: set[str]) -> None:
    """Confirm each step of an award to the pit in an event of the table, as a table does. Returns as soon as each of
    the `wanted` hits has its award and no more steps come. Raises BrokenError if a hit gets no award, or if a step is
    not "pending".

    A pit may send its steps to a table one at a time, and wait for the table's event before the next step. If a second
    hit of the same round makes an award smaller, the pit sends that award's step "pending" a second time.
    """
    taken = 0
    told: set[str] = set()

    def new() -> list[AwardStep]:
        return [step for step in table.steps(since) if step.seq > taken]

    while table.wire.wait(lambda: bool(new()), ANSWERS_WITHIN_S if wanted - told else QUIET_S):
        step = new()[0]
        if step.step != "pending":
            raise BrokenError(f"The first step of the award of {step.hit} is {step.step!r}. It must be 'pending'.")
        taken = step.seq
        told.add(step.hit)
        table.send(table.award(step))
        committed(table)
    if wanted - told:
        raise BrokenError(f"No award of the hit {min(wanted - told)} came on {table.topics.award}.")
