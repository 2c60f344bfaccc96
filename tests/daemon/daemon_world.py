"""Stand-ins, in memory, for everything around a daemon: pins, a shoe, a broker and a pit that a test controls."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from controller import __version__
from controller.contract.face.status import Status, Waits
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord, MetersWord
from controller.contract.topics import Topics
from controller.daemon.answer import Answer
from controller.daemon.clock import boot_id
from controller.daemon.config import Config, load
from controller.daemon.control.server import serving
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Entry, Message, Row
from controller.daemon.record.replay import replay
from controller.daemon.runtime import Runtime
from controller.daemon.shoe_heard import Mark
from controller.people.cli.programs import EXAMPLE_TABLE, simulated_table
from controller.pit.reference.clock import now_text, number_text
from controller.rules.game.cards import Card
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault
from controller.table.facts import CardDrawn, ProgramMeasured, ProgramStarted, Report
from drivers.devices import BrokerListener, ShoeListener
from tests.support.contract import check_message
from tests.support.ordered_pit import OrderedPit
from tests.support.waiting import PATIENCE_S, eventually

KEY = SigningKey(bytes(range(32)))
_PROGRAM = "0" * 64
PIT_KEY = SigningKey(bytes(range(32, 64)))
RECOGNITION_KEY = SigningKey(bytes(range(64, 96)))
LEVELS = {"personal_vs_personal": 1_000_000, "banker_personal": 500_000, "player_personal": 250_000}
"""The pit's progressive levels, in cents."""


class HeldPins:
    """A stand-in for the Raspberry Pi's pins, in memory. `pressed` holds the names of the inputs (buttons, key and
    sensors) that are closed."""

    def __init__(self, config: Config) -> None:
        self._names = list(config.file.pins.inputs)
        self.lit = dict.fromkeys(config.file.pins.lamps, False)
        self.pressed: set[str] = set()
        self.samples = 0
        self.beats = 0  # so many of the samples were taken by the loop itself
        self.closed = False

    def read(self) -> dict[str, bool]:
        self.samples += 1
        self.beats += threading.current_thread() is threading.main_thread()
        return {name: name in self.pressed for name in self._names}

    def write(self, lamp: str, lit: bool) -> None:
        assert lamp in self.lit, lamp
        self.lit[lamp] = lit

    def close(self) -> None:
        self.lit = dict.fromkeys(self.lit, False)
        self.closed = True

    async def sampled(self, times: int) -> None:
        """Wait until the daemon has read the inputs `times` more times."""
        until = self.samples + times
        await eventually(lambda: self.samples >= until)


class HeldShoe:
    """A stand-in for the shoe, in memory, that reports what a test tells it to. The table never counts this shoe as
    unheard, however long it is silent, unless a test changes the limits.

    Its line is up at once, unless `up` is False. `forgot` counts how often the table told it to forget its last report.
    """

    listener: ShoeListener  # once it runs

    def __init__(self, gap_shows_within_ms: int = 10**9, kept_unread_ms: int = 10**9, up: bool = True) -> None:
        self.gap_shows_within_ms, self.kept_unread_ms = gap_shows_within_ms, kept_unread_ms
        self.forgot = 0
        self._up = up

    async def run(self, listener: ShoeListener) -> None:
        self.listener = listener
        if self._up:
            self.link(True)
        await asyncio.Event().wait()

    proven_ms = None

    def forget(self) -> None:
        self.forgot += 1

    def look(self, now_ms: int, inputs: object) -> bool:
        return False

    def beat(self, now_ms: int, inputs: object) -> None:
        pass

    def link(self, up: bool) -> None:
        """Tell the table that the shoe's line has come up or gone down."""
        self.listener.shoe_link(up, "as the test says")

    def deal(self, text: str) -> None:
        """Report each of these cards, such as "KS 9H", to the table, without saying to which hand it goes."""
        for word in text.split():
            self.listener.shoe_reported(CardDrawn(Card.parse(word), report=Report(None, "05")))


@dataclass(frozen=True, slots=True)
class Published:
    """A message that the table has published on the broker in memory."""

    token: int
    topic: str
    payload: bytes
    retain: bool
    event_type: str | None

    @property
    def value(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.payload)
        return value


class HeldBroker:
    """A stand-in for the MQTT broker, in memory. It answers each message that the table publishes. A test sets the
    function `reason`, which returns the reason code of the answer, or None if the broker shall not answer.

    `retained` is the pit's acknowledgement that the broker keeps for each new connection.
    """

    address = "127.0.0.1:1883"
    has_others = False
    listener: BrokerListener  # once it runs

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self.up = False
        self.published: list[Published] = []
        self.retained: bytes | None = None  # the pit's word
        self.reason: Callable[[Published], int | None] = lambda _: 0
        self.on_event: Callable[[dict[str, Any]], None] = lambda _: None
        self.levels: dict[str, int] | None = dict(LEVELS)  # the pit's, said again and again; None says nothing
        self._levels_seq = time.time_ns() // 1_000_000
        self.cuts = ""
        self.moves = 0  # to the next broker

    async def run(self, listener: BrokerListener) -> None:
        self.listener = listener
        while True:
            await asyncio.sleep(0.05)
            self.say_levels()

    def say_levels(self) -> None:
        """Send the table a message of the pit with the levels of its meters, unless a test has set the levels to
        None."""
        if self.up and self.levels is not None:
            self._levels_seq += 1
            word = MetersWord(self._levels_seq, number_text(self._levels_seq), self.levels)
            self.say(word.payload(PIT_KEY), self._topics.meters)

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        if not self.up:
            return None
        published = Published(len(self.published) + 1, topic, payload, retain, event_type)
        self.published.append(published)
        asyncio.get_running_loop().call_soon(self._answer, published)
        return published.token

    def connect(self) -> None:
        """Bring up the table's connection. The retained message reaches the table before any answer, as with a real
        broker."""
        self.up = True
        self.listener.broker_connected()
        if self.retained is not None:
            self.say(self.retained)
        self.say_levels()  # the first on a connection may be an old word
        self.say_levels()

    def disconnect(self) -> None:
        self.up = False
        self.listener.broker_disconnected("the test cut it")

    def drop(self, why: str, move: bool = False) -> None:
        self.up = False
        self.moves += move
        self.listener.broker_disconnected(why)

    def often_cut(self) -> str:
        return self.cuts

    def say(self, payload: bytes, topic: str | None = None, retained: bool = False) -> None:
        """Send the table a message on `topic`. Without a topic, it goes to the topic of the pit's acknowledgements."""
        self.listener.broker_message(topic or self._topics.ack, payload, retained)

    def events(self) -> list[dict[str, Any]]:
        """Return every event that the table has published so far, in order and with repeats."""
        return [published.value for published in self.published if published.topic == self._topics.event]

    def states(self) -> list[Published]:
        return [published for published in self.published if published.topic == self._topics.state]

    def _answer(self, published: Published) -> None:
        if not self.up:
            return
        reason = self.reason(published)
        if reason is not None:
            self.listener.broker_answered(published.token, reason)
        if published.topic == self._topics.event and reason == 0:
            self.on_event(published.value)


class HeldPit(OrderedPit[dict[str, Any]]):
    """A stand-in for the pit, on the broker in memory. It answers each event of the table with an acknowledgement,
    unless `acks` is False."""

    def __init__(self, broker: HeldBroker, ledger: list[dict[str, Any]]) -> None:
        super().__init__(ledger)
        self._broker = broker
        self.acks = True
        broker.on_event = self._hear

    def types(self) -> list[str]:
        return [event["type"] for event in self.ledger]

    def _hear(self, event: dict[str, Any]) -> None:
        self.commit(event["seq"], event)
        if self.acks:
            chain = self.ledger[-1]["chain"] if self.ledger else "0" * 64
            self._broker.retained = ack(event["epoch"], len(self.ledger), chain, table=event["table"])
            self._broker.say(self._broker.retained)


def ack(epoch: str, seq: int, chain: str, at: str | None = None, table: str = "royal9-01") -> bytes:
    """Return the bytes of the message in which the pit acknowledges event `seq` and all events before it."""
    return AckWord(table, epoch, seq, chain, at or now_text()).payload(PIT_KEY)


class HeldJournal(Journal):
    """A real journal, on a simulated disk that a test can break.

    Writes hang until `gate` is set, and fail if `failing` is set. Reads fail if `unreadable` is set.
    """

    gate: threading.Event
    at_gate: bool
    failing: bool
    unreadable: bool
    batches: list[list[str]]

    def append(self, entries: Sequence[Entry]) -> list[Message]:
        self.at_gate = True
        assert self.gate.wait(PATIENCE_S)
        self.at_gate = False
        if self.failing:
            raise OSError("No space left on device")
        made = super().append(entries)
        self.batches.append([type(entry.fact).__name__ for entry in entries])
        return made

    def messages_after(self, seq: int, limit: int) -> list[Message]:
        if self.unreadable:
            raise OSError("Input/output error")
        return super().messages_after(seq, limit)


@dataclass
class World:
    """A running table with the stand-ins for its pins, shoe, broker and pit."""

    config: Config
    journal: HeldJournal
    pins: HeldPins
    shoe: HeldShoe
    broker: HeldBroker
    pit: HeldPit
    runtime: Runtime
    pings: list[float]
    task: asyncio.Task[None]

    @property
    def status(self) -> Status:
        """The table's status, as `tablectl status` would show it."""
        return self.runtime.told.status()

    @property
    def waits(self) -> Waits:
        """The act that waits for a second person. Raises AssertionError if no act waits."""
        waits = self.runtime.told.waits_for_second_person()
        assert waits is not None, "nothing waits for a second person"
        return waits

    def fault(self) -> str | None:
        """Return the code of the table's present fault; None if it has no fault."""
        return self.runtime.face.fault.code if self.runtime.face.fault else None

    @property
    def lamps(self) -> dict[str, str]:
        """The pattern of every lamp, such as "fast_blink", by the lamp's name."""
        return self.status.lamps

    async def do(self, *requests: Request) -> None:
        """Ask the table for these acts, one after the other. Raises AssertionError if the table refuses one."""
        for request in requests:
            answer = await self.ask(request)
            assert answer.refused is None, answer

    async def ask(self, request: Request) -> Answer:
        """Ask the table for an act, and return its answer. If the table has a fault, the request names this fault as
        the one that the act is meant for."""
        fault = self.runtime.face.fault
        return await self.runtime.ask(request, fault=fault.id if fault else None)

    @asynccontextmanager
    async def committing(self, request: Request) -> AsyncIterator[asyncio.Task[Answer]]:
        """Ask the table for an act whose commit hangs during the `async with` block. Yield the task that waits for the
        answer."""
        self.journal.gate.clear()
        asked = asyncio.create_task(self.runtime.ask(request))
        await eventually(lambda: self.journal.at_gate)
        yield asked
        self.journal.gate.set()
        await asyncio.wait([asked])

    async def deal(self, text: str) -> None:
        """Let the shoe report these cards, such as "KS 9H", and wait until the table has committed them."""
        self.shoe.deal(text)
        await self.settle()

    async def settle(self) -> None:
        """Wait until the table has committed and shown everything that came so far."""
        await self.runtime.ask(ClearFault(None))  # always refused, and answered in its turn

    async def open_shoe(self) -> None:
        """Open a shoe, and draw its first card and the card to burn. After that, wagers are open."""
        await self.do(NewShoe())
        await self.deal("AS 2D")
        assert self.runtime.face.phase == "wagers_open"

    async def wager(self, *seats: int) -> None:
        """Cover the Royal 9 sensors of these seats with chips, and wait until the table has seen that."""
        self.pins.pressed |= {f"seat_{seat}" for seat in seats}
        await eventually(lambda: self.status.sensors == tuple(sorted(seats)))

    async def play_hit(self) -> None:
        """Play a round in which seat 1 wins with its own King and 9."""
        await self.wager(1)
        await self.do(LockWagers())
        await self.deal("KS 2D 9S 3D")

    async def do_rounds(self, count: int) -> None:
        """Play `count` rounds in which nobody wagers."""
        for _ in range(count):
            await self.do(LockWagers())
            await self.deal("KS 2D 9S 3D")

    def rows(self) -> list[Row]:
        """Return every row of the open shoe from the journal, except the rows that record a start of the program."""
        return [row for row in self.journal.open_shoe() if not isinstance(row.fact, ProgramStarted)]


def table_config(folder: Path, example: Path = EXAMPLE_TABLE, **sections: dict[str, Any]) -> Config:
    """Return the configuration of the example table, with all its files in the folder `folder`. `sections` change the
    table's file."""
    return load(simulated_table(folder, 1883, example, **sections))


def open_journal(config: Config) -> HeldJournal:
    """Open the table's journal on a simulated disk that works, until a test breaks it."""
    file = config.file
    journal = HeldJournal(Path(file.journal.path), file.table.id, KEY, KEY.public)
    journal.gate = threading.Event()
    journal.gate.set()
    journal.at_gate = journal.failing = journal.unreadable = False
    journal.batches = []
    return journal


@asynccontextmanager
async def running(
    folder: Path,
    *,
    connected: bool = True,
    pinned: bool = True,
    adopted: bool = True,
    recognised: bool = True,
    measured: bool = True,
    ledger: Sequence[dict[str, Any]] = (),
    example: Path = EXAMPLE_TABLE,
    **sections: dict[str, Any],
) -> AsyncIterator[World]:
    """Run a table whose journal is in `folder`, built from the same parts as in the daemon. Yield the table with its
    stand-ins.

    With `connected`, the broker is connected. With `pinned`, the table trusts the pit's key. With `adopted`, the pit
    tells a table whose journal is new that it knows the journal and has none of its events yet. With `recognised`, the
    table trusts bet recognition's key. With `measured`, a new journal already has the digests of the program and the
    configuration.

    `ledger` holds the events that the pit has already. `sections` replace sections of the table's file. At the end,
    check that every message of the table keeps the contract between table and pit.
    """
    config = table_config(folder, example, **sections)
    topics = Topics(config.file.pit.root, config.file.table.id)
    journal = open_journal(config)
    try:
        table, differs = replay(journal.open_shoe(), config.rules, config.file.table.id, journal.epoch)
        pins, shoe, broker, pings = HeldPins(config), HeldShoe(), HeldBroker(topics), list[float]()
        runtime = Runtime(
            config,
            journal,
            KEY.public,
            replace(
                table,
                pit_key=PIT_KEY.public.hex() if pinned else table.pit_key,
                recognition_key=RECOGNITION_KEY.public.hex() if recognised else table.recognition_key,
                measured=ProgramMeasured(__version__, _PROGRAM, config.digest) if measured else table.measured,
            ),
            differs,
            _PROGRAM,
            pins,
            shoe,
            broker,
            alive=lambda: pings.append(time.monotonic()),
            mark=Mark(folder / "heard", boot_id()),
        )
        task = asyncio.create_task(runtime.run())
        world = World(config, journal, pins, shoe, broker, HeldPit(broker, list(ledger)), runtime, pings, task)
        try:
            await eventually(lambda: task.done() or (hasattr(broker, "listener") and hasattr(shoe, "listener")))
            if connected:
                broker.connect()
                await eventually(lambda: runtime.stream.up)
                if adopted and journal.head_seq == 0:
                    broker.say(ack(journal.epoch, 0, "0" * 64))
            yield world
            if task.done():
                task.result()  # a table that ended by itself has failed
        finally:
            journal.gate.set()
            task.cancel()
            await asyncio.wait([task])
            assert pins.closed
        for topic, payload in {(published.topic, published.payload) for published in broker.published}:
            check_message(topic, payload)
    finally:
        journal.close()


@asynccontextmanager
async def served(folder: Path, **how: Any) -> AsyncIterator[tuple[World, Path]]:
    """Run a table with its control socket. Yield the table with its stand-ins, and the path of the socket. `how` holds
    the arguments of `running`."""
    async with running(folder, **how) as world:
        path = Path(world.config.file.control.socket)
        async with serving(world.runtime, path):
            yield world, path
            assert not world.task.done(), "the table lives"
