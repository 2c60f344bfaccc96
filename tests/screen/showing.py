"""Runs a table with simulated people, a pit and a screen, as processes on this machine, and reads its journal."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.daemon.config import load
from controller.daemon.record.journal_reading import read_rows
from controller.people.cli import programs
from controller.people.cli.client import ask, status_of
from tests.support.waiting import eventually_now

_SCREEN = ("-m", "controller.people.cli.main", "screen")
LETTER = {"player": "P", "banker": "B", "tie": "T"}


class Showing:
    """The running processes around a table: broker, pit, the table's daemon, and the screen's web server. `url` is the
    address of the screen."""

    def __init__(self, folder: Path, example: str) -> None:
        self.folder, self._stack = folder, ExitStack()
        self._broker = programs.free_port()
        table_toml = programs.example_table(example)
        asked = tomllib.loads(table_toml.read_text("utf-8"))["shoe"]["driver"] == "angel_eye"
        unasked = {"ask": "off"} if asked else {}  # a test stops the shoe with its people while it looks at the page
        known = {"bet_recognition": True}
        self.table = programs.simulated_table(folder, self._broker, table_toml, table=known, shoe=unasked)
        self.journal = Path(load(self.table).file.journal.path)
        self._at = f"127.0.0.1:{programs.free_port()}"
        self.url = f"http://{self._at}/"

    @contextmanager
    def running(self) -> Iterator[Showing]:
        """Run a broker, a pit, the table's daemon and the screen's web server during the block."""
        with self._stack:
            self._stack.enter_context(programs.mosquitto(self.folder, self._broker))
            self._stack.enter_context(programs.pit(self.folder, self._broker, self.folder / "ledger"))
            self.daemon = self.start_daemon()
            self.screen = self.start_screen()
            yield self

    def start_daemon(self) -> subprocess.Popen[bytes]:
        """Start the table's daemon, and wait until the pit has told it the levels of the meters."""
        daemon = self._started("daemon", "-m", "controller.people.cli.main", "run", str(self.table))
        eventually_now(self._has_levels, "the table's levels")
        return daemon

    def start_screen(self) -> subprocess.Popen[bytes]:
        """Start the screen's server, and wait until it listens."""
        log = self.folder / "screen.log"
        log.unlink(missing_ok=True)
        screen = self._started("screen", *_SCREEN, str(self.table), "--listen", self._at)
        eventually_now(lambda: self.url in log.read_text("utf-8"), "the screen's server")
        return screen

    def supervisors_url(self) -> str:
        """Start a second web server with the option `--supervisor`, and return the address that it prints."""
        port = str(programs.free_port())
        self._started("own", *_SCREEN, str(self.table), "--supervisor", "--listen", f"127.0.0.1:{port}")
        log = self.folder / "own.log"
        eventually_now(lambda: "http" in log.read_text("utf-8"), "the supervisor's screen")
        return log.read_text("utf-8").split()[-1]

    def people(self, rounds: int | None, *, seed: int = 7, speed: float = 0) -> subprocess.Popen[bytes]:
        """Start the simulated dealer and players. They play `rounds` rounds, or a whole shoe if `rounds` is None."""
        habits = ["--seed", str(seed), "--speed", str(speed), "--account", str(self.folder / "account")]
        habits += ["--shoes", "1"] if rounds is None else ["--rounds", str(rounds)]
        return self._started("people", "-m", "drivers.sim", str(self.table), *habits)

    def daemon_returns(self) -> None:
        """Kill the table's daemon, and start it again."""
        self.daemon.kill()
        self.daemon.wait()
        self.daemon = self.start_daemon()

    def screen_returns(self) -> None:
        """Kill the screen's server, and start it again."""
        self.screen.kill()
        self.screen.wait()
        self.screen = self.start_screen()

    def go_on(self) -> None:
        """Clear the fault that has stopped the table: count the cards in the shoe, as a supervisor does."""
        face = self.status().face
        assert face.fault is not None, "the table stopped for a count"
        ask(self.table, {"do": "count", "left": face.cards_left, "fault": face.fault.id, "by": "Smith"})

    def status(self) -> Status:
        """Return the table's status. Raises TableError while the daemon does not answer."""
        return status_of(self.table)

    def _has_levels(self) -> bool:
        with suppress(TableError):
            return self.status().pit.fresh
        return False

    def rounds(self) -> list[dict[str, Any]]:
        """Return the last shoe's `round` events from the journal, without the simulated rounds."""
        return [event for event in self.events("round") if not event["simulated"]]

    def events(self, type_: str) -> list[dict[str, Any]]:
        """Return the last shoe's events of one type from the journal."""
        told: list[dict[str, Any]] = []
        for row in read_rows(self.journal):
            for event in map(json.loads, row.messages):
                if event["type"] == "shoe_opened":
                    told = []
                told.append(event)
        return [event for event in told if event["type"] == type_]

    def _started(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = programs.python(*arguments)
        return self._stack.enter_context(programs.started(command, self.folder / f"{name}.log"))
