"""Tests of the simulated BeeTek shoe: its bytes are compared with lines written by hand, and a dealer deals a whole
shoe with the daemon."""

from __future__ import annotations

import io
import json
import os
import select
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tomli_w

from controller.people.cli.client import status_of
from controller.people.cli.programs import EXAMPLE_TABLE, free_port, simulated_table, started
from drivers.sim.account import Account
from drivers.sim.dealer import Dealer
from drivers.sim.deck import Deck
from drivers.sim.people import Players, TableCues
from drivers.sim.run import run_shoe_alone
from drivers.sim.shoe.beetek import SimulatedBeeTek
from tests.support.waiting import PATIENCE_S, eventually_now

ROOT = Path(__file__).parents[2]


class RecordedLine:
    """A stand-in for a shoe's serial line, which keeps all bytes that are written."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def listen(self, heard: object) -> None:
        pass


@pytest.fixture
def line() -> RecordedLine:
    return RecordedLine()


# The bytes.


@pytest.mark.parametrize(
    ("card", "whole"),
    [
        ("AC", b"*0D21D7\r\n"),  # 48 + 68 + 50 + 49 = 215
        ("AH", b"*0D01D5\r\n"),
        ("9D", b"*0D19DE\r\n"),
        ("TS", b"*0D3AE8\r\n"),
        ("JH", b"*0D0BE6\r\n"),
        ("QD", b"*0D1CE8\r\n"),
        ("KS", b"*0D3DEB\r\n"),
    ],
)
def test_golden_lines(line: RecordedLine, card: str, whole: bytes) -> None:
    SimulatedBeeTek(line).draw(card)
    assert line.written == whole


def test_each_card_is_told_once_and_nothing_else_is(line: RecordedLine) -> None:
    shoe = SimulatedBeeTek(line)
    shoe.power_up()
    shoe.new_shoe()
    shoe.draw("AC")
    shoe.cut_card()
    shoe.draw("AC")
    assert line.written == b"*0D21D7\r\n" * 2


def test_another_line_has_its_check(line: RecordedLine) -> None:
    SimulatedBeeTek(line).say("OK")  # 79 + 75 = 154 = 9A
    assert line.written == b"*OK9A\r\n"


def test_what_reaches_the_host_may_be_corrupted_or_lost(line: RecordedLine) -> None:
    shoe = SimulatedBeeTek(line)
    shoe.corrupt = lambda whole: whole.replace(b"D7", b"D8")
    shoe.draw("AC")
    shoe.corrupt = lambda whole: b""
    shoe.draw("AC")
    assert line.written == b"*0D21D8\r\n"


def test_a_line_takes_its_time_on_the_wire(line: RecordedLine) -> None:
    slept: list[float] = []
    SimulatedBeeTek(line, speed=1.0, sleep=slept.append).draw("AC")
    assert slept == [pytest.approx(90 / 9600)]  # nine bytes of ten bits
    SimulatedBeeTek(line, sleep=slept.append).draw("AC")
    assert len(slept) == 1


# The dealer who must tell of the cut card.


class FoursTable:
    """A stand-in for the controller, in virtual time, at a table whose shoe has only fours. Five cards are drawn for
    the burn, and each round takes four.

    `happened` lists, in order, the lines that the shoe sent and the presses of buttons that lasted long enough to
    count.
    """

    DEBOUNCE_S = 0.06

    def __init__(self) -> None:
        self.now_s = 0.0
        self.happened: list[str] = []
        self._pressed: dict[str, float] = {}
        self._lit: set[str] = set()
        self._lit_after_each_card: list[set[str]] = []

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        for name, since_s in list(self._pressed.items()):
            if self.now_s - since_s >= 0.99 * self.DEBOUNCE_S:
                del self._pressed[name]
                self._button(name)

    def press(self, name: str) -> None:
        self._pressed[name] = self.now_s

    def release(self, name: str) -> None:
        self._pressed.pop(name, None)

    def lamps(self) -> dict[str, bool]:
        return {name: name in self._lit for name in ("draw_player", "draw_banker", "player", "banker", "tie", "fault")}

    def write(self, data: bytes) -> None:
        assert data == b"*0D34DB\r\n"
        self.happened.append("card")
        self._lit = self._lit_after_each_card.pop(0)

    def listen(self, heard: object) -> None:
        pass

    def _button(self, name: str) -> None:
        self.happened.append(name)
        if name == "new_shoe":
            self._lit = {"draw_player", "draw_banker"}
            self._lit_after_each_card = [self._lit] * 4 + [set()]
        elif name == "deal":
            self._lit = {"draw_player"}
            self._lit_after_each_card = [{"draw_banker"}, {"draw_player"}, {"draw_banker"}, {"tie"}]


def test_the_dealer_tells_of_the_cut_card_before_the_next_card() -> None:
    table = FoursTable()
    shoe = SimulatedBeeTek(table)
    cues = TableCues(table, Players(1, []), debounce_s=table.DEBOUNCE_S, speed=0.0, clock=table)
    out = io.StringIO()
    deck = Deck(["4S"] * 40, cut_card_from_end=40 - (5 + 4 + 2))  # inside the second round, before its third card
    Dealer(shoe, [deck], cues, Account(out)).play()
    round_ = ["deal", "card", "card", "card", "card"]
    assert table.happened == [
        "new_shoe",
        *["card"] * 5,
        *round_,
        *["deal", "card", "card", "cut_card", "card", "card"],
        *round_,
    ]
    rounds = [json.loads(told) for told in out.getvalue().splitlines()][1:-1]
    assert [told["final_round"] for told in rounds] == [False, False, True]


def test_a_shoe_alone(line: RecordedLine) -> None:
    run_shoe_alone(line, seed=7, pace_s=0.0, rounds=5, out=io.StringIO(), driver="beetek")
    lines = line.written.split(b"\r\n")
    assert lines.pop() == b""
    assert len(lines) > 20
    assert all(len(each) == 7 and each.startswith(b"*0D") for each in lines)


def test_tablectl_deals_a_beetek_on_a_pty(tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    command = [
        sys.executable,
        "-m",
        "controller.people.cli.main",
        "sim",
        "shoe",
        "--driver",
        "beetek",
        "--pty",
        str(link),
    ]
    with started([*command, "--pace", "0.01"], tmp_path / "log"):
        eventually_now(link.exists)
        far = os.open(link, os.O_RDONLY | os.O_NOCTTY)
        try:
            assert select.select([far], [], [], 20)[0], "the shoe says nothing"
            assert os.read(far, 3) == b"*0D"
        finally:
            os.close(far)


def test_a_table_whose_dealer_cannot_tell_is_not_simulated(tmp_path: Path) -> None:
    table = simulated_table(tmp_path, 1883, shoe={"driver": "beetek"})
    values = tomllib.loads(table.read_text("utf-8"))
    del values["pins"]["inputs"]["cut_card"]
    table.write_text(tomli_w.dumps(values), "utf-8")
    command = [sys.executable, "-m", "drivers.sim", str(table), "--account", str(tmp_path / "account")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("sim_not_simulated: ")
    assert "cut_card" in run.stderr


# The whole table.


@contextmanager
def running(table: Path, folder: Path) -> Iterator[None]:
    """Start the table's daemon with this table file, and wait until it is ready. End the daemon when the `with` block
    ends."""
    with started([sys.executable, "-m", "controller.people.cli.main", "run", str(table)], folder / "log"):
        eventually_now((folder / "table.sock").is_socket)
        yield


def one_deck_table(folder: Path) -> Path:
    """Write the table file of a simulated table with a BeeTek shoe of one deck, and return its path."""
    game = tomllib.loads((EXAMPLE_TABLE.parent / "../games/royal9.toml").read_text("utf-8"))
    game["shoe"]["decks"] = 1
    (folder / "game.toml").write_text(tomli_w.dumps(game), "utf-8")
    return simulated_table(folder, free_port(), shoe={"driver": "beetek"}, table={"game": "game.toml"})


def test_a_whole_shoe_on_the_daemon(tmp_path: Path) -> None:
    """After a whole shoe, the daemon's journal agrees with the simulation's own record. Only the dealer reports the cut
    card, because a BeeTek shoe does not."""
    table = one_deck_table(tmp_path)
    account_file = tmp_path / "account"
    people = [sys.executable, "-m", "drivers.sim", str(table), "--account", str(account_file), "--error-rate", "0.2"]
    with running(table, tmp_path):
        run = subprocess.run(
            [*people, "--seed", "3", "--speed", "0", "--rounds", "9"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert run.returncode == 0, run.stderr + (tmp_path / "log").read_text()
        bad_bytes = status_of(table).shoe.bad_bytes
    account = [json.loads(told) for told in account_file.read_text().splitlines()]
    with sqlite3.connect(tmp_path / "table.journal") as db:
        told = [json.loads(body) for (body,) in db.execute("SELECT body FROM message ORDER BY seq")]
    rounds = [entry for entry in account if entry["type"] == "round"]
    for event, entry in zip([event for event in told if event["type"] == "round"], rounds, strict=True):
        del entry["progressive"], entry["awards"]  # there is no pit here, so no such wager is taken
        assert {key: event[key] for key in entry} == entry
    closed = [entry for entry in account if entry["type"] == "shoe_closed"]
    assert closed, "no shoe was played to its end"
    ends = [event for event in told if event["type"] == "shoe_closed"]
    assert [{key: end[key] for key in entry} for end, entry in zip(ends, closed, strict=True)] == closed
    assert {end["reason"] for end in ends} == {"final_round"}
    assert bad_bytes == {}
