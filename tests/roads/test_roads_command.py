"""`tablectl roads` as a person types it."""

from __future__ import annotations

import pytest

from controller.cli.main import main


def test_it_prints_the_five_roads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roads", "bbpppbpbb"]) == 0
    told = capsys.readouterr().out
    assert [line for line in told.splitlines() if line and not line.startswith(" ")][:2] == [
        "Bead plate",
        "Big road (a number: so many ties)",
    ]


def test_a_letter_that_names_no_winner_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roads", "BBX"]) == 1
    assert "'X' in BBX names no winner of a hand" in capsys.readouterr().err
