"""Checks the counts of the gaming day's results: at what moment the day begins, and how corrections and voids change
the counts."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path

import pytest

from controller.people.screen.day import Day, begun, noted
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.shoe import NewShoe
from tests.support.tables import ROYAL9, TableUnderTest, cards

_SIX = time(6)


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    clock.tzset()
    yield
    monkeypatch.undo()
    clock.tzset()


@pytest.mark.usefixtures("in_new_york")
@pytest.mark.parametrize(
    ("now", "begins", "since"),
    [
        ("2026-07-04T06:00", _SIX, "2026-07-04T10:00"),
        ("2026-07-04T05:59:59", _SIX, "2026-07-03T10:00"),
        ("2026-01-01T00:30", _SIX, "2025-12-31T11:00"),
        ("2026-11-01T23:00", _SIX, "2026-11-01T11:00"),  # the clocks went back that night
        ("2026-11-01T05:00", _SIX, "2026-10-31T10:00"),
        ("2026-07-04T12:00", time(0), "2026-07-04T04:00"),
    ],
)
def test_a_day_begins_at_the_houses_hour_of_the_machines_clock(now: str, begins: time, since: str) -> None:
    assert begun(datetime.fromisoformat(now), begins) == datetime.fromisoformat(f"{since}+00:00")


def test_the_day_has_every_shoes_rounds_as_corrected_without_void_and_simulated_ones() -> None:
    """The day counts each round with its corrected cards, and counts no void or simulated round.

    The first shoe has Player 9 to 7, corrected to a tie of 9 to 9; a void round; Banker 7 to 1; a simulated round; and
    a tie of 9 to 9. Another shoe has a win for Player.
    """
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D").lock().draw("8H").void()
    table.do(CorrectRound(1, tuple(cards("9H KS")), tuple(cards("2C 7D")), "Smith", "Jones"))
    table.lock().draw("AC 2C KS 6D").draw("8H 2C KS 5D").lock().draw("9H KH KS 9D")
    table.do(NewShoe("Smith")).draw("AS 2D").lock().draw("9H 2C KS 5D")
    won = noted({}, table.events)
    assert sorted(won.values()) == ["banker", "player", "tie", "tie"]
    for place in range(len(table.events)):  # told in two parts, as to a screen that comes in between
        assert noted(noted({}, table.events[:place]), table.events[place:]) == won


def test_a_round_of_the_day_before_that_is_corrected_today_is_no_round_of_today() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D")
    before = len(table.events)
    table.do(CorrectRound(1, tuple(cards("9H KS")), tuple(cards("2C 7D")), "Smith", "Jones"))
    assert noted({}, table.events[before:]) == {}


def test_a_day_that_nobody_tells_has_no_rounds_yet() -> None:
    assert Day(Path("/nowhere"), "06:00").view() == {}
