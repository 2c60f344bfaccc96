"""Checks that the times in the pit's acks and in its messages about the meters never go back, even if the clock is
changed, the program restarts, or another machine takes over."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from controller.contract.pit_words import moment_ms
from controller.pit.reference import clock
from controller.pit.reference.clock import Moments

NOW_MS = 1_767_225_600_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


class World:
    """A simulated pit's machine with a clock that the test sets, and the time that the pit's ledger has stored."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ms = NOW_MS
        self.held_ms = 0
        self.writes = 0
        monkeypatch.setattr(clock, "_now_ms", lambda: self.now_ms)
        self.start()

    def start(self) -> None:
        self.moments = Moments(self.held_ms, self._hold)

    def _hold(self, held_ms: int) -> None:
        self.held_ms = held_ms
        self.writes += 1

    def ack_ms(self) -> int:
        at_ms = moment_ms(self.moments.next())
        assert at_ms is not None
        assert at_ms <= self.held_ms, "no ack passes what the ledger holds"
        return at_ms


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_times_follow_the_clock_with_a_write_every_two_seconds(world: World) -> None:
    said = []
    for _ in range(1000):
        world.now_ms += 10
        said.append(world.ack_ms())
    assert said == [*range(NOW_MS + 10, NOW_MS + 10_010, 10)]
    assert world.writes == 5
    assert world.moments.behind() is None


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_set_killed_and_taken_over_within_a_day_no_time_goes_back(world: World, seed: int) -> None:
    chance, said, number = random.Random(seed), list[int](), 0
    for _ in range(200):
        match chance.randrange(5):
            case 0:
                world.now_ms = NOW_MS + chance.randrange(DAY_MS)
            case 1:
                world.start()
            case 2:
                world.now_ms += chance.randrange(10_000)
            case 3:
                said.append(world.ack_ms())
            case _:
                number = clock.next_number(number)
                said.append(moment_ms(world.moments.of_number(number)) or 0)
                assert said[-1] >= number
    assert all(before <= after for before, after in pairwise(said))
    assert world.held_ms <= NOW_MS + DAY_MS + 20_000, "no start makes the held time creep"


def test_pits_that_start_again_and_again_behind_the_held_time_do_not_move_it(world: World) -> None:
    world.ack_ms()
    world.now_ms -= HOUR_MS
    for _ in range(100):
        world.start()
        assert world.ack_ms() == NOW_MS + 2000
    assert world.writes == 1


def test_a_time_more_than_a_day_ahead_was_wrong_and_is_held_no_more(world: World) -> None:
    world.now_ms += DAY_MS + 1
    ahead_ms = world.ack_ms()
    world.now_ms = NOW_MS
    assert world.ack_ms() == NOW_MS
    assert world.moments.behind() is not None
    world.start()
    world.now_ms -= 20_000
    assert world.ack_ms() >= NOW_MS, "the true time is held again"
    world.moments.heard(ahead_ms)
    assert world.ack_ms() < ahead_ms


def test_a_clock_that_stands_behind_is_told_once_for_each_time_said(world: World) -> None:
    world.ack_ms()
    world.now_ms -= 999
    assert world.moments.behind() is None
    world.now_ms -= 19_001
    assert world.moments.behind() == ("2025-12-31T23:59:40.000Z", "2026-01-01T00:00:00.000Z", 20)
    world.ack_ms()
    assert world.moments.behind() is None
    world.now_ms += 30_000
    world.ack_ms()
    world.now_ms -= 5_000
    assert world.moments.behind() == ("2026-01-01T00:00:05.000Z", "2026-01-01T00:00:10.000Z", 5)


def test_words_that_are_said_while_the_clock_stands_behind_do_not_tell_it_again(world: World) -> None:
    number = clock.next_number(0)
    world.moments.of_number(number)
    world.now_ms -= 5_000
    told = []
    for _ in range(3):
        number = clock.next_number(number)
        world.moments.of_number(number)
        told.append(world.moments.behind() is not None)
    assert told == [True, False, False]


def test_a_start_soon_after_the_last_ack_is_no_clock_behind(world: World) -> None:
    world.ack_ms()
    world.start()
    assert world.moments.behind() is None
    world.now_ms -= 999
    assert world.moments.behind() is None, "the ledger holds a time ahead of the last ack"
    world.now_ms -= 20_000
    assert world.moments.behind() is not None


def test_each_question_has_a_time_of_its_own_also_where_the_clock_stands_behind(world: World) -> None:
    world.ack_ms()
    world.now_ms -= 5_000
    asked = [world.moments.later() for _ in range(3)]
    world.start()
    asked += [world.moments.later(), world.moments.later()]
    assert [*sorted({*asked})] == asked
    assert world.ack_ms() == moment_ms(asked[-1]), "no ack is before a question"
