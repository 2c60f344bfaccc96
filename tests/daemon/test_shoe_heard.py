"""Checks when bytes from the shoe may be lost: if the main loop stood still for too long, or the machine was
suspended."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from controller.daemon import clock
from controller.daemon.shoe_heard import Mark, ShoeHeard

KEPT_MS = 4000
SLEPT_BEFORE_MS = 60_000


@pytest.fixture
def heard(tmp_path: Path) -> ShoeHeard:
    """The record of when the shoe was last heard. The shoe's line came up 980 ms after the machine's start, and was
    read until 1,000 ms after it."""
    heard = ShoeHeard(None, Mark(tmp_path / "heard", "boot"), KEPT_MS)
    heard.line_up(980, SLEPT_BEFORE_MS)
    heard.beat(1000, SLEPT_BEFORE_MS)
    return heard


@pytest.mark.parametrize(("stood_ms", "lost"), [(10, False), (KEPT_MS, False), (KEPT_MS + 1, True)])
def test_what_the_kernel_keeps_is_not_lost(heard: ShoeHeard, stood_ms: int, lost: bool) -> None:
    assert heard.stood_still(1000 + stood_ms, SLEPT_BEFORE_MS) is lost


@pytest.mark.parametrize("suspended_ms", [100, KEPT_MS // 2, 10 * KEPT_MS])
def test_a_suspended_machine_keeps_nothing_however_short_it_was(heard: ShoeHeard, suspended_ms: int) -> None:
    now_ms, slept_ms = 1000 + suspended_ms + 10, SLEPT_BEFORE_MS + suspended_ms
    assert heard.stood_still(now_ms, slept_ms)
    assert heard.unheard_ms(now_ms) == suspended_ms + 30, "since the beat before the last"
    heard.beat(now_ms, slept_ms)
    assert not heard.stood_still(now_ms + 10, slept_ms), "once"


def test_the_two_clocks_are_not_read_at_one_moment(heard: ShoeHeard) -> None:
    assert not heard.stood_still(1010, SLEPT_BEFORE_MS + 1)


def test_a_line_that_is_down_is_told_otherwise(heard: ShoeHeard) -> None:
    heard.line_down()
    assert not heard.stood_still(10**6, 10**6)
    heard.line_up(10**6, 10**6)
    assert not heard.stood_still(10**6 + 10, 10**6)


def test_the_line_may_be_lost_while_another_thread_asks(heard: ShoeHeard) -> None:
    """If the shoe's line is lost while another thread is inside a call of `stood_still`, the call does not fail. It
    returns False."""
    lines = 0

    def lose(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code is ShoeHeard.stood_still.__code__ and event == "line":
            lines += 1
            if lines > 1:
                heard.line_down()
        return lose

    before = sys.gettrace()
    sys.settrace(lose)
    try:
        lost = heard.stood_still(1010, SLEPT_BEFORE_MS)
    finally:
        sys.settrace(before)
    assert (lost, lines > 1) == (False, True)


@pytest.mark.parametrize("waited_at", [1, 2])
def test_a_program_that_waits_between_two_clocks_takes_it_for_no_sleep(
    monkeypatch: pytest.MonkeyPatch, waited_at: int
) -> None:
    """The program reads two clocks to find out how long the machine was suspended. A delay between the two readings
    does not count as a suspension.

    In the test the machine is busy with something else for a second, before one of the two readings.
    """
    readings = 0

    def read(which: int) -> int:
        nonlocal readings
        readings += 1
        now_ms = 5000 + 1000 * (readings > waited_at)
        return (now_ms + SLEPT_BEFORE_MS * (which == time.CLOCK_BOOTTIME)) * 1_000_000

    names = {name: getattr(time, name) for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC")}
    monkeypatch.setattr(clock, "time", SimpleNamespace(clock_gettime_ns=read, **names))
    assert clock.slept_ms() == SLEPT_BEFORE_MS
