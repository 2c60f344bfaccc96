"""Checks the command `tablectl roads`, which prints the score boards of a shoe, as a person types it."""

from __future__ import annotations

import pytest

from controller.people.cli.main import main


def test_it_prints_the_five_roads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roads", "bbpppbpbb"]) == 0
    told = capsys.readouterr().out
    assert [line for line in told.splitlines() if line and not line.startswith(" ")][:2] == [
        "Bead plate",
        "Big road (a number counts the ties after a round)",
    ]


def test_what_is_no_hand_and_no_table_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roads", "BBX"]) == 1
    assert "BBX is neither a string of rounds nor a table's file" in capsys.readouterr().err
