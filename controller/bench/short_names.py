"""The bench's fixtures under short names, such as `table` for `bench_table`. If a test defines a fixture with a short
name, the test gets its own fixture, and reaches the bench's fixture by the long name."""

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
    """The library that lets the real RPi.GPIO use a file (the pins page) instead of the Pi's GPIO registers. None if
    real wires are used, or if the library cannot be built."""
    return bench_shim


@pytest.fixture
def broker(bench_broker: Broker) -> Broker:
    """The MQTT broker between table and pit: a Mosquitto, or the one that `--broker` names."""
    return bench_broker


@pytest.fixture
def table_files(bench_table_files: TableFiles) -> TableFiles:
    """The generated files of a table whose daemon has not run yet."""
    return bench_table_files


@pytest.fixture
def front(bench_front: Front) -> Front:
    """The interface to the table's inputs and lamps, on a simulated or a real header."""
    return bench_front


@pytest.fixture
def pins(bench_pins: Pins) -> Pins:
    """The table's buttons and sensors, and its lamps with their blink patterns."""
    return bench_pins


@pytest.fixture
def shoe_line(bench_shoe_line: FarLine) -> FarLine:
    """The shoe's end of the serial line, plugged in."""
    return bench_shoe_line


@pytest.fixture
def shoe(bench_shoe: FarShoe | FarBeeTek) -> FarShoe | FarBeeTek:
    """The simulated shoe, connected to the table's daemon by the serial line."""
    return bench_shoe


@pytest.fixture
def pit(bench_pit: FarPit) -> FarPit:
    """The test's pit, which checks every message of the table against the contract, and acknowledges events."""
    return bench_pit


@pytest.fixture
def unstarted_table(bench_unstarted_table: Table) -> Table:
    """The table's daemon before its start."""
    return bench_unstarted_table


@pytest.fixture
def table(bench_table: Table) -> Table:
    """The table's daemon, running, with its shoe and its pit connected."""
    return bench_table


@pytest.fixture
def dealer(bench_dealer: Dealer) -> Dealer:
    """A dealer at the table, whose methods work the shoe and the buttons."""
    return bench_dealer


@pytest.fixture
def eventually(bench_eventually: Eventually) -> Eventually:
    """An object that waits: `eventually(condition)` waits until the condition is true, and its methods wait for a
    round, a hit or a fault."""
    return bench_eventually
