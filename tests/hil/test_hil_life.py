"""Checks the table's daemon as a process: how it is started, killed, stopped and supervised, and how it runs alone with
its journal."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.bench.daemon import Table, comes_true
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from tests.hil.bench import Bench
from tests.support.waiting import PATIENCE_S


def test_the_lamps_go_through_the_real_rpi_gpio(table: Table, shim: Path | None) -> None:
    if shim is None:
        pytest.skip("no shim here: there is no C compiler or no RPi.GPIO, or the header is a real one")
    loaded = Path(f"/proc/{table.process.pid}/maps").read_text("utf-8")
    assert str(shim) in loaded
    assert "_GPIO" in loaded


@pytest.mark.long
@pytest.mark.usefixtures("as_shipped")
def test_a_table_killed_inside_a_round_stands_where_it_stood(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1, 7)
    at.dealer.deal("KS 2D")
    at.eventually(lambda: at.pins.seat(7) == "accepted" and at.pins.lamp("fault") == "dark")
    face, lamps, boot = at.table.face, at.table.status().lamps, at.table.status().journal.boot
    at.table.restart()
    at.eventually(at.table.links_up)
    assert at.table.face == face
    at.eventually(lambda: at.table.status().lamps == lamps)
    assert at.table.status().journal.boot == boot + 1
    at.eventually(lambda: at.pins.seat(1) == at.pins.seat(7) == "accepted")
    at.shoe.deal("9S 3C")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1, 7])
    face = at.table.face
    at.table.restart()
    assert at.table.face == face
    at.eventually(lambda: at.pins.seat(1) == at.pins.seat(7) == "hit")
    at.eventually(lambda: (at.pit.online, at.pit.state.boot) == (True, boot + 2))


def test_what_is_not_committed_is_shown_to_nobody(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.dealer.deal("KS 2D 9S")
    at.eventually(lambda: len(at.pit.events) == 2)
    with at.table.busy_disk():
        at.shoe.deal("3C")
        at.table.hear_out()
        assert at.table.hands == {"player": ["KS", "9S"], "banker": ["2D"]}
        assert "player" not in at.pins.lit()
        at.table.kill()
    at.table.start()
    at.eventually(at.table.links_up)
    assert at.table.phase == "round_in_play"
    assert at.pit.types[:2] == ["shoe_opened", "wagers_locked"]
    assert "round" not in at.pit.types


def test_a_table_that_is_stopped_darkens_its_lamps_and_says_goodbye(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.eventually(lambda: {"seat_1", "draw_player"} <= at.pins.lit())
    assert at.table.stop() == 0
    assert at.pins.lit() == set()
    at.eventually(lambda: at.pit.online is False)
    at.table.start()
    assert at.table.phase == "wagers_locked"


@pytest.mark.proof  # `test_hil_unit.py` does it under the unit's filter
def test_after_a_kill_tablectl_dark_darkens_the_lamps(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.eventually(lambda: {"seat_1", "draw_player"} <= at.pins.lit())
    at.table.kill()
    assert {"seat_1", "draw_player"} <= at.pins.lit()  # nobody was left to darken them
    at.eventually(lambda: at.pit.online is False)  # the will
    dark = at.table.tablectl("dark")
    assert dark.returncode == 0, dark.stderr
    assert at.pins.lit() == set()


def test_the_port_comes_late(
    unstarted_table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    table = unstarted_table
    shoe.unplug()
    table.start()
    eventually(lambda: pins.lamp("fault") == "slow_blink")
    assert "no such device" in table.status().shoe.why
    shoe.plug()
    eventually(table.links_up)
    dealer.open_shoe()
    dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 1)


def test_a_button_held_down_while_the_table_starts_is_no_press(at: Bench) -> None:
    at.dealer.open_shoe()
    at.table.kill()
    at.pins.hold("deal")
    at.table.start()
    at.table.count()
    at.shoe.report_lock(False)  # something for the table to take in after the pins were sampled many times
    at.eventually(lambda: at.table.facts()[-1]["fact"] == "ShoeLockReported")
    assert at.table.phase == "wagers_open"
    at.pins.let_go("deal")
    at.dealer.lock()


@contextlib.contextmanager
def _systemd(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(path))
        channel.settimeout(PATIENCE_S)
        yield channel


@pytest.mark.usefixtures("as_shipped")
def test_systemd_is_told_ready_alive_and_stopping(unstarted_table: Table, shoe: FarShoe, tmp_path: Path) -> None:
    with _systemd(tmp_path / "notify") as systemd:
        unstarted_table.start(await_ready=False, NOTIFY_SOCKET=str(tmp_path / "notify"))
        told = {systemd.recv(100) for _ in range(2)}  # the first ping may come before the socket is served
        assert told == {b"READY=1", b"WATCHDOG=1"}
        assert unstarted_table.status().face.phase == "no_shoe"
        assert systemd.recv(100) == b"WATCHDOG=1"
        assert unstarted_table.stop() == 0
        last = b"WATCHDOG=1"
        while last == b"WATCHDOG=1":
            last = systemd.recv(100)
        assert last == b"STOPPING=1"


def test_what_has_not_come_yet_is_waited_for() -> None:
    """The bench goes on waiting if a condition asks for the last item of a list that is still empty, or for a field
    that is missing so far. A misspelt name ends the wait with an error."""
    heard: list[list[dict[str, str]]] = [[], [{}], [{"outcome": "banker"}]]
    assert comes_true(lambda: heard.pop(0)[-1]["outcome"] == "banker", 60)
    assert heard == []
    with pytest.raises(LookupError, match="no lamp"):
        comes_true(_unknown_lamp, 60)


def _unknown_lamp() -> bool:
    raise LookupError("This table has no lamp.")
