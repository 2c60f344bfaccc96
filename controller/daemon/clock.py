"""The clocks: the wall clock for people, with whether it was synchronised, and the machine's own since it started."""

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
    """The time now, in whole milliseconds."""
    return Stamp(time.time_ns() // 1_000_000, _synchronised(), boot_id(), since_boot_ms())


def since_boot_ms() -> int:
    """Milliseconds since the machine started, its sleep included. Nobody sets this clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def monotonic_s() -> float:
    """Seconds of a clock that nobody sets, and that stands while the machine is suspended."""
    return time.monotonic()


def monotonic_ms() -> int:
    """The time of `monotonic_s` in whole milliseconds."""
    return time.monotonic_ns() // 1_000_000


def slept_ms() -> int:
    """For how many milliseconds the machine was suspended since it started.

    Two clocks together tell this. Where the program had to wait between reading them, both are read again.
    """
    while True:
        awake_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        since_boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        if time.clock_gettime_ns(time.CLOCK_MONOTONIC) - awake_ns < _AT_ONCE_NS:
            return (since_boot_ns - awake_ns) // 1_000_000


@cache
def boot_id() -> str:
    """The kernel's name of this run of the machine, 32 hex digits; empty where the kernel tells none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip().replace("-", "")
    except (OSError, UnicodeDecodeError):
        return ""


def most_wrong_ms() -> int | None:
    """By how many milliseconds the clock can be wrong, as the kernel reckons it: little after a time daemon has set the
    clock, and more with each second after that. None where the kernel may not be asked."""
    if _adjtimex(_TIMEX) < 0:
        return None
    _modes, _offset, _frequency, most_wrong_us = struct.unpack_from("@Illl", _TIMEX)  # as adjtimex(2) has them
    return int(most_wrong_us) // 1_000


def _synchronised() -> bool:
    """Whether a time daemon has told the kernel that the clock is right. False where the kernel may not be asked."""
    state: int = _adjtimex(_TIMEX)  # -1: refused
    return 0 <= state != _TIME_ERROR


_adjtimex = ctypes.CDLL(None).adjtimex
