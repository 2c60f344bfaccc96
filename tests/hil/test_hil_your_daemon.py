"""Checks that the bench also works with somebody else's table daemon, connected to the bench's simulated shoe, lamps
and pit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarBeeTek
from controller.bench.header import Pins
from controller.bench.waiting import Wait
from controller.bench.wires import Wires

PROGRAM = Path(__file__).with_name("twenty_lines") / "table.pl"

pytestmark = pytest.mark.bench_table(shoe={"driver": "beetek"})


@pytest.fixture
def table(bench_wires: Wires, bench_shoe: FarBeeTek, bench_pit: FarPit, bench_wait: Wait) -> Iterator[None]:
    """Run somebody else's table daemon with the bench's shoe and pit. This fixture replaces the bench's own fixture
    `table`."""
    daemon = subprocess.Popen(["perl", str(PROGRAM)], env=os.environ | bench_wires.environment)
    bench_wait(lambda: bench_shoe.heard and bench_pit.online)
    yield
    assert daemon.poll() is None, "the daemon ended by itself"
    daemon.terminate()
    daemon.wait()


@pytest.mark.usefixtures("table")
def test_cards_light_their_lamps(bench_shoe: FarBeeTek, bench_pins: Pins, bench_pit: FarPit, bench_wait: Wait) -> None:
    bench_shoe.deal("KS 2D")
    bench_wait(lambda: bench_pins.lit() == {"draw_player", "draw_banker"})
    bench_wait(lambda: bench_pit.state.round == 3)
    assert bench_pit.state.fault is None


@pytest.mark.usefixtures("table")
def test_a_damaged_line_is_a_fault(
    bench_shoe: FarBeeTek, bench_pins: Pins, bench_pit: FarPit, bench_wait: Wait
) -> None:
    bench_shoe.damage("KS")
    bench_wait(lambda: bench_pins.lit() == {"fault"} and bench_pit.state.fault == "bad_line")
