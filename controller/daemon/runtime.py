"""The loop: facts in, one commit at a time, then events, lamps and answers.

Everything that comes waits in one inbox: the shoe's reports, buttons, requests over the socket, what the links notice.
One task takes all that waits, folds the facts, and has the journal's thread commit them. What comes meanwhile is the
next batch. Events, lamps and answers wait for their commit. Pins are sampled on a clock of their own, whatever
the disk does.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TypeVar

from controller import __version__
from controller.basics.digest import digest
from controller.contract.envelope import Stamp
from controller.contract.fingerprint import fingerprint
from controller.contract.topics import Topics
from controller.daemon.answer import Answer
from controller.daemon.beat import next_beat, until_beat_s
from controller.daemon.clock import since_boot_ms, slept_ms, stamp_now
from controller.daemon.config import Config
from controller.daemon.counted_log import EVERY_ONE
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.recognition_trust import RecognitionTrust
from controller.daemon.delivery.standing import GOOD
from controller.daemon.delivery.stream import PitStream
from controller.daemon.hearing import Hearing, Mark, Pace
from controller.daemon.pins.buttons import SEEN_AFTER_S, pressed
from controller.daemon.pins.debounce import Debouncer
from controller.daemon.pins.watch import Watch, keep_watching
from controller.daemon.record.archiving import Archivist
from controller.daemon.record.journal import Entry, Journal, Message
from controller.daemon.record.journal_file import JournalGoneError, code_of
from controller.daemon.second_person import BUTTON, Confirmed, SecondPerson
from controller.table.acts.entry import KEY, LOTS, Ambient, Request
from controller.table.acts.every import act_of
from controller.table.acts.itself import TESTS, HitTested, InputsTested, LampsTested
from controller.table.acts.recognition import SeeWager
from controller.table.acts.seats import PlaceWager
from controller.table.face_down import hides_cards
from controller.table.facts import (
    CommitFailed,
    Fact,
    JournalGone,
    OutboxFull,
    PitKeyRotated,
    ProgramMeasured,
    ReplayDiffered,
    ShoeUnheard,
    ShoeUnplugged,
    StepFailed,
    WagersLocked,
)
from controller.table.foreseen import foreseen, not_as_shown
from controller.table.lamps import Live, Pattern, lamps, under_test
from controller.table.legality import Refuse
from controller.table.public import PHASE_NAMES, Public, public
from controller.table.requests import ByTwo, after, before, decide, not_answered
from controller.table.states import StandingFault, Table
from controller.table.step import gap_would_show, step
from controller.table.stops import behind_pit_at
from controller.words.events import event_sentence
from controller.words.language import language
from drivers.devices import PRESENT_INPUT, Broker, Pins, Shoe

_log = logging.getLogger(__name__)

_RETRY_COMMIT_S = 1.0
_PING_S = 1.0
_TEST_MS = {LampsTested: 5_000, HitTested: 5_000, InputsTested: 60_000}
"""For how long a test shows."""

_COPIES_COME_WITHIN_S = 0.5
"""All copies of a report have come after so long: three copies take 75 ms at most, with pauses between them."""

_AT_REST = 3
"""While no input changes, the inputs are looked at only every so many times `sample_ms`."""

_LEVELS = {
    "fault": logging.ERROR,
    "alarm": logging.WARNING,
    "void": logging.WARNING,
    "correction": logging.WARNING,
    "fault_cleared": logging.WARNING,
}
"""The log's level for an event, by its type; INFO for every other type."""

_DEALING = ("burning", "hand_in_play")
_BETWEEN_ROUNDS = ("no_shoe", "first_card_due", "wagers_open", "shoe_ended")
_SHOE_OPEN = ("first_card_due", "burning", "wagers_open", "wagers_locked", "hand_in_play")

_TELLS_NO_LAMP = ("wager_lies_there", "wager_old", "recognition_key_other")
"""The refusals of a wager that changes nothing at its seat: it lies there, or the word is nobody's or an old one."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Arrived:
    """An item of the inbox, with the ambient state when the item came: a chip put down later does not count."""

    what: Fact | _Asked
    ambient: Ambient
    stamp: Stamp
    via: str
    on_time: bool = True  # read from the shoe's line as soon as it was there


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request in the inbox, and the future that waits for its answer."""

    request: Request
    fault: str | None  # the id of the fault that the request answers
    shown: str | None  # the name of what was shown before the request
    answer: asyncio.Future[Answer] | None


@dataclass(slots=True)
class ShoeLine:
    """How the line to the shoe is, for people.

    `untold` are bad bytes of which nobody may know yet. So are those that `just_came`: they may be a damaged copy of a
    report whose other copies are still to come.
    """

    up: bool = False
    why: str = "not opened yet"
    told: bool = False
    heard_again: bool = False
    bad_bytes: Counter[str] = field(default_factory=Counter)
    untold: Counter[str] = field(default_factory=Counter)
    just_came: Counter[str] = field(default_factory=Counter)


class Runtime:
    """A running table.

    `table` is the state replayed from `journal`. `differs` is the row where the replay did not give the stored events.
    `program` is the digest of the program's files.
    `mark` holds until when the run before heard the shoe. `alive` is the watchdog's ping, which the loop calls about
    once a second while facts are being folded.
    """

    def __init__(
        self,
        config: Config,
        journal: Journal,
        public_key: bytes,
        table: Table,
        differs: int | None,
        program: str,
        pins: Pins,
        shoe: Shoe,
        broker: Broker,
        alive: Callable[[], None],
        mark: Mark,
        watch: Watch = keep_watching,
    ) -> None:
        self._config = config
        self._journal = journal
        self._public_key = public_key
        self._table = table
        self._test: LampsTested | HitTested | InputsTested | None = None
        self._test_ends_ms = 0
        self._pins = pins
        self._shoe = shoe
        self._alive = alive
        self._commit_thread = ThreadPoolExecutor(1, "journal")
        self._inbox: list[_Arrived | Callable[[], None]] = []
        self._inbox_has = asyncio.Event()
        pit, kept = config.file.pit, config.file.journal
        self.stream = PitStream(
            Topics(pit.root, config.file.table.id),
            config.file.table.id,
            pit.stale_after_s,
            pit.most_unacknowledged,
            pit.trust_first_key,
            journal,
            broker,
            self._on_journal,
            tell=self._put,
            ask=self._asked,
            levels=Levels(config.rules.meters, pit.stale_after_s, _price_cents(config)),
            pit_key=table.pit_key,
            recognition=RecognitionTrust(config.file.table.id, table.recognition_key),
            behind_at=behind_pit_at(table),
        )
        self._archivist = Archivist(journal, kept.keep_shoes, kept.most_bytes, self._on_journal, self._quiet, self._put)
        self._watch = watch
        self._sample_s = config.file.pins.sample_ms / 1000
        self._debouncer = Debouncer(config.file.pins.debounce_ms)
        self._looks: list[tuple[dict[str, bool], int]] = []  # of the watch, since an input changed; with their times
        self._levels: dict[str, bool] = {}  # of the inputs, at the last beat
        self._journal_error: str | None = None
        self._lamps_of: tuple[Public, Live, object] | None = None  # what `_shown` are the lamps of
        self._shown: dict[str, Pattern] = {}
        self._written: dict[str, bool] = {}
        self._lamps_change_at_ms: int | None = None  # the next change of a lamp by its pattern, on the monotonic clock
        self._started_s = time.monotonic()
        self._second_person = SecondPerson(config.file.pins.inputs)
        self._fault_before: StandingFault | None = table.fault  # what people saw before the fault that stands came,
        self._fault_since_s = self._started_s  # or before the last was left, and when that was
        self._lots = random.SystemRandom()
        self._refused_seats: frozenset[int] = frozenset()
        self._sensors = {seat.number: f"seat_{seat.number}" for seat in config.rules.seats}
        self._covered: frozenset[int] = frozenset()  # the seats whose sensor sees a wager
        self.shoe_line = ShoeLine()
        self._noise_came = asyncio.Event()
        self.face = public(table)
        now_ms = since_boot_ms()
        self._mark = mark
        self._hearing = Hearing(mark.read(now_ms), mark, shoe.kept_unread_ms)
        self._measured = ProgramMeasured(__version__, program, config.digest)
        if self._measured != table.measured:
            self._put(self._measured)
        if differs is not None:
            self._put(ReplayDiffered(differs))
        self._pace = Pace()
        last = journal.last_stamp
        self._last_heard_at = last.text() if last else None
        self._note_unheard(now_ms)

    async def run(self) -> None:
        """Run the table until cancelled, then darken the lamps. Raises what the shell cannot handle."""
        try:
            self._sample_pins()  # so that the first render already knows the sensors
            self._render()
            async with asyncio.TaskGroup() as tasks:
                for work in (
                    self._fold_and_commit(),
                    self._keep_beating(),
                    self._watch(self._has_changed, self._beat_soon, _AT_REST * self._sample_s),
                    self._keep_pinging(),
                    self._keep_noting_noise(),
                    self._shoe.run(self),
                    self.stream.run(self._state),
                    self._archivist.run(),
                ):
                    tasks.create_task(work)
        finally:
            self._commit_thread.shutdown(wait=True)
            self._mark.close()
            self._pins.close()

    async def ask(
        self, request: Request, via: str = "socket", fault: str | None = None, shown: str | None = None
    ) -> Answer:
        """Put a request to the table. The answer comes once the fact is committed, or refused. `via` is as in `Entry`.

        `fault` is the id of the fault that was shown to the person who asks. A request that is an exit leaves that
        fault and no other. `shown` is the name of what `foresee` told: the request does just that, or is refused.
        """
        return await self._asked(request, via, fault, shown)

    async def confirm(self, proposal: int, by: str, via: str) -> Answer:
        """A second person confirms the request that was shown under this number. The answer comes as in `ask`."""
        confirmed = self._second_person.confirm(proposal, by, via, self._moment(), time.monotonic())
        if isinstance(confirmed, Refuse):
            return Answer(confirmed.code)
        return await self._asked(confirmed.request, confirmed.via, confirmed.fault, confirmed.shown)

    def foresee(self, request: Request, fault: str | None) -> dict[str, object] | Refuse:
        """What the request would do as the table is now, as JSON values; or why it would be refused."""
        refused = not_answered(self._table, request, fault)
        return refused or foreseen(self._table, request, self._ambient(stamp_now()))

    def _asked(
        self, request: Request, via: str = "pit", fault: str | None = None, shown: str | None = None
    ) -> asyncio.Future[Answer]:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._put(_Asked(request, fault, shown, answer), via)
        return answer

    def _moment(self) -> tuple[int | None, int | None, str]:
        """The table's shoe, round and phase. A request that waits for a second person is valid only while they last."""
        return self.face.shoe, self.face.round, self.face.phase

    # Facts in, one commit at a time.

    def _put(self, item: Fact | _Asked | Callable[[], None], via: str = "controller") -> None:
        if callable(item):
            self._inbox.append(item)
        else:
            stamp = stamp_now()
            on_time = not self._hearing.is_late(since_boot_ms())
            self._inbox.append(_Arrived(item, self._ambient(stamp), stamp, via, on_time))
        self._inbox_has.set()

    async def _fold_and_commit(self) -> None:
        while True:
            await self._inbox_has.wait()
            self._inbox_has.clear()
            inbox, self._inbox = self._inbox, []
            table, entries, answers = self._fold(inbox)
            if entries:
                messages = await self._commit(entries)
                self._note_fault(table)
                self._table = table
                self._committed(messages)
                test = entries[-1].fact
                if isinstance(test, LampsTested | HitTested | InputsTested):  # what came after a test ended it
                    self._begin_test(test)
            for future, answer in answers:
                if not future.done():
                    future.set_result(answer)
            self._tell_noise()

    def _fold(
        self, inbox: list[_Arrived | Callable[[], None]]
    ) -> tuple[Table, list[Entry], list[tuple[asyncio.Future[Answer], Answer]]]:
        """Fold what waits in the inbox: the table after it, the rows to commit, and the answers to give after that."""
        table, entries = self._table, []
        answers: list[tuple[asyncio.Future[Answer], Answer]] = []
        for arrived in inbox:
            if callable(arrived):
                arrived()
                continue
            item, ambient = arrived.what, arrived.ambient
            if isinstance(item, _Asked):
                fact = _decide(table, item, ambient)
                refused = fact.code if isinstance(fact, Refuse) else getattr(fact, "refusal", None)
                self._note_wager(item.request, refused)
                if item.answer is not None:
                    answers.append((item.answer, Answer(refused)))
                if isinstance(fact, Refuse):
                    if fact.code == "second_person_due":
                        assert isinstance(item.request, ByTwo)
                        now_s = time.monotonic()
                        shown = item.shown
                        self._second_person.propose(item.request, arrived.via, item.fault, shown, self._moment(), now_s)
                        self._show()
                    act = act_of(item.request)
                    name = act.name if act else "a word of the pit"
                    # Whoever presses a simulated button learns of the refusal from this line alone.
                    simulated = arrived.via.startswith(BUTTON) and self._config.file.pins.driver == "simulated"
                    extra = EVERY_ONE if simulated else None
                    _log.info("refused %s: %s: %s", name, fact.code, language().refusal(fact.code), extra=extra)
                    continue
            elif not self._is_fact_here(item, table):
                continue
            else:
                fact = item
            fact = self._pace.timed(fact, arrived.stamp, arrived.on_time)
            if isinstance(fact, WagersLocked):
                self._refused_seats = frozenset()
            for believed in (*before(table, fact, ambient), fact):
                table, more = _step_or_fail(table, believed, arrived.stamp, arrived.via)
                entries += more
            for follows in after(table, ambient):
                table, more = _step_or_fail(table, follows, arrived.stamp, "controller")
                entries += more
        return table, entries, answers

    def _note_fault(self, after: Table) -> None:
        """Note that a fault came or was left. Until people can have seen that, they answer what they saw before."""
        if (after.fault and after.fault.id) != (self._table.fault and self._table.fault.id):
            self._fault_before, self._fault_since_s = self._fault_seen(), time.monotonic()

    def _fault_seen(self) -> StandingFault | None:
        """The fault that people at the table can have seen by now."""
        seen = time.monotonic() - self._fault_since_s >= SEEN_AFTER_S
        return self._table.fault if seen else self._fault_before

    def _note_wager(self, request: Request, refused: str | None) -> None:
        """A refused wager is shown at its seat until a wager there is accepted, or wagers are locked."""
        if not isinstance(request, PlaceWager | SeeWager) or refused in _TELLS_NO_LAMP:
            return
        if refused is None:
            self._refused_seats -= {request.wager.seat}
        else:
            self._refused_seats |= {request.wager.seat}
            self._beat_soon()  # whoever placed the wager looks at the seat's lamp

    def _ambient(self, stamp: Stamp) -> Ambient:
        live = self._live()
        lot = self._lots.randrange(LOTS)
        return Ambient(
            live.sensed_seats,
            live.pit_fresh,
            self._config.rules,
            self._config.digest,
            __version__,
            lot,
            self.stream.levels.cents,
            self.stream.offered_pit_key,
            self.stream.latest_seq(stamp),
        )

    async def _commit(self, entries: list[Entry]) -> list[Message]:
        """Have the rows committed. Where the disk fails, try again; where the file is gone, write the file again.

        The rows are kept meanwhile, and people see at once that rows wait. That holds also for rows of cards that lie
        face down. The moment at which a disk begins to fail could then tell that the shoe's result came. The other way,
        to keep such a result in memory until the cards are up, would lose the result with the power.
        """
        failed: OSError | None = None
        gone: JournalGoneError | None = None
        kept_as: str | None = None
        while True:
            try:
                try:
                    messages = await self._on_journal(lambda: self._journal.append(entries))
                except JournalGoneError as error:
                    _log.error("the journal is not where it was: %s", error)
                    self._waits_for_journal(str(error))
                    gone = gone or error
                    kept_as = await self._with_pings(self._on_journal(self._journal.put_back)) or kept_as
                    _log.warning("the journal is written there again; what stood there: %s", kept_as or "nothing")
                    continue
            except OSError as error:
                if failed is None:
                    _log.error("the journal cannot be written, and is tried again: %s", error)
                failed = error
                self._waits_for_journal(str(error))
                await asyncio.sleep(_RETRY_COMMIT_S)
                continue
            self._journal_error = None
            if gone is not None:
                self._put(JournalGone(gone.file, gone.code, kept_as))
            elif failed is not None:
                _log.warning("the journal can be written again")
                self._put(CommitFailed(code_of(failed)))
            return messages

    def _waits_for_journal(self, why: str) -> None:
        """Show that rows wait for the journal."""
        self._journal_error = why
        self._alive()
        self._show()

    async def _with_pings(self, work: Awaitable[_T]) -> _T:
        """The result of work that may take longer than the watchdog's patience, with pings meanwhile."""
        doing = asyncio.ensure_future(work)
        while not (await asyncio.wait([doing], timeout=_PING_S))[0]:
            self._alive()
        return doing.result()

    def _committed(self, messages: list[Message]) -> None:
        """What follows a commit: send the events, write the log, and set the lamps that change.

        A blinking lamp goes on and off by the clock alone. If it did so at the moment of a commit, the lamp would show
        that something was committed.
        """
        self.stream.committed(messages, self._table.pit_key, self._table.recognition_key)
        face, self.face = self.face, public(self._table)
        if face != self.face:
            self._test = None  # the lamps are the table's again, and the buttons too
            self._show()
        for message in messages:
            event, level = message.says, _LEVELS.get(message.says["type"], logging.INFO)
            where = message.seq, event["shoe"] or "-", event["round"] or "-", event["type"], event_sentence(event)
            _log.log(level, "event %d, shoe %s, round %s: %s: %s", *where, extra=EVERY_ONE)

    def _on_journal(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Do `work` in the one thread that may touch the journal."""
        return asyncio.get_running_loop().run_in_executor(self._commit_thread, work)

    def _quiet(self) -> bool:
        """Whether the table is between rounds and nothing waits, so that work which can wait may be done now."""
        return self.face.phase in _BETWEEN_ROUNDS and self.face.fault is None and not self._inbox

    # Pins.

    async def _keep_beating(self) -> None:
        """Beat until a beat raises, which ends this task. A timer beats: turns of this task would cost twice that."""
        self._beat_failed = asyncio.get_running_loop().create_future()
        self._beat_in(self._sample_s)
        try:
            await self._beat_failed
        finally:
            self._next_beat.cancel()

    def _beat_in(self, after_s: float, after_standstill: bool = False) -> None:
        self._next_beat = asyncio.get_running_loop().call_later(after_s, self._beat, after_standstill)

    def _beat(self, after_standstill: bool = False) -> None:
        now_ms, asleep_ms = since_boot_ms(), slept_ms()
        try:
            if not after_standstill and self._hearing.stood_still(now_ms, asleep_ms):
                self._beat_in(self._sample_s, True)  # bytes that the kernel kept came first, and are read meanwhile
                return
            if after_standstill:
                self._note_unheard(now_ms)
            self._hearing.beat(now_ms, asleep_ms, self._shoe.proven_ms)
            self._sample_pins()
            self._shoe.beat(now_ms, self._levels)
            self._render()
            self._beat_in(self._until_next_beat_s())
        except BaseException as error:  # noqa: BLE001  # asyncio would only log it: `run` raises it again
            if not self._beat_failed.done():
                self._beat_failed.set_exception(error)

    def _until_next_beat_s(self) -> float:
        """The time to the next beat: short while an input changes, else until the clock's beat or a lamp's change."""
        if self._debouncer.changing:
            return self._sample_s
        until_s = until_beat_s()
        if self._lamps_change_at_ms is None:
            return until_s
        return min(until_s, max(0.0, self._lamps_change_at_ms / 1000 - time.monotonic()))

    def _beat_soon(self) -> None:
        """Something changed that the lamps or the table have to follow. Where no beat is due anyway, beat at once.

        At once is in the loop's next turn: between two beats the loop has always looked at the shoe's line. After the
        last beat there is no other: the watch may notice something while the program ends.
        """
        is_far = self._next_beat.when() - asyncio.get_running_loop().time() > self._sample_s
        if is_far and not self._next_beat.cancelled():
            self._next_beat.cancel()
            self._beat_in(0)

    def _has_changed(self) -> bool:
        """Whether an input is not as it settled, or bytes of the shoe may be lost. The watch's thread calls this.

        The look is kept for the next beat: a short press counts from here, also where the loop is busy meanwhile.
        """
        levels, now_ms = self._pins.read(), time.monotonic_ns() // 1_000_000
        changed = levels != self._debouncer.settled
        if changed or self._looks:
            self._looks.append((levels, now_ms))
        moved = self._shoe.look(since_boot_ms(), levels)
        return changed or moved or self._hearing.stood_still(since_boot_ms(), slept_ms())

    def _sample_pins(self) -> None:
        """Take the watch's looks in their order, then read every input."""
        looks, self._looks = self._looks, []
        self._levels = self._pins.read()
        for levels, at_ms in (*looks, (self._levels, time.monotonic_ns() // 1_000_000)):
            self._take_sample(levels, at_ms)

    def _take_sample(self, levels: dict[str, bool], at_ms: int) -> None:
        """Make the requests of the buttons that were pressed at this sample."""
        first = not self._debouncer.settled
        changed = self._debouncer.sample(levels, at_ms)
        if first or changed:
            settled = self._debouncer.settled
            self._covered = frozenset(seat for seat, name in self._sensors.items() if settled.get(name))
        for name, level in changed.items():
            if name == PRESENT_INPUT:
                continue  # the shoe's line looks at it
            if level:
                self._pressed(name, at_ms / 1000)
            else:
                self._let_go(name, at_ms / 1000)
        confirmed = self._second_person.held(self._moment(), at_ms / 1000)
        if isinstance(confirmed, Confirmed):
            self._put(_Asked(confirmed.request, confirmed.fault, confirmed.shown, None), confirmed.via)

    def _pressed(self, name: str, at_s: float) -> None:
        """An input closed: a button is pressed or begins to be held, or the key was turned."""
        if isinstance(self._test, InputsTested):
            _log.info("%s was pressed, in a test of the inputs", name)
        elif name == KEY:
            self._second_person.key_turned(True, at_s)
        elif not self._second_person.pressed(name, self._moment(), at_s):
            self._press(name)

    def _let_go(self, name: str, at_s: float) -> None:
        """An input opened: a button was let go, or the key was turned back."""
        if name == KEY:
            self._second_person.key_turned(False, at_s)
        else:
            self._second_person.let_go(name)

    def _press(self, name: str) -> None:
        """A press of a button means what it meant for the lamps that people could see."""
        fault = self._fault_seen()
        request = pressed(name, self._debouncer.settled.get(KEY, False), replace(self._table, fault=fault))
        if request is not None:
            self._put(_Asked(request, fault.id if fault else None, None, None), f"{BUTTON}{name}")

    def _begin_test(self, test: LampsTested | HitTested | InputsTested) -> None:
        self._test, self._test_ends_ms = test, time.monotonic_ns() // 1_000_000 + _TEST_MS[type(test)]
        self._show()

    def _live(self) -> Live:
        return Live(
            sensed_seats=self._covered.intersection(self.face.seats),
            pit_fresh=self.stream.fresh(),
            shoe_up=self.shoe_line.up,
            pit_up=self.stream.standing().code in GOOD,
            journal_ok=self._journal_error is None,
            refused_seats=self._refused_seats,
            second_person=self._second_person.waiting(self._moment(), time.monotonic()) is not None,
        )

    def _show(self) -> None:
        """Write the lamps at once, and beat soon: the next beat may be too late for a lamp that blinks from now on."""
        self._render()
        self._beat_soon()

    def _render(self) -> None:
        """Write the lamps that are not as they should be at this moment."""
        now_ms = time.monotonic_ns() // 1_000_000
        if now_ms >= self._test_ends_ms:
            self._test = None
        live, test = self._live(), self._test
        if (self.face, live, test) != self._lamps_of:
            self._lamps_of = self.face, live, test
            shown = lamps(self.face, live)
            self._shown = under_test(shown, test) if isinstance(test, LampsTested | HitTested) else shown
        elif self._lamps_change_at_ms is None or now_ms < self._lamps_change_at_ms:
            return
        changes = [pattern.changes_at_ms(now_ms) for pattern in {*self._shown.values()}]
        self._lamps_change_at_ms = min((at_ms for at_ms in changes if at_ms is not None), default=None)
        for lamp in self._config.file.pins.lamps:
            lit = self._shown.get(lamp, Pattern.DARK).lit(now_ms)  # dark: a seat that is new since the shoe opened
            if self._written.get(lamp) != lit:
                self._pins.write(lamp, lit)
                self._written[lamp] = lit

    # The shoe.

    def shoe_reported(self, fact: Fact) -> None:
        """A report of the shoe came. Its row names the brand, so that the frame can be read again."""
        self._put(fact, f"shoe {self._config.file.shoe.driver.name}")

    def shoe_link(self, up: bool, why: str) -> None:
        """The line to the shoe went up or down, or is down for another reason."""
        now_ms = since_boot_ms()
        if up == self.shoe_line.up and self.shoe_line.told:
            pass  # only the reason is another
        elif up:
            if not self.shoe_line.heard_again:
                self._note_unheard(now_ms)  # the shoe may have dealt until this very moment
            self._hearing.line_up(now_ms, slept_ms())
        else:
            self._hearing.line_down()
            self._put(ShoeUnplugged())
        self.shoe_line.up, self.shoe_line.why, self.shoe_line.told, self.shoe_line.heard_again = up, why, True, False

    def shoe_heard_again(self) -> None:
        """Something came from the shoe, whose line is down as far as people know."""
        self._note_unheard(since_boot_ms())
        self.shoe_line.heard_again = True

    def _note_unheard(self, now_ms: int) -> None:
        """The shoe was not heard from the last time that it was heard until now."""
        unheard_ms = self._hearing.unheard_ms(now_ms)
        if self._numbers_came_round(unheard_ms) and PHASE_NAMES[type(self._table.phase)] in _SHOE_OPEN:
            self._shoe.forget()
        self._put(ShoeUnheard(unheard_ms, self._last_heard_at if unheard_ms is None else None))

    def _numbers_came_round(self, unheard_ms: int | None) -> bool:
        """Whether the shoe went unheard for so long that a gap in its numbers need not show a missed report."""
        return unheard_ms is None or unheard_ms >= self._shoe.gap_shows_within_ms

    def _is_fact_here(self, noticed: Fact, table: Table) -> bool:
        """Whether what the controller noticed is a fact in this phase of the table."""
        match noticed:
            case ShoeUnplugged():
                return PHASE_NAMES[type(table.phase)] in _DEALING
            case ShoeUnheard(unheard_ms):
                lost_count = not gap_would_show(table) or self._numbers_came_round(unheard_ms)
                return lost_count and PHASE_NAMES[type(table.phase)] in _SHOE_OPEN
            case PitKeyRotated(former=former):
                return table.pit_key == former
            case OutboxFull():  # noticed at every event; inside a round it may wait for the next
                return table.fault is None and PHASE_NAMES[type(table.phase)] in _BETWEEN_ROUNDS
            case _:
                return True

    def shoe_noise(self, reason: str, count: int) -> None:
        """Bytes that became no fact are counted, and logged where they begin.

        The bytes may be a damaged copy of a report: of a card that nobody sees, or of the shoe's result, which tells
        that the round is complete. Another copy of that report may yet be believed. So the bytes go into the inbox only
        after all copies can have come. Whether people may be told of them is decided then, by a table that has
        committed the report.
        """
        self.shoe_line.just_came[reason] += count
        self._noise_came.set()

    async def _keep_noting_noise(self) -> None:
        """Put the bad bytes that came into the inbox, at a beat, once all copies of their report have come."""
        while True:
            await self._noise_came.wait()
            self._noise_came.clear()
            came, self.shoe_line.just_came = self.shoe_line.just_came, Counter()
            await asyncio.sleep(_COPIES_COME_WITHIN_S)
            await next_beat()
            self._put(partial(self.shoe_line.untold.update, came))

    def _tell_noise(self) -> None:
        """Tell of the bad bytes noted so far, unless they may tell cards. All reports before them are committed."""
        if hides_cards(self._table):
            return
        for reason, count in self.shoe_line.untold.items():
            if not self.shoe_line.bad_bytes[reason]:
                _log.warning("the shoe's line brings bad bytes (%s); they are counted in the status", reason)
            self.shoe_line.bad_bytes[reason] += count
        self.shoe_line.untold.clear()

    # For the pit and for people.

    @property
    def table(self) -> Table:
        """The table as committed last. It holds cards that nobody has seen, so only public views of it may go out."""
        return self._table

    @property
    def config(self) -> Config:
        """The table's whole configuration."""
        return self._config

    @property
    def table_name(self) -> str:
        """What people call the table."""
        return self._config.file.table.name

    def _state(self) -> dict[str, object]:
        """The table's part of its retained state for the pit."""
        return {
            **self._runs(),
            "public_key": self._public_key.hex(),
            "phase": self.face.phase,
            "shoe": self.face.shoe,
            "round": self.face.round,
            "next_round": self.face.next_round,
            "fault": self.face.fault.code if self.face.fault else None,
            "links": {"shoe": self.shoe_line.up, "journal": self._journal_error is None},
        }

    def _runs(self) -> dict[str, object]:
        """What runs, as JSON values."""
        program, configuration = self._measured.program, self._measured.configuration
        return {
            "version": __version__,
            "program_digest": program,
            "config_digest": configuration,
            "digest": digest(program, configuration),
        }

    def status(self) -> dict[str, object]:
        """Everything a person may know of the running table, as JSON values."""
        return {
            **self._runs(),
            "key_fingerprint": fingerprint(self._public_key),
            "up_s": int(time.monotonic() - self._started_s),
            "clock_set": stamp_now().synchronised,
            "face": asdict(self.face),
            "test": None if self._test is None else TESTS[type(self._test)],
            "lamps": {name: pattern.name.lower() for name, pattern in self._shown.items()},
            "sensors": sorted(self._live().sensed_seats),
            "inputs": sorted(name for name, pressed in self._debouncer.settled.items() if pressed),
            "second_person": self.waits_for_second_person(),
            "shoe": {
                "up": self.shoe_line.up,
                "why": self.shoe_line.why,
                "bad_bytes": dict(self.shoe_line.bad_bytes),
                "bad_bytes_wait": hides_cards(self._table),
            },
            "pit": self.stream.status(),
            "recognition": {"expected": self._config.rules.bet_recognition, **self.stream.recognition_status()},
            "journal": {
                "path": self._config.file.journal.path,
                "boot": self._journal.boot,
                "error": self._journal_error,
                "archived_rows": self._journal.archived_rows,
                "archive_error": self._archivist.error,
            },
        }

    def waits_for_second_person(self) -> dict[str, object] | None:
        """The request that waits for a second person, as JSON values; None where none waits."""
        return self._second_person.status(self._moment(), time.monotonic())

    async def _keep_pinging(self) -> None:
        """The watchdog's ping goes through the inbox, so a fold that hangs stops it."""
        while True:
            self._put(self._alive)
            await asyncio.sleep(_PING_S)


def _price_cents(config: Config) -> int:
    """The highest price of a wager that feeds a meter; 0 where the game has no meter."""
    return max((bet.price_cents or 0 for bet in config.rules.progressives), default=0)


def _decide(table: Table, asked: _Asked, ambient: Ambient) -> Fact | Refuse:
    """The fact that the request becomes. A supervisor's act is valid for the fault that was shown, and no other."""
    return (
        not_answered(table, asked.request, asked.fault)
        or not_as_shown(table, asked.request, ambient, asked.shown)
        or decide(table, asked.request, ambient)
    )


def _step_or_fail(table: Table, fact: Fact, stamp: Stamp, via: str) -> tuple[Table, list[Entry]]:
    """Step over the fact. Where the step raises, the fact and its failure are journalled together."""
    try:
        after, events = step(table, fact)
    except Exception as error:  # noqa: BLE001  # step is total, so this is a defect: the table stops, and not the program
        failure = StepFailed(f"{type(error).__name__} in {type(fact).__name__}", getattr(fact, "report", None))
        # The exception's own text could tell a face-down card. The types say where it happened.
        _log.error("the step failed: %s\n%s", failure.error, "".join(traceback.format_tb(error.__traceback__)))
        after, events = step(table, failure)
        return after, [Entry(stamp, fact, (), via), Entry(stamp, failure, events, "controller")]
    return after, [Entry(stamp, fact, events, via)]
