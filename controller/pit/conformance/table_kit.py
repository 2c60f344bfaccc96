"""What the checks of a table share: the table with its far pit, and what several checks await of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import controller.contract
from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AwardStep
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError
from controller.pit.conformance.deeds import Deeds, NotTriedError
from controller.pit.conformance.far_pit import FarPit
from controller.pit.conformance.far_recognition import FarRecognition
from controller.pit.conformance.wire import Address, Message

_WINDOW = 50
_LEVEL_CENTS = 1_000_000

_SCHEMAS = Path(controller.contract.__file__).with_name("schemas")


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


def believed(pit: FarPit, seq: int) -> bool:
    """Whether the table believes the ack of event `seq`: a state that knows the event says that none waits."""

    def none_waits() -> bool:
        return pit.state.get("unacknowledged") == 0 and int(str(pit.state.get("head_seq"))) >= seq

    return pit.wait(none_waits, ANSWERS_WITHIN_S)


def alarmed(pit: FarPit, code: str) -> None:
    """The stream must tell this alarm. A table may tell an alarm once in ten minutes: an earlier alarm counts."""
    pit.acks = True
    pit.say_ack()
    if not pit.wait(lambda: any(event["code"] == code for event in pit.events_of("alarm")), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the alarm {code!r}.")


def not_believed(kit: TableKit, forge: Callable[[FarPit], object], what: str) -> FarPit:
    """An event waits for its ack, and `forge` says what must not count as one: the event is sent again and again.

    Of several that wait, a table may offer the oldest alone.
    """
    pit, numbers = waiting(kit)
    since = len(pit.heard)
    forge(pit)
    if not again(pit, since, numbers[:1], times=2):
        raise BrokenError(
            f"After {what} event {numbers[0]} was not sent again: the table took that for the event's ack."
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


def these(numbers: range) -> str:
    return f"{numbers[0]} to {numbers[-1]}"
