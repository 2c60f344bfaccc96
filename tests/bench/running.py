"""Measures how much CPU time and memory a running table uses, and how soon it is ready again after a power cut."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from controller.daemon.record.journal_reading import read_rows
from controller.people.cli import programs
from controller.table.facts import ShoeOpened
from tests.bench.house import House, cpu_ms, kill, ready, resident_kib, until
from tests.bench.report import Section, judged

ROUNDS = 70
"""So many are in every shoe: eight decks have some eighty."""

_SPELLS = 5
_SLEEPS = "import time\nwhile True: time.sleep(0.03)"
_IMPORTS = "asyncio, sqlite3, serial, paho.mqtt.client, msgspec, cryptography.hazmat.primitives.asymmetric.ed25519"
_READY = (
    "import os, socket; "
    "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'READY=1', os.environ['NOTIFY_SOCKET'])"
)


def measure(house: House, starts: int, quiet_s: float) -> Iterator[Section]:
    """Measure a table through its life: it starts without a journal, plays most of a shoe, is left idle, and starts
    again in that shoe after a power cut."""
    first_ms, first_floor_ms = _starts(house, starts, forget=True)
    with house.daemon() as (daemon, _):
        fresh_kib = resident_kib(daemon)
        _play(house)
        played_kib = resident_kib(daemon)
        quiet, sleeping = _shares(daemon, quiet_s)
        kill(daemon)
    rows = _open_rows(house)
    again_ms, again_floor_ms = _starts(house, starts, forget=False)
    yield Section(
        "Start",
        f"From exec to READY=1, when the control socket answers; median of {starts}, beside the same Python importing "
        "the libraries the daemon stands on, in turn with it. Each is after a kill -9.",
        ("", "table ms", "imports ms", "ratio", "added ms"),
        [
            _started("a table without a past", first_ms, first_floor_ms),
            _started(f"{ROUNDS} rounds in the open shoe, {rows} facts", again_ms, again_floor_ms),
        ],
    )
    yield Section(
        "Memory",
        "Resident, of the table's process.",
        ("", "MiB"),
        [("at the start", f"{fresh_kib / 1024:.1f}"), (f"after {ROUNDS} rounds", f"{played_kib / 1024:.1f}")],
    )
    yield Section(
        "A quiet table",
        f"CPU with wagers open, in % of one core; median of {_SPELLS} spells of {quiet_s:g} s. The floor in the same "
        "seconds: a Python program that only sleeps, as long each time as the table between two looks at its inputs.",
        ("", "table %", "floor %", "ratio", "aim"),
        [("CPU", f"{quiet:.2f}", f"{sleeping:.2f}", f"{quiet / sleeping:.1f} x", judged(quiet, 1.0, "%"))],
    )


def _shares(daemon: int, quiet_s: float) -> tuple[float, float]:
    """Return how much CPU two processes use, each as a median in % of one core: the table's daemon, and a program that
    only sleeps."""
    with subprocess.Popen([sys.executable, "-c", _SLEEPS]) as sleeper:
        try:
            shares = [_spell((daemon, sleeper.pid), quiet_s) for _ in range(_SPELLS)]
        finally:
            sleeper.kill()
    quiet, sleeping = (statistics.median(of_one) for of_one in zip(*shares, strict=True))
    return quiet, sleeping


def _spell(processes: tuple[int, int], quiet_s: float) -> list[float]:
    before, begun_s = [cpu_ms(each) for each in processes], time.monotonic()
    time.sleep(quiet_s)
    lasted_ms = 1000 * (time.monotonic() - begun_s)
    return [100 * (cpu_ms(each) - was) / lasted_ms for each, was in zip(processes, before, strict=True)]


def _started(what: str, table_ms: float, floor_ms: float) -> tuple[str, ...]:
    ratio, added = f"{table_ms / floor_ms:.2f} x", f"{table_ms - floor_ms:.0f}"
    return what, f"{table_ms:.0f}", f"{floor_ms:.0f}", ratio, added


def _starts(house: House, times: int, forget: bool) -> tuple[float, float]:
    """Return two median start times in ms: that of the table, and that of a Python process that only imports the
    table's libraries. With `forget` each start begins without a journal."""
    starts_ms, floors_ms = [], []
    for _ in range(times):
        with ready(programs.python("-c", f"import {_IMPORTS}; {_READY}"), house.folder, "imports") as (_, floor_ms):
            floors_ms.append(floor_ms)
        if forget:
            # The key too: beside it stands that a journal was begun, and the table would ask where that journal is.
            for old in (*house.folder.glob("table.journal*"), *house.folder.glob("table.key*")):
                old.unlink()
        with house.daemon() as (daemon, start_ms):
            starts_ms.append(start_ms)
            kill(daemon)
    return statistics.median(starts_ms), statistics.median(floors_ms)


def _play(house: House) -> None:
    """Let the simulated dealer and players play most of a shoe, as fast as they can."""
    command = ["-m", "drivers.sim", str(house.table), "--account", str(house.folder / "account"), "--seed", "1"]
    subprocess.run(programs.python(*command, "--speed", "0", "--rounds", str(ROUNDS)), check=True)
    until(house.all_is_acknowledged, "the pit")


def _open_rows(house: House) -> int:
    """Return how many facts (rows of the journal) the daemon must process again when it starts in the open shoe."""
    opened = rows = 0
    for row in read_rows(house.folder / "table.journal"):
        rows = row.number
        opened = rows if isinstance(row.fact, ShoeOpened) else opened
    return rows - opened + 1
