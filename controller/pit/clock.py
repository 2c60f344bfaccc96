"""The pit's clock: for people, and for numbers that go on growing when an older copy of the ledger is restored."""

from __future__ import annotations

import time

from controller.contract.bounds import MOST_AHEAD_MS
from controller.contract.envelope import Stamp


def now_text() -> str:
    """Now, in RFC 3339 and UTC, to the millisecond."""
    return Stamp(_now_ms(), True).text()


def next_number(after: int) -> int:
    """A number above `after` and above every number given before: milliseconds since 1970, or `after` + 1.

    A ledger that was restored from a copy, or begun anew, does not know which numbers it gave; the clock makes up for
    that. Where the clock is set back, numbers go on ahead of the clock. A number more than a day ahead of the clock is
    no start for the next number: no table takes such a number.
    """
    now_ms = _now_ms()
    return now_ms if after > now_ms + MOST_AHEAD_MS else max(after + 1, now_ms)


def highest_number() -> int:
    """The highest number that can have been given by now. A clock that was wrong gave any number above this."""
    return _now_ms() + MOST_AHEAD_MS


def number_text(number: int) -> str:
    """The time in a message that has this number: now, or the number's own time where that is ahead of the clock."""
    return Stamp(max(number, _now_ms()), True).text()


class Moments:
    """Times of messages that a table believes only in order.

    These times do not go back when the clock is set back, nor when a pit starts whose clock stands behind the times
    that an earlier program of the pit has said.
    """

    def __init__(self) -> None:
        self._last_ms = 0

    def heard(self, at_ms: int) -> int:
        """The pit once said this time. Returns how many milliseconds the clock stands behind it; 0 where it does not.

        A time more than a day ahead of the clock is no start for the next time: no table with a set clock takes it.
        """
        now_ms = _now_ms()
        if at_ms <= now_ms + MOST_AHEAD_MS:
            self._last_ms = max(self._last_ms, at_ms)
        return max(0, at_ms - now_ms)

    def next(self) -> str:
        """Now, or the time given last."""
        now_ms = _now_ms()
        self._last_ms = now_ms if self._last_ms > now_ms + MOST_AHEAD_MS else max(self._last_ms, now_ms)
        return Stamp(self._last_ms, True).text()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
