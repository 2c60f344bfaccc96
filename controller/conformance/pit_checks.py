"""One check for each clause that a pit keeps: what the kit does as its tables, and what it must hear.

`asyncapi.json` has the numbers. Checks share a table as long as its stream is sound.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from controller.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.conformance.deeds import Deeds, NotTriedError
from controller.conformance.far_table import FarTable
from controller.conformance.wire import NO_CHAIN, Address, Heard, Message, Wire, first_heard
from controller.contract.bounds import MOST_PAYLOAD_BYTES
from controller.contract.canonical import canonical, parse_object
from controller.contract.fingerprint import fingerprint
from controller.contract.pit_words import AckWord, AwardStep, MetersWord, PitKeyWord, moment_ms
from controller.keys import SigningKey, signature_holds

_METERS_WATCHED_S = 6.0
_MUCH_CENTS = 100_000_000
_ODD_PRICE_CENTS = 333
_ODD_LOCKS = 30
_SEATS = (1, 2, 3, 4, 5, 6, 7)


class PitKit:
    """What every check needs: the broker's address, the deeds, a table that the pit has adopted, the pit's key."""

    def __init__(self, address: Address, deeds: Deeds, name: str = "kit") -> None:
        self.address = address
        self.deeds = deeds
        self._name = f"{name}-{os.urandom(2).hex()}"
        self._tables: list[FarTable] = []

    def close(self) -> None:
        """Leave the broker."""
        for table in self._tables:
            table.wire.close()

    def table(self) -> FarTable:
        """A table whose events the pit has all committed. A new table replaces one whose stream is unsound."""
        if self._tables:
            last = self._tables[-1]
            acks = last.acks()
            if acks and acks[-1].seq == len(last.made) and acks[-1].chain == last.chain_of(len(last.made)):
                return last
        return self.new_table()

    def new_table(self) -> FarTable:
        """A table that nobody has heard before, adopted by the pit."""
        table = self.keep(FarTable(self.address, f"{self._name}-{len(self._tables) + 1}"))
        self.adopt(table)
        return table

    def keep(self, table: FarTable) -> FarTable:
        """Keep the table connected to the end: without an adopted table a pit may refuse to decide on awards."""
        self._tables.append(table)
        return table

    def adopt(self, table: FarTable) -> None:
        """Have a person at the pit adopt the table's epoch and key, and wait for the first ack."""
        key = table.key.public
        names = {"table": table.table, "epoch": table.epoch, "key": key.hex(), "fingerprint": fingerprint(key)}
        self.deeds.do("adopt", **names)
        if not table.wire.wait(lambda: bool(table.acks()), ANSWERS_WITHIN_S):
            raise BrokenError(f"No ack of epoch {table.epoch} came on {table.topics.ack} after its adoption.")

    def decide(self, deed: str, table: FarTable, award: AwardStep) -> None:
        """Have a person at the pit verify, pay or reject an award."""
        self.deeds.do(deed, table=table.table, award=award.award)

    def pit_key(self) -> bytes:
        """The key that the pit names as its own."""
        heard = first_heard(self.address, f"{self.address.root}/pit-key", ANSWERS_WITHIN_S)
        word = None if heard is None else PitKeyWord.read(heard.message)
        if word is None:
            raise BrokenError("No word in the form of pit_key.schema.json came on the topic pit-key.")
        return bytes.fromhex(word.public_key)


CHECKS: Checks[PitKit] = Checks()
_clause = CHECKS.clause


# What several checks use.


def committed(table: FarTable, since: int = 0) -> AckWord:
    """Wait until the pit has acknowledged every event of the table, the last event with its own chain."""
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
    """Wait until the pit says its last ack again after `what`, which it must not commit."""
    head = len(table.made)
    if not table.wire.wait(lambda: bool(table.acks(since)), ANSWERS_WITHIN_S):
        raise BrokenError(f"After {what} the pit did not say its last ack again.")
    wrong = [ack for ack in table.acks(since) if ack.seq != head or ack.chain != table.chain_of(head)]
    if wrong:
        raise BrokenError(f"After {what} the pit acknowledged event {wrong[0].seq} with the chain {wrong[0].chain}.")


def not_committed(table: FarTable, payload: bytes, what: str) -> None:
    """Send bytes that must not be committed, then a good event. Only the good event may be committed."""
    table.send_bytes(payload)
    since = len(table.wire.heard)
    table.send(table.reset())
    try:
        committed(table, since)
    except BrokenError as broken:
        raise BrokenError(f"After {what}: {broken}") from None


def level(table: FarTable, meter: str) -> int:
    """The amount on the meter, in cents, after all that the pit has committed so far.

    That is the amount in the first word on the meters whose `at` is later than that of the last ack.
    """
    committed_ms = max((moment_ms(ack.at) or 0 for ack in table.acks()), default=0)

    def said() -> list[MetersWord]:
        return [word for word in table.meters() if (moment_ms(word.at) or 0) > committed_ms]

    if not table.wire.wait(lambda: bool(said()), ANSWERS_WITHIN_S):
        raise BrokenError(f"No word on the meters came within {ANSWERS_WITHIN_S:.0f} s.")
    return said()[-1].meters[meter]


def a_meter(table: FarTable) -> str:
    """The name of one of the pit's meters: the first by name."""
    table.wire.wait(lambda: bool(table.meters()), ANSWERS_WITHIN_S)
    for word in table.meters():
        if word.meters:
            return min(word.meters)
    raise NotTriedError("the pit has no meter: give the pit a meter")


def hits(kit: PitKit, won: Sequence[tuple[str, str] | int]) -> tuple[FarTable, int, list[AwardStep]]:
    """A round in which the first seats hit, each a share of a meter or an amount. Returns the
    table, the level of its meter before the hits, and the awards."""
    table = kit.table()
    meter = a_meter(table)
    seats = tuple(range(1, len(won) + 1))
    table.send(table.lock(meter, seats))
    committed(table)
    before_cents = level(table, meter)
    since = len(table.wire.heard)
    each = [one if isinstance(one, int) else (one[0] or meter, one[1], before_cents) for one in won]
    table.send(table.dealt(seats, seats), *(table.hit(seat, one) for seat, one in zip(seats, each, strict=True)))
    committed(table)
    ids = [f"{table.table}/{table.epoch}/{len(table.made) - len(won) + place}" for place in range(1, len(won) + 1)]
    echo(table, since, set(ids))
    steps = {step.hit: step for step in table.steps(since)}
    return table, before_cents, [steps[id_] for id_ in ids]


def echo(table: FarTable, since: int, wanted: set[str]) -> None:
    """Tell every step of the awards that comes, as a table does, until each of these hits has its award and no
    more steps come.

    A pit may say a table's steps one at a time, each after the stream has told the step before. It says a pending award
    again where another hit of the same round made that award smaller.
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


# The key and the acks.


@_clause("P01")
def _key(kit: PitKit) -> None:
    kit.pit_key()
    heard = first_heard(kit.address, f"{kit.address.root}/pit-key", QUIET_S)
    if heard is None or not heard.retained:
        raise BrokenError("A client that connects later hears no key: nothing is retained on the topic pit-key.")
    word = PitKeyWord.read(heard.message)
    if word is None or not signature_holds(heard.message, bytes.fromhex(word.public_key)):
        raise BrokenError("The word on the pit's key is not signed by that key.")


@_clause("P02")
def _first_ack(kit: PitKit) -> None:
    table = kit.new_table()
    first = table.acks()[0]
    if (first.seq, first.chain) != (0, NO_CHAIN):
        raise BrokenError(f"The first ack of an adopted epoch is of event {first.seq}, chain {first.chain}.")


@_clause("P03")
def _forms(kit: PitKit) -> None:
    table = kit.table()
    key = kit.pit_key()
    since = len(table.wire.heard)
    table.send(table.reset())
    committed(table, since)
    table.wire.wait(lambda: bool(table.heard_on(table.topics.meters, since)), ANSWERS_WITHIN_S)
    for topic, word in (
        (table.topics.ack, AckWord),
        (table.topics.award, AwardStep),
        (table.topics.meters, MetersWord),
    ):
        for heard in table.heard_on(topic):
            _must_be_sound(heard, word.read(heard.message) is not None, key)
    if any(parse_object(heard.payload).get("table") != table.table for heard in table.heard_on(table.topics.ack)):
        raise BrokenError(f"An ack on {table.topics.ack} does not name its table.")


def _must_be_sound(heard: Heard, in_form: bool, key: bytes) -> None:
    shown = heard.payload[:200].decode("utf-8", "replace")
    if not in_form:
        raise BrokenError(f"A word on {heard.topic} does not have the form of its schema: {shown}")
    if canonical(heard.message) != heard.payload:
        raise BrokenError(f"A word on {heard.topic} is not canonical JSON: {shown}")
    if not signature_holds(heard.message, key):
        raise BrokenError(f"A word on {heard.topic} is not signed by the key that the topic pit-key names: {shown}")


@_clause("P04")
def _in_order(kit: PitKit) -> None:
    table = kit.table()
    table.send(*(table.reset() for _ in range(20)))
    committed(table)
    heard = first_heard(kit.address, table.topics.ack, ANSWERS_WITHIN_S)
    ack = AckWord.read(heard.message) if heard is not None and heard.retained else None
    if ack is None or ack.seq != len(table.made):
        raise BrokenError("A client that connects later does not hear the last ack: the ack is not retained.")


@_clause("P05")
def _gap(kit: PitKit) -> None:
    table = kit.table()
    head = len(table.made)
    missing, beyond = table.event(table.reset(), head + 1), table.event(table.reset(), head + 2)
    since = len(table.wire.heard)
    table.send_bytes(beyond)
    repeated(table, since, f"event {head + 2} without event {head + 1}")
    table.made += [missing, beyond]
    table.send_bytes(missing, beyond)
    committed(table)


@_clause("P06")
def _same_again(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    table.send(table.lock(meter, _SEATS))
    committed(table)
    before_cents = level(table, meter)
    since = len(table.wire.heard)
    table.send_bytes(table.made[-1])
    repeated(table, since, "an event that the pit has")
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(
            f"Wagers that were told twice moved the meter {meter} from {before_cents} to {now_cents} cents."
        )


@_clause("P07")
def _same_id_other_body(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    table.send(table.reset())
    committed(table)
    before_cents, since = level(table, meter), len(table.wire.heard)
    table.send_bytes(table.event(table.lock(meter, _SEATS), len(table.made)))
    repeated(table, since, "another body under an id that the pit has")
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(
            f"Another body under a committed id moved the meter {meter} from {before_cents} to {now_cents}."
        )


@_clause("P08")
def _window_again(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    before_cents = level(table, meter)
    locks = [table.make(table.lock(meter, (1,), _MUCH_CENTS)) for _ in range(50)]
    table.send_bytes(*reversed(locks[:10]), *locks[:30], *locks, *locks[20:], *locks)
    committed(table)
    grown_cents = level(table, meter) - before_cents
    table.send(table.lock(meter, (1,), _MUCH_CENTS))
    committed(table)
    one_cents = level(table, meter) - before_cents - grown_cents
    if abs(grown_cents - 50 * one_cents) > 50:
        raise BrokenError(
            f"50 wagers that were sent again grew the meter by {grown_cents} cents, and one wager by {one_cents}."
        )
    _take_back(table, 51, 1)


def _take_back(table: FarTable, rounds: int, seats: int) -> None:
    """Void the last rounds, so that what follows finds the meter as it was."""
    last = table.round
    for number in range(last - rounds + 1, last + 1):
        table.round = number
        table.send(table.void(range(1, seats + 1)))
    committed(table)


# Bytes that are not an event of an adopted table.


@_clause("P09")
def _forged(kit: PitKit) -> None:
    table = kit.table()
    event = parse_object(table.event(table.reset()))
    wrong_chain = {**event, "chain": "ab" * 32}
    not_committed(table, canonical(wrong_chain), "an event that was changed after it was signed")
    thief = SigningKey(os.urandom(32))
    honest, table.key = table.key, thief
    forged = table.event(table.reset(), chain="cd" * 32)
    table.key = honest
    not_committed(table, forged, "an event that another key has signed")
    unsigned = {name: value for name, value in event.items() if name != "signature"}
    not_committed(table, canonical({**unsigned, "chain": "ef" * 32}), "an event without a signature")


@_clause("P10")
def _not_canonical(kit: PitKit) -> None:
    table = kit.table()
    event = parse_object(table.event(table.reset(), chain="ab" * 32))
    not_committed(table, json.dumps(event, indent=1).encode(), "an event in JSON that is not canonical")


@_clause("P11")
def _of_another_table(kit: PitKit) -> None:
    table = kit.table()
    other = f"{table.table}-other"
    seq = table.next_seq
    strange = table.event(table.reset(), table=other, id=f"{other}/{table.epoch}/{seq}", chain="ab" * 32)
    not_committed(table, strange, "an event of another table on this table's topic")


@_clause("P12")
def _id_differs(kit: PitKit) -> None:
    table = kit.table()
    wrong = f"{table.table}/{table.epoch}/{table.next_seq + 7}"
    not_committed(
        table, table.event(table.reset(), id=wrong, chain="ab" * 32), "an event whose id does not fit its fields"
    )


@_clause("P13")
def _unknown_version(kit: PitKit) -> None:
    table = kit.table()
    not_committed(table, table.event(table.reset(), contract=99, chain="ab" * 32), "an event of an unknown contract")


@_clause("P14")
def _older_versions(kit: PitKit) -> None:
    table = kit.table()
    for version in (1, 2):
        table.wire.send(table.topics.event, [table.make(table.reset(), contract=version)])
        committed(table)


@_clause("P15")
def _not_adopted(kit: PitKit) -> None:
    stranger = FarTable(kit.address, f"{kit.table().table}-stranger")
    try:
        stranger.send(stranger.reset(), stranger.reset())
        beside = kit.table()
        beside.send(beside.reset())
        committed(beside)  # what came before was looked at
        stranger.wire.wait(lambda: any(ack.seq for ack in stranger.acks()), QUIET_S)
        if any(ack.seq for ack in stranger.acks()):
            raise BrokenError("Events of an epoch that nobody adopted were acknowledged.")
    finally:
        stranger.go()


@_clause("P16")
def _another_key(kit: PitKit) -> None:
    table = kit.table()
    honest, thief = table.key, SigningKey(os.urandom(32))
    table.say_state(thief)
    table.key = thief
    forged = table.event(table.reset(), chain="ab" * 32)
    table.key = honest
    not_committed(table, forged, "a state with another key for an adopted epoch, and an event that this key signed")
    table.say_state()


@_clause("P17")
def _new_epoch(kit: PitKit) -> None:
    former = kit.new_table()
    former.send(former.reset())
    committed(former)
    now = kit.keep(FarTable(kit.address, former.table))
    kit.adopt(now)
    now.send(now.reset(), now.reset())
    committed(now)
    meter = a_meter(now)
    before_cents, since = level(now, meter), len(former.wire.heard)
    former.send(former.lock(meter, _SEATS, _MUCH_CENTS))
    former.wire.wait(lambda: any(ack.seq > 1 for ack in former.acks(since)), QUIET_S)
    former.wire.close()
    if any(ack.seq > 1 for ack in former.acks(since)):
        raise BrokenError("An event of the former epoch was acknowledged after a new epoch was adopted.")
    now.send(now.reset())
    committed(now)
    if level(now, meter) != before_cents:
        raise BrokenError(f"Wagers of the former epoch moved the meter {meter} after a new epoch was adopted.")


@_clause("P18")
def _garbage(kit: PitKit) -> None:
    table = kit.table()
    for garbage in (b"", b"\xff" * 100, b"null", b"[]", b"{", b"[" * 10_000, b'{"seq":1e999}', os.urandom(1000)):
        table.send_bytes(garbage)
    not_committed(table, b'{"id":1}', "bytes that are not a message")


@_clause("P19")
def _too_long(kit: PitKit) -> None:
    table = kit.table()
    longest = MOST_PAYLOAD_BYTES["event"]
    body: Message = {**table.reset(), "by": "x" * longest}
    not_committed(table, table.event(body, chain="ab" * 32), f"an event of more than {longest:,} bytes")


# Over an end of the program.


@_clause("P20")
def _restart(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    table.send(table.lock(meter, _SEATS), *(table.reset() for _ in range(10)))
    committed(table)
    before_cents, since = level(table, meter), len(table.wire.heard)
    kit.deeds.do("restart")
    repeated(table, since, "its restart")
    table.send_bytes(*table.made[-11:])
    table.send(table.reset())
    committed(table)
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(
            f"After a restart and a resend the meter {meter} is at {now_cents} cents. Before: {before_cents}."
        )


@_clause("P21")
def _ack_times(kit: PitKit) -> None:
    table = kit.table()
    for _ in range(3):
        table.send(table.reset())
        committed(table)
    for before, after in pairwise(table.acks()):
        if (moment_ms(after.at) or 0) < (moment_ms(before.at) or 0):
            raise BrokenError(f"An ack of {after.at} came after an ack of {before.at}: a table refuses an older ack.")


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
    with_restart = True
    try:
        kit.deeds.do("restart")
    except NotTriedError:
        with_restart = False
    since = len(table.wire.heard)
    table.wire.wait(lambda: len(table.meters(since)) >= 3, 3 * ANSWERS_WITHIN_S)
    words = table.meters()
    for before, after in pairwise(words):
        if after.seq <= before.seq and after != before:
            raise BrokenError(
                f"The meters' number {after.seq} came after {before.seq}: a table refuses the later word."
            )
    for word in words:
        if word.seq > (moment_ms(word.at) or 0) + 1000:
            raise BrokenError(f"The meters' number {word.seq} is a time after the word's own `at`, {word.at}.")
    if not with_restart:
        raise NotTriedError("the numbers grow while the pit runs; nobody could restart it")


@_clause("P24")
def _to_the_cent(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    before_cents = level(table, meter)
    table.send(table.lock(meter, (1,), _MUCH_CENTS))
    committed(table)
    share = Fraction(level(table, meter) - before_cents, _MUCH_CENTS).limit_denominator(10_000)
    if share == 0:
        raise BrokenError(f"A wager of {_MUCH_CENTS} cents on a bet of the meter {meter} did not move that meter.")
    _take_back(table, 1, 1)
    before_cents = level(table, meter)
    for _ in range(_ODD_LOCKS):
        table.send(table.lock(meter, (1, 3, 6), _ODD_PRICE_CENTS))
    committed(table)
    grown_cents = level(table, meter) - before_cents
    exactly = share * 3 * _ODD_PRICE_CENTS * _ODD_LOCKS
    if abs(grown_cents - exactly) > 1:
        raise BrokenError(
            f"{3 * _ODD_LOCKS} wagers of {_ODD_PRICE_CENTS} cents, of which {share} goes on {meter}, grew the meter by "
            f"{grown_cents} cents instead of {float(exactly):.2f}."
        )


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
    before_cents = level(table, meter)
    table.send(table.lock(meter, _SEATS, _ODD_PRICE_CENTS * 100))
    committed(table)
    if level(table, meter) <= before_cents:
        raise BrokenError(f"Seven wagers did not move the meter {meter}.")
    table.send(table.void(_SEATS))
    committed(table)
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(f"After a void the meter {meter} is at {now_cents} cents. Before the lock: {before_cents}.")


# Hits and awards.


@_clause("P27")
def _hit_of_a_meter(kit: PitKit) -> None:
    table, before_cents, (step,) = hits(kit, [("", "1:1")])
    meter = a_meter(table)
    if (step.table, step.seat, step.tier, step.meter) != (table.table, 1, "kit", meter):
        raise BrokenError(f"The award of a hit at seat 1 on {meter} says seat {step.seat}, {step.tier}, {step.meter}.")
    if step.cents != before_cents:
        raise BrokenError(f"The award of the meter {meter} is of {step.cents} cents. The meter was at {before_cents}.")
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
    _, before_cents, steps = hits(kit, [("", "1:1"), ("", "1:1")])
    cents = [step.cents for step in steps]
    if sum(cents) != before_cents or abs(cents[0] - cents[1]) > 1:
        raise BrokenError(f"Two hits of one round won {cents} of a meter at {before_cents} cents. Each must have half.")


@_clause("P30")
def _a_share(kit: PitKit) -> None:
    table, before_cents, (step,) = hits(kit, [("", "1:10")])
    if step.cents != before_cents // 10:
        raise BrokenError(f"A tenth of a meter at {before_cents} cents is {step.cents} cents by the pit.")
    rest_cents = before_cents - step.cents
    if (now_cents := level(table, a_meter(table))) != rest_cents:
        raise BrokenError(f"After a tenth was won the meter is at {now_cents} cents. The rest is {rest_cents}.")


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
    table.send(table.lock(a_meter(table), (1,)), table.dealt((1,), (1,)))
    table.send(table.hit(1, 1100))
    committed(table)
    id_ = f"{table.table}/{table.epoch}/{len(table.made)}"

    def said() -> list[AwardStep]:
        return [step for step in table.steps() if step.hit == id_]

    if not table.wire.wait(lambda: bool(said()), ANSWERS_WITHIN_S):
        raise BrokenError(f"No award of the hit {id_} came.")
    table.go()
    table.come()
    if not table.wire.wait(lambda: bool(said()), ANSWERS_WITHIN_S):
        raise BrokenError("The table came back and did not hear again of an award that its stream has not told yet.")
    table.send(table.award(said()[-1]))
    committed(table)
    table.go()
    table.come()
    table.send(table.reset())
    committed(table)
    table.wire.wait(lambda: bool(said()), QUIET_S)
    if said():
        raise BrokenError("An award's step was said again after the table's stream had told it.")


@_clause("P33")
def _decided(kit: PitKit) -> None:
    table, _, (pending,) = hits(kit, [2200])
    last = pending
    for deed, step in (("verify", "verified"), ("pay", "paid")):
        kit.decide(deed, table, pending)
        last = _next_step(table, last, step)
        if last.cents != 2200:
            raise BrokenError(f"The award of 2200 cents is of {last.cents} cents in its step {step!r}.")


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
    kit.decide("reject", table, pending)
    _next_step(table, pending, "rejected")
    if (now_cents := level(table, a_meter(table))) != before_cents:
        raise BrokenError(f"A rejected award leaves its meter at {now_cents} cents. Before the hit: {before_cents}.")


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
    one.send(one.reset())
    committed(one)


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
