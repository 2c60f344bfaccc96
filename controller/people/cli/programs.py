"""Starts the programs that a table needs, all on one machine: a broker of its own, a pit, and a daemon with simulated
hardware.

The demo, the practice table and the tests use this module. All programs listen on the loopback only, and all files lie
below one folder.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import tomli_w

from controller.basics.errors import TableError
from controller.basics.shipped import CONFIG
from controller.daemon.config.table_file import HEADER_PINS
from controller.daemon.pins.inputs import CABINET
from controller.people.cli.client import status_of
from controller.words.language import language
from drivers import shoe as shoes
from drivers.devices import PRESENT_INPUT

EXAMPLE_TABLE = CONFIG / "tables" / "royal9.toml"

_PORTS = (10_000, 32_768)  # below the ports of Linux's outgoing connections
_claims: deque[socket.socket] = deque(maxlen=64)  # the open sockets reserve the last 64 ports that were given

_PATIENCE_S = 10.0
_START_PATIENCE_S = 20.0
_POLL_S = 0.02


def example_names() -> list[str]:
    """Return the names of the shipped examples that can be played: every example table, and every game that has no
    example table."""
    return sorted({file.stem for folder in ("games", "tables") for file in (CONFIG / folder).glob("*.toml")})


def example_table(name: str) -> Path:
    """Return the path of the table file of the shipped example called `name`."""
    return CONFIG / "tables" / f"{name}.toml"


def example_game(name: str) -> Path:
    """Return the path of the shipped game file called `name`."""
    return CONFIG / "games" / f"{name}.toml"


def free_port(wanted: int = 0) -> int:
    """Return a free TCP port on the loopback: `wanted`, if that port is free, otherwise a random port.

    The port stays reserved for this process. No second call of this function, in any process, returns it until this
    process has ended or has taken 64 more ports. Random ports lie below those that the kernel gives to outgoing
    connections. Example: a broker that starts a minute after its port was chosen still finds the port free.
    """
    port = wanted or random.randrange(*_PORTS)
    while True:
        claim = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe, suppress(OSError):
            claim.bind(f"\0table-controller-port-{port}")  # an abstract name: Linux forgets the name with the socket
            probe.bind(("127.0.0.1", port))
            _claims.append(claim)
            return port
        port = random.randrange(*_PORTS)


def simulated_table(folder: Path, broker_port: int, example: Path = EXAMPLE_TABLE, **sections: dict[str, Any]) -> Path:
    """Write a table's file into `folder`, and return its path. The file is a copy of `example` with simulated hardware
    in place of the real hardware. `sections` holds more keys to change, by section of the file."""
    values = tomllib.loads(example.read_text("utf-8"))
    values["table"]["game"] = str((example.parent / values["table"]["game"]).resolve())
    values["table"]["fastest_card_ms"] = 0  # the simulated dealer's hands are as fast as one likes
    values["shoe"] = {"driver": values["shoe"]["driver"], "port": str(folder / "shoe")}
    values["pins"] |= {"driver": "simulated", "page": str(folder / "header")}
    of_broker = ("hosts", "ca", "certificate", "private_key", "crl")
    pit_keys = {key: value for key, value in values["pit"].items() if key not in of_broker}
    values["pit"] = pit_keys | {"host": "127.0.0.1", "port": broker_port, "trust_first_key": True}
    values["journal"] = {"path": str(folder / "table.journal"), "signing_key": str(folder / "table.key")}
    values["control"] = {"socket": str(folder / "table.sock")}
    for name, keys in sections.items():
        values[name] = values.get(name, {}) | keys
    wired = values["pins"]["inputs"]
    shows_plug = {PRESENT_INPUT} if values["shoe"].get("present") == "input" else set()
    shows_cabinet = {CABINET} if "cabinet_opened" in values["pins"] else set()
    inputs = shoes.brand(values["shoe"]["driver"]).buttons.keys() | shows_plug | shows_cabinet
    for button in sorted(inputs - wired.keys()):
        taken = {wiring["bcm"] for wiring in (*wired.values(), *values["pins"]["lamps"].values())}
        wired[button] = {"bcm": min(set(HEADER_PINS) - taken), "active": "low", "pull": "up"}
    path = folder / "table.toml"
    path.write_text(tomli_w.dumps(values), "utf-8")
    return path


def take_seats_away(table: Path, most_seats: int) -> None:
    """Remove from the table's file each seat whose number is above `most_seats`, the most that the game allows."""
    values = tomllib.loads(table.read_text("utf-8"))
    seats, pins = values["seats"], values["pins"]
    for seat in [*seats]:
        if (number := seat["number"]) > most_seats:
            seats.remove(seat)
            for wired in (pins["lamps"], pins["inputs"]):
                wired.pop(f"seat_{number}", None)
    table.write_text(tomli_w.dumps(values), "utf-8")


def mosquitto_program() -> str | None:
    """Return the path of Mosquitto's program, or None if it is not installed. Debian keeps the program in /usr/sbin,
    outside most people's search path."""
    return shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def mosquitto(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a private Mosquitto (an MQTT broker) on this port of the loopback for the length of a `with` block. Raises
    TableError `mosquitto_missing` or `mosquitto_failed`."""
    program = mosquitto_program()
    if program is None:
        do = "Install it: sudo apt-get install -y mosquitto"
        raise TableError("mosquitto_missing", "Mosquitto, the MQTT broker, is not installed.", do)
    config = folder / "mosquitto.conf"
    settings = "allow_anonymous true", "persistence false", "set_tcp_nodelay true", "max_queued_messages 10000"
    config.write_text("\n".join((f"listener {port} 127.0.0.1", *settings, "")))
    with started([program, "-c", str(config)], folder / "mosquitto.log") as broker:
        _await_port(broker, port, folder / "mosquitto.log")
        yield broker


def pit(
    folder: Path, port: int, ledger: Path, settings: Path = CONFIG / "pit.toml"
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Run the reference pit, connected to the broker on this port of the loopback, for the length of a `with` block.
    The pit adopts every new table without asking a person.

    The pit runs in its practice mode: it does not check who makes a decision, but believes the name in each request.
    """
    command = python("-m", "controller.pit.reference", "run", "--broker", f"127.0.0.1:{port}", "--ledger", str(ledger))
    return started([*command, "--settings", str(settings), "--adopt-new", "--practice"], folder / "pit.log")


def await_table(
    table: Path, daemon: subprocess.Popen[bytes], log: Path, stopped: Callable[[], bool] = lambda: False
) -> None:
    """Wait until the running table has received the levels of the pit's meters, or until `stopped` returns True. A
    table refuses progressive wagers before it has these levels.

    Raises TableError `table_not_started`.
    """
    deadline, finds = time.monotonic() + _START_PATIENCE_S, "It did not answer."
    while not stopped():
        with suppress(TableError):
            pit = status_of(table).pit
            if pit.fresh:
                return
            finds = language().pit(pit.standing.code).what.format(**pit.standing.details)
        if time.monotonic() >= deadline or daemon.poll() is not None:
            what = f"The table did not start, or does not hear its pit. {finds} Its log, {log}, ends:\n{log_end(log)}"
            raise TableError("table_not_started", what, "If these lines do not say why, report this.")
        time.sleep(_POLL_S)


def log_end(log: Path) -> str:
    """Return the last 12 lines of a log file, indented."""
    return "\n".join(f"  {line}" for line in log.read_text("utf-8", "replace").splitlines()[-12:])


@contextmanager
def started(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process for the length of a `with` block, and append its output to `log`. Ctrl-C at this terminal does not
    reach the process."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> int:
    """Ask a process to end, wait for its end, and return its exit code. A process that has not ended after 10 seconds
    is killed."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def python(*arguments: str) -> list[str]:
    """Return the command line that runs this Python interpreter with these arguments."""
    return [sys.executable, *arguments]


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    words = log.read_text("utf-8", "replace").strip().splitlines()
    raise TableError(
        "mosquitto_failed", f"Mosquitto did not start: {words[-1] if words else 'no word'}.", f"See {log}."
    )
