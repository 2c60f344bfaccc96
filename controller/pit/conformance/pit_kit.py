"""Tools for the checks of a pit: tables that the pit has adopted, levels of meters, hits, and restarts of the pit."""

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
    """What every check of a pit needs: the broker's address, the acts of people, a table that the pit has adopted, and
    the pit's key."""

    def __init__(self, address: Address, deeds: Deeds) -> None:
        self.address = address
        self.deeds = deeds
        self._name = f"kit-{os.urandom(2).hex()}"
        self._tables: list[FarTable] = []
        self._share: Fraction | None = None
        self.limited: tuple[FarTable, str, int, Fraction] | None = None  # a meter that people gave a limit

    def close(self) -> None:
        """Disconnect every table of the kit from the broker."""
        for table in self._tables:
            table.wire.close()

    def table(self) -> FarTable:
        """Return a table whose events the pit has all committed. Where the last table's stream is unsound, a new table
        replaces it."""
        if self._tables:
            last = self._tables[-1]
            acks = last.acks()
            if acks and acks[-1].seq == len(last.made) and acks[-1].chain == last.chain_of(len(last.made)):
                return last
        return self.new_table()

    def new_table(self) -> FarTable:
        """Return a new table, of a name that was never used, which the pit has adopted."""
        table = self.keep(FarTable(self.address, f"{self._name}-{len(self._tables) + 1}"))
        self.adopt(table)
        return table

    def keep(self, table: FarTable) -> FarTable:
        """Keep the table connected until the kit ends, and return it. A pit may refuse to decide on awards while it has
        no adopted table."""
        self._tables.append(table)
        return table

    def adopt(self, table: FarTable) -> None:
        """Have a person at the pit adopt the table's epoch and key, and wait for the first ack. Raises BrokenError
        where none comes."""
        self.deeds.do("adopt", **_adoption(table))
        if not table.wire.wait(lambda: bool(table.acks()), ANSWERS_WITHIN_S):
            raise BrokenError(f"No ack of epoch {table.epoch} came on {table.topics.ack} after its adoption.")

    def adopt_again(self, table: FarTable) -> None:
        """Have a person at the pit adopt a table that is adopted already. The pit may refuse this."""
        self.deeds.refusal("adopt", **_adoption(table))

    def decide(self, deed: str, table: FarTable, award: AwardStep) -> None:
        """Have a person at the pit verify, pay or reject an award. A refusal is tried again for some seconds, because a
        pit that has just started may refuse at first. Raises DeedFailedError where the pit refuses to the end."""
        ends_s = time.monotonic() + ANSWERS_WITHIN_S
        while (refusal := self._refusal(deed, table, award)) is not None:
            if time.monotonic() > ends_s:
                raise DeedFailedError(refusal)

    def must_refuse(self, table: FarTable, award: AwardStep, *deeds: str, which: str) -> None:
        """Have a person at the pit try each of these deeds (such as pay) on the award. Raises BrokenError where the pit
        allows one of them. `which` describes the award in the error's text."""
        for deed in deeds:
            if self._refusal(deed, table, award) is None:
                raise BrokenError(f"The pit let a person {deed} the award {award.award}, which {which}.")

    def _refusal(self, deed: str, table: FarTable, award: AwardStep) -> str | None:
        return self.deeds.refusal(deed, table=table.table, award=award.award)

    def correct(self, table: FarTable, void: int) -> bool:
        """Have two people take off the meters what a void has left there; `void` is the number of the void's event.
        Returns whether the pit let them."""
        if self.deeds.refusal("correct", event=f"{table.table}/{table.epoch}/{void}") is not None:
            return False
        table.send(table.reset())  # a level that is said after this event's ack is a level after the correction
        committed(table)
        return True

    def restart(self, table: FarTable) -> None:
        """Have the pit's program end as by a power cut and start again, and wait until it repeats its ack to the
        table."""
        since = len(table.wire.heard)
        self.deeds.do("restart")
        repeated(table, since, "its restart")

    def set_clock(self, table: FarTable, behind_s: int) -> None:
        """Have the pit start again with a clock that is `behind_s` seconds slow, and wait until it repeats its ack to
        the table."""
        since = len(table.wire.heard)
        self.deeds.do("clock", behind_s=str(behind_s))
        repeated(table, since, f"a start with its clock {behind_s} s behind")

    def share(self, table: FarTable, meter: str) -> Fraction:
        """Return the part of a wager that goes on the meter, such as 12/100. A large wager measures the part the first
        time, and is voided afterwards, so that people can correct the meter."""
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
        """Return the public key that the pit announces. Raises BrokenError where it announces none."""
        heard = first_heard(self.address, f"{self.address.root}/pit-key", ANSWERS_WITHIN_S)
        word = None if heard is None else PitKeyWord.read(heard.message)
        if word is None:
            raise BrokenError("No word in the form of pit_key.schema.json came on the topic pit-key.")
        return bytes.fromhex(word.public_key)


def over_starts(kit: PitKit, table: FarTable, look: Callable[[], None]) -> None:
    """Call `look` after a restart of the pit, after a start with a clock that is behind, and after a start with a right
    clock.

    Raises NotTriedError where nobody can start the pit in one of these ways, after everything before it was tried.
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
    """Wait until the pit has acknowledged the table's last event, and return the ack. Raises BrokenError where no such
    ack comes in time, or where it has another number or chain."""
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
    """Wait until the pit repeats its last ack after `what` happened. Raises BrokenError where no ack comes, or where an
    ack shows that the pit has committed something else."""
    head = len(table.made)
    if not table.wire.wait(lambda: bool(table.acks(since)), ANSWERS_WITHIN_S):
        raise BrokenError(f"After {what} the pit did not say its last ack again.")
    wrong = [ack for ack in table.acks(since) if ack.seq != head or ack.chain != table.chain_of(head)]
    if wrong:
        raise BrokenError(f"After {what} the pit acknowledged event {wrong[0].seq} with the chain {wrong[0].chain}.")


def not_committed(table: FarTable, payload: bytes, what: str) -> None:
    """Send bytes that the pit must not commit, then a good event. Raises BrokenError unless the pit acknowledges the
    good event alone."""
    table.send_bytes(payload)
    since = len(table.wire.heard)
    table.send(table.reset())
    try:
        committed(table, since)
    except BrokenError as broken:
        raise BrokenError(f"After {what}: {broken}") from None


def levels(table: FarTable) -> dict[str, int]:
    """Return the amount on each meter, in cents, after all that the pit has committed so far.

    The amounts come from the newest message on the meters that arrived after the last ack and has a later `at`. Both
    conditions are needed: a message may be on its way when the pit commits, and the `at` of the meters may be ahead of
    the clock.
    """
    acked = max((place for place, heard in enumerate(table.wire.heard) if heard.topic == table.topics.ack), default=0)
    committed_ms = max((moment_ms(ack.at) or 0 for ack in table.acks(acked)), default=0)

    def said() -> list[MetersWord]:
        return [word for word in table.meters(acked) if (moment_ms(word.at) or 0) > committed_ms]

    if not table.wire.wait(lambda: bool(said()), ANSWERS_WITHIN_S):
        raise BrokenError(f"No word on the meters came within {ANSWERS_WITHIN_S:.0f} s.")
    return dict(said()[-1].meters)


def level(table: FarTable, meter: str) -> int:
    """Return the amount on one meter, in cents, after all that the pit has committed so far."""
    return levels(table)[meter]


class Holding:
    """What a meter must hold by the kit's own count: the whole cents that the pit announces, and a part of a cent.

    The pit announces no parts of a cent. The kit knows bounds of the part, and every move of the meter narrows them.
    Example: a tenth of a cent was added, and the level grew by 1. So the part was 9/10 at least, and is below 1/10 now.
    Where no part explains what the pit announces, the pit has lost or made up money.
    """

    def __init__(self, table: FarTable, meter: str) -> None:
        self._table = table
        self._meter = meter
        self.cents = level(table, meter)
        self.least, self.below = Fraction(0), Fraction(1)

    def moved(self, by_cents: Fraction | int, what: str) -> None:
        """Check that the meter has moved by exactly `by_cents` after `what` happened. Raises BrokenError where the
        pit's level does not fit."""
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
    the meters as they were. Returns whether the meters were corrected."""
    table.send(table.void(seats))
    committed(table)
    return last_void_corrected(kit, table)


def last_void_corrected(kit: PitKit, table: FarTable) -> bool:
    """Have people correct the meters after the void that is the table's last event. Returns False where nobody can do
    that."""
    with suppress(NotTriedError):
        corrected(kit, table, len(table.made))
        return True
    return False


def corrected(kit: PitKit, table: FarTable, void: int) -> None:
    """Have two people correct the meters after the void that is event number `void`. Refusals are tried again for some
    seconds, because a pit that has just started may refuse at first. Raises BrokenError where the pit refuses to the
    end."""
    ends_s = time.monotonic() + ANSWERS_WITHIN_S
    while not kit.correct(table, void):
        if time.monotonic() > ends_s:
            raise BrokenError(f"Two people could not correct the meters after the void that is event {void}.")


@contextmanager
def _streaming(table: FarTable, body: Callable[[], Message]) -> Iterator[None]:
    """Let the table send an event from `body` every few milliseconds, on a thread of its own, while the `with` block
    runs. At most a window of events (50) waits for an ack."""
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
    """End the pit's program as a power cut would while the table streams events, and start the program again.

    The table sends unacknowledged events again as tables do: after 2 s, and immediately when the pit announces its key.
    Raises BrokenError unless all of them are acknowledged in the end, and where an ack goes back.
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
    """Send the events that are not acknowledged, again and again, as a table does, until the pit has acknowledged them
    all. `heard` is the place in the heard messages from which the pit's key counts as new. Raises BrokenError where
    time runs out."""
    ends_s = time.monotonic() + ANSWERS_WITHIN_S

    def due() -> bool:
        """Tell whether everything is acknowledged, or the pit has announced its key and so has begun to listen."""
        return table.acked() == len(table.made) or bool(table.heard_on(table.topics.pit_key, heard))

    while (acked := table.acked()) < len(table.made):
        if time.monotonic() > ends_s:
            raise BrokenError(f"After its restart the pit acknowledged event {acked} of {len(table.made)} at last.")
        table.wire.wait(due, _AGAIN_AFTER_S)
        heard = len(table.wire.heard)
        table.send_bytes(*table.made[max(0, table.acked() - _HEARD_AGAIN) :])


def _never_back(table: FarTable, since: int) -> None:
    """Check that no ack names an earlier event than the ack before it, and that each ack has the chain of its own
    event."""
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
    """Return the name of the pit's first meter in alphabetical order. Raises NotTriedError where the pit has no
    meter."""
    table.wire.wait(lambda: bool(table.meters()), ANSWERS_WITHIN_S)
    for word in table.meters():
        if word.meters:
            return min(word.meters)
    raise NotTriedError("the pit has no meter: give the pit a meter")


def hits(
    kit: PitKit, won: Sequence[tuple[str, str] | int], restarts: bool = False
) -> tuple[FarTable, int, list[AwardStep]]:
    """Play a round in which the first seats hit. Each entry of `won` is a meter with the share that is won, or an
    amount in cents. Returns the table, the level of its meter before the hits, and the awards.

    The level is one cent short of what several hits could share equally. With `restarts`, the pit's program is ended
    and started again before the last hit comes.
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
    """Let seat 1 win this share of the meter in the round that is locked. Returns the award."""
    since = len(table.wire.heard)
    hit = table.send(table.dealt((1,), (1,)), table.hit(1, (meter, share, 0)))
    committed(table)
    echo(table, since, {f"{table.table}/{table.epoch}/{hit}"})
    return table.steps(since)[-1]


def echo(table: FarTable, since: int, wanted: set[str]) -> None:
    """Confirm each step of an award that comes in an event, as a table does, until each of the `wanted` hits has its
    award and no more steps come. Raises BrokenError where a hit gets no award, or where a first step is not pending.

    A pit may send a table's steps one at a time, each after an event has confirmed the step before. A pit sends a
    pending award again where another hit of the same round made that award smaller.
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
