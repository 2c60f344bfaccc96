"""`tablectl demo`: which game it plays, and with which shoe."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli.main import main

ROOT = Path(__file__).parents[2]


def demo(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "controller.cli.main", "demo", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)


@pytest.mark.parametrize(("game", "shows"), [("lucky9", "dealer "), ("baccarat_royal_corrected", "player ")])
def test_the_demo_plays_other_games_with_a_beetek(game: str, shows: str) -> None:
    run = demo("--game", game, "--rounds", "2", "--speed", "0", "--seed", "7")
    assert run.returncode == 0, run.stdout + run.stderr
    *_, second_round, summary = run.stdout.splitlines()
    assert "shoe 1 round 2  round " in second_round
    assert shows in second_round
    assert "; house " in second_round
    assert summary.startswith("2 rounds, ")
    assert "the pit acknowledged all of them. SEED=7 repeats this shoe." in summary


@pytest.mark.parametrize("game", ["baccarat_royal_corrected", "lucky9"])
def test_an_angel_eye_deals_punto_banco_only(game: str) -> None:
    run = demo("--game", game, "--shoe", "angel_eye")
    assert run.returncode == 1
    assert run.stderr.startswith(f"demo_options: GAME={game} cannot be played with SHOE=angel_eye: shoe.driver ")
    assert "Leave SHOE out" in run.stderr


def test_the_demo_names_every_game_there_is_an_example_of() -> None:
    run = demo("--game", "poker")
    assert run.returncode == 1
    names = run.stderr.partition("GAME is one of: ")[2].strip().rstrip(".").split(", ")
    assert names == sorted({path.stem for path in (ROOT / "config").glob("[gt]*s/*.toml")})
    assert {"ez_baccarat", "punto_2000", "pairs", "baccarat_royal_corrected", "sugarhouse_midi"} <= {*names}


def test_a_demo_that_lacks_a_library_says_which(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name))
    assert main(["demo"]) == 1
    assert capsys.readouterr().err.startswith("demo_missing: The demo needs what is not installed: uvicorn.")
