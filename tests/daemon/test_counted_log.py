"""Checks that the log counts repeated lines, so that no line is lost and repeated lines cannot fill the disk."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.daemon.counted_log import EVERY_ONE, CountedLog
from tests.support.waiting import eventually


class Log:
    """A logger whose lines go only to a counted log, and the clock that this log reads."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._out = io.StringIO()
        self.handler = CountedLog(self._out, now_s=lambda: self.now_s)
        self.handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
        self.logger = logging.Logger("a table's")  # one of the test's own, in no tree
        self.logger.addHandler(self.handler)

    def later(self, seconds: float) -> None:
        self.now_s += seconds
        self.handler.tell_counts()

    @property
    def lines(self) -> list[str]:
        return self._out.getvalue().splitlines()


@contextmanager
def _own_log() -> Iterator[Log]:
    log = Log()
    yield log
    log.handler.close()


@pytest.fixture
def log() -> Iterator[Log]:
    with _own_log() as own:
        yield own


def test_the_first_at_once_then_a_count_a_minute(log: Log) -> None:
    for _ in range(20_000):
        log.logger.warning("bad wager")
    assert log.lines == ["WARNING bad wager"]
    log.later(59.9)
    assert len(log.lines) == 1
    log.later(0.2)
    assert log.lines[1:] == ["WARNING bad wager (the last of 19999 such lines)"]
    log.logger.warning("bad wager")
    log.later(59.0)
    assert len(log.lines) == 2, "the next minute has begun"
    log.later(2.0)
    assert log.lines[2:] == ["WARNING bad wager"]
    log.later(61.0)
    log.logger.warning("bad wager")
    assert log.lines[3:] == ["WARNING bad wager"], "after a silent minute it is told at once again"


def test_one_flood_does_not_hide_another_line(log: Log) -> None:
    for _ in range(100):
        log.logger.info("refused %s: %s", "PlaceWager", "locked")
    log.logger.info("refused %s: %s", "ClearFault", "no fault")
    log.logger.error("the journal cannot be written")
    assert len(log.lines) == 3


def test_lines_that_a_stranger_words_anew_each_time_are_counted_together(log: Log) -> None:
    for number in range(5_000):
        log.logger.warning("an acknowledgement of epoch %r is refused", f"e{number}")
    assert len(log.lines) == 9
    log.later(61.0)
    assert log.lines[-1] == "WARNING an acknowledgement of epoch 'e4999' is refused (the last of 4991 such lines)"


def test_what_is_journalled_is_told_each_time(log: Log) -> None:
    for _ in range(50):
        log.logger.info("event %d: %s", 7, "round", extra=EVERY_ONE)
    assert len(log.lines) == 50


@given(st.lists(st.tuples(st.sampled_from(["a %s", "b %s"]), st.integers(0, 20), st.floats(0, 40)), max_size=60))
def test_no_line_is_lost(said: list[tuple[str, int, float]]) -> None:
    """Each line is written or counted, whatever its wording. In each minute only a limited number of lines is
    written."""
    with _own_log() as log:
        for wording, value, pause_s in said:
            log.later(pause_s)
            log.logger.warning(wording, value)
        log.handler.tell_counts(all_of_them=True)
        told: Counter[str] = Counter()
        for line in log.lines:
            count = re.search(r"the last of (\d+) such", line)
            told[line.split()[1]] += int(count[1]) if count else 1
        assert told == Counter(wording[0] for wording, _, _ in said)
        minutes = (log.now_s - 100.0) // 60 + 2
        assert len(log.lines) <= 2 * 9 * minutes


async def test_what_was_counted_is_told_at_the_end(log: Log) -> None:
    telling = asyncio.create_task(log.handler.keep_telling())
    await asyncio.sleep(0)
    for _ in range(3):
        log.logger.warning("bad wager")
    telling.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await telling
    await eventually(telling.done)
    assert log.lines == ["WARNING bad wager", "WARNING bad wager (the last of 2 such lines)"]
