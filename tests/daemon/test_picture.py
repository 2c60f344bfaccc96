"""Checks the picture of a table that `tablectl watch` paints in a terminal, and the lines that it prints if its output
is no terminal."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from controller.contract.face.status import Standing, Status
from controller.people.cli import watch as watching
from controller.people.cli.command import parser_of
from controller.people.cli.commands import every_command
from controller.people.cli.main import main
from controller.people.cli.picture import Picture
from controller.people.cli.status import status_lines
from controller.table.acts.shoe import NewShoe, SeeCutCard
from controller.table.facts import ShoeError, ShoeErrorRaised
from controller.table.lamps import lamps
from controller.table.rules import TableRules
from controller.words.language import language
from tests.support.each import each
from tests.support.five_games import HEALTHY, SUGARHOUSE_MIDI, call, dealt, wagers
from tests.support.tables import LUCKY9, ROYAL9, SUGARHOUSE, TABLE_FILE, TableUnderTest
from tests.support.told import but, healthy
from tests.table.test_faults_and_exits import EACH

LEVELS = {"personal_vs_personal": 1_000_000, "banker_personal": 500_000, "player_personal": 250_000}
WIDTH = 120
LIT, DARK = "●", "○"


def status(table: TableUnderTest, *, shoe_up: bool = True, meters_fresh: bool = True) -> Status:
    """Return the status of this table as sent over the control socket. All connections work, unless the arguments say
    otherwise."""
    return healthy(
        table.face,
        lamps={name: pattern.name.lower() for name, pattern in lamps(table.face, HEALTHY).items()},
        sensors=tuple(sorted(table.wagers)),
        shoe={"up": shoe_up},
        pit={"meters": table.levels, "meters_fresh": meters_fresh},
    )


def painted(table: TableUnderTest, words: str = "en", **links: bool) -> list[str]:
    """Return the lines of the picture of this table, as a terminal shows them, in the language `words`. `links` says
    which connections work. The frame around the lines and empty lines are left out."""
    screen = StringIO()
    picture = Picture("Royal 9, table 1", table.rules, language(words))
    picture.status = status(table, **links)
    Console(file=screen, width=WIDTH).print(picture)
    title, *inside, foot = screen.getvalue().splitlines()
    assert " Royal 9, table 1 " in title
    assert all(len(line) == WIDTH for line in (title, *inside, foot))
    return [line.strip("│ ") for line in inside if line.strip("│ ")]


def headline(table: TableUnderTest) -> str:
    return painted(table)[1]


# A shoe's life in the headline.


def test_a_table_without_a_shoe() -> None:
    assert headline(TableUnderTest()) == "no shoe"


def test_the_burn_is_counted_down_from_the_first_card() -> None:
    table = TableUnderTest().open_shoe("3H KC")
    assert painted(table)[:2] == [
        "The table waits for the burn: the first card was 3H, and 2 more to burn.",
        "the burn, shoe 1, 414 cards left",
    ]
    lit = _lit(painted(table))
    assert {"draw_player", "draw_banker"} <= lit


def test_the_final_round_is_said() -> None:
    assert headline(TableUnderTest().open_shoe().do(SeeCutCard())) == (
        "wagers are open, shoe 1, 414 cards left, this is the shoe's last round"
    )


# A hand.


def _lit(lines: list[str]) -> set[str]:
    """Return the names of the lamps that the picture shows as lit. Call this only for lamps that do not blink."""
    numbers, *_ = (line.split()[1::2] for line in lines if line.startswith("seat 1 "))
    signs = next(line for line in lines if re.fullmatch(f"([{LIT}{DARK}] [a-z-]+ *){{{len(numbers)}}}", line))
    others = next(line for line in lines if "draw player" in line)
    seats = {
        f"seat_{number}"
        for number, lamp in zip(numbers, re.findall(f"[{LIT}{DARK}]", signs), strict=True)
        if lamp == LIT
    }
    return seats | {name.strip().replace(" ", "_") for name in re.findall(f"{LIT} ([a-z ]+)", others)}


def test_a_round_in_play_shows_its_cards_its_totals_and_whose_card_is_next() -> None:
    table = TableUnderTest().open_shoe().lock(1).draw("KS 2D 4H")
    lines = painted(table)
    assert lines[:4] == [
        "The table waits for a card for Banker.",
        "a round is being dealt, shoe 1, round 1, 411 cards left",
        "Player  K♠ 4♥ = 4",
        "Banker  2♦ = 2",
    ]
    assert _lit(lines) == {"seat_1", "draw_banker"}
    assert _lit(painted(table.draw("3C"))) == {"seat_1", "draw_player"}  # Player's 4 draws
    assert _lit(painted(table.draw("5C"))) == {"seat_1", "draw_banker"}  # Banker's 5 draws against a 5


@pytest.mark.parametrize(
    ("dealt", "lines", "lamp"),
    [
        ("9C TD TC 5D", ["Player  9♣ T♣ = 9  Player wins", "Banker  T♦ 5♦ = 5"], "player"),
        ("TC 4D TD 4H", ["Player  T♣ T♦ = 0", "Banker  4♦ 4♥ = 8  Banker wins"], "banker"),
        ("6C 2D TC 4H", ["Player  6♣ T♣ = 6  tie", "Banker  2♦ 4♥ = 6  tie"], "tie"),
    ],
)
def test_a_finished_hand_shows_who_won(dealt: str, lines: list[str], lamp: str) -> None:
    shown = painted(TableUnderTest().open_shoe().lock().draw(dealt))
    assert shown[2:4] == lines
    assert _lit(shown) & {"player", "banker", "tie"} == {lamp}


def test_a_hand_that_nobody_wagered_on_is_told_as_that() -> None:
    assert language().name("say", "simulated") in painted(TableUnderTest().open_shoe().draw("4C"))


# What stops the table, and what a player has won.


def test_a_fault_says_what_to_do() -> None:
    lines = painted(TableUnderTest().open_shoe().lock().draw("KS ??"))
    assert lines[:5] == [
        "The table has stopped and waits for a supervisor. The shoe could not read a card.",
        "a round is being dealt, shoe 1, round 1, 412 cards left",
        "FAULT unreadable_card: The shoe could not read a card.",
        language().fault("unreadable_card").do,
        "Player  K♠ = 0",
    ]
    assert not _lit(lines) & {"draw_player", "draw_banker"}


def test_a_fault_without_a_hand() -> None:
    lines = painted(TableUnderTest().open_shoe().believe(ShoeErrorRaised(ShoeError.CARD_CODE)))
    assert lines[2] == "FAULT shoe_error: The shoe reports an error."
    assert "Cancel the error at the shoe" in lines[3]


def test_a_hit_is_shown_with_its_amount_and_how_far_it_has_come() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock(2).draw("KH 2S 9H 3D")
    lines = painted(table)
    assert lines[2] == "HIT: seat 2 royal9, player personal, meter player personal $2,500.00: hit"
    assert lines[3] == "Player  K♥ 9♥ = 9  Player wins"


# Cards that lie face down.


@pytest.mark.parametrize("reveal", ["input", "hand_end"])
def test_a_card_that_lies_face_down_is_never_shown(reveal: Any) -> None:
    table = TableUnderTest(dealt(SUGARHOUSE_MIDI, reveal)).open_shoe("2D 3H 4C")
    table.do(*wagers("2 player 2000, 5 banker 2500")).lock()
    for card in ("KS", "7H", "QC", "6D"):
        told = "\n".join(painted(table.draw(card)))
        assert not any(sign in told for sign in ("♠", "♥", "♦", "♣", "= ")), "no card and no total"
    assert {"Player  -- --", "Banker  -- --"} <= {*painted(table)}


def test_what_is_to_be_turned_up_and_who_holds_it_is_told() -> None:
    table = TableUnderTest(dealt(SUGARHOUSE_MIDI, "input")).open_shoe("2D 3H 4C")
    table.do(*wagers("2 player 2000, 5 banker 2500")).lock().draw("KS 7H QC 6D")
    due = "The table waits for face-down cards to be turned up: Player (held by seat 2), Banker (held by seat 5)."
    assert painted(table)[0] == due
    table.do(call("reveal"))
    lines = painted(table)
    assert {"Player  K♠ Q♣ = 0", "Banker  7♥ 6♦ = 3"} <= {*lines}
    assert not any("turned up" in line for line in lines)


def test_a_choice_names_the_seat_and_what_it_may_choose() -> None:
    table = TableUnderTest(LUCKY9).open_shoe().do(*wagers("2 hand 1000")).lock().draw("2S TD 3S 4D")
    lines = painted(table)
    assert "seat 2  2♠ 3♠ = 5" in lines
    assert "the dealer  -- 4♦" in lines, "the hole card lies face down"
    assert lines[0] == "The table waits for seat 2 to choose: hit or stand."


# Around the table.


def test_the_foot_tells_links_and_meters() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe()
    levels = "meters: personal vs personal $10,000.00, banker personal $5,000.00, player personal $2,500.00"
    assert painted(table)[-2:] == ["card shoe: connected; pit: 10 of 12 events acknowledged", levels]
    assert painted(table, shoe_up=False, meters_fresh=False)[-2:] == [
        "card shoe: NOT CONNECTED: reports come; pit: 10 of 12 events acknowledged",
        f"{levels} (not fresh)",
    ]
    assert painted(TableUnderTest())[-1].startswith("card shoe: connected")


def test_every_lamp_has_its_place_and_every_seat_what_is_printed_there() -> None:
    table = TableUnderTest(levels=LEVELS).open_shoe().lock(2)
    seats, printed, signs, others = painted(table)[-6:-2]
    assert re.split(" {2,}", seats) == [f"seat {seat}" for seat in range(1, 8)]
    assert re.split(" {2,}", printed) == ["K♠ 9♠", "K♥ 9♥", "K♦ 9♦", "K♣ 9♣", "K♠ 9♥", "K♥ 9♠", "K♦ 9♣"]
    assert re.split(" {2,}", signs) == [f"{DARK} -", f"{LIT} plays", *[f"{DARK} -"] * 5]
    lamps_there = ["player", "tie", "banker", "draw player", "draw banker", "fault"]
    assert re.split(" {2,}", others) == [f"{LIT if lamp == 'draw player' else DARK} {lamp}" for lamp in lamps_there]


@pytest.mark.parametrize("table", [TableUnderTest(LUCKY9), TableUnderTest(SUGARHOUSE)])
def test_a_game_without_printed_cards_or_meters_shows_none(table: TableUnderTest) -> None:
    assert not any(sign in line for line in painted(table) for sign in ("♠", "meters"))


def test_the_picture_is_said_in_vietnamese() -> None:
    lines = painted(TableUnderTest().open_shoe().lock().draw("KS ??"), "vi")
    words = language("vi")
    assert lines[0].endswith(words.fault("unreadable_card").what)
    assert words.name("phase", "round_in_play") in lines[1]


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("rules", [LUCKY9, ROYAL9])
def test_nothing_of_the_picture_is_cut_off(rules: TableRules, width: int) -> None:
    screen = StringIO()
    picture = Picture("t", rules, language())
    picture.status = status(TableUnderTest(rules, levels=LEVELS).open_shoe(), shoe_up=False)
    Console(file=screen, width=width).print(picture)
    lines = screen.getvalue().splitlines()
    assert all(len(line) == width for line in lines)
    assert "…" not in screen.getvalue()
    assert len(lines) <= 24, "as many as an ordinary terminal has"


# The status in sentences.


@pytest.mark.parametrize(
    ("table", "waits_for"),
    [
        (TableUnderTest(), "a new shoe to be announced."),
        (TableUnderTest().do(NewShoe()), "the new shoe's first card, which says how many cards are burned."),
        (TableUnderTest().open_shoe("3H KC"), "the burn: the first card was 3H, and 2 more to burn."),
        (TableUnderTest().open_shoe(), "wagers, and for the dealer to begin the round."),
        (TableUnderTest().open_shoe().lock(1), "a card for Player."),
        (TableUnderTest().open_shoe().lock(1).draw("KS"), "a card for Banker."),
        (TableUnderTest(dealt(SUGARHOUSE_MIDI, "hand_end")).open_shoe("2D 3H 4C").lock().draw("KS 7H QC 6D"), None),
    ],
)
def test_the_first_line_says_what_the_table_waits_for(table: TableUnderTest, waits_for: str | None) -> None:
    first, *_ = status_lines(status(table), TABLE_FILE)
    assert waits_for is None or first == f"The table waits for {waits_for}"
    assert first.startswith(("The table waits for ", "A card was drawn"))


@cache
def _tablectl() -> ArgumentParser:
    return parser_of(every_command())


@each("code, enter", EACH)
def test_a_fault_names_each_exit_as_a_whole_command_and_nothing_by_its_name_in_the_program(
    code: str, enter: Callable[[], TableUnderTest]
) -> None:
    table = enter()
    lines = status_lines(status(table), Path("t.toml"))
    assert lines[0].startswith("The table has stopped and waits for a supervisor. ")
    fault = table.face.fault
    assert fault is not None
    commands = [line.split("   # ")[0].split() for line in lines if line.startswith("    tablectl ")]
    assert {command[1].replace("-", "_") for command in commands} == set(fault.exits)
    for command in commands:
        _tablectl().parse_args(command[1:])
    sentences = [
        line for line in lines if not line.startswith(("    tablectl", "FAULT", "lamps", "  seat_", "  draw_"))
    ]
    assert not re.search(r"None|\b[a-z]+_[a-z_]+\b|[{}\[\]]", "\n".join(sentences).replace("[journal] most_bytes", ""))


def test_that_bad_bytes_wait_is_said_only_beside_their_count() -> None:
    noise, waits = (language().sections["say"][name].partition("{")[0] for name in ("shoe_noise", "noise_waits"))
    for bad, hidden in [({}, False), ({}, True), ({"noise": 3}, False), ({"noise": 3}, True)]:
        told = but(status(TableUnderTest()), shoe={"bad_bytes": bad, "bad_bytes_wait": hidden})
        said = "\n".join(status_lines(told, TABLE_FILE))
        assert (noise in said, waits in said) == (bool(bad), bool(bad) and hidden)


def test_a_seat_that_is_refused_is_told_why_and_so_is_each_lamp() -> None:
    table = TableUnderTest(pit_fresh=False).open_shoe().lock(3)
    lines = status_lines(status(table), TABLE_FILE)
    assert f"royal9 wagers that do not play: seats 3: {language().refusal('pit_stale')}" in lines
    assert f"  seat_3: flashes twice: {language().sections['lamp']['seat']['double_flash']}" in lines
    assert "  draw_player: lit: the next card goes there" in lines


@pytest.mark.parametrize("name", ["en", "vi"])
def test_whose_wagers_count_is_told_and_what_was_not_believed(name: str) -> None:
    told, words = status(TableUnderTest()), language(name)
    quiet = status_lines(told, TABLE_FILE, words)
    told = but(told, recognition={"expected": True, "not_believed": {"unsigned": 3, "other_key": 1}})
    due, command, *doubts = [line for line in status_lines(told, TABLE_FILE, words) if line not in quiet]
    assert due == words.sections["say"]["no_recognition"]
    assert command == f"    tablectl recognition-key {TABLE_FILE} --trust KEY --by NAME"
    assert [words.name("value", "unsigned") in doubts[0], "3" in doubts[0], len(doubts)] == [True, True, 2]
    told = but(told, recognition={"expected": False, "key": "ab12 cd34", "not_believed": {}})
    (key,) = [line for line in status_lines(told, TABLE_FILE, words) if line not in quiet]
    assert "ab12 cd34" in key


@each("code, enter", EACH)
def test_the_status_of_a_stopped_table_is_said_in_vietnamese(code: str, enter: Callable[[], TableUnderTest]) -> None:
    first, _, *lines = status_lines(status(enter()), TABLE_FILE, language("vi"))
    assert first == f"Bàn đã dừng và chờ giám sát. {language('vi').fault(code).what}"
    assert any(line.startswith("  phải làm: ") for line in lines)


# The command.


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Status]:
    """The list of statuses that a simulated running table sends, one after another, to each program that watches it."""
    statuses: list[Status] = []

    def tell(table: Path) -> Iterator[Status]:
        assert table == TABLE_FILE
        return iter(statuses)

    monkeypatch.setattr(watching, "watch", tell)
    return statuses


def test_on_a_terminal_the_picture_is_painted(
    told: list[Status], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table = TableUnderTest().open_shoe().lock()
    told += [status(table), status(table.draw("KS 2D"))]
    assert main(["watch", str(TABLE_FILE)]) == 0
    seen = capsys.readouterr().out
    assert "Ctrl-C ends this view, not the table" in seen
    assert seen.index("wagers are locked") < seen.index("a round is being dealt")
    assert "K♠" in seen


def test_elsewhere_a_line_is_printed_for_each_change_with_its_time(
    told: list[Status], capsys: pytest.CaptureFixture[str]
) -> None:
    table = TableUnderTest(SUGARHOUSE).open_shoe().do(*wagers("2 banker 2000")).lock()
    locked = status(table)
    over = status(table.draw("2S 9D KS TD"))
    silent = [but(over, pit={"standing": Standing("silent", {"for_s": s})}) for s in (10, 11)]
    told += [locked, but(locked, up_s=61), over, but(over, up_s=62), *silent]
    assert main(["watch", str(TABLE_FILE)]) == 0
    times, lines = zip(*(line.split("  ", 1) for line in capsys.readouterr().out.splitlines()), strict=True)
    assert all(re.fullmatch("[0-9]{2}:[0-9]{2}:[0-9]{2}", time) for time in times)
    shoe, pit = "card shoe: connected, reports come", "pit: The pit has every event that it can have by now."
    assert list(lines) == [
        "The table waits for a card for Player.",
        "sugarhouse-01, SugarHouse Mini/Midi Baccarat: wagers are locked, shoe 1, round 1, 414 cards left",
        "wagers on the layout: 1, together $20.00",
        *(shoe, pit),
        "The table waits for wagers, and for the dealer to begin the round.",
        "sugarhouse-01, SugarHouse Mini/Midi Baccarat: wagers are open, shoe 1, round 1, 410 cards left",
        "the last round: Player 2S KS (2); Banker 9D TD (9); Banker wins",
        "commission owed: seat 2 $1.00",
        f"pit: {language().pit('silent').what.format(for_s=10)}",
    ]
