"""Checks that the table's events reach the pit through a real broker: none is lost, doubled or out of order."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from controller.bench.daemon import Broker, Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.waiting import Eventually
from tests.hil.bench import Bench
from tests.support.pit_process import PitProcess
from tests.support.samples import at_length

PLAYER_WINS = "9C TD TC 5D"


@pytest.mark.long
def test_what_happens_while_the_broker_is_down_arrives_in_order(at: Bench, broker: Broker) -> None:
    at.dealer.open_shoe()
    broker.down()
    at.eventually(lambda: at.pins.lamp("fault") == "slow_blink")
    for _ in range(3):
        at.dealer.play(PLAYER_WINS)
    broker.up()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    assert at.pit.types == ["shoe_opened", *["wagers_locked", "round"] * 3]
    assert [event["round"] for event in at.pit.rounds] == [1, 2, 3]
    at.eventually(lambda: at.pins.lamp("fault") == "dark")


def _await_results(rounds: int, table: Table, eventually: Eventually) -> None:
    """Wait until the journal holds the shoe's own result of each round. The shoe sends it after the last card."""
    eventually(lambda: sum(fact["fact"] == "ShoeResultReported" for fact in table.facts()) == rounds)


@pytest.mark.proof  # `tests/fire` kills tables and pits at length
def test_what_happens_while_the_pit_is_away_and_the_table_is_killed_arrives_in_order(at: Bench) -> None:
    at.dealer.open_shoe()
    at.pit.gone()
    for rounds in (1, 2):
        at.dealer.play(PLAYER_WINS)
        _await_results(rounds, at.table, at.eventually)
        at.table.restart()
    at.pit.come()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    counted = ["fault", "fault_cleared"]  # after each kill
    assert at.pit.types == ["shoe_opened", *["wagers_locked", "round", *counted] * 2]


@pytest.mark.proof  # `tests/daemon/test_stream.py` has a pit that lost its ledger
def test_a_pit_restored_from_an_old_copy_is_told_everything_again(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: at.table.unacknowledged() == 0)
    before = list(at.pit.events)
    at.pit.forget()
    at.eventually(lambda: at.pit.events == before)
    at.eventually(lambda: at.table.unacknowledged() == 0)


def _is_behind(table: Table) -> bool:
    """Tell whether the table has stopped because its journal is behind the pit. After a start the table first stops at
    a different fault, which asks for a count of the cards. This function clears that fault by entering the count."""
    if table.fault == "shoe_unheard":
        table.supervisor("count", left=table.cards_left)
    return table.fault == "journal_behind_pit"


@pytest.mark.long
def test_a_journal_restored_from_an_old_copy_is_found_out_by_the_pits_word(at: Bench, tmp_path: Path) -> None:
    at.dealer.open_shoe()
    at.table.stop()
    at.table.copy_journal(tmp_path / "old")
    at.table.start()
    at.table.count()
    at.eventually(at.table.links_up)
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: at.pit.types[-1:] == ["round"] and at.table.unacknowledged() == 0)
    told = len(at.pit.events)
    for _ in range(5 if at_length else 2):  # the pit's word may come at any moment of connecting
        at.table.stop()
        at.table.restore_journal(tmp_path / "old")
        at.table.start()
        at.eventually(lambda: _is_behind(at.table))
    assert at.table.stop_told.exits == ()
    assert at.table.status().pit.stream == "behind"
    at.eventually(lambda: at.pins.lamp("fault") == "fast_blink")
    at.table.restart()
    assert at.table.fault == "journal_behind_pit"
    assert len(at.pit.events) == told  # nothing was ever sent from the old copy


@pytest.mark.proof  # `tests/daemon/test_stream.py` has it at a real broker
def test_a_journal_that_lost_its_last_event_alone_and_made_another_is_found_out(
    at: Bench, broker: Broker, tmp_path: Path
) -> None:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.table.stop()
    at.table.copy_journal(tmp_path / "old")
    at.table.start()
    at.eventually(at.table.links_up)
    at.table.count()
    at.table.supervisor("void")
    at.eventually(lambda: at.pit.types[-1:] == ["void"] and at.table.unacknowledged() == 0)
    told = len(at.pit.events)
    at.table.stop()
    at.table.restore_journal(tmp_path / "old")
    with broker.held():
        at.table.start()
        at.eventually(
            lambda: at.table.unacknowledged() == 1
        )  # its stop has the number of the lost one, and its chain too
    at.eventually(lambda: _is_behind(at.table))
    details = at.table.stop_told.details
    assert details.pop("acked_at")
    assert details == {"acked_seq": told, "head_seq": 2, "chain": "unknown"}
    assert len(at.pit.events) == told
    assert at.pit.wrong == []


def test_the_reference_pit_acknowledges_all_it_hears_also_after_a_kill(reference_pit: PitProcess, at: Bench) -> None:
    at.pit.silent()  # only the reference pit speaks
    at.dealer.open_shoe()
    at.dealer.play("KS 2D 9S 3C", 1)
    at.eventually(lambda: len(at.pit.hits) == 1 and at.table.unacknowledged() == 0)
    reference_pit.ended(signal.SIGKILL)
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: len(at.pit.rounds) == 2)
    assert at.table.unacknowledged() > 0
    reference_pit.start()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    assert at.table.fault is None


_LOST_CLOCK = """
import sys, time
from pathlib import Path
from controller.daemon import clock
from controller.people.cli.main import main

was_set, right = Path({was_set!r}), time.time_ns
time.time_ns = lambda: right() if was_set.exists() else clock.since_boot_ms() * 1_000_000
clock._synchronised = was_set.exists
sys.exit(main())
"""
"""A table's program on a board whose clock begins in 1970 at each boot, until this file says that somebody set it."""


def test_without_a_clock_and_a_network_at_boot_the_table_deals_and_all_of_it_arrives_later(
    unstarted_table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually,
    broker: Broker, tmp_path: Path,
) -> None:  # fmt: skip
    broker.down()
    unstarted_table.program = ("-c", _LOST_CLOCK.format(was_set=str(tmp_path / "was-set")))
    unstarted_table.start()
    eventually(lambda: unstarted_table.status().shoe.up)
    dealer.open_shoe()
    dealer.play(PLAYER_WINS, 3)
    (tmp_path / "was-set").touch()
    dealer.play(PLAYER_WINS)
    broker.up()
    eventually(lambda: unstarted_table.unacknowledged() == 0)
    assert pit.types == ["shoe_opened", *["wagers_locked", "round"] * 2]
    told = [(event["clock_synchronised"], event["at"][:2]) for event in pit.events]
    assert told == [(False, "19")] * 3 + [(True, "20")] * 2
    assert unstarted_table.fault is None, "no deadline reads the wall clock"
