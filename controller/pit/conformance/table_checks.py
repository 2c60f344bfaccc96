"""One check for each clause that a table keeps: what the kit does as its pit, and what it must hear.

The kit hears the table's whole stream from event 1: a pit that acknowledges event 0 is sent everything. So the last
clauses are tried on all that the table has said.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import controller.contract
from controller.contract.bounds import HASH, MOST_CENTS, MOST_PAYLOAD_BYTES
from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.pit_words import AckWord, AwardStep, moment_ms
from controller.contract.signing import signature_of
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.deeds import Deeds, NotTriedError
from controller.pit.conformance.far_pit import FarPit
from controller.pit.conformance.far_recognition import FarRecognition
from controller.pit.conformance.wire import NO_CHAIN, Address, Message, at_text, first_heard

_SCHEMAS = Path(controller.contract.__file__).with_name("schemas")
_WINDOW = 50
_NOT_RESENT_S = 2.0 + 2 * QUIET_S  # an event that is sent again comes by then
_LEVEL_CENTS = 1_000_000
_OTHER_LEVEL_CENTS = 1_234_500
_SEVERAL = 3
_BEHIND = "journal_behind_pit"
_FORGED_EVERY_S = 0.3
_NOT_JUDGED = ("wager_old", "wager_leaps", "wager_other_table", "wager_other_round", "recognition_key_due")
_NO_WORDS = (b"", b"{", b"\xff\xfe", b"[]", b"null", b'"ack"', b"[" * 900, b'{"seq": 1e999}', b'{"seq": -1}')


class TableKit:
    """What every check needs: the table's name, the deeds, a pit at the table, and the table's limit for silence."""

    def __init__(self, address: Address, deeds: Deeds, table: str, stale_after_s: float) -> None:
        self.address = address
        self.deeds = deeds
        self.table = table
        self.stale_after_s = stale_after_s
        self._pit: FarPit | None = None
        self._recognition: FarRecognition | None = None
        self._begun = False

    def close(self) -> None:
        """Leave the broker."""
        if self._pit is not None:
            self._pit.close()
        if self._recognition is not None:
            self._recognition.close()

    def pit(self) -> FarPit:
        """The pit, at rest: the pit has every event of the table, and the table knows that and finds the pit well."""
        if self._pit is None:
            self._pit = FarPit(self.address, self.table)
        pit = self._pit
        if not self._begun:
            self._begin(pit)
        pit.speak()
        self.rest(pit)
        return pit

    def recognition(self) -> FarRecognition:
        """Bet recognition, whose key two people have adopted at the table."""
        if self._recognition is None:
            self.deeds.need("recognition")
            recognition = FarRecognition(self.address, self.table)
            self._recognition = recognition
            self.adopt(recognition)
        return self._recognition

    def adopt(self, recognition: FarRecognition) -> None:
        """Have two people adopt this bet recognition's key, in place of another that they adopted before."""
        self.deeds.do("recognition", key=recognition.key.public.hex())

    def rest(self, pit: FarPit) -> None:
        """Wait until every event is committed and acknowledged."""

        def rests() -> bool:
            state = pit.state
            well = not pit.levels or state.get("pit") == "well"
            return state.get("unacknowledged") == 0 and state.get("head_seq") == len(pit.taken) and well

        if not pit.wait(rests, self.stale_after_s + 2 * ANSWERS_WITHIN_S):
            told = {name: pit.state.get(name) for name in ("online", "head_seq", "unacknowledged", "pit", "fault")}
            raise BrokenError(
                f"The kit's pit has acknowledged {len(pit.taken)} events, and the table's state stays {told}."
            )

    def _begin(self, pit: FarPit) -> None:
        """Have a person pin the pit's key, hear the whole stream, and learn the meters from a first round."""
        if not pit.wait(lambda: pit.state.get("online") is True, ANSWERS_WITHIN_S):
            raise BrokenError(f"No state with `online: true` came on {pit.topics.state}.")
        self.deeds.do("pin", fingerprint=fingerprint(pit.key.public))
        self._begun = True
        pit.say_ack()
        self.rest(pit)
        _, locked, _ = self.round(pit)
        pit.levels = {meter: _LEVEL_CENTS for bet in bets(locked) for meter in bet["meters"]}

    def events(self, count: int = 1) -> None:
        """Let the table make this many events at least, and wait until they have come."""
        assert self._pit is not None
        head = len(self._pit.taken)
        self.deeds.do("events", count=str(count))
        heard(self._pit, head + min(count, _WINDOW))

    def goes_on(self, pit: FarPit, count: int = 1) -> None:
        """The stream must go on: the table makes this many events at least, and each is committed and acknowledged."""
        self.events(count)
        self.rest(pit)

    def round(self, pit: FarPit, deed: str = "round") -> tuple[int, Message, Message]:
        """Let a round be dealt to its end. Returns the number of events before it, its lock and its round."""
        before = len(pit.taken)
        self.deeds.do(deed)
        locked, round_ = (came(pit, type_, before, deed) for type_ in ("wagers_locked", "round"))
        return before, locked, round_

    def hit(self, pit: FarPit) -> Message:
        """A hit, of a fixed amount where that can be dealt, else of a meter."""
        must_play(self, pit)
        try:
            before, _, _ = self.round(pit, "hit_fixed")
        except NotTriedError:
            before, _, _ = self.round(pit, "hit_meter")
        return came(pit, "hit", before, "hit")


CHECKS: Checks[TableKit] = Checks()
_clause = CHECKS.clause


# What several checks use.


def heard(pit: FarPit, seq: int) -> None:
    """Wait until event `seq` has come."""
    if not pit.wait(lambda: len(pit.taken) >= seq, 2 * ANSWERS_WITHIN_S):
        raise BrokenError(f"Event {seq} did not come. The last that came in order is {len(pit.taken)}.")


def came(pit: FarPit, type_: str, after: int, deed: str) -> Message:
    """The first event of this type after event number `after`."""
    if not pit.wait(lambda: bool(pit.events_of(type_, after)), 2 * ANSWERS_WITHIN_S):
        since = ", ".join(str(event.get("type")) for event in pit.taken[after:]) or "none"
        raise BrokenError(f"After the deed {deed!r} no event {type_!r} came. The events since then: {since}.")
    return pit.events_of(type_, after)[0]


def again(pit: FarPit, since: int, numbers: Iterable[int], times: int = 1) -> bool:
    """Whether each of these events comes at least `times` times from message number `since` on."""
    return pit.wait(lambda: all(pit.numbers(since).count(seq) >= times for seq in numbers), times * ANSWERS_WITHIN_S)


def quiet(pit: FarPit, since: int, what: str, for_s: float) -> None:
    """No event may come for so long."""
    pit.wait(lambda: bool(pit.sent(since)), for_s)
    if numbers := pit.numbers(since):
        raise BrokenError(f"{what} the table sent event {numbers[0]}.")


def waiting(kit: TableKit, count: int = 1) -> tuple[FarPit, range]:
    """The pit, which acknowledges nothing, and the numbers of events that wait for their ack."""
    pit = kit.pit()
    head = len(pit.taken)
    pit.acks = False
    kit.events(count)
    return pit, range(head + 1, len(pit.taken) + 1)


def alarmed(pit: FarPit, code: str) -> None:
    """The stream must tell this alarm. A table may tell an alarm once in ten minutes: an earlier alarm counts."""
    pit.acks = True
    pit.say_ack()
    if not pit.wait(lambda: any(event["code"] == code for event in pit.events_of("alarm")), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the alarm {code!r}.")


def not_believed(kit: TableKit, forge: Callable[[FarPit], object], what: str) -> FarPit:
    """An event waits for its ack, and `forge` says what must not count as one: the event is sent again and again."""
    pit, numbers = waiting(kit)
    since = len(pit.heard)
    forge(pit)
    if not again(pit, since, numbers, times=2):
        raise BrokenError(
            f"After {what} event {numbers[-1]} was not sent again: the table took that for the event's ack."
        )
    return pit


def bets(event: Message) -> list[dict[str, Any]]:
    """The progressive bets of a lock or a void."""
    listed = event["progressive"]
    assert isinstance(listed, list)
    return listed


def plays(kit: TableKit, pit: FarPit) -> bool:
    """Whether the wager on a progressive bet plays in a round that is dealt now."""
    _, locked, _ = kit.round(pit)
    if not bets(locked):
        raise NotTriedError("the table's game has no progressive bet")
    playing = any(bet["seats"] for bet in bets(locked))
    if not playing and not any(bet["refused_seats"] for bet in bets(locked)):
        raise NotTriedError("the round had no wager on a progressive bet: the deed 'round' must lay a wager")
    return playing


def must_play(kit: TableKit, pit: FarPit) -> None:
    """The wager must play in one of the next rounds: a table may believe levels only from the second word on."""
    until_s = time.monotonic() + ANSWERS_WITHIN_S
    while not plays(kit, pit):
        if time.monotonic() > until_s:
            raise BrokenError("While the pit says acks and levels, a wager on a progressive bet was refused.")
        time.sleep(QUIET_S)


def must_not_play(kit: TableKit, pit: FarPit, what: str) -> None:
    """The wager must be refused."""
    if plays(kit, pit):
        raise BrokenError(f"{what} a wager on a progressive bet played.")


def silence(kit: TableKit) -> None:
    """Let the table's limit pass."""
    time.sleep(kit.stale_after_s + QUIET_S)


def cents_of(pit: FarPit, hit: Message) -> int:
    """What the award of a hit can be, in cents."""
    fixed, won = hit["fixed"], hit["progressive"]
    if isinstance(fixed, dict):
        return int(fixed["cents"])
    assert isinstance(won, dict)
    whole, parts = (int(part) for part in won["share"].split(":"))
    return pit.levels[won["meter"]] * whole // parts


def steps_told(pit: FarPit, word: AwardStep) -> list[Message]:
    """The table's events on this step."""
    return [event for event in pit.events_of("award") if (event["award"], event["step"]) == (word.award, word.step)]


def say_step(pit: FarPit, word: AwardStep) -> None:
    """Say a step, and wait until the stream tells it."""
    pit.say(pit.topics.award, word)
    if not pit.wait(lambda: bool(steps_told(pit, word)), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the step {word.step!r} of the award {word.award}.")


def not_told(pit: FarPit, words: Sequence[AwardStep], key: SigningKey | None = None) -> None:
    """Say steps that the table must not take, and see that the stream tells none of them."""
    before = len(pit.events_of("award"))
    for word in words:
        pit.say(pit.topics.award, word, key)
    pit.wait(lambda: len(pit.events_of("award")) > before, QUIET_S)
    if told := pit.events_of("award")[before:]:
        raise BrokenError(f"The stream tells a step that must not be taken: {told[0]['award']}, {told[0]['step']}.")


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
        raise BrokenError(f"Without an ack the events {_these(numbers)} were not all sent again.")
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
        raise BrokenError(f"After the restart the events {_these(numbers)}, which had no ack, were not all sent again.")
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
    head, since = len(pit.taken), len(pit.heard)
    numbers = range(head - _SEVERAL + 1, head + 1)
    pit.say_ack(pit.ack(head - _SEVERAL))
    if not again(pit, since, numbers):
        raise BrokenError(f"The ack went back to event {head - _SEVERAL}, and {_these(numbers)} were not sent again.")
    if pit.changed:
        raise BrokenError(f"Event {pit.changed[0]} came again with other bytes.")


@_clause("T10")
def _forged_ack(kit: TableKit) -> None:
    thief = SigningKey(os.urandom(32))

    def forge(pit: FarPit) -> None:
        word = pit.ack()
        later = at_text((moment_ms(word.at) or 0) + 1)
        unsigned = canonical(asdict(word))
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
    kit.goes_on(kit.pit())
    pit, numbers = waiting(kit)
    ack = pit.ack()
    pit.say_ack(replace(ack, at=at_text((moment_ms(ack.at) or 0) - 60_000)))
    if not pit.wait(lambda: pit.state.get("unacknowledged") == 0, ANSWERS_WITHIN_S):
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
    pit, numbers = waiting(kit)
    former = pit.hand_over()
    pit.say_ack()
    if not pit.wait(lambda: pit.state.get("unacknowledged") == 0, ANSWERS_WITHIN_S):
        raise BrokenError(f"The ack of event {numbers[-1]} by the new key was not believed after the hand-over.")
    not_believed(kit, lambda pit: pit.say(pit.topics.ack, pit.ack(), former), "an ack by the key that was handed over")


# The progressive bets.


@_clause("T19")
def _well(kit: TableKit) -> None:
    must_play(kit, kit.pit())


@_clause("T20")
def _no_levels(kit: TableKit) -> None:
    pit = kit.pit()
    pit.says_meters = False
    silence(kit)
    must_not_play(kit, pit, f"After {kit.stale_after_s:g} s without levels")
    must_play(kit, kit.pit())


@_clause("T21")
def _no_acks(kit: TableKit) -> None:
    pit, _ = waiting(kit)
    silence(kit)
    must_not_play(kit, pit, f"After {kit.stale_after_s:g} s without an ack of an event")
    must_play(kit, kit.pit())


@_clause("T22")
def _false_levels(kit: TableKit) -> None:
    thief = SigningKey(os.urandom(32))
    for what, word in (
        ("levels that another key has signed", lambda pit: pit.meters_word().payload(thief)),
        ("levels with numbers that came before", lambda pit: _numbered(pit, -100_000)),
        ("levels with a number after their own time", lambda pit: _numbered(pit, 100_000)),
    ):
        pit = kit.pit()
        pit.says_meters = False
        until_s = time.monotonic() + kit.stale_after_s + QUIET_S
        while time.monotonic() < until_s:
            pit.wire.say(pit.topics.meters, word(pit))
            time.sleep(_FORGED_EVERY_S)
        must_not_play(kit, pit, f"While there were only {what}")


def _numbered(pit: FarPit, moved_ms: int) -> bytes:
    word = pit.meters_word()
    return replace(word, seq=word.seq + moved_ms).payload(pit.key)


@_clause("T23")
def _shown(kit: TableKit) -> None:
    kit.deeds.need("hit_meter")
    pit = kit.pit()
    must_play(kit, pit)
    pit.levels = dict.fromkeys(pit.levels, _OTHER_LEVEL_CENTS)
    time.sleep(2 * QUIET_S)
    false = replace(pit.meters_word(), meters=dict.fromkeys(pit.levels, _OTHER_LEVEL_CENTS + 100))
    for payload in (
        false.payload(SigningKey(os.urandom(32))),
        replace(false, seq=false.seq - 100_000).payload(pit.key),
        replace(false, seq=false.seq + 100_000).payload(pit.key),
    ):
        pit.wire.say(pit.topics.meters, payload)
    pit.says_meters = False
    before, _, _ = kit.round(pit, "hit_meter")
    won = came(pit, "hit", before, "hit_meter")["progressive"]
    if not isinstance(won, dict):
        raise NotTriedError("the deed 'hit_meter' hit no meter")
    if won["shown_cents"] != _OTHER_LEVEL_CENTS:
        raise BrokenError(f"The hit shows {won['shown_cents']} cents on its meter. The pit said {_OTHER_LEVEL_CENTS}.")


@_clause("T24")
def _award(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    words = []
    for step in ("pending", "verified", "paid"):
        words.append(pit.step(hit, cents_of(pit, hit), step))
        say_step(pit, words[-1])
        pit.say(pit.topics.award, words[-1])
    time.sleep(QUIET_S)
    for word in words:
        told = steps_told(pit, word)
        if len(told) != 1:
            raise BrokenError(
                f"The stream tells the step {word.step!r} {len(told)} times. The pit said the step twice."
            )
        for name in ("hit", "seat", "tier", "meter", "cents", "by"):
            if told[0][name] != getattr(word, name):
                raise BrokenError(f"The step has {name} {getattr(word, name)!r}. The stream tells {told[0][name]!r}.")


@_clause("T25")
def _old_step(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    cents = cents_of(pit, hit)
    old = pit.step(hit, cents, "rejected")
    say_step(pit, pit.step(hit, cents))
    not_told(pit, [old])


@_clause("T26")
def _strange_step(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    step = partial(pit.step, hit, cents_of(pit, hit))
    seq, epoch, other = hit["seq"], hit["epoch"], f"{kit.table}-other"
    strange = (
        replace(step(), table=other, hit=f"{other}/{epoch}/{seq}"),
        replace(step(), hit=f"{kit.table}/0000000000/{seq}"),
        replace(step(), hit=f"{kit.table}/{epoch}/{int(str(seq)) - 1}"),
        replace(step(), hit=f"{kit.table}/{epoch}/{int(str(seq)) + 100_000}"),
        replace(step(), seat=99),
        replace(step(), tier="no_such_tier"),
    )
    not_told(pit, strange)
    not_told(pit, [step()], SigningKey(os.urandom(32)))
    say_step(pit, step())


@_clause("T27")
def _impossible(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    cents = MOST_CENTS if hit["fixed"] is None else cents_of(pit, hit) + 1
    alarms = len(_alarms(pit, "award_impossible"))
    not_told(pit, [pit.step(hit, cents)])
    if not pit.wait(lambda: len(_alarms(pit, "award_impossible")) > alarms, ANSWERS_WITHIN_S):
        raise BrokenError(f"An award of {cents} cents cannot be, and the stream tells no alarm 'award_impossible'.")
    say_step(pit, pit.step(hit, cents, "rejected"))


def _alarms(pit: FarPit, code: str) -> list[Message]:
    return [event for event in pit.events_of("alarm") if event["code"] == code]


@_clause("T28")
def _void(kit: TableKit) -> None:
    pit = kit.pit()
    must_play(kit, pit)
    before = len(pit.taken)
    kit.deeds.do("void")
    locked, void = (came(pit, type_, before, "void") for type_ in ("wagers_locked", "void"))
    played = {bet["spot"]: bet["seats"] for bet in bets(locked) if bet["seats"]}
    returned = {bet["spot"]: bet["seats"] for bet in bets(void) if bet["seats"]}
    if not played:
        raise NotTriedError("no wager on a progressive bet was locked: the deed 'void' must lay a wager")
    if returned != played:
        raise BrokenError(f"The seats {played} played on progressive bets. The void names {returned}.")


# The wagers of bet recognition.


def place(pit: FarPit) -> dict[str, int | str]:
    """The round that the table deals next, by its state."""
    shoe, round_ = pit.state.get("shoe"), pit.state.get("next_round")
    if not isinstance(shoe, int) or not isinstance(round_, int):
        raise BrokenError(f"Between two rounds the table's state has shoe {shoe!r} and next_round {round_!r}.")
    return {"table": pit.table, "epoch": str(pit.state["epoch"]), "shoe": shoe, "round": round_}


def judged(recognition: FarRecognition, word: Message, what: str, code: str | None = None, times: int = 1) -> None:
    """The table must have refused the word's wager, so often: with this code, or without it by the game's rules."""
    wire = recognition.wire
    if not wire.wait(lambda: len(recognition.answers(word)) >= times, ANSWERS_WITHIN_S):
        raise BrokenError(f"{what} is not answered on `wager-refused`.")
    told = recognition.answers(word)[times - 1].get("code")
    if told != code if code else told in _NOT_JUDGED:
        raise BrokenError(f"{what} is refused with {told!r}" + (f", and not with {code!r}." if code else "."))


def not_judged(recognition: FarRecognition, word: Message, what: str) -> None:
    """The table must not have judged the word's wager."""
    time.sleep(QUIET_S)
    if told := recognition.answers(word):
        raise BrokenError(f"{what} is answered on `wager-refused` with {told[0].get('code')!r}.")


@_clause("T36")
def _forged_wager(kit: TableKit) -> None:
    pit = kit.pit()
    recognition = kit.recognition()
    thief = SigningKey(os.urandom(32))
    by_thief, unsigned, changed = (recognition.word(place(pit)) for _ in range(3))
    recognition.say(by_thief, thief)
    recognition.wire.say(recognition.topics.wager, canonical(unsigned))
    more = {**changed, "signature": signature_of(changed, recognition.key), "cents": 100}
    recognition.wire.say(recognition.topics.wager, canonical(more))
    for what, word in (("by another key", by_thief), ("without a signature", unsigned), ("changed", changed)):
        not_judged(recognition, word, f"A wager {what}")
    alarmed(pit, "wager_word_forged")


@_clause("T37")
def _signed_wager(kit: TableKit) -> None:
    pit = kit.pit()
    recognition = kit.recognition()
    word = recognition.word(place(pit))
    recognition.say(word)
    judged(recognition, word, "A wager that the adopted key has signed")
    former, recognition.key = recognition.key, SigningKey(os.urandom(32))
    kit.adopt(recognition)
    word = recognition.word(place(pit))
    recognition.say(word, former)
    not_judged(recognition, word, "A wager by the key that was adopted before")
    word = recognition.word(place(pit))
    recognition.say(word)
    judged(recognition, word, "A wager that the key adopted last has signed")


@_clause("T38")
def _old_wager(kit: TableKit) -> None:
    kit.deeds.need("restart")
    pit = kit.pit()
    recognition = kit.recognition()
    early, late = recognition.word(place(pit)), recognition.word(place(pit))
    recognition.say(late)
    judged(recognition, late, "A wager")
    recognition.say(late)
    judged(recognition, late, "A wager that came once already", "wager_old", times=2)
    recognition.say(early)
    judged(recognition, early, "A wager with a lower number than the last", "wager_old")
    kit.deeds.do("restart")
    kit.pit()
    recognition.say(late)
    judged(recognition, late, "A wager that came before the table's program ended", "wager_old", times=3)


@_clause("T39")
def _strange_wager(kit: TableKit) -> None:
    pit = kit.pit()
    recognition = kit.recognition()
    here = place(pit)
    for what, code, changed in (
        ("for the round after the next", "wager_other_round", {"round": int(here["round"]) + 1}),
        ("of another shoe", "wager_other_round", {"shoe": int(here["shoe"]) + 1}),
        ("of another epoch", "wager_other_table", {"epoch": "0000000000"}),
        ("of another table", "wager_other_table", {"table": f"{kit.table}-other"}),
    ):
        word = recognition.word({**here, **changed})
        recognition.say(word)
        judged(recognition, word, f"A wager {what}", code)
    ahead = recognition.word(here)
    ahead["seq"] = int(str(ahead["seq"])) + 100_000
    recognition.say(ahead)
    judged(recognition, ahead, "A wager whose number is a time after its own `at`", "wager_leaps")
    alarmed(pit, "wager_word_unfit")
    word = recognition.word(place(pit))
    recognition.say(word)
    judged(recognition, word, "A wager after those")


# All that the table has said.


@_clause("T29")
def _rounds(kit: TableKit) -> None:
    pit = kit.pit()
    if not pit.events_of("hit"):
        kit.hit(pit)
    locked: set[tuple[object, object]] = set()
    for place, event in enumerate(pit.taken):
        number = event["shoe"], event["round"]
        if event["type"] == "wagers_locked":
            locked.add(number)
        if event["type"] != "round" or event["simulated"]:
            continue
        if number not in locked:
            raise BrokenError(
                f"Round {number[1]} of shoe {number[0]} was told, and the lock of its wagers was not told before."
            )
        won = event.get("awards", [])
        assert isinstance(won, list)
        hits = [(hit["spot"], hit["seat"], hit["tier"]) for hit in _hits_after(pit, place, number)]
        if hits != [(each["spot"], each["seat"], each["tier"]) for each in won]:
            raise BrokenError(f"Round {number[1]} of shoe {number[0]} has the awards {won}. Its hits are {hits}.")


def _hits_after(pit: FarPit, place: int, number: tuple[object, object]) -> list[Message]:
    hits = []
    for event in pit.taken[place + 1 :]:
        if event["type"] != "hit" or (event["shoe"], event["round"]) != number:
            break
        hits.append(event)
    return hits


def wrong_form(schema: str, messages: Iterable[Message]) -> None:
    """Raise BrokenError for the first message that does not have the form of the schema."""
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        raise NotTriedError("the package jsonschema is missing: install table-controller[bench]") from None
    valid = Draft202012Validator(json.loads((_SCHEMAS / f"{schema}.schema.json").read_text("utf-8")))
    for message in messages:
        if (error := next(valid.iter_errors(message), None)) is not None:
            shown = canonical(message)[:200].decode()
            raise BrokenError(f"A message does not have the form of {schema}.schema.json: {error.message}: {shown}")


@_clause("T30")
def _forms(kit: TableKit) -> None:
    pit = kit.pit()
    wrong_form("event", pit.taken)
    wrong_form("state", pit.states)


@_clause("T31")
def _signatures(kit: TableKit) -> None:
    pit = kit.pit()
    key = bytes.fromhex(str(pit.state["public_key"]))
    for each in pit.heard:
        if each.topic != pit.topics.event:
            continue
        shown = f"event {each.message.get('seq')}"
        if canonical(each.message) != each.payload:
            raise BrokenError(f"The bytes of {shown} are not canonical JSON.")
        if not signature_holds(each.message, key):
            raise BrokenError(f"The signature of {shown} does not hold by the key in the table's state.")


@_clause("T32")
def _numbers(kit: TableKit) -> None:
    pit = kit.pit()
    epoch = pit.state["epoch"]
    if pit.changed:
        raise BrokenError(f"Event {pit.changed[0]} came with two bodies.")
    for event in pit.sent():
        if event.get("id") != f"{kit.table}/{epoch}/{event.get('seq')}" or event.get("epoch") != epoch:
            raise BrokenError(f"The event {event.get('id')} is not `table/epoch/seq` of epoch {epoch} of {kit.table}.")
        if event.get("table") != kit.table:
            raise BrokenError(f"Event {event['id']} names the table {event.get('table')!r}.")


@_clause("T33")
def _chain(kit: TableKit) -> None:
    pit = kit.pit()
    last: dict[str, int] = defaultdict(int)
    for seq, event in enumerate(pit.taken, 1):
        chain = str(event["chain"])
        if not HASH.fullmatch(chain):
            raise BrokenError(f"The chain of event {seq} is {chain!r}.")
        if last[chain] not in (0, seq - 1):
            raise BrokenError(
                f"Event {seq} has the chain of event {last[chain]}, and the events between have another chain."
            )
        if chain == NO_CHAIN and seq > 1 and last[chain] != seq - 1:
            raise BrokenError(f"Event {seq} begins the chain anew.")
        last[chain] = seq
    if len(pit.taken) >= _SEVERAL and len(last) == 1:
        raise BrokenError("All events have one chain.")


@_clause("T34")
def _flags(kit: TableKit) -> None:
    pit = kit.pit()
    for each in pit.heard:
        if each.qos != 1:
            raise BrokenError(f"A message on {each.topic} came at QoS {each.qos}.")
        if each.topic == pit.topics.event and each.type != each.message.get("type"):
            raise BrokenError(f"Event {each.message.get('seq')} has the user property `type` {each.type!r}.")
    first = first_heard(kit.address, pit.topics.event, QUIET_S)
    if first is not None and first.retained:
        raise BrokenError("An event is retained: each new subscriber would hear that event again.")


def _these(numbers: range) -> str:
    return f"{numbers[0]} to {numbers[-1]}"
