"""The main loop of a running table: takes facts in, commits them to the journal, and only then sends events, sets lamps
and gives answers.

Everything that comes waits in one inbox: the shoe's reports, buttons, requests over the socket, news of the
connections. One task takes all that waits, applies it to the table's state (`folding`), and has the journal's thread
commit it (`commits`). What comes meanwhile is the next batch. Events, lamps and answers wait for their commit. The pins
are sampled on a timer (`beats`, `panel`), even while the disk is slow.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable

from controller import __version__
from controller.contract.envelope import Stamp
from controller.contract.note import Note
from controller.contract.topics import Topics
from controller.contract.wire.callers import SOCKET
from controller.daemon import clock, journald
from controller.daemon.answer import Answer
from controller.daemon.beat import until_beat_s
from controller.daemon.beats import Beats
from controller.daemon.checkpointing import Checkpointing
from controller.daemon.commits import PING_S, Commits
from controller.daemon.config import Config
from controller.daemon.counted_log import EVERY_ONE
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.recognition_trust import RecognitionTrust
from controller.daemon.delivery.stream import PitStream
from controller.daemon.folding import Folding
from controller.daemon.inbox import Arrived, Asked
from controller.daemon.measuring import Measuring
from controller.daemon.panel import Panel
from controller.daemon.pins.inputs import CABINET
from controller.daemon.pins.watch import Watch, keep_watching
from controller.daemon.presses import Presses
from controller.daemon.record.archiving import Archivist
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Message
from controller.daemon.refusals import Refusals
from controller.daemon.second_person import BUTTON
from controller.daemon.shoe_heard import Mark
from controller.daemon.shoe_line import ShoeLine
from controller.daemon.told import Told
from controller.table.acts.entry import LOTS, Ambient, Request
from controller.table.acts.every import act_of
from controller.table.acts.itself import HitTested, InputsTested, LampsTested
from controller.table.acts.recognition import SeeWager
from controller.table.acts.seats import PlaceWager
from controller.table.face_down import hides_cards
from controller.table.facts import CabinetOpened, CabinetOpeningNoted, Fact, ProgramStarted, ReplayDiffered
from controller.table.foreseen import foreseen
from controller.table.legality import Refuse
from controller.table.public import BETWEEN_ROUNDS, public
from controller.table.requests import ByTwo, not_answered
from controller.table.states import Table
from controller.table.stops import behind_pit_at
from controller.words.events import event_sentence
from controller.words.language import language
from drivers.devices import Broker, Pins, Shoe

_log = logging.getLogger(__name__)

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


class Runtime:
    """A running table.

    `table` is the state replayed from `journal`. If the replay gave other events than the stored ones, `differs` is the
    number of the first such row; otherwise `differs` is None. `program` is the digest of the program's files. `mark`
    records until when the daemon's run before this one heard the shoe. `alive` pings the watchdog, and is called about
    once a second while the main loop works.
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
        self._table = table
        self.face = public(table)
        self._alive = alive
        self._inbox: list[Arrived | Callable[[], None]] = []
        self._inbox_has = asyncio.Event()
        self._refusals = Refusals()
        self._lots = random.SystemRandom()
        self._sample_s = config.file.pins.sample_ms / 1000
        self._beats = Beats(self._beat, self._sample_s)
        self._watch = watch
        self._commits = Commits(journal, alive, self._show, self._put)
        last = journal.last_stamp
        driver = config.file.shoe.driver.name
        self.shoe_line = ShoeLine(shoe, driver, mark, last.text() if last else None, self._put, lambda: self._table)
        self._folding = Folding(self.shoe_line.is_fact, self._answered)
        own = config.file.program, config.digest, program
        self._measuring = Measuring(*own, self._put, table.measure_asked_at)
        self.stream = self._new_stream(broker)
        keep = config.file.journal.keep_shoes, config.file.journal.most_bytes
        self._archivist = Archivist(journal, *keep, self._commits.on_journal, self._quiet, self._put)
        self._checkpointing = Checkpointing(
            journal, self._commits.on_journal, lambda: hides_cards(self._table), self.stream.checkpoint_signed
        )
        self._presses = self._new_presses()
        sensors = {seat.number: f"seat_{seat.number}" for seat in config.rules.seats}
        self._panel = Panel(pins, config.file.pins, sensors, self._presses, lambda: (self.face, self.told.live()))
        self.told = self._new_told(public_key)
        self._note_start(differs)
        self.shoe_line.note_unheard(clock.since_boot_ms())

    def _new_stream(self, broker: Broker) -> PitStream:
        config, table = self._config, self._table
        own, pit = config.file.table.id, config.file.pit
        return PitStream(
            Topics(pit.root, own),
            own,
            pit.stale_after_s,
            pit.most_unacknowledged,
            pit.trust_first_key,
            self._journal,
            broker,
            self._commits.on_journal,
            tell=self._put,
            ask=self._asked,
            levels=Levels(config.rules.meters, pit.stale_after_s, _price_cents(config)),
            game_file=config.file.table.game,
            pit_key=table.pit_key,
            behind_at=behind_pit_at(table),
            recognition=RecognitionTrust(own, table.recognition_key),
            measure=self._measuring.ask,
            link_lost=table.pit_link_lost,
        )

    def _new_presses(self) -> Presses:
        return Presses(
            self._config.file.pins.inputs,
            opened=self._cabinet_opened,
            ask=self._put,
            table=lambda: self._table,
            moment=self._moment,
            settled=lambda: self._panel.settled,
            testing=lambda: isinstance(self._panel.test, InputsTested),
        )

    def _new_told(self, public_key: bytes) -> Told:
        return Told(
            *(self._config, public_key, self._journal, self._commits, self._archivist, self._measuring),
            *(self._folding, self.shoe_line, self._panel, self._presses, self.stream),
            *(lambda: self._table, lambda: self.face),
        )

    def _note_start(self, differs: int | None) -> None:
        """Record in the journal that the program has started. Record too if its files differ from the last digest in
        the journal, or if the replay did not give the stored events."""
        self._put(ProgramStarted(self._journal.boot))
        if self._measuring.measured != self._table.measured:
            self._put(self._measuring.measured)
        if differs is not None:
            self._put(ReplayDiffered(differs))

    async def run(self) -> None:
        """Run the table until cancelled, and darken the lamps at the end. Raises any error that the daemon cannot
        handle."""
        try:
            self._panel.sample()  # so that the first render already knows the sensors
            self._panel.render()
            if self._panel.settled.get(CABINET):
                self._cabinet_opened()
            async with asyncio.TaskGroup() as tasks:
                for work in (
                    self._fold_and_commit(),
                    self._beats.keep_beating(),
                    self._watch(self._has_changed, self._beats.soon, _AT_REST * self._sample_s),
                    self._keep_pinging(),
                    self.shoe_line.keep_noting_noise(),
                    self.shoe_line.run(),
                    self.stream.run(self.told.state),
                    self._archivist.run(),
                    self._checkpointing.run(),
                    self._measuring.run(),
                ):
                    tasks.create_task(work)
        finally:
            self._commits.close()
            self.shoe_line.close()
            self._panel.close()

    async def ask(
        self, request: Request, via: str = "socket", fault: str | None = None, shown: str | None = None
    ) -> Answer:
        """Put a request to the table. Return the answer after the request was committed or refused. `via` says from
        where the request came, such as a button's name or an account.

        `fault` is the id of the fault that the person who asks was shown. A request that clears a fault clears only
        that fault. `shown` names a preview from `foresee`: the request does exactly what the preview said, or is
        refused.
        """
        return await self._asked(request, via, fault, shown)

    async def confirm(self, proposal: int, by: str, via: str) -> Answer:
        """Confirm, for the second person `by`, the request that was shown under the number `proposal`. Return the
        answer after the request was committed or refused."""
        confirmed = self._presses.confirm(proposal, by, via)
        if isinstance(confirmed, Refuse):
            self._keep_refused("witness", by, confirmed.code, via)
            return Answer(confirmed.code)
        return await self._asked(confirmed.request, confirmed.via, confirmed.fault, confirmed.shown)

    def foresee(self, request: Request, fault: str | None) -> dict[str, object] | Refuse:
        """Return a preview: what the request would do to the table in its present state, as JSON values. Return a
        refusal if the table would refuse the request."""
        refused = not_answered(self._table, request, fault)
        return refused or foreseen(self._table, request, self._ambient(clock.stamp_now()))

    def _asked(
        self, request: Request, via: str = "pit", fault: str | None = None, shown: str | None = None
    ) -> asyncio.Future[Answer]:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._put(Asked(request, fault, shown, answer), via)
        return answer

    def _cabinet_opened(self) -> None:
        stops = self._config.file.pins.cabinet_opened == "fault"
        self._put(CabinetOpened() if stops else CabinetOpeningNoted())

    def _moment(self) -> tuple[int | None, int | None, str]:
        """Return the table's shoe, round and phase. A request waits for a second person only as long as these three
        stay the same."""
        return self.face.shoe, self.face.round, self.face.phase

    # Facts in, one commit at a time.

    def _put(self, item: Fact | Asked | Callable[[], None], via: str = "controller") -> None:
        if callable(item):
            self._inbox.append(item)
        else:
            stamp = clock.stamp_now()
            self._inbox.append(Arrived(item, self._ambient(stamp), stamp, via, not self.shoe_line.is_late()))
        self._inbox_has.set()

    async def _fold_and_commit(self) -> None:
        while True:
            await self._inbox_has.wait()
            self._inbox_has.clear()
            inbox, self._inbox = self._inbox, []
            folded = self._folding.fold(self._table, inbox)
            if folded.entries:
                messages = await self._commits.commit(folded.entries)
                self._presses.note_fault(folded.table)
                self._table = folded.table
                self._committed(messages)
                test = folded.entries[-1].fact
                if isinstance(test, LampsTested | HitTested | InputsTested):  # what came after a test ended it
                    self._panel.begin_test(test)
                    self._show()
            for future, answer in folded.answers:
                if not future.done():
                    future.set_result(answer)
            self.shoe_line.tell_noise()

    def _answered(self, arrived: Arrived, asked: Asked, decided: Fact | Refuse) -> None:
        """Act on the table's decision about a request: log and record a refusal. If the request needs a second person,
        keep it until that person confirms it."""
        if isinstance(asked.request, PlaceWager | SeeWager):
            self._beats.soon()  # whoever placed the wager looks at the seat's lamp
        if not isinstance(decided, Refuse):
            return
        if decided.code == "second_person_due":
            assert isinstance(asked.request, ByTwo)
            self._presses.propose(asked.request, arrived.via, asked)
            self._show()
        act = act_of(asked.request)
        name = act.name if act else "a word from the network"
        if decided.code != "second_person_due":
            by = getattr(asked.request, "by", None) or getattr(asked.request, "supervisor", None)
            self._keep_refused(name, by, decided.code, arrived.via)
        # Whoever presses a simulated button learns of the refusal from this line alone.
        simulated = arrived.via.startswith(BUTTON) and self._config.file.pins.driver == "simulated"
        extra = journald.of_refusal(self._config.file.table.id, decided.code) | (EVERY_ONE if simulated else {})
        _log.info("refused %s: %s: %s", name, decided.code, language().refusal(decided.code), extra=extra)

    def _keep_refused(self, act: str, by: str | None, code: str, via: str) -> None:
        """Record in the journal that the table refused a person's act. Only acts over the control socket are
        recorded."""
        if via.startswith(SOCKET):
            day = clock.stamp_now().text()[: len("2026-01-01")]
            refused = self._refusals.fact(via, act, by, code, day)
            if refused is not None:
                self._put(refused, via)

    def _ambient(self, stamp: Stamp) -> Ambient:
        return Ambient(
            self.told.sensed_seats(),
            self.stream.fresh(),
            self._config.rules,
            self._config.digest,
            __version__,
            self._lots.randrange(LOTS),
            self.stream.levels.cents,
            self.stream.offered_pit_keys,
            self.stream.latest_seq(stamp),
            self.stream.levels.told(clock.monotonic_s()),
        )

    def _committed(self, messages: list[Message]) -> None:
        """Act on a commit of the journal: set the lamps that change, send the events, and write the log.

        The lamps come first, because the dealer waits for them. A blinking lamp goes on and off by the clock alone. If
        it changed at the moment of a commit, the lamp would reveal that something was committed.
        """
        face, self.face = self.face, public(self._table)
        if face != self.face:
            self._panel.end_test()
            self._show()
        stood = self.told.pit_stands()
        self.stream.committed(messages, self._table.pit_key, self._table.recognition_key)
        if stood != self.told.pit_stands():
            self._show()
        self._checkpointing.committed(messages)
        for message in messages:
            head, level = message.head, _LEVELS.get(message.head.type, logging.INFO)
            where = message.seq, head.shoe or "-", head.round or "-", head.type, event_sentence(message.says)
            extra = EVERY_ONE | journald.of_event(self._config.file.table.id, message.seq, message.says)
            _log.log(level, "event %d, shoe %s, round %s: %s: %s", *where, extra=extra)

    def _quiet(self) -> bool:
        """Return True if the table is between rounds, has no fault and has an empty inbox. Only then is work done that
        can wait."""
        return self.face.phase in BETWEEN_ROUNDS and self.face.fault is None and not self._inbox

    # The beats.

    def _beat(self, after_standstill: bool) -> tuple[float, bool]:
        """Do the main loop's regular work once: sample the pins, serve the shoe's line, write the lamps.

        Return the seconds until the next call, and True if the program stood still before this call. In that case this
        call does nothing else, so that the bytes of the shoe that the kernel kept are read first.
        """
        if not after_standstill and self.shoe_line.stood_still():
            return self._sample_s, True  # bytes that the kernel kept came first, and are read meanwhile
        self.shoe_line.beat_begins(after_standstill)
        self._panel.sample()
        self.shoe_line.beat(self._panel.levels)
        self._panel.render()
        return self._until_beat_s(), False

    def _until_beat_s(self) -> float:
        return self._panel.until_change_s(until_beat_s(), self._sample_s)

    def _has_changed(self) -> bool:
        """Return True if an input or the shoe's plug has changed, or if bytes of the shoe may be lost. A watching
        thread calls this."""
        levels, changed = self._panel.look()
        moved = self.shoe_line.look(levels)
        return changed or moved or self.shoe_line.stood_still()

    def _show(self) -> None:
        """Write the lamps now. Call the timer again when a lamp changes next, because a lamp may have begun to
        blink."""
        self._panel.render()
        self._beats.soon(self._until_beat_s())

    # For the pit and for people.

    @property
    def table(self) -> Table:
        """The table's state after the last commit. It holds cards that nobody has seen, so only public views of it may
        be sent out."""
        return self._table

    @property
    def last_checkpoint(self) -> Note | None:
        """The latest signed checkpoint of the journal, which everybody may see; None if none was signed yet."""
        return self._checkpointing.last

    @property
    def config(self) -> Config:
        """The table's whole configuration."""
        return self._config

    @property
    def table_name(self) -> str:
        """The table's name for people, such as "Royal 9, table 1"."""
        return self._config.file.table.name

    async def _keep_pinging(self) -> None:
        """Ping the watchdog once a second. The pings go through the main loop's inbox, so they stop if the main loop
        hangs."""
        while True:
            self._put(self._alive)
            await asyncio.sleep(PING_S)


def _price_cents(config: Config) -> int:
    """Return the highest price, in cents, among the game's progressive bets; 0 if the game has no progressive bet."""
    return max((bet.price_cents or 0 for bet in config.rules.progressives), default=0)
