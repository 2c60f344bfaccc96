"""The wall clock, for people: what time a fact came, and whether the clock was synchronised then."""

from __future__ import annotations

import ctypes
import time

from controller.contract.envelope import Stamp

_TIME_ERROR = 5  # adjtimex(2): the clock is not synchronised
_TIMEX = ctypes.create_string_buffer(512)  # struct timex with room to spare; it begins with 0, which sets nothing


def stamp_now() -> Stamp:
    """The time now, in whole milliseconds."""
    return Stamp(time.time_ns() // 1_000_000, _synchronised())


def _synchronised() -> bool:
    """What the kernel says, told by whichever time daemon runs."""
    state: int = _adjtimex(_TIMEX)
    return 0 <= state != _TIME_ERROR


_adjtimex = ctypes.CDLL(None).adjtimex
