"""Checks the contact at the cabinet's door. People are told if somebody opens the cabinet while the table runs, or if
the cabinet is open when the table starts."""

from __future__ import annotations

import pytest

from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.header import Pins
from controller.bench.waiting import Eventually


@pytest.mark.table(pins={"cabinet_opened": "alarm"})
def test_where_the_house_wants_an_alarm_the_table_goes_on(
    table: Table, dealer: Dealer, pins: Pins, pit: FarPit, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.press("cabinet_open", until=lambda: pit.told("alarm") != [])
    assert [alarm["code"] for alarm in pit.told("alarm")] == ["cabinet_opened"]
    dealer.play("KS 2D 9S 3C", 1)
    assert table.fault is None
    assert eventually.wait_for_hit(1)


@pytest.mark.table(pins={"cabinet_opened": "fault"})
def test_a_cabinet_that_stands_open_at_the_start_stops_the_table_until_somebody_looked(
    unstarted_table: Table, shoe: object, pins: Pins, eventually: Eventually
) -> None:
    pins.hold("cabinet_open")
    unstarted_table.start()
    eventually.wait_for_fault("cabinet_opened")
    pins.let_go("cabinet_open")
    unstarted_table.supervisor("clear")
    assert unstarted_table.fault is None
    unstarted_table.kill()
    unstarted_table.start()
    eventually(unstarted_table.links_up)
    assert unstarted_table.fault is None, "the cabinet is shut"
