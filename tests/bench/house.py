"""Starts the processes that the benchmark measures (a broker, a pit, a table's daemon), and asks the kernel how much
CPU time, memory and disk each uses."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from controller.basics.errors import TableError
from controller.people.cli import programs
from controller.people.cli.client import status_of
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from tests.pit.postgresql import servers

_PATIENCE_S = 60.0
_POLL_S = 0.01
_ALIVE_EVERY_S = 1.0  # while waiting for a process, see whether it lives
_libc = ctypes.CDLL(None, use_errno=True)


class House:
    """A running broker and reference pit, and the files of one table that is connected to them."""

    def __init__(
        self,
        folder: Path,
        port: int,
        broker: int,
        pit: int,
        databases: tuple[int, ...] = (),
        ledger: Place = "",
        pit_command: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self._pit_command = pit_command
        self.ledger = ledger
        self.port = port
        self.broker, self.pit, self.databases = broker, pit, databases  # their process ids
        self.table = programs.simulated_table(folder, port)

    @contextmanager
    def daemon(self, environment: Mapping[str, str] | None = None) -> Iterator[tuple[int, float]]:
        """Run the table's daemon for the length of a `with` block. Yields its process id, and how many milliseconds
        passed from its start until it reported READY=1."""
        command = programs.python("-m", "controller.people.cli.main", "run", str(self.table))
        with ready(command, self.folder, "daemon", environment) as started:
            yield started

    @contextmanager
    def another_pit(self) -> Iterator[None]:
        """Start the pit again, on the same ledger, after it was killed. It runs for the length of a `with` block."""
        with programs.started(self._pit_command, self.folder / "pit.log") as pit:
            self.pit = pit.pid
            yield

    def all_is_acknowledged(self) -> bool:
        """Tell whether the pit has acknowledged every event of the table."""
        return not status_of(self.table).pit.unacknowledged

    def links_are_up(self) -> bool:
        """Tell whether the table is connected to its shoe and to its pit."""
        told = status_of(self.table)
        return bool(told.shoe.up and told.pit.stream == "streaming" and told.pit.meters_fresh)

    def phase(self) -> str:
        """Return the table's phase, such as "wagers_open"."""
        return str(status_of(self.table).face.phase)


@contextmanager
def house(folder: Path) -> Iterator[House]:
    """Run a broker and a pit with a new ledger for the length of a `with` block. All files lie in `folder`, which is
    created."""
    folder.mkdir()
    port = programs.free_port()
    command = [
        "-m",
        "controller.pit.reference",
        "run",
        "--broker",
        f"127.0.0.1:{port}",
        "--ledger",
        str(folder / "ledger"),
    ]
    with (
        programs.mosquitto(folder, port) as broker,
        programs.started(programs.python(*command, "--adopt-new"), folder / "pit.log") as pit,
    ):
        log = folder / "pit.log"
        until(lambda: "listening" in log.read_text("utf-8"), "the pit to listen")
        yield House(folder, port, broker.pid, pit.pid)


@contextmanager
def cell(folder: Path) -> Iterator[House]:
    """Run a broker and a pit for the length of a `with` block. The pit's ledger is in PostgreSQL, with a synchronous
    standby (a second database that has every commit). After the pit is killed, another pit can take over.

    Both databases lie on the disk of TMPDIR.
    """
    folder.mkdir()
    port, key, log = programs.free_port(), str(folder / "key"), folder / "pit.log"
    with servers("one", "two", on_disk=True) as (primary, standby), programs.mosquitto(folder, port) as broker:
        primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.reload()
        standby.follow(primary)
        standby.start()
        standby.until_it_receives()
        of_pit = programs.python("-m", "controller.pit.reference")
        ledger = ["--ledger", primary.url, "--signing-key", key]
        Ledger(primary.url).close()
        subprocess.run([*of_pit, "key", *ledger], check=True, stdout=subprocess.DEVNULL)
        run = [*of_pit, "run", *ledger, "--replicated", "--broker", f"127.0.0.1:{port}", "--adopt-new"]
        with programs.started(run, log) as pit:
            until(lambda: "listening" in log.read_text("utf-8"), "the pit to listen")
            yield House(folder, port, broker.pid, pit.pid, (primary.pid(), standby.pid()), primary.url, run)


@contextmanager
def ready(
    command: list[str], folder: Path, name: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[int, float]]:
    """Run a process that reports READY=1, as systemd's services do, for the length of a `with` block. Yields its
    process id, and how many milliseconds passed from its start until that report."""
    address = folder / f"{name}.notify"
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel, (folder / f"{name}.log").open("ab") as log:
        channel.bind(str(address))
        channel.settimeout(_ALIVE_EVERY_S)
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "NOTIFY_SOCKET": str(address), **(environment or {})},
            start_new_session=True,
        )
        try:
            while not _is_ready(channel):
                if process.poll() is not None or time.perf_counter() - begun > _PATIENCE_S:
                    words = Path(log.name).read_text("utf-8", "replace").strip().rpartition("\n")[2]
                    raise TableError("bench", f"The {name} did not become ready: {words}.", "Run the bench once more.")
            yield process.pid, 1000 * (time.perf_counter() - begun)
        finally:
            programs.stop(process)


def _is_ready(channel: socket.socket) -> bool:
    try:
        return channel.recv(64) == b"READY=1"
    except TimeoutError:
        return False


def kill(pid: int) -> None:
    """Kill a process without a warning, so that it ends between two instructions, as in a power cut."""
    os.kill(pid, signal.SIGKILL)


def until(holds: Callable[[], object], what: str, patience_s: float = _PATIENCE_S) -> None:
    """Wait until `holds()` is true. Raises TableError `bench`, which names `what`, if that takes longer than
    `patience_s` seconds."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            if holds():
                return
        except TableError as error:
            if error.code not in ("table_not_running", "table_silent"):
                raise
        if time.monotonic() > deadline:
            raise TableError("bench", f"The bench waited {patience_s:.0f} s in vain for {what}.", "Run it once more.")
        time.sleep(_POLL_S)


def cpu_ms(pid: int) -> float:
    """Return the CPU time that a process has used so far, in milliseconds. All its threads count, and both user and
    system time."""
    clock = ctypes.c_int()
    if failed := _libc.clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise OSError(failed, os.strerror(failed))
    return time.clock_gettime_ns(clock.value) / 1e6


def tree(pid: int) -> list[int]:
    """Return the process ids of a process and its children."""
    every = [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return [pid, *(int(one) for one in every if _parent(int(one)) == pid)]


def _parent(pid: int) -> int:
    try:
        return int(_told(f"/proc/{pid}/status", r"PPid:\s+(\d+)"))
    except OSError:  # it has ended
        return 0


def resident_kib(pid: int) -> int:
    """Return the resident memory of a process, in KiB."""
    return int(_told(rf"/proc/{pid}/status", r"VmRSS:\s+(\d+) kB"))


def written_bytes(pid: int) -> int:
    """Return how many bytes a process has caused to be written to the disk so far."""
    return int(_told(rf"/proc/{pid}/io", r"(?m)^write_bytes: (\d+)"))


def _told(path: str, pattern: str) -> str:
    found = re.search(pattern, Path(path).read_text("utf-8"))
    assert found is not None
    return found[1]
