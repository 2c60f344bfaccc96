"""Runs one table in simulated time, and records everything that leaves the table, each thing with its time.

These parts are real: the runtime with its stream of events, the journal, the codec, the lamps and the watchers, wired
as `controller.daemon.app` wires them. These things leave the table: published messages, changes of lamps, log lines,
answers, and the status, both on request and to a client that watches it. These parts are simulated: the clock and event
loop, the serial line and its noise, the Pi's GPIO pins, the broker with a pit behind it, and a disk that can fail.
Nothing here is random.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

import controller.daemon.clock
import controller.daemon.delivery.pit_said
import controller.daemon.delivery.pit_trust
import controller.daemon.delivery.recognition_said
import controller.daemon.delivery.recognition_trust
import controller.daemon.record.journal_reading
import drivers.line.shoe_on_line
from controller.contract.envelope import Stamp
from controller.contract.pit_words import AckWord, CosignedWord
from controller.contract.signing import signed
from controller.contract.topics import Topics
from controller.daemon.config import Config
from controller.daemon.control.feed import feed_lines
from controller.daemon.control.lines import line
from controller.daemon.control.watchers import Watchers
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Entry, Message
from controller.daemon.record.replay import replay
from controller.daemon.runtime import Runtime
from controller.daemon.shoe_heard import Mark
from controller.rules.game.play import Call
from controller.rules.game.seating import Actives
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, MakeCall, VoidRound
from controller.table.acts.seats import ChooseActives, TakeSeats
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault
from drivers.devices import BrokerListener
from drivers.line.shoe_on_line import ShoeOnLine
from drivers.sim.shoe import maker
from tests.simulation.disk import unsynced
from tests.simulation.loop import VirtualLoop, Worker, watch_in_turns
from tests.simulation.signing import Signer, signature_holds

_BEGUN_MS = 1_767_225_600_000  # 2026-01-01
_LATENCY_S = 0.004
_PIT_COMMITS_S = 0.01
_APART_S = 1e-6
_SETTLES_S = 2.5  # by the script's end, and so long after it, what was to be told is told
_KEY = bytes(32)
_PIT_KEY = Signer(bytes(range(32)))


@dataclass(frozen=True)
class Step:
    """One step of a script: what happens, and when, in seconds from the script's beginning."""

    at_s: float
    what: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Noise:
    """Noise on the shoe's wire at the time `at_s`. If a byte is on the wire at that time, its bits in `mask` are
    flipped."""

    at_s: float
    mask: int


@dataclass(frozen=True)
class Left:
    """One thing that left the table: the time, the way by which it left (for example a lamp), the text `said`, and the
    text's size in bytes. Random parts of the text are replaced by fixed ones."""

    at_s: float
    way: str
    said: str
    size: int

    def __str__(self) -> str:
        return f"{self.at_s:8.4f} s  {self.way:7} {self.size:5} bytes  {self.said}"


def seen(
    config: Config, folder: Path, script: Sequence[Step], cards: Sequence[str], noise: Sequence[Noise]
) -> list[Left]:
    """Play the script with these cards at a table of `config`. Return everything that leaves the table, in order."""
    with _Table(config, folder, cards, noise) as table:
        table.play(script)
    return table.left


class _Wire:
    """The serial line between the shoe and the table, with its noise. It carries byte after byte as fast as its baud
    rate allows."""

    def __init__(self, loop: VirtualLoop, baud: int, noise: Sequence[Noise]) -> None:
        self._loop, self._byte_s, self._noise = loop, 10 / baud, noise
        self._began_s = self._free_s = loop.now_s
        self.on_bytes: Callable[[bytes], None] = lambda data: None
        self.on_link: Callable[[bool, str], None] = lambda up, why: None
        self.plugged = True
        self.in_shoe = True  # the plug at the other end
        self._shoe_hears: Callable[[bytes], None] = lambda data: None

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Set the function by which the shoe hears the table."""
        self._shoe_hears = heard

    def to_shoe(self, data: bytes) -> None:
        """Send the table's bytes to the shoe."""
        if self.plugged and self.in_shoe:
            self._loop.call_at(self._loop.now_s + len(data) * self._byte_s, self._shoe_hears, data)

    def plug(self, plugged: bool) -> None:
        """Pull the shoe's cable, or put it back. Bytes that are on the wire while it is out are lost."""
        self.plugged = plugged
        self.on_link(plugged, "the cable was moved")

    def write(self, data: bytes) -> None:
        """Send the shoe's bytes to the table."""
        for byte in data:
            self._free_s = max(self._loop.now_s, self._free_s) + self._byte_s
            self._loop.call_at(self._free_s, self._arrives, byte)

    def _arrives(self, byte: int) -> None:
        until_s = self._loop.now_s - self._began_s
        for noise in self._noise:
            if until_s - self._byte_s < noise.at_s <= until_s:
                byte ^= noise.mask
        if self.plugged and self.in_shoe:
            self.on_bytes(bytes([byte]))


class _Port:
    """The table's end of the serial line to the shoe, in place of `drivers.line.port.ShoePort`."""

    def __init__(self, wire: _Wire) -> None:
        self._wire = wire

    def write(self, data: bytes) -> None:
        """Send the table's bytes to the shoe."""
        self._wire.to_shoe(data)

    async def run(self) -> None:
        """Keep the port open."""
        self._wire.on_link(True, "the port is open")
        await asyncio.Event().wait()


def _stamp(loop: VirtualLoop) -> Stamp:
    """Return the present time by the simulated wall clock."""
    return Stamp(_BEGUN_MS + round(loop.now_s * 1000), synchronised=True)


class _Broker:
    """A simulated broker with a simulated pit behind it. The pit acknowledges the events that it has committed. It can
    also be restored from an older copy, with fewer events. The pit says that it cosigns the table's journal, and has
    cosigned nothing yet. For this reason the table sends the pit its last checkpoint on each connection. `epoch` is the
    name of the table's journal."""

    address, has_others = "127.0.0.1:1883", False

    def __init__(self, loop: VirtualLoop, topics: Topics, epoch: str, leaves: Callable[[str, bytes], None]) -> None:
        self._loop, self._topics, self._epoch, self._leaves = loop, topics, epoch, leaves
        self._listener: BrokerListener | None = None
        self._connection = self._tokens = 0
        self._up = True
        self._last_s = 0.0
        self.pit_listens = True
        self._committed: list[dict[str, Any]] = []

    async def run(self, listener: BrokerListener) -> None:
        """Connect the table, and keep it connected."""
        self._listener = listener
        self.connect(True)
        await asyncio.Event().wait()

    def connect(self, up: bool) -> None:
        """Begin the table's connection to the broker if `up` is True, else end it."""
        assert self._listener is not None
        self._up = up
        self._connection += 1
        if up:
            self._listener.broker_connected()
            self._say_ack()
            cosigned = CosignedWord(self._topics.table, self._epoch, 0, "", None, _stamp(self._loop).text())
            self.says(self._topics.cosigned, cosigned.payload(_PIT_KEY))
        else:
            self._listener.broker_disconnected("cut")

    def drop(self, why: str, move: bool = False) -> None:
        """Raise AssertionError, because nothing here gives the table a reason to end the connection."""
        raise AssertionError(why)

    def often_cut(self) -> str:
        """Return an empty text, because the connection is never cut often."""
        return ""

    def goes_back(self, events: int) -> None:
        """Restore the pit from an older copy that lacks the last `events` events."""
        del self._committed[max(0, len(self._committed) - events) :]
        self._say_ack()

    def says(self, topic: str, payload: bytes) -> None:
        """Bring the table a message on this topic."""
        self._later(self._message, topic, payload)

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish a message and return its token (its number). If the table is not connected, return None."""
        if not self._up:
            return None
        self._leaves(topic, payload)
        self._tokens += 1
        self._later(self._answered, self._tokens)
        if topic == self._topics.event:
            self._later(self._hears, payload, after_s=_PIT_COMMITS_S)
        return self._tokens

    def _hears(self, payload: bytes) -> None:
        event = json.loads(payload)
        if self.pit_listens:
            if event["seq"] == len(self._committed) + 1:
                self._committed.append(event)
            self._say_ack()

    def _say_ack(self) -> None:
        if self._committed:
            last = self._committed[-1]
            at = _stamp(self._loop).text()
            said = AckWord(self._topics.table, last["epoch"], last["seq"], last["chain"], at)
            self.says(self._topics.ack, said.payload(_PIT_KEY))

    def _later(self, what: Callable[..., None], *args: Any, after_s: float = _LATENCY_S) -> None:
        # Messages keep their order; of timers for one moment any might be the first.
        self._last_s = max(self._last_s + _APART_S, self._loop.now_s + after_s)
        self._loop.call_at(self._last_s, self._on_this_connection, self._connection, what, *args)

    def _on_this_connection(self, connection: int, what: Callable[..., None], *args: Any) -> None:
        if self._up and connection == self._connection:
            what(*args)

    def _answered(self, token: int) -> None:
        assert self._listener is not None
        self._listener.broker_answered(token, 0)

    def _message(self, topic: str, payload: bytes) -> None:
        assert self._listener is not None
        self._listener.broker_message(topic, payload, retained=False)


class _Journal(Journal):
    """A journal on a disk that can refuse to be written."""

    failing = False

    def append(self, entries: Sequence[Entry]) -> list[Message]:
        if self.failing:
            raise OSError("No space left on device")
        return super().append(entries)


class _Pins:
    """Simulated GPIO pins on which no input is pressed. Each change of a lamp counts as something that leaves the
    table."""

    def __init__(self, inputs: Iterator[str], leaves: Callable[[str], None]) -> None:
        self._inputs, self._leaves = tuple(inputs), leaves

    def read(self) -> dict[str, bool]:
        return dict.fromkeys(self._inputs, False)

    def write(self, lamp: str, lit: bool) -> None:
        self._leaves(f"{lamp} {'on' if lit else 'off'}")

    def close(self) -> None:
        pass


class _Connection(asyncio.Transport):
    """The far end of a socket on which somebody watches the table's status."""

    def __init__(self, leaves: Callable[[bytes], None]) -> None:
        super().__init__()
        self._leaves = leaves

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._leaves(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False


class _LogLines(logging.Handler):
    """A log handler that notes every line that would be in the daemon's log."""

    def __init__(self, leaves: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._leaves = leaves

    def emit(self, record: logging.LogRecord) -> None:
        self._leaves(f"{record.levelname} {record.name}: {record.getMessage()}")


@dataclass
class _Table:
    """The running table that the onlooker watches. Use it as a context manager."""

    config: Config
    folder: Path
    cards: Sequence[str]
    noise: Sequence[Noise]
    left: list[Left] = field(default_factory=list)
    _wagers_said: int = 0

    def __enter__(self) -> _Table:
        self._undo = ExitStack()
        self.loop = VirtualLoop()
        self._undo.callback(self.loop.close)
        self._undo.enter_context(self._in_this_time())
        self._coming = iter(self.cards)
        self.folder.mkdir()
        file = self.config.file
        with unsynced():
            self.journal = _Journal(self.folder / "table.journal", file.table.id, Signer(_KEY), _KEY)
        self._undo.callback(self.journal.close)
        brand = file.shoe.driver
        self.wire = _Wire(self.loop, brand.bauds[0], self.noise)
        self.shoe: Any = maker(brand.name)(self.wire)
        self.topics = Topics(file.pit.root, file.table.id)
        self.broker = _Broker(
            self.loop, self.topics, self.journal.epoch, lambda topic, payload: self._leaves(f"mqtt {topic}", payload)
        )
        table, _ = replay(self.journal.open_shoe(), self.config.rules, file.table.id, self.journal.epoch)
        self.runtime = Runtime(
            self.config,
            self.journal,
            _KEY,
            replace(table, pit_key=_PIT_KEY.public.hex(), recognition_key=_PIT_KEY.public.hex()),
            None,
            "0" * 64,
            pins=_Pins(iter(file.pins.inputs), lambda said: self._leaves("lamp", said.encode())),
            shoe=ShoeOnLine(brand, "the wire"),
            broker=self.broker,
            alive=lambda: None,
            mark=Mark(self.folder / "heard", "c0ffee"),
            watch=watch_in_turns,
        )
        self.loop.workers[self.runtime._commits._thread] = Worker(0.0, lambda: None)
        self._tasks = [self.loop.create_task(self.runtime.run()), self.loop.create_task(self._watch())]
        self._asked: list[asyncio.Task[None]] = []
        return self

    def __exit__(self, *_: object) -> None:
        with self._undo:
            for task in (*self._tasks, *self._asked):
                task.cancel()
            self.loop.run_for(0.1)

    def play(self, script: Sequence[Step]) -> None:
        """Perform all steps of the script, and let a little more simulated time go by."""
        began_s = self._began_s = self.loop.now_s
        for place, step in enumerate(script):  # apart: of timers for one moment any might be the first
            self.loop.call_at(began_s + step.at_s + place * _APART_S, self._perform, step)
        self.loop.run_for(script[-1].at_s + _SETTLES_S)
        ended = [task for task in self._tasks if task.done()]
        assert not ended, ended

    def _perform(self, step: Step) -> None:
        self.runtime._checkpointing._due = True  # as if an earlier round had been corrected just now
        match step.what, step.args:
            case "card", ():
                self.shoe.draw(next(self._coming))
            case "shoe", (str(what), *args):
                getattr(self.shoe, what)(*args)
            case "cable", (bool(plugged),):
                self.wire.plug(plugged)
            case "broker", (bool(up),):
                self.broker.connect(up)
            case "pit goes back", (int(events),):
                self.broker.goes_back(events)
            case "pit", (bool(listens),):
                self.broker.pit_listens = listens
            case "disk", (bool(failing),):
                self.journal.failing = failing
            case "wager", (int(seat), str(spot), int(cents)):
                self.broker.says(self.topics.wager, self._wager(seat, spot, cents))
            case "status", ():
                self._leaves("status", line(self.runtime.told.status()))
            case "ask", (str(what), *args):
                self._asked.append(self.loop.create_task(self._ask(_request(what, args))))
            case _:
                raise AssertionError(step)

    def _wager(self, seat: int, spot: str, cents: int) -> bytes:
        """Return a wager as bet recognition sends it, for the round that the table's state names as the next one."""
        face = self.runtime.face
        self._wagers_said += 1
        message: dict[str, object] = {
            "table": face.table,
            "epoch": self.journal.epoch,
            "shoe": face.shoe,
            "round": face.next_round,
            "seat": seat,
            "back": False,
            "spot": spot,
            "cents": cents,
            "seq": self._wagers_said,
            "at": Stamp(_BEGUN_MS, synchronised=True).text(),
        }
        return signed(message, _PIT_KEY)

    async def _ask(self, request: Request) -> None:
        answer = await self.runtime.ask(request)
        self._leaves("answer", f"{type(request).__name__}: {answer.refused}".encode())

    async def _watch(self) -> None:
        watchers = Watchers(feed_lines(self.runtime))
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=self.loop), loop=self.loop)
        connection = _Connection(lambda data: self._leaves("watch", data))
        await watchers.watch(asyncio.StreamWriter(connection, protocol, None, self.loop))

    def _leaves(self, way: str, said: bytes) -> None:
        """Record that `said` left the table by the way `way`, such as a topic. Parts of the text that are random, or
        depend on the test's folder, are replaced by fixed text."""
        text = said.decode().replace(self.journal.epoch, "epoch").replace(str(self.folder), "folder")
        text = re.sub(r'"(chain|signature)":"[^"]*"', r'"\1":"by chance"', text)
        text = re.sub(r'("checkpoint": "\S+ \d+) [^"]*"', r'\1 by chance"', text)
        text = re.sub(r'("note":"\S+?\\n\d+)\\n[^"]*"', r'\1 by chance"', text)
        self.left.append(Left(round(self.loop.now_s - self._began_s, 6), way, text, len(said)))

    _began_s = 1000.0

    @contextmanager
    def _in_this_time(self) -> Iterator[None]:
        loop = self.loop
        log = _LogLines(lambda line: self._leaves("log", line.encode()))
        root = logging.getLogger()
        with (
            patch.object(controller.daemon.clock, "monotonic_s", loop.time),
            patch.object(controller.daemon.clock, "monotonic_ms", lambda: round(loop.now_s * 1e9) // 1_000_000),
            patch.object(controller.daemon.clock, "stamp_now", lambda: _stamp(loop)),
            patch.object(controller.daemon.clock, "since_boot_ms", lambda: round(loop.now_s * 1000)),
            patch.object(controller.daemon.clock, "slept_ms", lambda: 0),
            patch.object(controller.daemon.delivery.pit_said, "stamp_now", lambda: _stamp(loop)),
            patch.object(controller.daemon.delivery.recognition_said, "stamp_now", lambda: _stamp(loop)),
            patch.object(controller.daemon.record.journal_reading, "signature_holds", signature_holds),
            patch.object(controller.daemon.delivery.pit_trust, "signature_holds", signature_holds),
            patch.object(controller.daemon.delivery.recognition_trust, "signature_holds", signature_holds),
            patch.object(drivers.line.shoe_on_line, "ShoePort", self._port),
        ):
            was = root.level
            root.addHandler(log)
            root.setLevel(logging.INFO)
            try:
                yield
            finally:
                root.removeHandler(log)
                root.setLevel(was)

    def _port(
        self, url: str, baud: int, on_bytes: Callable[[bytes], None], on_link: Callable[[bool, str], None], **_: object
    ) -> _Port:
        self.wire.on_bytes, self.wire.on_link = on_bytes, on_link
        return _Port(self.wire)


def _request(what: str, args: Sequence[Any]) -> Request:
    match what, args:
        case "new shoe", _:
            return NewShoe("Smith")
        case "lock", _:
            return LockWagers()
        case "call", [str(call)]:
            return MakeCall(Call(call), "dealer")
        case "seats", seats:
            return TakeSeats(tuple(seats), "dealer")
        case "actives", [int(player), int(banker)]:
            return ChooseActives(Actives(player, banker), "dealer")
        case "clear", _:
            return ClearFault("Smith")
        case "nobody's void", _:
            return VoidRound(None)
    raise AssertionError(what)
