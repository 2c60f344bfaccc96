"""Checks recordings of the bytes that a shoe sends. They are made while a table runs, and played back to a table."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_shoe import FarBeeTek
from controller.bench.waiting import Eventually
from controller.people.cli.wire import record
from drivers.line.tap import tap_of
from drivers.line.wire import read_record

LOST_REPORT = Path(__file__).with_name("records") / "lost_report.wire"


@pytest.mark.bench_table(shoe={"driver": "beetek"})
def test_a_live_tables_wire_is_recorded_and_the_record_is_played_again(
    table: Table, shoe: FarBeeTek, dealer: Dealer, eventually: Eventually, tmp_path: Path
) -> None:
    file = tmp_path / "shoe.wire"
    recording = threading.Thread(target=record, args=(str(table.file), file, 0, None, 3 * 9))
    recording.start()
    eventually(tap_of(table.journal).exists)
    dealer.open_shoe()
    recording.join()
    assert b"".join(piece.data for piece in read_record(file)).hex() == "".join(shoe.sent)
    assert "the shoe's wire is being recorded" in table.log
    dealer.lock()
    shoe.replay(file, speed=0)
    eventually(lambda: table.hands == {"player": ["2C", "KD"], "banker": ["KC"]})


def test_a_record_of_a_shoe_that_misbehaved_is_a_test_of_one_line(table: Table, dealer: Dealer) -> None:
    dealer.replay(LOST_REPORT)
    assert table.fault == "reports_missed"
    assert table.hands["player"] == ["KS"]
