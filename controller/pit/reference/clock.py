"""The pit's clock: for people, and for numbers that go on growing when an older copy of the ledger is restored."""

from __future__ import annotations

import time
from collections.abc import Callable

from controller.contract.bounds import MOST_AHEAD_MS
from controller.contract.envelope import Stamp

_HELD_AHEAD_MS = 2000
_BEHIND_FROM_MS = 1000  # two machines with right clocks differ by less


def now_text() -> str:
    """Now, in RFC 3339 and UTC, to the millisecond."""
    return Stamp(_now_ms(), True).text()


def now_in_ms() -> int:
    """Now, in ms since 1970."""
    return _now_ms()


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
    """Times of the pit's acks and of its words about the meters, which never go back. A table believes acks only in
    order, and wins go by the order of the locks, which are counted from the words about the meters.

    They do not go back where the clock is set back, where the pit starts again, nor where the pit of another machine
    takes over. For that the ledger holds a time that none of them has passed. That time is two seconds ahead, so that a
    stream of acks needs a write every two seconds. Example: the ledger holds 20:00:02, and at 20:00:01 a machine takes
    over whose clock says 19:59:41. That machine's acks say 20:00:02 until its clock is past that time.

    A time more than a day ahead of the clock was wrong, and is passed over: no table with a set clock has taken it.
    """

    def __init__(self, held_ms: int, hold: Callable[[int], None]) -> None:
        """`held_ms` is the time that the ledger holds, in ms since 1970, and `hold` has the ledger hold another."""
        self._last_ms = self._held_ms = held_ms
        self._said_ms = held_ms - _HELD_AHEAD_MS  # the latest time that the pit has certainly said
        self._hold = hold

    def heard(self, at_ms: int) -> None:
        """The pit once said this time."""
        if at_ms <= highest_number():
            self._last_ms = max(self._last_ms, at_ms)
        self._said_ms = max(self._said_ms, at_ms)

    def next(self) -> str:
        """Now, or the time given last where the clock stands behind it."""
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
        """As `next`, and later than every time given before: where the clock stands behind, by a millisecond."""
        last_ms, at = self._last_ms, self.next()
        if self._last_ms > last_ms:
            return at
        self._last_ms += 1
        return self.next()

    def of_number(self, number: int) -> str:
        """The time of a word about the meters that has this number: as `later`, and not before the number's own."""
        at = self.later()
        if self._last_ms < number <= highest_number():
            self._last_ms = number
            at = self.next()
        return at

    def behind(self) -> tuple[str, str, int] | None:
        """The clock's time, a later time that the pit has said, and the seconds between them; None if below a second.

        Each time that the pit has said is told once.
        """
        now_ms, said_ms = _now_ms(), self._said_ms
        if said_ms < now_ms + _BEHIND_FROM_MS:
            return None
        self._said_ms = 0
        return Stamp(now_ms, True).text(), Stamp(said_ms, True).text(), (said_ms - now_ms) // 1000


def now_ms() -> int:
    """Now, in milliseconds since 1970."""
    return _now_ms()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
