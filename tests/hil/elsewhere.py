"""Runs pytest in folders that stand for the repositories of other people who use the bench."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_PATIENCE_S = 120

A_ROUND = """
def test_a_round(table, shoe, dealer, pins, pit, eventually):
    pins.press("new_shoe", until=lambda: table.phase == "first_card_due")
    shoe.deal("2C KC KC")
    eventually(lambda: table.phase == "wagers_open")
    dealer.lock(1)
    eventually(lambda: pins.seat(1) == "accepted")
    eventually(lambda: pins.lamps()["draw_player"] == "steady")
    shoe.deal("KS 2D 9S 3C")
    assert eventually.wait_for_hit(1)["seat"] == 1
    assert eventually.wait_for_round(1)["outcome"] == "player"
    eventually(lambda: pins.seat(1) == "hit" and pins.lamp("player") == "steady")
"""
"""A test of another repository, which knows the plugin's fixtures."""


def run_elsewhere(folder: Path, tests: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the source `tests` as a test file of another repository, and return the finished process. The bench is loaded
    there as a plugin of pytest."""
    (folder / "test_other.py").write_text(tests, "utf-8")
    return run_pytest(folder, *options, **environment)


_EACH = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

told = []
for options in json.loads(sys.argv[1]):
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = pytest.main(["-p", "no:cacheprovider", *options])
    told.append([int(code), said.getvalue()])
json.dump(told, sys.stdout)
"""


def told_elsewhere(folder: Path, options: list[list[str]], **environment: str) -> list[tuple[int, str]]:
    """Call pytest in another repository once for each list of options, all in one process. Return the exit code and the
    output of each call.

    Use this only for calls that end before any test runs, because modules that one call imports stay imported for the
    next.
    """
    (folder / "test_other.py").write_text(A_ROUND, "utf-8")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-c", _EACH, json.dumps(options)],
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=True,
    )
    return [(code, said) for code, said in json.loads(run.stdout)]


def run_pytest(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in this folder with these arguments. The environment variables of the pytest that runs now are left
    out."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "PYTHONPATH"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *arguments],
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
