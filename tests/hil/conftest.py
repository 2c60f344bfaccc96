"""The bench's own fixtures in one, for the scenarios of this folder."""

from __future__ import annotations

import pytest

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarBeeTek, FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually
from tests.hil.bench import Bench


@pytest.fixture
def at(
    table: Table, shoe: FarShoe | FarBeeTek, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> Bench:
    """A running table with its shoe, pins, pit and dealer."""
    return Bench(table, shoe, pins, pit, dealer, eventually)
