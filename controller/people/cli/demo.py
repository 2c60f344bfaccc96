"""`tablectl demo`: run the real daemon of a table on this machine, with simulated devices and people, and with a broker
and a pit of its own.

The demo starts a private Mosquitto, the reference pit, a simulated shoe on a pty, and a simulated dealer and players on
simulated pins. The first shoe follows a story (`drivers/sim/story.py`). After the story the dealer and the players act
at random. The demo shows only what any person can read from the control socket, and any pit from the broker.
"""

from __future__ import annotations

import json
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from rich.live import Live
from rich.text import Text

from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.contract.topics import Topics
from controller.contract.wire.mqtt_link import await_thread
from controller.daemon.config import Config
from controller.daemon.record.journal_reading import verify
from controller.people.cli import programs
from controller.people.cli.cable import NetworkCable
from controller.people.cli.client import status_of
from controller.people.cli.picture import Picture, keys_unseen
from controller.people.cli.played import played, settings_of
from controller.pit.reference.ledger import Ledger
from controller.table.rules import TableRules
from controller.words.events import counted, event_line
from controller.words.language import language
from drivers.sim.run import Habits, run_table

_ACK_PATIENCE_S = 10.0
_REFRESH_S = 0.1  # the shortest part of a lamp's pattern is 120 ms
_POLL_S = 0.02
_SCREEN_PORT = 8080
_ERROR_RATE = 0.03


def demo(
    rounds: int | None, speed: float, seed: int | None, game: str | Path, shoe: str | None, settings: Path | None
) -> int:
    """Run the demo of a table until `rounds` rounds with wagers are dealt, or until Ctrl-C. Returns 0 if the dealer did
    not give up and the pit acknowledged every event.

    With `speed` 2 the simulated people are twice as fast as real people; with 0 they make no pauses. `game` is the name
    of an example, or the path of a table or game file. `shoe` is a brand of shoe. `settings` is the pit's settings
    file. Raises TableError `demo_options` for values out of range, and TableError or ConfigError if the game cannot be
    played.
    """
    if (rounds is not None and rounds < 1) or speed < 0:
        do = "For example: tablectl demo --rounds 5 --speed 0, or make demo ROUNDS=5 SPEED=0."
        raise TableError("demo_options", "ROUNDS must be 1 or more, SPEED 0 or more.", do)
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="table-demo-") as name, _stop_signals() as stopping:
        return _Demo(Path(name), rounds, speed, seed, game, shoe, settings, stopping).run()


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Yield an event that is set on Ctrl-C, on SIGTERM, or when the terminal is closed. The demo can then end in order.
    The earlier signal handlers are restored after the `with` block."""
    stopping = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    before = {signal_: signal.signal(signal_, stop) for signal_ in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield stopping
    finally:
        for signal_, handler in before.items():
            signal.signal(signal_, handler)


class _LeftError(Exception):
    """Raised by the clock of the thread that plays the simulated dealer and players, once the demo is over. The error
    ends that thread at its next pause."""


class _Until:
    """The clock of the thread that plays the simulated dealer and players. Once the event `stopping` is set, a running
    or later `sleep` waits until `gone` is set, and then raises _LeftError, which ends the thread."""

    def __init__(self, stopping: threading.Event, gone: threading.Event) -> None:
        self._stopping = stopping
        self._gone = gone
        self.monotonic = time.monotonic

    def sleep(self, seconds: float, /) -> None:
        """Sleep for this many seconds. Raises _LeftError if the demo ends meanwhile."""
        if self._stopping.wait(seconds):
            self._gone.wait()
            raise _LeftError


class _People(threading.Thread):
    """The thread that plays the simulated dealer and players. `done` is set once they stop dealing. `trouble` says why
    they gave up, or is None."""

    def __init__(self, deal: Callable[[], None], done: threading.Event) -> None:
        super().__init__(name="people", daemon=True)
        self._deal = deal
        self._done = done
        self.trouble: str | None = "Their program failed: see above."

    def run(self) -> None:
        try:
            self._deal()
            self.trouble = None
        except (TableError, OSError) as error:
            self.trouble = str(error)
        except _LeftError:
            self.trouble = None
        finally:
            self._done.set()


class _Show(Protocol):
    """The output on which the demo is shown: a live picture in a terminal, or plain lines."""

    def line(self, text: str, *, caption: bool = False) -> None:
        """Show a line of text, and leave it visible. A `caption` is a line that tells the demo's story; all other lines
        describe events of the table."""

    def status(self, status: Status) -> None:
        """Show the table in the state that `status` describes."""


class _Demo:
    """A running demo: its processes, and the events received from its table. The simulated people, who follow the story
    in `drivers/sim/story.py`, call `say`, `pay`, `pull_cable`, `plug_cable` and `leave`."""

    def __init__(
        self,
        folder: Path,
        rounds: int | None,
        speed: float,
        seed: int,
        game: str | Path,
        shoe: str | None,
        settings: Path | None,
        stopping: threading.Event,
    ) -> None:
        self._folder = folder
        self._habits = Habits(seed=seed, rounds=rounds, speed=speed, error_rate=_ERROR_RATE)
        self._game = game
        self._shoe = shoe
        self._settings = settings
        self._stopping = stopping
        self._done, self._gone = threading.Event(), threading.Event()
        self._lines: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
        self._counted: Counter[str] = Counter()
        self._heard_seq = 0

    def run(self) -> int:
        port = programs.free_port()
        self._cable = NetworkCable(programs.free_port(), port)
        table, config = played(self._folder, self._cable.port, self._game, self._shoe, bet_recognition=True)
        settings = settings_of(self._folder, config, self._settings)
        at = f"127.0.0.1:{programs.free_port(_SCREEN_PORT)}"
        print(f"The table's screen: http://{at}/", flush=True)
        for line in _legend(config.rules):
            print(_wrapped(line, 34), flush=True)
        with ExitStack() as stack:
            stack.enter_context(programs.mosquitto(self._folder, port))
            stack.callback(self._cable.pull)
            stack.enter_context(programs.pit(self._folder, port, self._ledger, settings))
            stack.enter_context(self._listening(config, port))
            daemon = self._start(stack, "table", "run", str(table))
            self._start(stack, "screen", "screen", str(table), "--listen", at)
            programs.await_table(table, daemon, self._log, self._stopping.is_set)
            account = self._folder / "account"
            clock = _Until(self._stopping, self._gone)
            people = _People(lambda: run_table(table, account, self._habits, stage=self, clock=clock), self._done)
            with _view(config, self._habits.seed) as show:
                people.start()
                self._watch(table, daemon, show)
                self._stopping.set()
                self._cable.plug()
                everything_acked = self._await_acks(table)
                self._show(table, show)
            programs.stop(daemon)  # before the shoe goes, which the table would report
            self._gone.set()
            people.join()
        return self._sum_up(config, people.trouble, everything_acked)

    @property
    def _ledger(self) -> Path:
        return self._folder / "pit"

    @property
    def _log(self) -> Path:
        return self._folder / "table.log"

    # The stage.

    def say(self, caption: str) -> None:
        """Queue a line of the demo's story, to be shown as a caption."""
        self._lines.put((caption, True))

    def pay(self) -> None:
        """Mark each award in the pit's ledger as verified and paid, if the ledger allows it now. Other awards wait
        until the pit has received every hit."""
        with closing(Ledger(self._ledger)) as ledger, suppress(TableError):
            for award in ledger.awards():
                if award.step == "pending":
                    ledger.take_step(award.id, "verified", "Ana")
                if award.step in ("pending", "verified"):
                    ledger.take_step(award.id, "paid", "Ben")

    def pull_cable(self) -> None:
        """Pull the simulated network cable between the table and the broker."""
        self._cable.pull()

    def plug_cable(self) -> None:
        """Plug the table's simulated network cable back in."""
        self._cable.plug()

    def leave(self) -> None:
        """Report that the simulated people have left, and wait until the table's daemon has been stopped."""
        self._done.set()
        self._gone.wait()

    def _start(self, stack: ExitStack, name: str, *words: str) -> subprocess.Popen[bytes]:
        command = programs.python("-m", "controller.people.cli.main", *words)
        return stack.enter_context(programs.started(command, self._folder / f"{name}.log"))

    @contextmanager
    def _listening(self, config: Config, port: int) -> Iterator[None]:
        """Subscribe to the table's events at the broker for the length of a `with` block, and queue a line of text for
        each event. An event that is sent twice counts once."""
        topics = Topics(config.file.pit.root, config.file.table.id)
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)

        def on_message(_client: Client, _data: object, message: MQTTMessage) -> None:
            event = json.loads(message.payload)
            if event["seq"] > self._heard_seq:
                self._heard_seq = event["seq"]
                self._counted[event["type"]] += 1
                self._lines.put((event_line(event), False))

        client.on_message = on_message
        client.connect(config.file.pit.brokers[0], port)
        client.subscribe(topics.event, 1)
        client.loop_start()
        try:
            yield
        finally:
            client.disconnect()
            await_thread(client)

    def _watch(self, table: Path, daemon: subprocess.Popen[bytes], show: _Show) -> None:
        """Show the table's state again and again, until the simulated people stop dealing, the table's daemon ends, or
        a person stops the demo."""
        while not self._done.is_set() and daemon.poll() is None:
            self._show(table, show)
            if self._stopping.wait(_REFRESH_S):
                return

    def _show(self, table: Path, show: _Show) -> None:
        while not self._lines.empty():
            text, caption = self._lines.get()
            show.line(text, caption=caption)
        with suppress(TableError):  # the table ends
            show.status(status_of(table))

    def _await_acks(self, table: Path) -> bool:
        """Wait until the pit has acknowledged every event of the table. Returns False after 10 seconds, or at once if
        the table's status cannot be read."""
        deadline = time.monotonic() + _ACK_PATIENCE_S
        while time.monotonic() < deadline:
            try:
                if status_of(table).pit.unacknowledged == 0:
                    return True
            except TableError:
                return False
            time.sleep(_POLL_S)
        return False

    def _sum_up(self, config: Config, trouble: str | None, everything_acked: bool) -> int:
        journal = verify(Path(config.file.journal.path))
        rounds, hits = self._counted["round"], self._counted["hit"]
        acked = "all of them" if everything_acked else "not all of them"
        print(
            f"{counted(rounds, 'round')}, {counted(hits, 'hit')}, {counted(journal.messages, 'event')} in the journal "
            f"(verified);\nthe pit acknowledged {acked}. SEED={self._habits.seed} repeats this shoe."
        )
        if trouble is not None:
            print(
                f"The dealer gave up: {trouble}\nThe table's log ends:\n{programs.log_end(self._log)}",
                file=sys.stderr,
            )
        return 0 if trouble is None and everything_acked else 1


class _Plain:
    """A demo that is shown as plain lines of text, for example in a file or a pipe."""

    def line(self, text: str, *, caption: bool = False) -> None:
        """Print a line of text. A line of the demo's story (`caption`) begins with an asterisk."""
        print(f"* {text}" if caption else text, flush=True)

    def status(self, status: Status) -> None:
        """Do nothing, because plain output has no picture of the table."""


class _Live:
    """A demo that is shown in a terminal: a live picture of the table, above which lines of text scroll."""

    def __init__(self, picture: Picture, live: Live) -> None:
        self._picture = picture
        self._live = live

    def line(self, text: str, *, caption: bool = False) -> None:
        """Print a line of text above the live picture of the table, wrapped to the terminal's width."""
        style = "bold bright_cyan" if caption else "dim"
        self._live.console.print(Text(_wrapped(text, 8), style=style), soft_wrap=True)

    def status(self, status: Status) -> None:
        """Paint the live picture of the table again, in the state that `status` describes."""
        self._picture.status = status
        self._live.refresh()


def _wrapped(text: str, indent: int) -> str:
    """Wrap the text to the terminal's width, with every line after the first indented by `indent` spaces. Returns the
    text unchanged if standard output is no terminal."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False)


def _legend(rules: TableRules) -> Iterator[str]:
    """Yield lines that explain the demo to a viewer: what each lamp means in this game, what the cards printed at the
    seats are for, and what the word "house" means in the text of an event."""
    simulated = rules.shoe.drawn_in_error == "simulated_hand"
    turns = rules.play.calls or rules.play.squeezed
    patterns = {
        "seat": [
            *(["flash", "slow_blink", "steady"] if rules.progressives else []),
            *(["double_flash"]),
            *(["fast_blink"] if rules.progressives else []),
            *(["long_flash"] if turns else []),
        ],
        "draw": [
            "steady",
            "both",
            *(["slow_blink"] if simulated else []),
            *(["double_flash"] if rules.play.deals_face_down else []),
        ],
        "fault": ["fast_blink", "slow_blink"],
    }
    words = language()
    yield "What the lamps say:"
    for lamp, shown in patterns.items():
        for pattern in shown:
            how = "both lit" if pattern == "both" else words.name("pattern", pattern)
            says = words.sections["lamp"][lamp][pattern]
            if pattern == "double_flash" and lamp == "seat" and not rules.progressives:
                says = words.sections["sign"][pattern]
            yield f"  {lamp:<6}{how:<25}{says}"
    if any(seat.k9 for seat in rules.seats):
        yield "A King and a 9 are printed at each seat: with these two cards the seat's player wins most."
    yield "house: what the casino won with a round's wagers, or lost (-)." + " A meter's award is not in it." * bool(
        rules.meters
    )


@contextmanager
def _view(config: Config, seed: int) -> Iterator[_Show]:
    """Yield the output on which the demo is shown: a live picture if standard output is a terminal, otherwise plain
    lines."""
    if not sys.stdout.isatty():
        yield _Plain()
        return
    title = f"{config.file.table.name} - demo, SEED={seed}, Ctrl-C ends it"
    picture = Picture(title, config.rules, language())
    with keys_unseen(), Live(picture, auto_refresh=False) as live:
        yield _Live(picture, live)
