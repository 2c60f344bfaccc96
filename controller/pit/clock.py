"""The pit's clock, for people: nothing is ordered by it."""

from __future__ import annotations

import time

from controller.contract.envelope import Stamp


def now_text() -> str:
    """Now, in RFC 3339 and UTC, to the millisecond."""
    return Stamp(time.time_ns() // 1_000_000, True).text()
