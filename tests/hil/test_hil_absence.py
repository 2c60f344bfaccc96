"""Checks attacks on a table that did not receive its shoe's reports for a while. Nobody may be paid for a round whose
cards the table did not receive."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from controller.bench.daemon import Table
from controller.bench.far_shoe import stay_unheard
from controller.daemon.clock import since_boot_ms
from tests.hil.bench import Bench
from tests.support.errors import raising

_TWO_ROUNDS = "KC 2D 9D 3C KD 4C 9H 5D"  # naturals: with their results ten reports
_WINS = "KS 2D 9S 3C"  # for seats 1, 4 and 7
_BURNED, _DECKS = 3, 8
_BEETEK_AT_LENGTH = [
    pytest.param(marks=pytest.mark.table(), id="angel_eye"),
    pytest.param(marks=[pytest.mark.table(shoe={"driver": "beetek"}), pytest.mark.proof], id="beetek"),
]
"""A BeeTek goes unheard between rounds in `test_hil_both_shoes.py` too, and after a lock in `test_hil_shoes_end.py`."""


@contextmanager
def frozen(table: Table) -> Iterator[None]:
    """Freeze the daemon's process while the block runs, and for some time after it. The shoe numbers its reports with
    one digit. The freeze lasts so long that the numbers could go round and reach the same digit again."""
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


@pytest.mark.parametrize((), _BEETEK_AT_LENGTH)
def test_wagers_locked_before_a_kill_do_not_play_in_a_round_that_was_not_dealt_to_them(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1, 2, 3)
    at.table.kill()
    at.shoe.deal(_TWO_ROUNDS)
    at.table.start()
    at.eventually(lambda: at.table.status().shoe.up)
    at.shoe.deal(_WINS)
    at.eventually(lambda: at.table.fault == "shoe_unheard" and at.table.stop_told.held_cards == 4)
    assert at.table.face.hands == ()
    with raising("cards_missed"):
        at.table.supervisor("count", left=left_after(12))
    at.by_two("void")
    assert at.table.fault == "shoe_unheard"
    at.table.supervisor("count", left=left_after(12))
    face = at.table.face
    assert (face.fault, face.cards_left, face.phase) == (None, left_after(12), "wagers_open")
    at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: len(at.pit.rounds) == 1 and at.table.unacknowledged() == 0)
    (void,) = at.pit.told("void")
    assert void["progressive"] == [{"spot": "royal9", "seats": [1, 2, 3]}]
    assert at.pit.hits == []
    assert at.pit.rounds[0]["cards_left"] == left_after(16)


@pytest.mark.parametrize((), _BEETEK_AT_LENGTH)
def test_a_cable_out_between_rounds_hides_no_card(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.shoe.unplug()
    at.eventually(lambda: not at.table.status().shoe.up)
    at.eventually(lambda: at.pins.lamp("fault") == "slow_blink")
    assert at.table.fault is None  # before it is back
    at.shoe.deal(_TWO_ROUNDS)
    at.shoe.plug()
    at.eventually(lambda: at.table.fault == "shoe_unheard")
    details = at.table.stop_told.details
    assert details.pop("unheard_s") in range(1, 10)
    assert details == {"cards_left": left_after(4), "last_round": 1, "last_result": "player"}
    counted = at.table.tablectl("count", str(left_after(12)), "--by", "Bea")
    assert (counted.returncode, counted.stdout.splitlines()[-1]) == (0, "done"), counted.stderr
    assert (at.table.fault, at.table.face.cards_left) == (None, left_after(12))
    at.eventually(lambda: [event["cards_unheard"] for event in at.pit.told("fault_cleared")] == [8])
    at.dealer.play(_WINS, 1)
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])
    assert at.pit.rounds[-1]["cards_left"] == left_after(16)


@pytest.mark.parametrize((), _BEETEK_AT_LENGTH)
def test_a_cable_pulled_and_plugged_while_the_program_was_frozen_hides_no_card(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1, 2, 3)
    with frozen(at.table):
        at.shoe.unplug()
        at.shoe.deal(_TWO_ROUNDS)
        at.shoe.plug()
    at.eventually(lambda: at.table.fault == "shoe_unheard")
    at.by_two("void")
    at.table.supervisor("count", left=left_after(8))
    assert at.table.fault is None


def test_what_the_shoe_says_while_the_program_is_frozen_is_heard(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    with frozen(at.table):
        at.shoe.deal(_WINS)
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])
    assert at.table.fault is None
