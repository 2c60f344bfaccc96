"""The daemon's clocks: the wall clock, for people, and the machine's own clocks, which nobody sets."""

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
    """Return the present moment: the wall clock in whole milliseconds, whether it is synchronised, and the time since
    boot."""
    return Stamp(time.time_ns() // 1_000_000, _synchronised(), boot_id(), since_boot_ms())


def since_boot_ms() -> int:
    """Return the milliseconds since the machine started, its sleep included. Nobody can set this clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def monotonic_s() -> float:
    """Return the seconds of a clock that nobody can set, and that stops while the machine is suspended."""
    return time.monotonic()


def monotonic_ms() -> int:
    """Return the time of `monotonic_s` in whole milliseconds."""
    return time.monotonic_ns() // 1_000_000


def slept_ms() -> int:
    """Return for how many milliseconds in all the machine has been suspended since it started.

    The result is the difference of two clocks. Where the program had to wait between reading them, both are read again.
    """
    while True:
        awake_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        since_boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        if time.clock_gettime_ns(time.CLOCK_MONOTONIC) - awake_ns < _AT_ONCE_NS:
            return (since_boot_ns - awake_ns) // 1_000_000


@cache
def boot_id() -> str:
    """Return the kernel's id of the present boot, 32 hex digits, or an empty text where the kernel gives none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip().replace("-", "")
    except (OSError, UnicodeDecodeError):
        return ""


def most_wrong_ms() -> int | None:
    """Return by how many milliseconds the wall clock can be wrong at most, as the kernel estimates it.

    The estimate is small after a time daemon has set the clock, and grows with each second after that. The result is
    None where the kernel may not be asked.
    """
    if _adjtimex(_TIMEX) < 0:
        return None
    _modes, _offset, _frequency, most_wrong_us = struct.unpack_from("@Illl", _TIMEX)  # as adjtimex(2) has them
    return int(most_wrong_us) // 1_000


def _synchronised() -> bool:
    """Tell whether a time daemon has told the kernel that the clock is right.

    False where the kernel may not be asked.
    """
    state: int = _adjtimex(_TIMEX)  # -1: refused
    return 0 <= state != _TIME_ERROR


_adjtimex = ctypes.CDLL(None).adjtimex
