"""Runs of pytest of their own, in folders that know of the bench by its path alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.hil.daemon import ROOT

_PATIENCE_S = 120

A_HAND = """
def test_a_hand(table, shoe, dealer, pins, pit, eventually):
    pins.press("new_shoe", until=lambda: table.phase == "first_card_due")
    shoe.deal("2C KC KC")
    eventually(lambda: table.phase == "wagers_open")
    dealer.lock(1)
    eventually(lambda: pins.seat(1) == "accepted")
    eventually(lambda: pins.lamps()["draw_player"] == "steady")
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    eventually(lambda: pins.seat(1) == "hit" and pins.lamp("player") == "steady")
"""
"""A test of another repository, which knows the plugin's fixtures."""


def run_elsewhere(folder: Path, tests: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run these tests in another repository that knows of this one by its path alone."""
    (folder / "test_other.py").write_text(tests, "utf-8")
    by_path = {"PYTHONPATH": os.path.relpath(ROOT, folder)}
    return run_pytest(folder, "-p", "tests.hil.plugin", *options, **by_path, **environment)


def run_pytest(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in this folder, with nothing that the pytest around it has set."""
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
