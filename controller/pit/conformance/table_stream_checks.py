"""The conformance checks of a table's state messages and events, and of how the table handles the pit's
acknowledgements and the pit's key."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

from msgspec import to_builtins
from msgspec.structs import replace

from controller.contract.bounds import MOST_PAYLOAD_BYTES
from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord, moment_ms
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.far_pit import FarPit
from controller.pit.conformance.table_kit import (
    TableKit,
    again,
    alarmed,
    believed,
    heard,
    not_believed,
    quiet,
    these,
    waiting,
    wrong_form,
)
from controller.pit.conformance.wire import Message, at_text, first_heard

_WINDOW = 50
_NOT_RESENT_S = 2.0 + 2 * QUIET_S  # an event that is sent again comes by then
_OTHERS_FORGOTTEN_S = 10.0 + QUIET_S  # a table looks back so far for words by other keys, before it follows a hand-over
_SEVERAL = 3
_TRIES = 2  # an ack that was on its way may come after the new event was sent: then T35 asks nothing of the table
_BEHIND = "journal_behind_pit"
_NO_WORDS = (b"", b"{", b"\xff\xfe", b"[]", b"null", b'"ack"', b"[" * 900, b'{"seq": 1e999}', b'{"seq": -1}')

CHECKS: Checks[TableKit] = Checks()
_clause = CHECKS.clause


# The state, and the stream.


@_clause("T01")
def _state(kit: TableKit) -> None:
    first = first_heard(kit.address, f"{kit.address.root}/{kit.table}/state", ANSWERS_WITHIN_S)
    if first is None or not first.retained:
        raise BrokenError("A client that connects later hears no state of the table: the state is not retained.")
    state = first.message
    wrong_form("state", [state])
    if state["table"] != kit.table or state["online"] is not True:
        raise BrokenError(f"The state is of the table {state['table']!r}, online {state['online']}.")


@_clause("T02")
def _will(kit: TableKit) -> None:
    pit = kit.pit()
    before, since = pit.state, len(pit.states)
    kit.deeds.do("restart")

    def later(online: bool) -> list[Message]:
        return [state for state in pit.states[since:] if state.get("online") is online]

    if not pit.wait(lambda: bool(later(False)), ANSWERS_WITHIN_S):
        raise BrokenError("The table's program ended, and no state with `online: false` came.")
    gone = later(False)[0]
    wrong_form("state", [gone])
    if (gone["epoch"], gone["boot"]) != (before["epoch"], before["boot"]):
        raise BrokenError(
            f"The will is of epoch {gone['epoch']}, boot {gone['boot']}. "
            f"The state before was of epoch {before['epoch']}, boot {before['boot']}."
        )
    if not pit.wait(lambda: pit.state.get("online") is True, 2 * ANSWERS_WITHIN_S):
        raise BrokenError("The table came back, and its state does not say `online: true`.")
    if int(str(pit.state["boot"])) <= int(str(before["boot"])):
        raise BrokenError(f"The next run has the boot number {pit.state['boot']}, not higher than {before['boot']}.")


@_clause("T03")
def _window(kit: TableKit) -> None:
    pit = kit.pit()
    head = len(pit.taken)
    pit.acks = False
    kit.events(_WINDOW + 10)
    time.sleep(QUIET_S)
    if (furthest := max(pit.numbers())) > head + _WINDOW:
        raise BrokenError(f"Event {furthest} was sent while the last acknowledged event was {head}: more than 50 wait.")
    pit.acks = True
    pit.say_ack()
    heard(pit, head + _WINDOW + 10)


@_clause("T04")
def _resend(kit: TableKit) -> None:
    pit, numbers = waiting(kit, _SEVERAL)
    since = len(pit.heard)
    if not again(pit, since, numbers):
        raise BrokenError(f"Without an ack the events {these(numbers)} were not all sent again.")
    first = list(dict.fromkeys(pit.numbers(since)))
    if first != sorted(first):
        raise BrokenError(f"The events were sent again in the order {first}.")
    if pit.changed:
        raise BrokenError(f"Event {pit.changed[0]} came again with other bytes.")


@_clause("T05")
def _acknowledged(kit: TableKit) -> None:
    pit = kit.pit()
    kit.goes_on(pit, _SEVERAL)
    since = len(pit.heard)
    time.sleep(_NOT_RESENT_S)
    if repeated := [seq for seq in pit.numbers(since) if seq <= int(str(pit.state["head_seq"]))]:
        raise BrokenError(f"Event {repeated[0]} was sent again after its ack.")


@_clause("T06")
def _table_restarts(kit: TableKit) -> None:
    kit.deeds.need("restart")
    pit, numbers = waiting(kit, _SEVERAL)
    since = len(pit.heard)
    kit.deeds.do("restart")
    after = next((place for place, each in enumerate(pit.heard) if place >= since and _is_offline(each.message)), since)
    if not again(pit, after, numbers):
        raise BrokenError(f"After the restart the events {these(numbers)}, which had no ack, were not all sent again.")
    if pit.changed:
        raise BrokenError(f"After the restart event {pit.changed[0]} came with other bytes.")
    if earlier := [seq for seq in pit.numbers(after) if seq < numbers[0]]:
        raise BrokenError(f"After the restart event {earlier[0]} was sent again, which the retained ack names.")


def _is_offline(message: Message) -> bool:
    return message.get("online") is False


@_clause("T07")
def _pit_away(kit: TableKit) -> None:
    pit = kit.pit()
    head = len(pit.taken)
    pit.go()
    try:
        kit.deeds.do("events", count=str(_SEVERAL))
    finally:
        pit.come()
    heard(pit, head + _SEVERAL)
    kit.rest(pit)


@_clause("T08")
def _broker_restarts(kit: TableKit) -> None:
    pit = kit.pit()
    since = len(pit.states)
    kit.deeds.do("broker")

    def online() -> bool:
        return any(state.get("online") is True for state in pit.states[since:])

    if not pit.wait(online, 3 * ANSWERS_WITHIN_S):
        raise BrokenError("After the broker's restart the table did not say its state.")
    kit.goes_on(pit)


# The pit's acks.


@_clause("T09")
def _back(kit: TableKit) -> None:
    pit = kit.pit()
    kit.goes_on(pit, _SEVERAL)
    head = len(pit.taken)
    numbers = range(head - _SEVERAL + 1, head + 1)
    lost = pit.forget(_SEVERAL)
    pit.say_ack()
    if not pit.wait(lambda: len(pit.taken) >= head, 3 * ANSWERS_WITHIN_S):
        raise BrokenError(f"The ack went back to event {head - _SEVERAL}, and {these(numbers)} were not sent again.")
    if pit.bodies(numbers) != lost:
        raise BrokenError(f"Of the events {these(numbers)} one came again with other bytes.")


@_clause("T10")
def _forged_ack(kit: TableKit) -> None:
    thief = SigningKey(os.urandom(32))

    def forge(pit: FarPit) -> None:
        word = pit.ack()
        later = at_text((moment_ms(word.at) or 0) + 1)
        unsigned = canonical(to_builtins(word))
        changed = canonical({**json.loads(word.payload(pit.key)), "at": later})
        for payload in (word.payload(thief), unsigned, changed):
            pit.wire.say(pit.topics.ack, payload)

    pit = not_believed(kit, forge, "acks that the pinned key has not signed")
    alarmed(pit, "pit_word_forged")


@_clause("T11")
def _strange_ack(kit: TableKit) -> None:
    def forge(pit: FarPit) -> None:
        pit.say_ack(replace(pit.ack(), table=f"{kit.table}-other"))
        pit.say_ack(replace(pit.ack(), epoch="0000000000"))

    not_believed(kit, forge, "acks of another table and of another epoch")


@_clause("T12")
def _old_ack(kit: TableKit) -> None:
    pit = kit.pit()
    kit.goes_on(pit)
    since = len(pit.heard)
    old = pit.ack(len(pit.taken) - 1)
    pit.say_ack(replace(old, at=at_text((moment_ms(old.at) or 0) - 60_000)))
    quiet(pit, since, "An ack that is a minute older than the last ack was believed:", _NOT_RESENT_S)


@_clause("T35")
def _ack_proves_itself(kit: TableKit) -> None:
    for _ in range(_TRIES):
        kit.goes_on(kit.pit())
        pit, numbers = waiting(kit)
        ack = pit.ack()
        pit.say_ack(replace(ack, at=at_text((moment_ms(ack.at) or 0) - 60_000)))
        if believed(pit, numbers[-1]):
            return
    raise BrokenError(
        f"The ack of event {numbers[-1]} was not believed. Its time is a minute before that of the last ack, and"
        " its event was first sent after that ack."
    )


@_clause("T13")
def _other_chain(kit: TableKit) -> None:
    _behind(kit, lambda pit: replace(pit.ack(), chain="ab" * 32), "an ack with another chain")


@_clause("T14")
def _ack_ahead(kit: TableKit) -> None:
    _behind(kit, lambda pit: replace(pit.ack(), seq=len(pit.taken) + 1000), "an ack of an event that was never sent")


def _behind(kit: TableKit, wrong: Callable[[FarPit], AckWord], what: str) -> None:
    kit.deeds.need("clear")
    pit = kit.pit()
    since = len(pit.heard)
    pit.say_ack(wrong(pit))
    if not pit.wait(lambda: pit.state.get("fault") == _BEHIND, ANSWERS_WITHIN_S):
        raise BrokenError(f"After {what} the table's state does not have the fault {_BEHIND!r}.")
    quiet(pit, since, f"After {what}", _NOT_RESENT_S)
    head = len(pit.taken)
    pit.say_ack()
    heard(pit, head + 1)  # the fault itself
    kit.deeds.do("clear", fault=_BEHIND)
    if not pit.wait(lambda: pit.state.get("fault") is None, ANSWERS_WITHIN_S):
        raise BrokenError(
            f"A later ack fits, and two people did what leaves the fault {_BEHIND!r}: the fault still stands."
        )


@_clause("T15")
def _no_words(kit: TableKit) -> None:
    pit = kit.pit()
    since, boot = len(pit.states), pit.state["boot"]
    for topic in (pit.topics.ack, pit.topics.award, pit.topics.meters, pit.topics.pit_key, pit.topics.wager):
        for payload in _NO_WORDS:
            pit.wire.say(topic, payload)
    pit.wait(lambda: any(map(_is_offline, pit.states[since:])), QUIET_S)
    if pit.state["boot"] != boot or any(map(_is_offline, pit.states[since:])):
        raise BrokenError("Bytes that are no word of a pit ended the table's program or its connection.")
    kit.goes_on(pit)


@_clause("T16")
def _too_long(kit: TableKit) -> None:
    pit = kit.pit()
    kit.goes_on(pit)
    since = len(pit.heard)
    back = pit.ack(len(pit.taken) - 1).payload(pit.key)
    pit.wire.say(pit.topics.ack, back + b" " * (MOST_PAYLOAD_BYTES["ack"] + 1 - len(back)))
    quiet(pit, since, "An ack of more than 1,000 bytes was believed:", _NOT_RESENT_S)
    for topic in (pit.topics.award, pit.topics.meters, pit.topics.pit_key, pit.topics.wager):
        pit.wire.say(topic, b" " * (MOST_PAYLOAD_BYTES[topic.rpartition("/")[2]] + 1))
    kit.goes_on(pit)


# The pit's key.


@_clause("T17")
def _other_key(kit: TableKit) -> None:
    thief = SigningKey(os.urandom(32))

    def forge(pit: FarPit) -> None:
        pit.say_key(thief)
        pit.say(pit.topics.ack, pit.ack(), thief)

    pit = not_believed(kit, forge, "a key to which the pinned key has not handed over, and an ack by that key")
    pit.say_key()
    alarmed(pit, "pit_key_differs")


@_clause("T18")
def _hand_over(kit: TableKit) -> None:
    kit.goes_on(kit.pit())
    time.sleep(_OTHERS_FORGOTTEN_S)  # checks before this one forged words
    pit, numbers = waiting(kit)
    former = pit.hand_over()
    pit.say_ack()
    if not believed(pit, numbers[-1]):
        raise BrokenError(f"The ack of event {numbers[-1]} by the new key was not believed after the hand-over.")
    not_believed(kit, lambda pit: pit.say(pit.topics.ack, pit.ack(), former), "an ack by the key that was handed over")


@_clause("T40")
def _hand_over_to_an_absent_table(kit: TableKit) -> None:
    kit.deeds.need("restart")
    kit.deeds.need("pin")
    pit, numbers = waiting(kit)
    pit.go()
    kit.deeds.do("restart")
    pit.rotate()
    pit.come()
    since = len(pit.heard)
    pit.say_ack()
    if not again(pit, since, numbers, times=2):
        raise BrokenError(f"An ack of event {numbers[-1]} by a key that nobody has compared was believed.")
    kit.deeds.do("pin", fingerprint=fingerprint(pit.key.public))
    pit.say_ack()
    if not believed(pit, numbers[-1]):
        raise BrokenError("A person pinned the key to which the pit handed over, and an ack by it was not believed.")
