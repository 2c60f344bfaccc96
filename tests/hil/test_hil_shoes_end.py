"""Checks a table whose shoe cable is unplugged at the shoe's end. The adapter stays in, so the serial port stays open,
but nothing arrives from the shoe.

The table asks an Angel Eye whether it is there. A BeeTek takes no commands, so the table sees its plug by a GPIO input,
or by a modem line of the adapter, which `modem_lines.c` simulates.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.bench.daemon import Table
from tests.hil.bench import Bench
from tests.support.errors import raising

_TWO_ROUNDS = "KS 2D 9S 3C KD 4C 9H 5D"  # the first is a jackpot for seats 1, 4 and 7; with their results ten reports
_THIRD = "KS 3D 9S 4C"  # another jackpot
_BURNED, _DECKS = 3, 8
_BY_HAND_S = 0.3  # a person draws no card faster

ASKED = pytest.param(marks=pytest.mark.table(), id="angel_eye, asked")
_INPUT = pytest.mark.table(shoe={"driver": "beetek", "present": "input"})
SEEN_BY_INPUT = pytest.param(marks=_INPUT, id="beetek, its supply on an input")
ASKED_AT_LENGTH = pytest.param(marks=[pytest.mark.table(), pytest.mark.proof], id="angel_eye, asked")
INPUT_AT_LENGTH = pytest.param(marks=[_INPUT, pytest.mark.proof], id="beetek, its supply on an input")
"""Each way to see the plug shows once that it is seen: what follows is the table's, and the same for both."""


def left_after(cards: int) -> int:
    return 52 * _DECKS - _BURNED - cards


def pull_and_deal(at: Bench, cards: str) -> None:
    """Pull the plug at the shoe, draw these cards as fast as a dealer can, and put the plug back."""
    at.shoe.unplug_at_shoe()
    for card in cards.split():
        time.sleep(_BY_HAND_S)  # what hands need, and no wait for the table
        at.shoe.deal(card)
    at.shoe.plug_at_shoe()


@pytest.mark.parametrize((), [ASKED_AT_LENGTH, SEEN_BY_INPUT])
def test_two_rounds_unheard_after_a_lock_put_no_third_round_on_it(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1, 2, 3)
    pull_and_deal(at, _TWO_ROUNDS)
    at.shoe.deal(_THIRD)
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
    assert at.pit.hits == []
    assert at.pit.rounds[0]["cards_left"] == left_after(16)


@pytest.mark.parametrize((), [ASKED, INPUT_AT_LENGTH])
def test_the_line_is_down_while_the_port_is_open_and_people_are_told_why(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.shoe.unplug_at_shoe()
    at.eventually(lambda: not at.table.status().shoe.up)
    why = at.table.status().shoe.why
    assert "is open, but" in why
    assert "plug" in why
    at.eventually(lambda: at.pins.lamp("fault") == "slow_blink")
    at.shoe.deal("KC 2D 9D 3C")
    at.shoe.plug_at_shoe()
    at.eventually(lambda: at.table.fault == "shoe_unheard")
    at.table.supervisor("count", left=left_after(8))
    assert at.table.face.cards_left == left_after(8)
    at.dealer.play("9C TD TC 5D", 1)


@pytest.mark.parametrize((), [ASKED, INPUT_AT_LENGTH])
def test_inside_a_round_the_table_stops_at_once(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.shoe.deal("KS 2D")
    at.eventually(lambda: len(at.table.face.hands) == 2)
    at.shoe.unplug_at_shoe()
    at.eventually(lambda: at.table.fault == "shoe_unplugged")
    at.shoe.plug_at_shoe()
    at.eventually(lambda: at.table.status().shoe.up)
    at.table.clear_and_count()
    at.shoe.deal("9S 3C")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])


@pytest.mark.proof
def test_a_shoe_that_answers_nothing_is_gone_though_its_cable_is_good(at: Bench) -> None:
    at.dealer.open_shoe()
    at.shoe.mute = True
    at.eventually(lambda: "does not answer" in at.table.status().shoe.why)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("shoe_unheard", marks=pytest.mark.table(), id="asked"),
        pytest.param("shoe_restarted", marks=pytest.mark.table(shoe={"ask": "off"}), id="not asked"),
    ],
)
def test_a_shoe_switched_off_between_rounds_is_counted_and_the_cards_left_are_right(at: Bench, code: str) -> None:
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.shoe.power_off()
    if code == "shoe_unheard":
        at.eventually(lambda: "does not answer" in at.table.status().shoe.why)
    else:
        assert at.shoe.answered == 0, "a house that turned it off sends nothing"
    at.shoe.deal("KS 2D 9S 3C 4C 7H")  # six cards that nobody read
    at.shoe.power_up()
    at.eventually(lambda: at.table.fault == code)
    at.table.supervisor("count", left=left_after(10))
    assert (at.table.fault, at.table.face.cards_left) == (None, left_after(10)), "one count is enough"
    at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: [each["cards_left"] for each in at.pit.rounds] == [left_after(4), left_after(14)])


@pytest.mark.parametrize("how", ["busy", pytest.param("late", marks=pytest.mark.proof)])
def test_a_busy_or_slow_shoe_is_there(at: Bench, how: str) -> None:
    at.shoe.busy = how == "busy"
    at.shoe.answers_after_s = 0.4 if how == "late" else 0.0
    answered = at.shoe.answered
    at.dealer.open_shoe()
    at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: at.shoe.answered >= answered + 6)
    assert (at.table.fault, at.table.status().shoe.up) == (None, True)


# A modem line.


@pytest.fixture(scope="session")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the library that simulates the modem lines of the shoe's serial adapter, and return its path."""
    library = tmp_path_factory.mktemp("adapter") / "modem_lines.so"
    source = Path(__file__).with_name("modem_lines.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.table(shoe={"driver": "beetek", "present": "cts"})
def test_a_loop_in_the_plug_shows_a_beetek_on_the_adapters_modem_line(
    adapter: Path, unstarted_table: Table, dealer: Any, shoe: Any, pins: Any, pit: Any, eventually: Any, tmp_path: Path
) -> None:
    level = tmp_path / "plug"

    def move(is_in: bool) -> None:
        level.write_text("1" if is_in else "0")

    shoe.line.on_plug = move
    move(True)
    preload = ":".join(filter(None, (str(adapter), unstarted_table.files.environment.get("LD_PRELOAD"))))
    unstarted_table.start(LD_PRELOAD=preload, MODEM_LINES=str(level))
    eventually(unstarted_table.links_up)
    at = Bench(unstarted_table, shoe, pins, pit, dealer, eventually)
    at.dealer.open_shoe()
    at.dealer.lock(1, 2, 3)
    pull_and_deal(at, "KS 2D 9S 3C")
    at.shoe.deal(_THIRD)
    at.eventually(lambda: at.table.fault == "shoe_unheard" and at.table.stop_told.held_cards == 4)
    at.shoe.unplug_at_shoe()
    at.eventually(lambda: "its line CTS shows no shoe" in at.table.status().shoe.why)


@pytest.mark.table(shoe={"driver": "beetek", "present": "cts"})
def test_a_port_that_cannot_tell_its_modem_lines_is_an_error_with_the_ways_out(
    unstarted_table: Table, shoe: Any, eventually: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    """The table does not start if its serial port has no modem lines (a pty has none), and says what to do instead.
    Otherwise the table would run as if it could see whether the shoe is plugged in."""
    unstarted_table.start(await_ready=False)
    eventually(lambda: not unstarted_table.runs)
    said = (tmp_path / "daemon.log").read_text("utf-8")
    assert "shoe_present" in said
    assert 'present = "input"' in said
    assert "Traceback" not in said
