"""Runs the real table daemon and its MQTT broker as processes for a test. The methods here start and stop both, ask the
daemon for its status, and disturb it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
import tomli_w
from msgspec import Struct, convert
from msgspec.structs import asdict

from controller.basics.errors import TableError
from controller.basics.near import ended
from controller.bench.broker_certs import PIT, TABLE, BrokerCerts, say_once
from controller.bench.far_shoe import stay_unheard
from controller.bench.jumpers import Jumpers
from controller.contract.face.status import Status, Waits
from controller.contract.face.table import BETWEEN_SHOES, Public, PublicFault
from controller.daemon.clock import since_boot_ms
from controller.daemon.config.game_file import of_kind
from controller.daemon.config.table_file import TableFile
from controller.daemon.record.journal_reading import Verified, verify
from controller.people.cli import programs
from controller.people.cli.client import ask, status_of
from controller.table.acts.every import ACTS
from drivers.shoe import NAMES as SHOES
from drivers.sim.shoe import maker

ROOT = Path(__file__).resolve().parents[2]
_POLL_S = 0.02
_LONGEST_POLL_S = 0.15
_START_PATIENCE_S = 60.0
_ANSWERS_WITHIN_S = 5.0
_OFF_THE_WIRE_S = 0.5  # more than a round's reports take at 4800 baud
_LEAVE_A_FAULT = ("clear", "card", "void", "new_shoe", "count")


class Broker:
    """A Mosquitto broker that a test starts for itself and that keeps nothing on disk. After a restart it has forgotten
    all messages, like a new broker."""

    host = "127.0.0.1"
    certs: BrokerCerts | None = None

    def __init__(self, folder: Path) -> None:
        self.port = programs.free_port()
        self._folder = folder
        self._running: ExitStack | None = None

    def up(self) -> None:
        """Start the broker."""
        self._running = ExitStack()
        self._process = self._running.enter_context(programs.mosquitto(self._folder, self.port))

    def down(self) -> None:
        """Stop the broker, if it runs."""
        if self._running is not None:
            self._running.close()
            self._running = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Freeze the broker's process during the block. The broker keeps all its messages meanwhile."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


class ExistingBroker:
    """A broker that already runs: a test may use it, but not stop it. With `certs` the broker wants mutual TLS."""

    def __init__(self, host: str, port: int, certs: BrokerCerts | None = None) -> None:
        self.host, self.port, self.certs = host, port, certs

    def up(self) -> None:
        """Check that the broker answers. Raises TableError `broker_silent` if it does not.

        With certificates the table of each test has the same name. So this method also deletes the messages that the
        broker retains from the table of the previous test.
        """
        try:
            socket.create_connection((self.host, self.port), _ANSWERS_WITHIN_S).close()
        except OSError as error:
            what = f"the broker at {self.host}:{self.port} does not answer: {error}."
            raise TableError("broker_silent", what, "Start that broker, or name another with --broker.") from None
        if self.certs is not None:
            self._forget(PIT, "ack")
            self._forget(TABLE, "state")

    def down(self) -> None:
        """Skip the test, because it would stop a broker that the bench may not stop."""
        pytest.skip("the bench may not stop this broker")

    def _forget(self, name: str, topic: str) -> None:
        say_once(self.host, self.port, self.certs, name, f"pit/v1/{TABLE}/{topic}", b"", retain=True)


def pit_section(broker: Broker | ExistingBroker) -> dict[str, Any]:
    """Return the `[pit]` section of a table file for this broker. The section does not contain the broker's port."""
    if broker.certs is None:
        return {"host": broker.host}
    return {"host": broker.host} | {key: str(path) for key, path in _pem_files(broker.certs, TABLE).items()}


def pit_options(broker: Broker | ExistingBroker) -> list[str]:
    """Return the command-line options with which the reference pit (`pitctl run`) connects to this broker."""
    options = ["--broker", f"{broker.host}:{broker.port}"]
    if broker.certs is not None:
        for key, path in _pem_files(broker.certs, PIT).items():
            options += [f"--{key.replace('_', '-')}", str(path)]
    return options


def _pem_files(certs: BrokerCerts, name: str) -> dict[str, Path]:
    return {key: path for key, path in asdict(certs.files(name)).items() if path is not None}


class Wired(Struct, frozen=True):
    """One input or lamp of a table's header, as the bench needs it: the pin's BCM number, and the level at which the
    input or lamp is active."""

    bcm: int
    active: Literal["high", "low"]


class Wiring(Struct, frozen=True):
    """The section `[pins]` of a generated table file, as the bench needs it to reach the table's inputs and lamps."""

    page: str
    lamps: dict[str, Wired]
    inputs: dict[str, Wired]


class TableFiles:
    """The files of a table that were generated for a test, and the environment variables of the table's daemon.

    The files are copies of the table file `example` and of its game file. `sections` maps a section of the table file
    to the keys that change in it; its entry `game` does the same for the game file.

    With a `shim`, the daemon uses the real RPi.GPIO library, and the shim makes that library read and write a file, the
    pins page, instead of the Pi's GPIO registers. With `jumpers`, the daemon uses the real RPi.GPIO library and a real
    header. With neither, the daemon uses the simulated header. `for_people` is the table file for `drivers.sim`, which
    always uses the pins page.
    """

    def __init__(
        self,
        folder: Path,
        table_id: str,
        broker_port: int,
        shim: Path | None,
        jumpers: Jumpers | None = None,
        example: Path = programs.EXAMPLE_TABLE,
        /,
        **sections: dict[str, Any],
    ) -> None:
        self.table_id = table_id
        self.header_is_real = jumpers is not None
        _refuse_unknown("table's file", sections, [*TableFile.__struct_fields__, "game"])
        if (driver := sections.get("shoe", {}).get("driver", SHOES[0])) not in SHOES:
            raise LookupError(f"No shoe is called {driver!r}{ended(driver, SHOES)} There are: {', '.join(SHOES)}.")
        sections["table"] = {"id": table_id} | sections.get("table", {})
        if (game := sections.pop("game", None)) is not None:
            sections["table"]["game"] = str(_game_file(folder, example, game))
        sections["pins"] = {"sample_ms": 5, "debounce_ms": 15} | sections.get("pins", {})
        if jumpers is not None:
            sections["pins"] |= jumpers.wiring(tomllib.loads(example.read_text("utf-8"))["pins"])
        self.for_people = programs.simulated_table(folder, broker_port, example, **sections)
        self.values = tomllib.loads(self.for_people.read_text("utf-8"))
        self.pins = convert(self.values.get("pins"), Wiring)
        self.page = Path(self.pins.page)
        self.port = Path(self.values["shoe"]["port"])
        self.baud = int(self.values["shoe"].get("baud", maker(self.values["shoe"]["driver"]).baud))
        self.environment: dict[str, str] = {}
        self.for_daemon = self.for_people
        if shim is not None or jumpers is not None:
            pins = {key: value for key, value in self.values["pins"].items() if key != "page"}
            self.for_daemon = folder / "daemon.toml"
            self.for_daemon.write_text(tomli_w.dumps(self.values | {"pins": pins | {"driver": "rpi_gpio"}}), "utf-8")
        if shim is not None:
            self.environment = {"LD_PRELOAD": str(shim), "TABLE_PINS_PAGE": str(self.page)}


def _refuse_unknown_act(name: str, given: Set[str]) -> None:
    """Raise LookupError if the table's control socket knows no act called `name` that takes these arguments."""
    acts = {act.do: act for act in ACTS if act.on_socket}
    if name not in acts:
        likely = ended(name, acts)
        raise LookupError(f'No act is called {name!r}{likely} Write for example: supervisor("card", card="8S")')
    forms = [form.said for form in acts[name].forms]
    if given not in forms and given - {"by"} not in forms:
        ways = " or ".join(", ".join(sorted(form - {"by"})) or "none" for form in forms)
        raise LookupError(
            f"{name} is not asked for with {', '.join(sorted(given - {'by'})) or 'no argument'}. Its arguments: {ways}."
        )


def _refuse_unknown(file: str, changed: object, known: list[str]) -> None:
    """Check `changed`, which maps a section of the file to its new keys. Raises LookupError if a section is not in
    `known`, the names of the file's sections. Raises TypeError if `changed` is not a mapping, or if a section other
    than `game` is neither a mapping nor a list."""
    if not isinstance(changed, Mapping):
        ways = '{"shoe": {"decks": 1}}. A whole table with its game is an example: example="lucky9"'
        raise TypeError(f"{changed!r} is not what changes in a {file}. Write its sections and their keys: {ways}.")
    for name, section in changed.items():
        if name not in known:
            raise LookupError(f"A {file} has no section {name}{ended(name, known)} It has: {', '.join(known)}.")
        if name != "game" and not isinstance(section, Mapping | list):
            raise TypeError(f"{section!r} is not what changes in the section {name}. Write its keys and their values.")


def _game_file(folder: Path, example: Path, changes: Mapping[str, Mapping[str, Any] | list[Any]]) -> Path:
    """Write a copy of the game file of the table file `example`, and return its path. `changes` maps a section to the
    keys that change in it. A section that the example leaves out, such as `rounding`, is added. A list, such as `bets`,
    replaces the old list."""
    game = tomllib.loads(
        (example.parent / tomllib.loads(example.read_text("utf-8"))["table"]["game"]).read_text("utf-8")
    )
    _refuse_unknown("game's file", changes, [*of_kind(game).__struct_fields__])
    for section, keys in changes.items():
        game[section] = keys if isinstance(keys, list) else game.get(section, {}) | keys
    path = folder / "game.toml"
    path.write_text(tomli_w.dumps(game), "utf-8")
    return path


class Table:
    """The daemon of a table under test: the process `tablectl run` on a table file. Tests start the daemon, kill it and
    ask it for its status.

    `program` has the arguments with which Python runs `tablectl`, always in this repository's folder.
    """

    def __init__(self, files: TableFiles, folder: Path) -> None:
        self.files = files
        self.file = files.for_daemon
        self.table_id = files.table_id
        self.journal = Path(files.values["journal"]["path"])
        self.program: Sequence[str] = ("-m", "controller.people.cli.main")
        self._log = folder / "daemon.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_ms = 0

    # The process.

    def start(self, await_ready: bool = True, **environment: str) -> None:
        """Start the daemon. Wait until it answers on its control socket, unless `await_ready` is False. `environment`
        has more environment variables for the daemon.

        A shoe may number its reports with one digit, so that the numbers soon start over. Before a second start this
        method waits for so long that the daemon may have missed a whole turn of the numbers. A table with an open shoe
        then stops until somebody counts the cards.
        """
        assert not self.runs, "the table runs already"
        stay_unheard(self._ended_ms)
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                self._tablectl("run"),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self._environment(environment),
                cwd=ROOT,
                start_new_session=True,
            )
        if await_ready:
            self._await_answer()

    def kill(self) -> None:
        """Kill the daemon with SIGKILL, which ends it between two instructions."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._ended_ms = since_boot_ms()

    def stop(self) -> int:
        """End the daemon with SIGTERM, and return its exit code."""
        assert self._process is not None
        code = programs.stop(self._process)
        self._ended_ms = since_boot_ms()
        return code

    def restart(self) -> None:
        """Kill the daemon and start it again. If a shoe was open and the table had no fault, the table stops until the
        cards are counted. Then count them, as a supervisor does."""
        face = self.face
        self.kill()
        self.start()
        if face.fault is None and face.phase not in BETWEEN_SHOES:
            self.count()

    def clear_and_count(self) -> None:
        """Clear the table's fault, then count the cards that are left. A supervisor does this after the shoe's line was
        lost in the middle of a round and works again."""
        self.supervisor("clear")
        self.count()

    def count(self, left: int | None = None) -> None:
        """Wait until the table has stopped with the fault `shoe_unheard`, and the shoe's line is up again. Then count
        the cards as a supervisor does: enter `left`, or if it is None the number of cards that the table itself
        expects."""
        stopped = comes_true(lambda: self.fault == "shoe_unheard" and self.status().shoe.up, _START_PATIENCE_S)
        assert stopped, f"the table did not stop for a count: {self.face}"
        self.supervisor("count", left=self.cards_left if left is None else left)

    def close(self) -> None:
        """End the daemon's process, if it runs."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)  # a test that failed may have left the process frozen
            programs.stop(self._process)

    @property
    def runs(self) -> bool:
        """Tell whether the daemon's process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """Return the daemon's process."""
        assert self._process is not None
        return self._process

    def _await_answer(self) -> None:
        comes_true(lambda: not self.runs or self.status(), _START_PATIENCE_S)
        assert self.runs, f"the table ended with code {self.process.returncode}:\n{self.log_tail()}"
        self.status()  # raises TableError where the table still does not answer

    # What a test can ask.

    def status(self) -> Status:
        """Ask the daemon for its status, over the control socket. Raises TableError if nobody answers."""
        return status_of(self.file, self.files.values["control"]["socket"])

    @property
    def face(self) -> Public:
        """Return the table's public face (what its screens may show), from its status."""
        return self.status().face

    @property
    def phase(self) -> str:
        """Return the table's phase, for example "wagers_open"."""
        return self.face.phase

    @property
    def fault(self) -> str | None:
        """Return the code of the fault by which the table has stopped; None without a fault."""
        fault = self.face.fault
        return None if fault is None else fault.code

    @property
    def stop_told(self) -> PublicFault:
        """Return the fault by which the table has stopped, with the fault's details, as the table's status shows them.
        Raises AssertionError if the table has no fault."""
        fault = self.face.fault
        assert fault is not None, "the table has not stopped"
        return fault

    @property
    def cards_left(self) -> int:
        """Return how many cards are left in the shoe. Raises AssertionError if the table does not know the number."""
        left = self.face.cards_left
        assert left is not None, "the table does not know how many cards are left"
        return left

    @property
    def hands(self) -> dict[str, list[str]]:
        """Return a dict that maps "player", "banker" and each other hand that the table shows (such as "dealer" or
        "seat_3") to its cards. The cards are those of the round in play, or else of the last round."""
        return {"player": [], "banker": []} | {hand.hand: [*hand.cards] for hand in self.face.hands}

    def links_up(self) -> bool:
        """Return True if the line to the shoe is up, the stream of events to the pit is up, and the meters' levels are
        fresh."""
        status = self.status()
        return status.shoe.up and status.pit.stream == "streaming" and status.pit.meters_fresh

    def unacknowledged(self) -> int:
        """Return how many events the pit has not acknowledged."""
        return self.status().pit.unacknowledged

    def supervisor(self, act: str, **arguments: str | int) -> Waits | None:
        """Do a supervisor's act over the control socket: for example "clear", "void", "new_shoe", or "card" with
        `card="KS"`.

        If the table has stopped by a fault and the act can clear a fault, the request names that fault. Returns None
        once the act is done. If the act needs a second person, it is not done yet. In this case the method returns the
        waiting act, whose `button` is the argument for `pins.confirm`. Raises TableError with the code of a refusal,
        and LookupError if `act` is not the name of an act.
        """
        _refuse_unknown_act(act, {*arguments, "by"})
        fault = self.face.fault if act in _LEAVE_A_FAULT else None
        answers = {} if fault is None else {"fault": fault.id}
        request: dict[str, object] = {"do": act, "by": "Ann", **arguments, **answers}
        return ask(self.file, request, self.files.values["control"]["socket"]).waits

    def tablectl(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `tablectl COMMAND TABLE.toml ...` as a person does, and return the finished process.

        Raises AssertionError with the command's output if the command fails. With `check=False` a failure does not
        raise, and the caller looks at `returncode`.
        """
        command = self._tablectl(*arguments)
        run = subprocess.run(
            command, env=self._environment({}), cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
        )
        if check and run.returncode:
            output = f"{run.stdout}{run.stderr}"
            raise AssertionError(f"tablectl {' '.join(arguments)} failed with exit code {run.returncode}:\n{output}")
        return run

    def _tablectl(self, command: str, *arguments: str) -> list[str]:
        return programs.python(*self.program, command, str(self.file), *arguments)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        return {**os.environ, **self.files.environment, **more}

    # The daemon's journal and log.

    def verify(self) -> Verified:
        """Check every row of the table's journal, and return a summary of the rows. Raises TableError at the first bad
        row."""
        return verify(self.journal)

    def came(self, kind: str) -> list[str]:
        """Return, for each fact of this kind in the journal, by which way (`via`, for example a button) the fact
        reached the table. The list is in the journal's order. This works only while the table runs."""
        with closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT via FROM fact WHERE json_extract(fact, '$.fact') = ? ORDER BY row", (kind,))
            return [via for (via,) in rows]

    def facts(self, after_row: int = 0) -> list[dict[str, Any]]:
        """Return the facts (what happened at the table) in the journal after row `after_row`, in order. Each is a dict
        as the journal stores it, with its `row`. This works only while the table runs."""
        with closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT row, fact FROM fact WHERE row > ? ORDER BY row", (after_row,)).fetchall()
        return [{"row": row} | json.loads(fact) for row, fact in rows]

    @contextmanager
    def busy_disk(self) -> Iterator[None]:
        """Lock the journal during the block, so that the daemon cannot commit, as on a slow disk. After 5 s the daemon
        treats the disk as broken."""
        with closing(sqlite3.connect(self.journal, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                db.execute("ROLLBACK")

    def hear_out(self) -> None:
        """Wait until the daemon has read everything that the shoe has sent. The daemon may still be writing those
        reports to the disk, but it takes an act that is sent now only after them."""
        time.sleep(_OFF_THE_WIRE_S)
        self.status()

    def copy_journal(self, to: Path) -> None:
        """Copy the journal of a stopped table to the path `to`."""
        assert not self.runs
        shutil.copy(self.journal, to)

    def restore_journal(self, copy: Path) -> None:
        """Put an older copy of the journal in the journal's place, while the table is stopped."""
        assert not self.runs
        shutil.copy(copy, self.journal)

    @property
    def log(self) -> str:
        """Return everything that the daemon has logged."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    def log_tail(self, lines: int = 15) -> str:
        """Return the last lines of the daemon's log, indented."""
        return "\n".join(f"  {line}" for line in self.log.splitlines()[-lines:])


def comes_true(condition: Callable[[], object], within_s: float) -> bool:
    """Wait until the condition is true, for at most `within_s` seconds. Return True if it became true in time. A table
    that does not answer is asked again.

    An IndexError or a KeyError in the condition counts as not true yet. Example: `pit.rounds[-1]` before the pit has
    heard of any round. If the time is over, the error is raised. The pauses between two evaluations grow, because most
    conditions ask the table for its status, which takes up a processor core of the test's machine.
    """
    gives_up_s = time.monotonic() + within_s
    pause_s = _POLL_S
    while True:
        try:
            if condition():
                return True
        except (IndexError, KeyError):
            if time.monotonic() >= gives_up_s:
                raise
        except TableError as error:
            if error.code not in ("table_not_running", "table_silent"):
                raise
        if time.monotonic() >= gives_up_s:
            return False
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, _LONGEST_POLL_S)
