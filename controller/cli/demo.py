"""`tablectl demo`: the real daemon on this machine, and the far end of each of its wires simulated.

A private Mosquitto, the reference pit, a simulated shoe on a pty, a dealer and players on simulated pins. What is
shown comes from where a person or the pit would get it: the control socket and the broker.
"""

from __future__ import annotations

import json
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.cli import surroundings
from controller.cli.client import ask, watch
from controller.config import Config, load
from controller.config.problems import ConfigError
from controller.contract.topics import Topics
from controller.errors import TableError
from controller.record.journal import verify
from controller.words.events import event_line

_START_PATIENCE_S = 20.0
_ACK_PATIENCE_S = 10.0
_REFRESH_S = 0.1
_LAST_EVENTS = 10
_SCREEN_PORT = 8080

_Show = Callable[[dict[str, Any], list[dict[str, Any]], int], None]
"""Shows a status, the events since the last one, and how far the pit has acknowledged."""


def demo(rounds: int | None, speed: float, seed: int | None, game: str, shoe: str | None) -> int:
    """Run the demo until `rounds` wagered rounds are dealt, or Ctrl-C; 0 when it ended as it should.

    `game` names an example table or an example game; `shoe` None is the table's own. Raises TableError `demo_options`
    for what does not go together.
    """
    if (rounds is not None and rounds < 1) or speed < 0:
        raise TableError("demo_options", "ROUNDS is at least 1, and SPEED at least 0.", "For example ROUNDS=5 SPEED=0.")
    if game not in (names := surroundings.example_names()):
        raise TableError("demo_options", f"There is no example game {game}.", f"GAME is one of: {', '.join(names)}.")
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="table-demo-") as name, _stop_signals() as stopping:
        return _Demo(Path(name), rounds, speed, seed, game, shoe).run(stopping)


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM as an event, so that everything is taken down in order."""
    stopping = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    before = {signal_: signal.signal(signal_, stop) for signal_ in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for signal_, handler in before.items():
            signal.signal(signal_, handler)


class _Demo:
    """The processes of a demo, and what has been heard of them."""

    def __init__(self, folder: Path, rounds: int | None, speed: float, seed: int, game: str, shoe: str | None) -> None:
        self._folder = folder
        self._rounds = rounds
        self._speed = speed
        self._seed = seed
        self._game = game
        self._shoe = shoe
        self._heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._counted: Counter[str] = Counter()
        self._acked_seq = 0

    def run(self, stopping: threading.Event) -> int:
        port = surroundings.free_port()
        table, config = self._table(port)
        at = f"127.0.0.1:{surroundings.free_port(_SCREEN_PORT)}"
        print(f"The table's screen: http://{at}/", flush=True)
        with ExitStack() as stack:
            stack.enter_context(surroundings.mosquitto(self._folder, port))
            pit = [
                "-m",
                "controller.pit",
                "run",
                "--broker",
                f"127.0.0.1:{port}",
                "--ledger",
                str(self._folder / "pit"),
            ]
            self._start(stack, "pit", surroundings.python(*pit, "--adopt-new"))
            stack.enter_context(self._listening(config))
            daemon = self._start(stack, "table", surroundings.python("-m", "controller.cli.main", "run", str(table)))
            self._start(
                stack, "screen", surroundings.python("-m", "controller.cli.main", "screen", str(table), "--listen", at)
            )
            self._await_table(table, daemon, stopping)
            people = self._start(stack, "people", surroundings.python("-m", "drivers.sim", str(table), *self._habits()))
            with _view(config, self._seed) as show:
                self._watch(table, people, daemon, stopping, show)
                done = people.poll()
                surroundings.stop(people)
                everything_acked = self._await_acks(table)
                if daemon.poll() is None:
                    show(ask(table, {"do": "status"})["status"], self._take_heard(), self._acked_seq)
        return self._sum_up(config, done, everything_acked)

    def _table(self, port: int) -> tuple[Path, Config]:
        """The table file of the game, with wagers that are known and paid. A game without a table of its own is played
        at the first example table that it fits. Raises TableError `demo_options` where the shoe does not deal it."""
        shoe = {} if self._shoe is None else {"driver": self._shoe}
        table: dict[str, Any] = {"bet_recognition": True}
        examples = [surroundings.example_table(self._game)]
        if not examples[0].exists():
            table["game"] = str(surroundings.example_game(self._game))
            examples = sorted(examples[0].parent.glob("*.toml"))
        unfit = []
        for example in examples:
            made = surroundings.simulated_table(self._folder, port, example, shoe=shoe, table=table)
            try:
                return made, load(made)
            except ConfigError as error:
                unfit = [f"{problem.key} {problem.what}" for problem in error.problems]
        what = (
            f"GAME={self._game} cannot be played{f' with SHOE={self._shoe}' if self._shoe else ''}: {'; '.join(unfit)}."
        )
        raise TableError("demo_options", what, "Leave SHOE out, or choose another GAME.")

    def _habits(self) -> list[str]:
        habits = ["--seed", str(self._seed), "--speed", str(self._speed), "--error-rate", "0.03"]
        habits += ["--account", str(self._folder / "account")]
        return habits + (["--rounds", str(self._rounds)] if self._rounds else [])

    def _start(self, stack: ExitStack, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        return stack.enter_context(surroundings.started(command, self._folder / f"{name}.log"))

    @contextmanager
    def _listening(self, config: Config) -> Iterator[None]:
        """Hear the table's events and the pit's acknowledgements as any subscriber may."""
        topics = Topics(config.file.pit.root, config.file.table.id)
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)

        def on_message(_client: Client, _data: object, message: MQTTMessage) -> None:
            self._heard.put(json.loads(message.payload) | {"topic": message.topic.rpartition("/")[2]})

        client.on_message = on_message
        client.connect(config.file.pit.host, config.file.pit.port)
        client.subscribe([(topics.event, 1), (topics.ack, 1)])
        client.loop_start()
        try:
            yield
        finally:
            client.disconnect()
            client.loop_stop()

    def _await_table(self, table: Path, daemon: subprocess.Popen[bytes], stopping: threading.Event) -> None:
        deadline = time.monotonic() + _START_PATIENCE_S
        while time.monotonic() < deadline and daemon.poll() is None and not stopping.is_set():
            with suppress(TableError):
                if ask(table, {"do": "status"})["status"]["pit"]["fresh"]:
                    return  # before the pit has said its levels, progressive wagers would be refused
            time.sleep(0.02)
        if not stopping.is_set():
            raise TableError("demo_failed", "The table did not start:\n" + self._log("table"), "Report this.")

    def _watch(
        self,
        table: Path,
        people: subprocess.Popen[bytes],
        daemon: subprocess.Popen[bytes],
        stopping: threading.Event,
        show: _Show,
    ) -> None:
        """Show the table until its people have left, something died, or somebody stops the demo."""
        shown_s = 0.0
        for status in watch(table):
            if people.poll() is not None or daemon.poll() is not None or stopping.is_set():
                return
            fresh = self._take_heard()
            if fresh or time.monotonic() - shown_s >= _REFRESH_S:
                show(status, fresh, self._acked_seq)
                shown_s = time.monotonic()

    def _take_heard(self) -> list[dict[str, Any]]:
        fresh: list[dict[str, Any]] = []
        while not self._heard.empty():
            message = self._heard.get()
            if message["topic"] == "ack":
                self._acked_seq = message["seq"]
            else:
                self._counted[message["type"]] += 1
                fresh.append(message)
        return fresh

    def _await_acks(self, table: Path) -> bool:
        """Whether the pit acknowledges all that the table said."""
        deadline = time.monotonic() + _ACK_PATIENCE_S
        while time.monotonic() < deadline:
            try:
                if ask(table, {"do": "status"})["status"]["pit"]["unacknowledged"] == 0:
                    return True
            except TableError:
                return False
            time.sleep(0.05)
        return False

    def _sum_up(self, config: Config, done: int | None, everything_acked: bool) -> int:
        self._take_heard()
        journal = verify(Path(config.file.journal.path))
        print(
            f"{self._counted['round']} rounds, {self._counted['hit']} hits, {journal.messages} events in the journal "
            f"(verified); the pit acknowledged {'all of them' if everything_acked else f'up to {self._acked_seq}'}. "
            f"SEED={self._seed} repeats this shoe."
        )
        if done not in (None, 0):
            print(
                f"The dealer gave up:\n{self._log('people')}\nThe table's log ends:\n{self._log('table')}",
                file=sys.stderr,
            )
        return 0 if done in (None, 0) and everything_acked else 1

    def _log(self, name: str) -> str:
        lines = (self._folder / f"{name}.log").read_text("utf-8", "replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-12:])


@contextmanager
def _view(config: Config, seed: int) -> Iterator[_Show]:
    """A live picture on a terminal; plain lines anywhere else."""
    if not sys.stdout.isatty():
        yield _plain
        return
    from rich.live import Live

    from controller.cli.picture import picture

    last: deque[str] = deque(maxlen=_LAST_EVENTS)
    title = f"{config.file.table.name} - demo, SEED={seed}, Ctrl-C ends it"
    with Live(auto_refresh=False) as live:

        def show(status: dict[str, Any], fresh: list[dict[str, Any]], acked_seq: int) -> None:
            last.extend(map(event_line, fresh))
            live.update(picture(title, status, list(last), acked_seq), refresh=True)

        yield show


def _plain(_status: dict[str, Any], fresh: list[dict[str, Any]], acked_seq: int) -> None:
    for event in fresh:
        print(f"{event_line(event)}  [acknowledged {acked_seq}]", flush=True)
