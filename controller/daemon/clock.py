"""The daemon's clocks: the wall clock, whose time is shown to people together with whether that clock is synchronised,
and the machine's own clocks, which nobody can set."""

from __future__ import annotations

import ctypes
import struct
import time
from functools import cache
from pathlib import Path

from controller.contract.envelope import Stamp

_TIME_ERROR = 5  # adjtimex(2): the clock is not synchronised
_AT_ONCE_NS = 1_000_000
_TIMEX = ctypes.create_string_buffer(512)  # struct timex with room to spare; it begins with 0, which sets nothing


def stamp_now() -> Stamp:
    """Return a time stamp of now: the wall clock in whole milliseconds, whether that clock is synchronised, the id of
    the present boot, and the milliseconds since that boot."""
    return Stamp(time.time_ns() // 1_000_000, _synchronised(), boot_id(), since_boot_ms())


def since_boot_ms() -> int:
    """Return the milliseconds since the machine started, its sleep included. Nobody can set this clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def monotonic_s() -> float:
    """Return the seconds of a monotonic clock, which nobody can set. That clock stops while the machine is
    suspended."""
    return time.monotonic()


def monotonic_ms() -> int:
    """Return the whole milliseconds of a monotonic clock, which nobody can set. That clock stops while the machine is
    suspended."""
    return time.monotonic_ns() // 1_000_000


def slept_ms() -> int:
    """Return the total time in milliseconds for which the machine has been suspended since it booted.

    The result is the difference of two clocks. If more than a millisecond passed between reading the two, both are read
    again.
    """
    while True:
        awake_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        since_boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        if time.clock_gettime_ns(time.CLOCK_MONOTONIC) - awake_ns < _AT_ONCE_NS:
            return (since_boot_ns - awake_ns) // 1_000_000


@cache
def boot_id() -> str:
    """Return the id that the kernel gave to the present boot, as 32 hex digits. Return an empty text if the kernel
    gives none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip().replace("-", "")
    except (OSError, UnicodeDecodeError):
        return ""


def most_wrong_ms() -> int | None:
    """Return the largest error, in milliseconds, that the wall clock can have by the kernel's estimate.

    The estimate is small after a time daemon has set the clock, and grows with each second after that. The result is
    None if the program may not ask the kernel.
    """
    if _adjtimex(_TIMEX) < 0:
        return None
    _modes, _offset, _frequency, most_wrong_us = struct.unpack_from("@Illl", _TIMEX)  # as adjtimex(2) has them
    return int(most_wrong_us) // 1_000


def _synchronised() -> bool:
    """Return True if a time daemon has told the kernel that the wall clock is right.

    Return False also if the program may not ask the kernel.
    """
    state: int = _adjtimex(_TIMEX)  # -1: refused
    return 0 <= state != _TIME_ERROR


_adjtimex = ctypes.CDLL(None).adjtimex
