"""Tools for the checks of a table: the table with the pit that the kit plays, and what several checks expect of the
table."""

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
    """What every check of a table needs: the table's name, the acts of people, a pit that the kit plays, and how long
    the table tolerates a silent pit."""

    def __init__(self, address: Address, deeds: Deeds, table: str, stale_after_s: float) -> None:
        self.address = address
        self.deeds = deeds
        self.table = table
        self.stale_after_s = stale_after_s
        self._pit: FarPit | None = None
        self._recognition: FarRecognition | None = None
        self._begun = False

    def close(self) -> None:
        """Disconnect the kit's pit and its bet recognition from the broker."""
        if self._pit is not None:
            self._pit.close()
        if self._recognition is not None:
            self._recognition.close()

    def pit(self) -> FarPit:
        """Return the kit's pit, once it has committed every event of the table, and the table knows that and finds the
        pit well."""
        if self._pit is None:
            self._pit = FarPit(self.address, self.table)
        pit = self._pit
        if not self._begun:
            self._begin(pit)
        pit.speak()
        self.rest(pit)
        return pit

    def recognition(self) -> FarRecognition:
        """Return the kit's bet recognition, whose key two people have adopted at the table. Raises NotTriedError where
        nobody can adopt it."""
        if self._recognition is None:
            self.deeds.need("recognition")
            recognition = FarRecognition(self.address, self.table)
            self._recognition = recognition
            self.adopt(recognition)
        return self._recognition

    def adopt(self, recognition: FarRecognition) -> None:
        """Have two people adopt the present key of this bet recognition at the table, in place of a key that they
        adopted before."""
        self.deeds.do("recognition", key=recognition.key.public.hex())

    def rest(self, pit: FarPit) -> None:
        """Wait until every event of the table is committed and acknowledged. Raises BrokenError where the table's state
        does not say so in time."""

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
        """Have a person pin the pit's key at the table, hear the table's whole stream, and learn the meters from a
        first round."""
        if not pit.wait(lambda: pit.state.get("online") is True, ANSWERS_WITHIN_S):
            raise BrokenError(f"No state with `online: true` came on {pit.topics.state}.")
        self.deeds.do("pin", fingerprint=fingerprint(pit.key.public))
        self._begun = True
        pit.say_ack()
        self.rest(pit)
        _, locked, _ = self.round(pit)
        pit.levels = {meter: _LEVEL_CENTS for bet in bets(locked) for meter in bet["meters"]}

    def events(self, count: int = 1) -> None:
        """Have people make at least `count` events at the table, and wait until they have come, or the first 50 of
        them."""
        assert self._pit is not None
        head = len(self._pit.taken)
        self.deeds.do("events", count=str(count))
        heard(self._pit, head + min(count, _WINDOW))

    def goes_on(self, pit: FarPit, count: int = 1) -> None:
        """Check that the table's stream goes on: people make at least `count` events, and each is committed and
        acknowledged."""
        self.events(count)
        self.rest(pit)

    def round(self, pit: FarPit, deed: str = "round") -> tuple[int, Message, Message]:
        """Have a round dealt to its end. Returns the number of events before the round, the event that locked its
        wagers, and the event that ended it."""
        before = len(pit.taken)
        self.deeds.do(deed)
        locked, round_ = (came(pit, type_, before, deed) for type_ in ("wagers_locked", "round"))
        return before, locked, round_

    def hit(self, pit: FarPit) -> Message:
        """Have a round dealt that ends in a hit, and return the hit's event. The hit is of a fixed amount where that
        can be dealt, otherwise of a meter."""
        must_play(self, pit)
        try:
            before, _, _ = self.round(pit, "hit_fixed")
        except NotTriedError:
            before, _, _ = self.round(pit, "hit_meter")
        return came(pit, "hit", before, "hit")


def heard(pit: FarPit, seq: int) -> None:
    """Wait until event number `seq` has come from the table. Raises BrokenError where it does not come in time."""
    if not pit.wait(lambda: len(pit.taken) >= seq, 2 * ANSWERS_WITHIN_S):
        raise BrokenError(f"Event {seq} did not come. The last that came in order is {len(pit.taken)}.")


def came(pit: FarPit, type_: str, after: int, deed: str) -> Message:
    """Wait for the first event of the type `type_` after event number `after`, and return it. Raises BrokenError where
    none comes. `deed` names the act that should have caused the event."""
    if not pit.wait(lambda: bool(pit.events_of(type_, after)), 2 * ANSWERS_WITHIN_S):
        since = ", ".join(str(event.get("type")) for event in pit.taken[after:]) or "none"
        raise BrokenError(f"After the deed {deed!r} no event {type_!r} came. The events since then: {since}.")
    return pit.events_of(type_, after)[0]


def again(pit: FarPit, since: int, numbers: Iterable[int], times: int = 1) -> bool:
    """Wait until each of these events has come at least `times` times, counted from place `since` of the heard messages
    on. Returns whether they did in time."""
    return pit.wait(lambda: all(pit.numbers(since).count(seq) >= times for seq in numbers), times * ANSWERS_WITHIN_S)


def quiet(pit: FarPit, since: int, what: str, for_s: float) -> None:
    """Raise BrokenError where the table sends an event within `for_s` seconds. Events count from place `since` of the
    heard messages on."""
    pit.wait(lambda: bool(pit.sent(since)), for_s)
    if numbers := pit.numbers(since):
        raise BrokenError(f"{what} the table sent event {numbers[0]}.")


def waiting(kit: TableKit, count: int = 1) -> tuple[FarPit, range]:
    """Stop the pit's acks, and have people make `count` events. Returns the pit, and the numbers of the events that
    wait for their ack."""
    pit = kit.pit()
    head = len(pit.taken)
    pit.acks = False
    kit.events(count)
    return pit, range(head + 1, len(pit.taken) + 1)


def believed(pit: FarPit, seq: int) -> bool:
    """Tell whether the table comes to believe the ack of event `seq`: a state of the table that includes the event says
    that no event waits for an ack."""

    def none_waits() -> bool:
        return pit.state.get("unacknowledged") == 0 and int(str(pit.state.get("head_seq"))) >= seq

    return pit.wait(none_waits, ANSWERS_WITHIN_S)


def alarmed(pit: FarPit, code: str) -> None:
    """Let the pit acknowledge again, and raise BrokenError where no event of the table reports the alarm `code`. An
    earlier alarm counts too, because a table may report an alarm only once in ten minutes."""
    pit.acks = True
    pit.say_ack()
    if not pit.wait(lambda: any(event["code"] == code for event in pit.events_of("alarm")), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the alarm {code!r}.")


def not_believed(kit: TableKit, forge: Callable[[FarPit], object], what: str) -> FarPit:
    """Let an event wait for its ack, send by `forge` what the table must not take for that ack, and return the pit.
    Raises BrokenError unless the table keeps sending the event.

    Where several events wait, a table may send only the oldest again.
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
    """Return the progressive bets in an event that locks wagers or voids a round."""
    listed = event["progressive"]
    assert isinstance(listed, list)
    return listed


def plays(kit: TableKit, pit: FarPit) -> bool:
    """Have a round dealt, and tell whether the wager on a progressive bet was accepted in it. Raises NotTriedError
    where the round had no such wager."""
    _, locked, _ = kit.round(pit)
    if not bets(locked):
        raise NotTriedError("the table's game has no progressive bet")
    playing = any(bet["seats"] for bet in bets(locked))
    if not playing and not any(bet["refused_seats"] for bet in bets(locked)):
        raise NotTriedError("the round had no wager on a progressive bet: the deed 'round' must lay a wager")
    return playing


def must_play(kit: TableKit, pit: FarPit) -> None:
    """Have rounds dealt until a wager on a progressive bet is accepted. Raises BrokenError where none is in time. The
    first round may refuse it, because a table may believe levels only from the second message on."""
    until_s = time.monotonic() + ANSWERS_WITHIN_S
    while not plays(kit, pit):
        if time.monotonic() > until_s:
            raise BrokenError("While the pit says acks and levels, a wager on a progressive bet was refused.")
        time.sleep(QUIET_S)


def must_not_play(kit: TableKit, pit: FarPit, what: str) -> None:
    """Have a round dealt, and raise BrokenError where a wager on a progressive bet is accepted in it."""
    if plays(kit, pit):
        raise BrokenError(f"{what} a wager on a progressive bet played.")


def silence(kit: TableKit) -> None:
    """Wait longer than the table tolerates a silent pit."""
    time.sleep(kit.stale_after_s + QUIET_S)


def cents_of(pit: FarPit, hit: Message) -> int:
    """Return the amount of the award for a hit, in cents: the fixed amount, or the share of the meter's present
    level."""
    fixed, won = hit["fixed"], hit["progressive"]
    if isinstance(fixed, dict):
        return int(fixed["cents"])
    assert isinstance(won, dict)
    whole, parts = (int(part) for part in won["share"].split(":"))
    return pit.levels[won["meter"]] * whole // parts


def steps_told(pit: FarPit, word: AwardStep) -> list[Message]:
    """Return the table's events that report this step of an award."""
    return [event for event in pit.events_of("award") if (event["award"], event["step"]) == (word.award, word.step)]


def say_step(pit: FarPit, word: AwardStep) -> None:
    """Send a step of an award, and wait until an event of the table reports it. Raises BrokenError where none does."""
    pit.say(pit.topics.award, word)
    if not pit.wait(lambda: bool(steps_told(pit, word)), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the step {word.step!r} of the award {word.award}.")


def not_told(pit: FarPit, words: Sequence[AwardStep], key: SigningKey | None = None) -> None:
    """Send steps of awards that the table must not accept. Raises BrokenError where an event of the table reports one
    of them."""
    before = len(pit.events_of("award"))
    for word in words:
        pit.say(pit.topics.award, word, key)
    pit.wait(lambda: len(pit.events_of("award")) > before, QUIET_S)
    if told := pit.events_of("award")[before:]:
        raise BrokenError(f"The stream tells a step that must not be taken: {told[0]['award']}, {told[0]['step']}.")


def wrong_form(schema: str, messages: Iterable[Message]) -> None:
    """Raise BrokenError for the first message that does not fit the JSON schema of this name."""
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
