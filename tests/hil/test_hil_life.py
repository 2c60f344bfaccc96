"""The daemon as a process: started, killed, stopped, supervised, and alone with its journal."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually

pytestmark = pytest.mark.usefixtures("as_shipped")


def test_the_lamps_go_through_the_real_rpi_gpio(table: Table, shim: Path | None) -> None:
    if shim is None:
        pytest.skip("no shim here: there is no C compiler or no RPi.GPIO, or the header is a real one")
    loaded = Path(f"/proc/{table.process.pid}/maps").read_text("utf-8")
    assert str(shim) in loaded
    assert "_GPIO" in loaded


def test_a_table_killed_inside_a_hand_stands_where_it_stood(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1, 7)
    dealer.deal("KS 2D")
    eventually(lambda: pins.seat(7) == "accepted" and pins.lamp("fault") == "dark")
    face, lamps, boot = table.face, table.status()["lamps"], table.status()["journal"]["boot"]
    table.restart()
    eventually(table.links_up)
    assert table.face == face
    eventually(lambda: table.status()["lamps"] == lamps)
    assert table.status()["journal"]["boot"] == boot + 1
    eventually(lambda: pins.seat(1) == pins.seat(7) == "accepted")
    shoe.deal("9S 3C")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1, 7])
    face = table.face
    table.restart()
    assert table.face == face
    eventually(lambda: pins.seat(1) == pins.seat(7) == "hit")
    eventually(lambda: (pit.state["online"], pit.state["boot"]) == (True, boot + 2))


def test_what_is_not_committed_is_shown_to_nobody(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    dealer.deal("KS 2D 9S")
    eventually(lambda: len(pit.events) == 2)
    with table.busy_disk():
        shoe.deal("3C")
        table.hear_out()
        assert table.hands == {"player": ["KS", "9S"], "banker": ["2D"]}
        assert "player" not in pins.lit()
        table.kill()
    table.start()
    eventually(table.links_up)
    assert table.phase == "hand_in_play"
    assert pit.types[:2] == ["shoe_opened", "wagers_locked"]
    assert "round" not in pit.types


def test_a_second_table_on_the_same_journal_says_so_and_leaves_the_first_alone(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    second = table.tablectl("run")
    assert second.returncode == 1
    assert any(line.startswith("journal_in_use") for line in second.stderr.splitlines())
    assert table.phase == "wagers_locked"
    eventually(lambda: pins.seat(1) == "accepted")
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: len(pit.rounds) == 1)


def test_a_table_that_is_stopped_darkens_its_lamps_and_says_goodbye(
    table: Table, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    eventually(lambda: {"seat_1", "draw_player"} <= pins.lit())
    assert table.stop() == 0
    assert pins.lit() == set()
    eventually(lambda: pit.state["online"] is False)
    table.start()
    assert table.phase == "wagers_locked"


def test_after_a_kill_tablectl_dark_darkens_the_lamps(
    table: Table, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    eventually(lambda: {"seat_1", "draw_player"} <= pins.lit())
    table.kill()
    assert {"seat_1", "draw_player"} <= pins.lit()  # nobody was left to darken them
    eventually(lambda: pit.state["online"] is False)  # the will
    dark = table.tablectl("dark")
    assert dark.returncode == 0, dark.stderr
    assert pins.lit() == set()


def test_the_port_comes_late(
    unstarted_table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    table = unstarted_table
    shoe.unplug()
    table.start()
    eventually(lambda: pins.lamp("fault") == "slow_blink")
    assert "no such device" in table.status()["shoe"]["why"]
    shoe.plug()
    eventually(table.links_up)
    dealer.open_shoe()
    dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 1)


def test_a_button_held_down_while_the_table_starts_is_no_press(
    table: Table, shoe: FarShoe, pins: Pins, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    table.kill()
    pins.hold("deal")
    table.start()
    table.count()
    shoe.report_lock(False)  # something for the table to take in after the pins were sampled many times
    eventually(lambda: table.facts()[-1]["fact"] == "ShoeLockReported")
    assert table.phase == "wagers_open"
    pins.let_go("deal")
    dealer.lock()


@contextlib.contextmanager
def _systemd(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(path))
        channel.settimeout(10)
        yield channel


def test_systemd_is_told_ready_alive_and_stopping(unstarted_table: Table, shoe: FarShoe, tmp_path: Path) -> None:
    with _systemd(tmp_path / "notify") as systemd:
        unstarted_table.start(await_ready=False, NOTIFY_SOCKET=str(tmp_path / "notify"))
        told = {systemd.recv(100) for _ in range(2)}  # the first ping may come before the socket is served
        assert told == {b"READY=1", b"WATCHDOG=1"}
        assert unstarted_table.status()["face"]["phase"] == "no_shoe"
        assert systemd.recv(100) == b"WATCHDOG=1"
        assert unstarted_table.stop() == 0
        last = b"WATCHDOG=1"
        while last == b"WATCHDOG=1":
            last = systemd.recv(100)
        assert last == b"STOPPING=1"


def test_a_wrong_configuration_ends_the_table_for_good(unstarted_table: Table) -> None:
    table = unstarted_table
    table.file.write_text(table.file.read_text("utf-8").replace("stale_after_s", "stale_atfer_s"), "utf-8")
    run = table.tablectl("run")
    assert run.returncode == 78
    assert "stale_after_s" in run.stderr
