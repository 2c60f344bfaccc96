"""Checks that the daemon works with the filter of system calls that its systemd unit `systemd/table-controller.service`
sets."""

from __future__ import annotations

import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from controller.people.cli import programs
from tests.support.unit_filter import read_unit

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "systemd" / "table-controller.service"
HELD = ("-m", "tests.support.unit_filter")
"""What Python runs so that a program is held to a unit's filter: the unit and the program follow."""


def _killing(folder: Path) -> Path:
    """Write a copy of the systemd unit, and return its path. In the copy, a system call that the filter refuses ends
    the process, so that no refused call goes unnoticed."""
    unit = read_unit(UNIT)
    unit.remove_option("Service", "SystemCallErrorNumber")
    # Where it is root, as tests may be and the service is not, SQLite gives its log to the journal's owner.
    unit["Service"]["SystemCallFilter"] += "\n@chown"
    return _written(unit, folder)


def _written(unit: ConfigParser, folder: Path) -> Path:
    path = folder / UNIT.name
    with path.open("w", encoding="utf-8") as file:
        unit.write(file)
    return path


@pytest.mark.parametrize("what", [pytest.param("as it stands", marks=pytest.mark.proof), "deadly"])
def test_under_its_units_filter_the_table_plays_stops_and_goes_dark(
    unstarted_table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually, what: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    table = unstarted_table
    unit = UNIT if what == "as it stands" else _killing(tmp_path)
    table.program = (*HELD, str(unit), sys.executable, "-m", "controller.people.cli.main")
    table.start()
    eventually(table.links_up)
    dealer.open_shoe()
    dealer.play("KS 2D 9S 3C", 1)
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    dealer.lock(3)
    eventually(lambda: {"seat_3", "draw_player"} <= pins.lit())
    table.kill()
    dark = table.tablectl("dark")
    assert dark.returncode == 0, dark.stderr
    assert pins.lit() == set()
    table.start()
    table.count()
    eventually(table.links_up)
    shoe.deal("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 2 and table.unacknowledged() == 0)
    assert table.stop() == 0


def _says(program: str, unit: Path | None) -> str:
    """Run this Python program under the system call filter of a systemd unit, and return what it prints. With `unit`
    None it runs without a filter."""
    held = () if unit is None else (*HELD, str(unit), sys.executable)
    run = subprocess.run(programs.python(*held, "-c", program), cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, (run.returncode, run.stderr)
    return run.stdout


def test_under_its_units_filter_the_kernel_tells_whether_the_clock_is_synchronised() -> None:
    asks = "import ctypes; print(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)))"
    assert _says(asks, UNIT) == _says(asks, None)


def test_a_clock_that_may_not_be_asked_is_not_synchronised(tmp_path: Path) -> None:
    unit = read_unit(UNIT)
    unit["Service"]["SystemCallFilter"] = "@system-service"
    asks = "from controller.daemon.clock import stamp_now; print(stamp_now().synchronised)"
    assert _says(asks, _written(unit, tmp_path)) == "False\n"
