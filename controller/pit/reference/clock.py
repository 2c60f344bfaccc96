"""The pit's clock. It gives times for people. It also gives numbers that keep growing, even if the ledger is replaced
by an older copy."""

from __future__ import annotations

import time
from collections.abc import Callable

from controller.contract.bounds import MOST_AHEAD_MS
from controller.contract.envelope import Stamp

_HELD_AHEAD_MS = 2000
_BEHIND_FROM_MS = 1000  # two machines with right clocks differ by less


def now_text() -> str:
    """Return the present time as RFC 3339 text in UTC, to the millisecond."""
    return Stamp(_now_ms(), True).text()


def now_in_ms() -> int:
    """Return the present time in milliseconds since 1970."""
    return _now_ms()


def next_number(after: int) -> int:
    """Return a number above `after` and above every number given before. The number is the present time in milliseconds
    since 1970, or `after` + 1 if that is greater.

    A ledger that was restored from a copy, or begun anew, does not know which numbers the pit gave before. Because
    numbers are times, new numbers are still higher. If the clock is set back, the pit goes on to count from `after`. If
    `after` is more than a day ahead of the clock, it is ignored, because no table accepts such a number.
    """
    now_ms = _now_ms()
    return now_ms if after > now_ms + MOST_AHEAD_MS else max(after + 1, now_ms)


def highest_number() -> int:
    """Return the highest number that the pit may have given until now: the present time plus one day, in ms since 1970.
    If a number is higher, the clock was wrong when the pit gave it."""
    return _now_ms() + MOST_AHEAD_MS


def number_text(number: int) -> str:
    """Return the time to write into a message with this number. A number stands for a time in milliseconds since 1970.
    Return that time, or the present time if that is later."""
    return Stamp(max(number, _now_ms()), True).text()


class Moments:
    """Gives the times that the pit writes into its acks and into its messages about the meters. These times never go
    back. A table believes acks only in order, and wins are ordered by the time of the message on which their wagers
    were locked.

    The times do not go back if the clock is set back, if the pit starts again, or if the pit of another machine takes
    over. For this, the ledger stores a time, and no message has a later time. The stored time is two seconds ahead of
    the clock, so that a stream of acks needs a write only every two seconds. Example: the ledger stores 20:00:02. At
    20:00:01 a machine takes over whose clock says 19:59:41. That machine's acks say 20:00:02 until its clock is past
    that time.

    A time more than a day ahead of the clock was wrong and is ignored, because no table with a set clock has accepted
    it.
    """

    def __init__(self, held_ms: int, hold: Callable[[int], None]) -> None:
        """Begin from `held_ms`, the time that the ledger holds, in ms since 1970. `hold` is the function that writes a
        later time to the ledger."""
        self._last_ms = self._held_ms = held_ms
        self._said_ms = held_ms - _HELD_AHEAD_MS  # the latest time that the pit has certainly said
        self._hold = hold

    def heard(self, at_ms: int) -> None:
        """Record that the pit has sent a message with the time `at_ms`, so that later messages have no earlier time. A
        time more than a day ahead of the clock is only remembered for `behind`."""
        if at_ms <= highest_number():
            self._last_ms = max(self._last_ms, at_ms)
        self._said_ms = max(self._said_ms, at_ms)

    def next(self) -> str:
        """Return the time for the next message: the present time. If the clock is behind the time of the last message,
        return that time, unless it is more than a day ahead of the clock."""
        now_ms = _now_ms()
        if self._last_ms > highest_number():
            self._last_ms = self._held_ms = 0
        if now_ms > self._last_ms:
            self._last_ms = now_ms
            self._said_ms = max(self._said_ms, now_ms)
        if self._last_ms > self._held_ms:
            held_ms = max(self._last_ms, now_ms + _HELD_AHEAD_MS)
            self._hold(held_ms)
            self._held_ms = held_ms
        return Stamp(self._last_ms, True).text()

    def later(self) -> str:
        """Return a time that is at least a millisecond later than every time given before. This is the present time if
        the clock is far enough."""
        last_ms, at = self._last_ms, self.next()
        if self._last_ms > last_ms:
            return at
        self._last_ms += 1
        return self.next()

    def of_number(self, number: int) -> str:
        """Return the time for the message about the meters with this number, which stands for a time in milliseconds
        since 1970. The returned time is later than every time given before. It is not earlier than the number's time,
        unless that is more than a day ahead of the clock."""
        at = self.later()
        if self._last_ms < number <= highest_number():
            self._last_ms = number
            at = self.next()
        return at

    def behind(self) -> tuple[str, str, int] | None:
        """Return three values if the clock is at least a second behind a time that the pit has sent: the clock's time,
        the sent time, and the seconds between these two. Return None otherwise.

        Each sent time is returned only once.
        """
        now_ms, said_ms = _now_ms(), self._said_ms
        if said_ms < now_ms + _BEHIND_FROM_MS:
            return None
        self._said_ms = 0
        return Stamp(now_ms, True).text(), Stamp(said_ms, True).text(), (said_ms - now_ms) // 1000


def now_ms() -> int:
    """Return the present time in milliseconds since 1970."""
    return _now_ms()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
