"""Counts the disk syncs of a process from outside the process, and makes them slower on request. syncs.c says how."""

from __future__ import annotations

import mmap
import shutil
import struct
import subprocess
from pathlib import Path

from controller.basics.errors import TableError

_SOURCE = Path(__file__).with_name("syncs.c")
_PAGE_BYTES, _SLOTS = 8192, 511
_SLOT = struct.Struct("<QQ")


def build(folder: Path) -> Path:
    """Compile the library syncs.c into `folder`, and return its path, which is meant for LD_PRELOAD. Raises TableError
    `no_compiler`."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise TableError(
            "no_compiler",
            "There is no C compiler, and syncs are seen by a library in C.",
            "Install one: sudo apt-get install -y gcc libc6-dev",
        )
    library = folder / "syncs.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, _SOURCE], check=True
    )
    return library


class Syncs:
    """The disk syncs of one process, which must be started with the variables in `environment`. Each sync is made
    `added_ms` milliseconds slower."""

    def __init__(self, library: Path, page: Path, added_ms: float) -> None:
        page.write_bytes(bytes(_PAGE_BYTES))
        with page.open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), _PAGE_BYTES)
        self.environment = {
            "LD_PRELOAD": str(library),
            "TABLE_SYNCS_PAGE": str(page),
            "TABLE_SYNC_ADDED_US": str(round(1000 * added_ms)),
        }

    @property
    def count(self) -> int:
        """Return how many times the process has synced a file to the disk so far."""
        return int.from_bytes(self._bytes[:8], "little")

    def first_ended_ns(self, after_ns: int) -> int | None:
        """Take the first disk sync that began after the time `after_ns`. Return the time at which it ended, in
        nanoseconds of the monotonic clock, or None if no such sync has ended."""
        count = self.count
        slots = (_SLOT.unpack_from(self._bytes, 16 + 16 * (number % _SLOTS)) for number in range(count)[-_SLOTS:])
        return min((ended_ns for begun_ns, ended_ns in slots if begun_ns > after_ns), default=None)
