"""The pit's clock: for people, and for numbers that go on growing when an older copy of the ledger is restored."""

from __future__ import annotations

import time

from controller.contract.envelope import Stamp


def now_text() -> str:
    """Now, in RFC 3339 and UTC, to the millisecond."""
    return Stamp(_now_ms(), True).text()


def next_number(after: int) -> int:
    """A number that is higher than `after`, and than any given before: milliseconds since 1970, or one more.

    A ledger restored from a copy, or begun anew, does not know what it gave before; the clock does.
    """
    return max(after + 1, _now_ms())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
