"""Tools for the conformance checks of a table: the table with a simulated pit, and what several checks expect of the
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
    """What every conformance check of a table needs: the table's name, the acts of people, a simulated pit, and how
    many seconds the table tolerates a silent pit."""

    def __init__(self, address: Address, deeds: Deeds, table: str, stale_after_s: float) -> None:
        self.address = address
        self.deeds = deeds
        self.table = table
        self.stale_after_s = stale_after_s
        self._pit: FarPit | None = None
        self._recognition: FarRecognition | None = None
        self._begun = False

    def close(self) -> None:
        """Disconnect the simulated pit and the simulated bet recognition from the broker."""
        if self._pit is not None:
            self._pit.close()
        if self._recognition is not None:
            self._recognition.close()

    def pit(self) -> FarPit:
        """Return the simulated pit when it is up to date with the table. The pit has committed every event of the
        table. The table's state says that no event is unacknowledged and that the connection to the pit works."""
        if self._pit is None:
            self._pit = FarPit(self.address, self.table)
        pit = self._pit
        if not self._begun:
            self._begin(pit)
        pit.speak()
        self.rest(pit)
        return pit

    def recognition(self) -> FarRecognition:
        """Return the simulated bet recognition, whose key two people have adopted at the table. Raises NotTriedError if
        nobody can adopt the key."""
        if self._recognition is None:
            self.deeds.need("recognition")
            recognition = FarRecognition(self.address, self.table)
            self._recognition = recognition
            self.adopt(recognition)
        return self._recognition

    def adopt(self, recognition: FarRecognition) -> None:
        """Have two people at the table adopt the present key of the simulated bet recognition. It replaces a key that
        they adopted before."""
        self.deeds.do("recognition", key=recognition.key.public.hex())

    def rest(self, pit: FarPit) -> None:
        """Wait until the simulated pit has committed and acknowledged every event of the table. Raises BrokenError if
        the table's state does not say so in time."""

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
        """Have a person at the table pin the simulated pit's key (accept it as genuine), receive all the table's
        events, and learn the names of the meters from a first round."""
        if not pit.wait(lambda: pit.state.get("online") is True, ANSWERS_WITHIN_S):
            raise BrokenError(f"No state with `online: true` came on {pit.topics.state}.")
        self.deeds.do("pin", fingerprint=fingerprint(pit.key.public))
        self._begun = True
        pit.say_ack()
        self.rest(pit)
        _, locked, _ = self.round(pit)
        pit.levels = {meter: _LEVEL_CENTS for bet in bets(locked) for meter in bet["meters"]}

    def events(self, count: int = 1) -> None:
        """Have people at the table cause at least `count` events, and wait until `count` events have come from the
        table. If `count` is above 50, wait for the first 50 events only."""
        assert self._pit is not None
        head = len(self._pit.taken)
        self.deeds.do("events", count=str(count))
        heard(self._pit, head + min(count, _WINDOW))

    def goes_on(self, pit: FarPit, count: int = 1) -> None:
        """Check that the table still sends events: people cause at least `count` events, and each is committed and
        acknowledged."""
        self.events(count)
        self.rest(pit)

    def round(self, pit: FarPit, deed: str = "round") -> tuple[int, Message, Message]:
        """Have people at the table deal a complete round. `deed` is the name of the act that people are asked for.
        Returns the number of events before the round, the event that locked its wagers, and the event that ended it."""
        before = len(pit.taken)
        self.deeds.do(deed)
        locked, round_ = (came(pit, type_, before, deed) for type_ in ("wagers_locked", "round"))
        return before, locked, round_

    def hit(self, pit: FarPit) -> Message:
        """Have people at the table deal a round that ends in a hit, and return the hit's event. If people can deal a
        hit that wins a fixed amount, they deal that hit. Otherwise they deal a hit that wins a meter."""
        must_play(self, pit)
        try:
            before, _, _ = self.round(pit, "hit_fixed")
        except NotTriedError:
            before, _, _ = self.round(pit, "hit_meter")
        return came(pit, "hit", before, "hit")


def heard(pit: FarPit, seq: int) -> None:
    """Wait until event number `seq` has come from the table. Raises BrokenError if it does not come in time."""
    if not pit.wait(lambda: len(pit.taken) >= seq, 2 * ANSWERS_WITHIN_S):
        raise BrokenError(f"Event {seq} did not come. The last that came in order is {len(pit.taken)}.")


def came(pit: FarPit, type_: str, after: int, deed: str) -> Message:
    """Wait for the first event of the type `type_` whose number is higher than `after`, and return it. Raises
    BrokenError if none comes in time. `deed` names in the error's text the act that should have caused the event."""
    if not pit.wait(lambda: bool(pit.events_of(type_, after)), 2 * ANSWERS_WITHIN_S):
        since = ", ".join(str(event.get("type")) for event in pit.taken[after:]) or "none"
        raise BrokenError(f"After the deed {deed!r} no event {type_!r} came. The events since then: {since}.")
    return pit.events_of(type_, after)[0]


def again(pit: FarPit, since: int, numbers: Iterable[int], times: int = 1) -> bool:
    """Wait until the table has sent each of the events with these `numbers` at least `times` times. Returns whether
    that happened in time. Only messages in the list `pit.heard` from index `since` onwards count."""
    return pit.wait(lambda: all(pit.numbers(since).count(seq) >= times for seq in numbers), times * ANSWERS_WITHIN_S)


def quiet(pit: FarPit, since: int, what: str, for_s: float) -> None:
    """Check that the table sends no event for `for_s` seconds. Raises BrokenError, with a text that begins with `what`,
    if an event comes. Only messages in the list `pit.heard` from index `since` onwards count."""
    pit.wait(lambda: bool(pit.sent(since)), for_s)
    if numbers := pit.numbers(since):
        raise BrokenError(f"{what} the table sent event {numbers[0]}.")


def waiting(kit: TableKit, count: int = 1) -> tuple[FarPit, range]:
    """Stop the simulated pit's acknowledgements, and have people at the table cause at least `count` events. Returns
    the pit, and the numbers of the events that now wait for their acknowledgement."""
    pit = kit.pit()
    head = len(pit.taken)
    pit.acks = False
    kit.events(count)
    return pit, range(head + 1, len(pit.taken) + 1)


def believed(pit: FarPit, seq: int) -> bool:
    """Wait until the table's state shows that the table accepts the acknowledgement of event `seq`. Returns whether
    that happened in time. The state must include the event, and must say that no event waits for an acknowledgement."""

    def none_waits() -> bool:
        return pit.state.get("unacknowledged") == 0 and int(str(pit.state.get("head_seq"))) >= seq

    return pit.wait(none_waits, ANSWERS_WITHIN_S)


def alarmed(pit: FarPit, code: str) -> None:
    """Check that the table has reported the alarm `code` in an event. Raises BrokenError if no event reports it. The
    simulated pit first acknowledges the waiting events, so that the table sends the rest.

    An alarm that was reported earlier counts too, because a table may report the same alarm only once in ten minutes.
    """
    pit.acks = True
    pit.say_ack()
    if not pit.wait(lambda: any(event["code"] == code for event in pit.events_of("alarm")), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the alarm {code!r}.")


def not_believed(kit: TableKit, forge: Callable[[FarPit], object], what: str) -> FarPit:
    """Check that the table does not accept a false acknowledgement. An event of the table waits for its
    acknowledgement, and `forge` sends a false one. Raises BrokenError unless the table keeps sending the event. Returns
    the simulated pit.

    If several events wait, only the oldest must be sent again. `what` describes the false message in the error's text.
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
    """Have people at the table deal a round, and tell whether a wager on a progressive bet was accepted in it. Raises
    NotTriedError if the round had no such wager."""
    _, locked, _ = kit.round(pit)
    if not bets(locked):
        raise NotTriedError("the table's game has no progressive bet")
    playing = any(bet["seats"] for bet in bets(locked))
    if not playing and not any(bet["refused_seats"] for bet in bets(locked)):
        raise NotTriedError("the round had no wager on a progressive bet: the deed 'round' must lay a wager")
    return playing


def must_play(kit: TableKit, pit: FarPit) -> None:
    """Have people at the table deal rounds until the table accepts a wager on a progressive bet. Raises BrokenError if
    none is accepted in time. In the first rounds the table may refuse the wager, because it may wait for the pit's
    second message before it believes the meters' levels."""
    until_s = time.monotonic() + ANSWERS_WITHIN_S
    while not plays(kit, pit):
        if time.monotonic() > until_s:
            raise BrokenError("While the pit says acks and levels, a wager on a progressive bet was refused.")
        time.sleep(QUIET_S)


def must_not_play(kit: TableKit, pit: FarPit, what: str) -> None:
    """Have people at the table deal a round. Raises BrokenError, with a text that begins with `what`, if the table
    accepts a wager on a progressive bet in this round."""
    if plays(kit, pit):
        raise BrokenError(f"{what} a wager on a progressive bet played.")


def silence(kit: TableKit) -> None:
    """Wait for longer than the table tolerates a silent pit."""
    time.sleep(kit.stale_after_s + QUIET_S)


def cents_of(pit: FarPit, hit: Message) -> int:
    """Return the amount of the award that the simulated pit gives for a hit, in cents: the hit's fixed amount, or its
    share of the meter's present level."""
    fixed, won = hit["fixed"], hit["progressive"]
    if isinstance(fixed, dict):
        return int(fixed["cents"])
    assert isinstance(won, dict)
    whole, parts = (int(part) for part in won["share"].split(":"))
    return pit.levels[won["meter"]] * whole // parts


def steps_told(pit: FarPit, word: AwardStep) -> list[Message]:
    """Return the table's events that repeat the award and the step that the pit's message `word` names."""
    return [event for event in pit.events_of("award") if (event["award"], event["step"]) == (word.award, word.step)]


def say_step(pit: FarPit, word: AwardStep) -> None:
    """Send the table a step of an award, and wait until an event of the table repeats it. Raises BrokenError if no
    event does in time."""
    pit.say(pit.topics.award, word)
    if not pit.wait(lambda: bool(steps_told(pit, word)), ANSWERS_WITHIN_S):
        raise BrokenError(f"The stream does not tell the step {word.step!r} of the award {word.award}.")


def not_told(pit: FarPit, words: Sequence[AwardStep], key: SigningKey | None = None) -> None:
    """Check that the table does not accept false steps of awards. The steps in `words` are sent to the table, signed by
    the pit's key, or by `key` if one is given. Raises BrokenError if an event of the table repeats one of them."""
    before = len(pit.events_of("award"))
    for word in words:
        pit.say(pit.topics.award, word, key)
    pit.wait(lambda: len(pit.events_of("award")) > before, QUIET_S)
    if told := pit.events_of("award")[before:]:
        raise BrokenError(f"The stream tells a step that must not be taken: {told[0]['award']}, {told[0]['step']}.")


def wrong_form(schema: str, messages: Iterable[Message]) -> None:
    """Check each message against the contract's JSON schema `schema`, such as "event". Raises BrokenError for the first
    message that does not fit. Raises NotTriedError if the package jsonschema is not installed."""
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
