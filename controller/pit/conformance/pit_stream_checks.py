"""The conformance checks of how a pit handles a table's stream of events: the pit's key, its acknowledgements, payloads
that are no event, and ends of the pit's program."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise

from controller.contract.bounds import MOST_PAYLOAD_BYTES
from controller.contract.canonical import canonical, parse_object
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.pit_words import AckWord, AwardStep, MetersWord, PitKeyWord, moment_ms
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.far_table import LOCK_CENTS, FarTable, in_words_of
from controller.pit.conformance.pit_kit import (
    MUCH_CENTS,
    Holding,
    PitKit,
    a_meter,
    committed,
    echo,
    last_void_corrected,
    level,
    not_committed,
    over_starts,
    repeated,
    restart_while_streaming,
    take_back,
)
from controller.pit.conformance.wire import NO_CHAIN, Heard, Message, first_heard

_ODD_PRICE_CENTS = 333
_SEATS = (1, 2, 3, 4, 5, 6, 7)
ENDS = 5
"""How often the pit's program ends while events stream."""

CHECKS: Checks[PitKit] = Checks()
_clause = CHECKS.clause


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
    since, said = len(table.wire.heard), table.acks()[-1]
    table.send_bytes(table.made[-1])
    repeated(table, since, "an event that the pit has")
    if (moment_ms(table.acks(since)[0].at) or 0) <= (moment_ms(said.at) or 0):
        raise BrokenError(
            f"The ack of {said.at} was said again with the same `at`: for a table the same bytes again are no sign"
            " of a pit, since anybody can repeat them."
        )
    if (now_cents := level(table, meter)) != before_cents:
        raise BrokenError(
            f"Wagers that were told twice moved the meter {meter} from {before_cents} to {now_cents} cents."
        )


@_clause("P07")
def _same_id_other_body(kit: PitKit) -> None:
    table = kit.table()
    meter = a_meter(table)
    table.send(table.lock(meter, (1,)))
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
    locks = [table.make(table.lock(meter, (1,), MUCH_CENTS)) for _ in range(50)]
    table.send_bytes(*reversed(locks[:10]), *locks[:30], *locks, *locks[20:], *locks)
    committed(table)
    grown_cents = level(table, meter) - before_cents
    table.send(table.lock(meter, (1,), MUCH_CENTS))
    committed(table)
    one_cents = level(table, meter) - before_cents - grown_cents
    if abs(grown_cents - 50 * one_cents) > 50:
        raise BrokenError(
            f"50 wagers that were sent again grew the meter by {grown_cents} cents, and one wager by {one_cents}."
        )


# Bytes that are not an event of an adopted table.


@_clause("P09")
def _forged(kit: PitKit) -> None:
    neighbour, table = kit.table(), kit.new_table()
    meter = a_meter(table)
    for body in (table.reset(), table.lock(meter, _SEATS), table.hit(1, 4400)):  # a pit may look at some types alone
        for forged, how in _forgeries(table, body, neighbour.key):
            not_committed(table, forged, f"an event {body['type']} {how}")


def _forgeries(table: FarTable, body: Message, neighbour: SigningKey) -> Iterator[tuple[bytes, str]]:
    """Yield forged events of the table, each with a text that says what is wrong with the event. Each forged event is
    made when the caller asks for it, with the number that the table's next event would have at that time."""
    yield canonical(parse_object(table.event(body)) | {"chain": "ab" * 32}), "that was changed after it was signed"
    yield table.event(body, signer=SigningKey(os.urandom(32)), chain="ab" * 32), "that another key has signed"
    yield table.event(body, signer=neighbour, chain="ab" * 32), "that another adopted table's key has signed"
    unsigned = parse_object(table.event(body, chain="ab" * 32))
    del unsigned["signature"]
    yield canonical(unsigned), "without a signature"


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
    meter = a_meter(table)
    locked_cents, holds = kit.share(table, meter) * 2 * LOCK_CENTS, Holding(table, meter)
    since = len(table.wire.heard)
    versions_of = {}
    for version in (1, 2, 3):
        _say_as(table, version, table.lock(meter, (1, 2)))
        holds.moved(locked_cents, f"a lock of two seats, of version {version} of the contract")
        _say_as(table, version, table.void((1, 2)))
        back = locked_cents if last_void_corrected(kit, table) else 0
        holds.moved(-back, f"a void of two seats, of version {version} of the contract, and its correction")
        _say_as(table, version, table.lock(meter, (1, 2)), table.dealt((1, 2), (1,)), table.hit(1, 4400))
        holds.moved(locked_cents, f"a lock of two seats, of version {version} of the contract")
        versions_of[f"{table.table}/{table.epoch}/{len(table.made)}"] = version
    echo(table, since, {*versions_of})
    for step in table.steps(since):
        if step.hit in versions_of and step.cents != 4400:
            version = versions_of[step.hit]
            raise BrokenError(f"A hit of 4400 cents, of version {version}, has an award of {step.cents} cents.")


def _say_as(table: FarTable, version: int, *bodies: Message) -> None:
    """Send these events in the form of the contract's earlier version `version`, and wait until the pit has committed
    them."""
    table.send_bytes(*[table.make(in_words_of(version, body), contract=version) for body in bodies])
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
    table, thief = kit.table(), SigningKey(os.urandom(32))
    table.say_state(thief)
    forged = table.event(table.reset(), signer=thief, chain="ab" * 32)
    not_committed(table, forged, "a state with another key for an adopted epoch, and an event that this key signed")
    table.say_state()


@_clause("P17")
def _new_epoch(kit: PitKit) -> None:
    former = kit.new_table()
    former.send(former.reset())
    committed(former)
    now = kit.keep(FarTable(kit.address, former.table))
    kit.adopt(now)
    meter = a_meter(now)
    now.send(now.reset(), now.lock(meter, _SEATS))
    committed(now)
    before_cents, since = level(now, meter), len(former.wire.heard)
    former.send(former.lock(meter, _SEATS, MUCH_CENTS))
    former.wire.wait(lambda: any(ack.seq > 1 for ack in former.acks(since)), QUIET_S)
    former.wire.close()
    if any(ack.seq > 1 for ack in former.acks(since)):
        raise BrokenError("An event of the former epoch was acknowledged after a new epoch was adopted.")
    now.send(now.reset())
    committed(now)
    if level(now, meter) != before_cents:
        raise BrokenError(f"Wagers of the former epoch moved the meter {meter} after a new epoch was adopted.")
    since = len(now.wire.heard)
    kit.adopt_again(now)
    now.send_bytes(*now.made)
    now.send(now.reset())
    committed(now, since)
    if (now_cents := level(now, meter)) != before_cents:
        raise BrokenError(
            f"An epoch was adopted a second time, and its events moved the meter {meter} from {before_cents} to"
            f" {now_cents} cents a second time."
        )


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
    share, holds, before = kit.share(table, meter), Holding(table, meter), table.round
    for _ in range(ENDS):
        restart_while_streaming(kit, table, lambda: table.lock(meter, (1,), _ODD_PRICE_CENTS))
    rounds = table.round - before
    streamed_cents = share * _ODD_PRICE_CENTS * rounds
    holds.moved(streamed_cents, f"{rounds} wagers of {_ODD_PRICE_CENTS} cents and {ENDS} ends of the pit's program")
    kit.restart(table)  # so that the last round's wager was locked before
    back = share * _ODD_PRICE_CENTS if take_back(kit, table, (1,)) else 0
    holds.moved(-back, "the void of a wager, which was locked before the pit's program ended, and its correction")


@_clause("P21")
def _ack_times(kit: PitKit) -> None:
    table = kit.table()

    def look() -> None:
        for _ in range(3):
            table.send(table.reset())
            committed(table)
        for before, after in pairwise(table.acks()):
            if (moment_ms(after.at) or 0) < (moment_ms(before.at) or 0):
                raise BrokenError(
                    f"An ack of {after.at} came after an ack of {before.at}: a table refuses an older ack."
                )

    look()
    over_starts(kit, table, look)
