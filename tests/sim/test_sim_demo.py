"""Tests of the command `tablectl demo`: its captions on terminals of two widths and in a pipe, and which game and shoe
it chooses."""

from __future__ import annotations

import importlib.util
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections import Counter
from fcntl import ioctl
from pathlib import Path

import pytest

from controller.people.cli import programs
from controller.people.cli.main import main
from drivers.sim import rules
from drivers.sim.deck import CUT
from drivers.sim.house import read_house
from drivers.sim.run import game_of
from drivers.sim.story import planned
from tests.support.forks import take_terminal

ROOT = Path(__file__).parents[2]
DEMO = [sys.executable, "-m", "controller.people.cli.main", "demo"]
PATIENCE_S = 60.0
SCENES = [f"{scene}/6 " for scene in range(1, 7)]
TABLES = sorted(path.stem for path in (ROOT / "config" / "tables").glob("*.toml"))
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def demo(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *options], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def made(*said: str) -> subprocess.CompletedProcess[str]:
    """Run `make --dry-run` with these arguments. The MAKE variables of a `make` that runs the tests are removed from
    the environment."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", "--dry-run", *said], cwd=ROOT, env=ours, capture_output=True, text=True, check=False)


def on_a_terminal(width: int, *options: str, until: str = "") -> tuple[int, str]:
    """Run the demo on a terminal of this width, and press Ctrl-C as soon as the text `until` was shown. Returns the
    exit code and everything that was shown."""
    near, far = pty.openpty()
    ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    run = subprocess.Popen(
        [*DEMO, *options],
        cwd=ROOT,
        stdin=far,
        stdout=far,
        stderr=far,
        start_new_session=True,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "", "LINES": ""},
        preexec_fn=take_terminal,
    )
    os.close(far)
    seen, gives_up_s = b"", time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < gives_up_s:
            if select.select([near], [], [], 0.5)[0]:
                try:
                    seen += os.read(near, 65536)
                except OSError:  # nobody has the other end any more
                    break
            if until and until.encode() in seen:
                os.write(near, b"\x03")
                until = ""
        return run.wait(PATIENCE_S), _ESCAPES.sub("", seen.decode())
    finally:
        run.kill()
        os.close(near)


def in_order(told: str, *words: str) -> bool:
    place = 0
    for word in words:
        place = told.find(word, place)
        if place < 0:
            return False
    return True


@pytest.mark.long
def test_the_story_is_told_on_eighty_columns_and_then_the_people_deal_on() -> None:
    exit_code, told = on_a_terminal(80, "--rounds", "5", "--speed", "0", "--seed", "7")
    assert exit_code == 0, told
    assert in_order(told, "The table's screen: http://", "What the lamps say:", *SCENES, "The story is over", "shoe 2")
    assert in_order(told, "3/6 ", "wins royal9", "paid, by Ben", "reset-hit", "4/6 ")
    assert in_order(told, "4/6 ", "tablectl card ", "by Smith", "The round goes on")
    assert in_order(
        told, "6/6 ", "Events that wait: ", "has acknowledged every event", "the pit acknowledged all of them"
    )
    assert re.search("Events that wait: [1-9]", told), told
    assert all(word in told for word in ("K♠ 9♠", "K♦ 9♣", "meters: banker personal"))
    assert "fortune" not in told, "a meter of another game"
    assert_whole(told, 80)


@pytest.mark.proof
def test_another_game_shows_its_own_things_on_160_columns() -> None:
    exit_code, told = on_a_terminal(160, "--game", "lucky9", "--rounds", "4", "--speed", "0", "--seed", "7")
    assert exit_code == 0, told
    assert in_order(told, *SCENES[:3], "may choose", "Cards lie face down", *SCENES[3:], "The story is over", "shoe 2")
    assert not re.search("royal9|progressive|meter|K♠ 9♠|both hands", told)
    assert_whole(told, 160)


def assert_whole(told: str, width: int) -> None:
    """Check that every line of the shown text fits the terminal's width, and that no line was shortened with "…"."""
    assert "…" not in told
    assert max(len(line) for line in re.split(r"[\r\n]+", told)) <= width


def test_ctrl_c_ends_it_at_once_with_nothing_twice_and_no_fault() -> None:
    exit_code, told = on_a_terminal(80, "--game", "kansas_star", "--seed", "7", until="1/6 ")
    assert exit_code == 0, told
    assert "^C" not in told
    assert "FAULT" not in told
    last_picture = told.rpartition("╭")[2]
    assert "NOT CONNECTED" not in last_picture
    assert in_order(last_picture, "╰", "the pit acknowledged all of them.", "SEED=7 repeats this shoe.")


def test_in_a_pipe_captions_and_events_are_plain_lines() -> None:
    run = demo("--game", "baccarat_royal_corrected", "--rounds", "2", "--speed", "0", "--seed", "7")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "\x1b" not in run.stdout
    *_, summary, last = run.stdout.splitlines()
    assert in_order(run.stdout, "* 1/6 ", "By lot, seat ", "shoe 1 round 1  round ", "* 4/6 ", "shoe 1 round 2  round ")
    assert re.search("shoe 1 round 2  round .*player .*; house ", run.stdout)
    assert summary.startswith("2 rounds, 0 hits, ")
    assert last == "the pit acknowledged all of them. SEED=7 repeats this shoe."


@pytest.mark.proof
@pytest.mark.parametrize("game", TABLES)
def test_the_story_of_every_game(game: str) -> None:
    run = demo("--game", game, "--rounds", "5", "--speed", "0", "--seed", "11")
    assert run.returncode == 0, run.stdout + run.stderr
    assert in_order(run.stdout, *SCENES, "The story is over", "shoe 2 round 1  round")


@pytest.mark.parametrize("game", TABLES)
def test_the_story_s_shoe_is_whole_and_its_first_round_shows_the_game(game: str, tmp_path: Path) -> None:
    table = {"bet_recognition": True}
    house = read_house(programs.simulated_table(tmp_path, 1, programs.example_table(game), table=table))
    plan = planned(house, game_of(house), 7)
    assert plan == planned(house, game_of(house), 7), "a seed repeats it"
    deck = plan.deck(7)
    cards = [deck.draw() for _ in range(52 * house.shoe.decks + 1)]
    assert Counter(cards) == Counter({CUT: 1} | {r + s: house.shoe.decks for r in rules.RANKS for s in rules.SUITS})
    stacked = [card for card in cards if card != CUT]
    assert stacked[: len(plan.burned)] == [*plan.burned]
    assert len(plan.burned) == 1 + rules.burn_count(plan.burned[0])
    last_two = sum(map(len, plan.rounds[-2:]))
    before_cut = len(plan.burned) + sum(map(len, plan.rounds)) - last_two
    assert cards.index(CUT) == (
        before_cut + 2 if house.shoe.hands_after_cut_card else before_cut + len(plan.rounds[-2])
    )
    first = plan.rounds[0]
    if house.printed:
        pairs = [sorted(house.printed[seat].split()) for seat in plan.covered]
        assert any(sorted(first[side::2][:2]) in pairs for side in (0, 1)), "a seat's own King and 9"


@pytest.mark.parametrize("game", ["baccarat_royal_corrected", "lucky9", "even_draw"])
def test_an_angel_eye_deals_what_it_draws_by_itself_only(game: str) -> None:
    run = demo("--game", game, "--shoe", "angel_eye")
    assert run.returncode == 1
    assert run.stderr.startswith(f"game_unfit: GAME={game} cannot be played with SHOE=angel_eye: shoe.driver ")
    assert "Leave SHOE out" in run.stderr


def test_the_demo_names_every_game_there_is_an_example_of() -> None:
    run = demo("--game", "poker")
    assert run.returncode == 1
    names = run.stderr.partition("GAME is one of: ")[2].strip().rstrip(".").split(", ")
    assert names == sorted({path.stem for path in (ROOT / "config").glob("[gt]*s/*.toml")})
    assert {"even_draw", "ez_baccarat", "punto_2000", "pairs", "baccarat_royal_corrected", "sugarhouse_midi"} <= {
        *names
    }


def test_a_game_that_is_nearly_named_is_suggested() -> None:
    run = demo("--game", "lucky-9")
    assert "Did you mean lucky9?" in run.stderr


@pytest.mark.parametrize(("command", "who"), [(["demo"], "The demo"), (["practice", "nowhere"], "The practice table")])
def test_what_lacks_a_library_says_which(
    command: list[str], who: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name))
    assert main(command) == 1
    told = f"demo_missing: {who} needs libraries that are not installed: uvicorn."
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("game=lucky9", "demo knows no variable game. Write GAME=lucky9."),
        ("ROUND=3", "demo knows no variable ROUND. Its variables: GAME ROUNDS SPEED SEED SHOE."),
    ],
)
def test_make_refuses_a_variable_that_the_demo_does_not_have(said: str, told: str) -> None:
    run = made("demo", said)
    assert run.returncode == 2
    assert told in run.stderr


def test_make_takes_the_variables_that_the_demo_has() -> None:
    run = made("demo", "GAME=lucky9", "SPEED=2", "ROUNDS=1", "SEED=7")
    assert "demo --game lucky9 --rounds 1 --speed 2 --seed 7" in run.stdout
