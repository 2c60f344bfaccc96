"""Attacks on a table that did not hear its shoe for a while: nobody is paid for a hand that was dealt unheard."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarBeeTek, FarShoe, stay_unheard
from controller.bench.plugin import Dealer, Eventually
from controller.clock import since_boot_ms
from controller.errors import TableError

_TWO_HANDS = "KC 2D 9D 3C KD 4C 9H 5D"  # naturals: with their results ten reports
_WINS = "KS 2D 9S 3C"  # for seats 1, 4 and 7
_BURNED, _DECKS = 3, 8
BOTH_SHOES = [
    pytest.param(marks=pytest.mark.table(), id="angel_eye"),
    pytest.param(marks=pytest.mark.table(shoe={"driver": "beetek"}), id="beetek"),
]


@contextmanager
def frozen(table: Table) -> Iterator[None]:
    """The daemon does nothing meanwhile, and that for longer than a round of the shoe's numbers takes."""
    pid = table.process.pid
    began_ms = since_boot_ms()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
        stay_unheard(began_ms)
    finally:
        os.kill(pid, signal.SIGCONT)


def left_after(cards: int) -> int:
    return 52 * _DECKS - _BURNED - cards


@pytest.mark.parametrize((), BOTH_SHOES)
def test_wagers_locked_before_a_kill_do_not_play_in_a_hand_that_was_not_dealt_to_them(
    table: Table, shoe: FarShoe | FarBeeTek, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1, 2, 3)
    table.kill()
    shoe.deal(_TWO_HANDS)
    table.start()
    eventually(lambda: table.status()["shoe"]["up"])
    shoe.deal(_WINS)
    eventually(lambda: table.fault == "shoe_unheard" and table.face["fault"]["held_cards"] == 4)
    assert table.face["hands"] == []
    with pytest.raises(TableError) as refused:
        table.supervisor("count", left=left_after(12))
    assert refused.value.code == "cards_missed"
    table.supervisor("void")
    assert table.fault == "shoe_unheard"
    table.supervisor("count", left=left_after(12))
    face = table.face
    assert (face["fault"], face["cards_left"], face["phase"]) == (None, left_after(12), "wagers_open")
    dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 1 and table.unacknowledged() == 0)
    (void,) = pit.told("void")
    assert void["progressive"] == [{"spot": "royal9", "seats": [1, 2, 3]}]
    assert pit.hits == []
    assert pit.rounds[0]["cards_left"] == left_after(16)


@pytest.mark.parametrize((), BOTH_SHOES)
def test_a_cable_out_between_hands_hides_no_card(
    table: Table, shoe: FarShoe | FarBeeTek, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.play("9C TD TC 5D")
    shoe.unplug()
    eventually(lambda: not table.status()["shoe"]["up"])
    shoe.deal(_TWO_HANDS)
    shoe.plug()
    eventually(lambda: table.fault == "shoe_unheard")
    details = table.face["fault"]["details"]
    assert details.pop("unheard_s") in range(1, 10)
    assert details == {"cards_left": left_after(4), "last_round": 1, "last_result": "player"}
    counted = table.tablectl("count", str(left_after(12)), "--by", "Bea")
    assert (counted.returncode, counted.stdout.splitlines()[-1]) == (0, "done"), counted.stderr
    assert (table.fault, table.face["cards_left"]) == (None, left_after(12))
    eventually(lambda: [event["cards_unheard"] for event in pit.told("fault_cleared")] == [8])
    dealer.play(_WINS, 1)
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    assert pit.rounds[-1]["cards_left"] == left_after(16)


@pytest.mark.parametrize((), BOTH_SHOES)
def test_a_cable_pulled_and_plugged_while_the_program_was_frozen_hides_no_card(
    table: Table, shoe: FarShoe | FarBeeTek, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1, 2, 3)
    with frozen(table):
        shoe.unplug()
        shoe.deal(_TWO_HANDS)
        shoe.plug()
    eventually(lambda: table.fault == "shoe_unheard")
    table.supervisor("void")
    table.supervisor("count", left=left_after(8))
    assert table.fault is None


def test_what_the_shoe_says_while_the_program_is_frozen_is_heard(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    with frozen(table):
        shoe.deal(_WINS)
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    assert table.fault is None
