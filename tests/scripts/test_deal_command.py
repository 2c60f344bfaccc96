"""Checks `tablectl deal` as a person runs it: what it prints on which output (standard output or error), and its exit
code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.contract import check_event
from tests.support.tables import TABLE_FILE, TABLES

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def _deal(script: str, *more: str, given: bytes = b"", table: Path = TABLE_FILE) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "controller.people.cli.main", "deal", str(table), script, *more]
    return subprocess.run(command, cwd=ROOT, input=given, capture_output=True, check=False)


def _types(run: subprocess.CompletedProcess[bytes]) -> list[str]:
    return [check_event(body, signed=False)["type"] for body in run.stdout.splitlines()]


def test_a_clean_script_exits_0_and_two_runs_print_the_same_bytes() -> None:
    run, again = (_deal(str(HERE / "royal9_two_personals.script")) for _ in range(2))
    assert (run.returncode, run.stderr) == (0, b"")
    assert _types(run) == ["shoe_opened", "wagers_locked", "round", "hit", "hit", "hit"]
    assert [json.loads(body)["seq"] for body in run.stdout.splitlines()] == [1, 2, 3, 4, 5, 6]
    heads = [json.loads(body)["chain"] for body in run.stdout.splitlines()]
    assert heads[0] == "00" * 32
    assert len(set(heads)) == 3, "a round and its hits are one row of the chain"
    assert again.stdout == run.stdout


def test_a_script_comes_on_standard_input() -> None:
    run = _deal("-", given=b"!new-shoe AS 2D !deal 9S 7H KD TC")
    assert (run.returncode, _types(run)) == (0, ["shoe_opened", "wagers_locked", "round"])


def test_a_refusal_exits_1_and_is_told_with_what_to_do() -> None:
    run = _deal("-", given=b"!new-shoe AS 2D\n!deal !deal")
    assert (run.returncode, _types(run)) == (1, ["shoe_opened", "wagers_locked"])
    told, do, now, end = run.stderr.decode().splitlines()
    assert told == "line 2, token 5: !deal: already_locked: Wagers are locked already."
    assert do.startswith("  what to do: ")
    assert now == "  now: The table waits for a card for Player."
    assert end == "The script ends before the table is ready for the next round. The table waits for a card for Player."


def test_a_fault_exits_1_and_is_an_event_besides() -> None:
    run = _deal("-", given="!new-shoe AS 2D !deal ??  # ein Kärtchen".encode())
    assert (run.returncode, _types(run)) == (1, ["shoe_opened", "wagers_locked", "fault"])
    assert run.stderr.startswith(b"line 1, token 5: ??: unreadable_card: The shoe could not read a card.\n  ")


def test_in_words_each_wager_says_whether_it_plays() -> None:
    table = TABLES / "sugarhouse.toml"
    wagers = b"!wager 2 player 2000 !wager 3 dragon_player 500"
    run = _deal("-", "--words", given=b"!new-shoe AS 2D " + wagers + b" !deal 9S 7H KD TC", table=table)
    lines = run.stdout.decode().splitlines()
    place = next(number for number, line in enumerate(lines) if "wagers_locked" in line)
    assert lines[place + 1].split() == ["seat", "2", "player", "$20.00", "plays"]
    assert lines[place + 2].split()[:5] == ["seat", "3", "dragon_player", "$5.00", "refused:"]
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("script", "given"), [("no-such.script", b""), ("-", b"\xff\xfe"), (".", b"")], ids=["missing", "no text", "folder"]
)
def test_a_script_that_cannot_be_read_exits_1(script: str, given: bytes) -> None:
    run = _deal(script, given=given)
    assert (run.returncode, run.stdout) == (1, b"")
    assert run.stderr.startswith(b"script_unreadable: ")


def test_a_table_that_is_no_table_exits_78(tmp_path: Path) -> None:
    run = _deal("-", table=tmp_path / "none.toml")
    assert (run.returncode, run.stdout) == (78, b"")
    assert run.stderr.startswith(b"config_invalid: ")
