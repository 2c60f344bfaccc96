"""The bench's fixtures under short names. Where another fixture has such a name, that one goes before it, and the
bench's own is `bench_` and the name.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.bench.daemon import Broker, Table, TableFiles
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarBeeTek, FarLine, FarShoe
from controller.bench.header import Front, Pins
from controller.bench.waiting import Eventually


@pytest.fixture(scope="session")
def shim(bench_shim: Path | None) -> Path | None:
    """The library by which the real RPi.GPIO reads and writes the pins page. None with real wires, and where
    it cannot be built."""
    return bench_shim


@pytest.fixture
def broker(bench_broker: Broker) -> Broker:
    """The Mosquitto between table and pit."""
    return bench_broker


@pytest.fixture
def table_files(bench_table_files: TableFiles) -> TableFiles:
    """The files of a table that has not run yet."""
    return bench_table_files


@pytest.fixture
def front(bench_front: Front) -> Front:
    """How the table's inputs and lamps are reached."""
    return bench_front


@pytest.fixture
def pins(bench_pins: Pins) -> Pins:
    """The buttons, the sensors, and the lamps with their patterns."""
    return bench_pins


@pytest.fixture
def shoe_line(bench_shoe_line: FarLine) -> FarLine:
    """The shoe's end of the line."""
    return bench_shoe_line


@pytest.fixture
def shoe(bench_shoe: FarShoe | FarBeeTek) -> FarShoe | FarBeeTek:
    """The shoe at the far end of the line."""
    return bench_shoe


@pytest.fixture
def pit(bench_pit: FarPit) -> FarPit:
    """A pit that checks every message against the contract, and acknowledges."""
    return bench_pit


@pytest.fixture
def unstarted_table(bench_unstarted_table: Table) -> Table:
    """The daemon before its start."""
    return bench_unstarted_table


@pytest.fixture
def table(bench_table: Table) -> Table:
    """The daemon, running, with its shoe and its pit."""
    return bench_table


@pytest.fixture
def dealer(bench_dealer: Dealer) -> Dealer:
    """What a dealer does with shoe and buttons, in one word each."""
    return bench_dealer


@pytest.fixture
def eventually(bench_eventually: Eventually) -> Eventually:
    """Waits for a condition, a round, a hit or a fault."""
    return bench_eventually
