"""The pytest fixtures for the tests of this folder. The main one, `at`, holds all fixtures of the bench (a running
table with simulated devices)."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.bench.daemon import Broker, Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import PRIVATE_KEY, FarPit
from controller.bench.far_shoe import FarBeeTek, FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from tests.hil.bench import Bench
from tests.support.pit_process import PitProcess


@pytest.fixture
def at(
    table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> Bench:
    """Return a running table together with its simulated shoe, pins, pit and dealer."""
    return Bench(table, shoe, pins, pit, dealer, eventually)


@pytest.fixture
def hit(at: Bench) -> dict[str, Any]:
    """Play a round in which seat 1 hits a meter, and return the event that reports the hit."""
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.shoe.deal("KS 2D 9S 3C")
    at.eventually(lambda: len(at.pit.hits) == 1 and at.table.unacknowledged() == 0)
    return at.pit.hits[0]


@pytest.fixture
def reference_pit(tmp_path: Path, broker: Broker) -> Iterator[PitProcess]:
    """Run the project's own pit as a process, beside the simulated pit of the tests."""
    if broker.certs is not None:
        pytest.skip("two pits cannot be at a broker that knows each by its certificate")
    key = tmp_path / "ledger.key"
    key.write_bytes(PRIVATE_KEY)  # the table pins the one key
    key.chmod(0o600)
    pit = PitProcess(broker.port, tmp_path / "ledger", "--adopt-new", host=broker.host)
    yield pit
    pit.ended(signal.SIGKILL)
