"""Keeps account of until when the shoe was certainly heard, so that a missed card is noticed.

Nothing here does I/O, except for the mark: a file that outlives the program, but not a boot. Moments are milliseconds
since the machine started (`clock.since_boot_ms`), a clock that nobody can set. The loop beats four times a second or
more, and looks at the shoe's line between two beats. A loss is noticed within one beat. So at the beat before the last
the line was certainly served, even where the program then stood still or the line was lost. A table at rest thus takes
a shoe for unheard for up to half a second longer than it was. Example: the numbers of an Angel Eye at 4800 baud repeat
within 312 ms, so each loss of that line, however short, stops the table for a count of the cards.

While only the program stands still, the kernel keeps the bytes of the line, up to the size of its buffer. While the
machine is suspended, nobody keeps them. One second of that can lose a card, and a shoe without numbers never shows the
loss.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from controller.contract.envelope import Stamp
from controller.table.facts import (
    CardDrawn,
    CardKept,
    Fact,
    ShoePoweredUp,
    ShoeUnheard,
    ShoeUnplugged,
    WagersLocked,
)

_MARK_EVERY_MS = 1000
_LATE_MS = 500  # two beats: a loop that was away for longer reads late what came meanwhile
_SUSPENDED_MS = 50  # two clocks, read one after the other, differ by less; a machine sleeps for longer


class Mark:
    """A file in memory that records until when the shoe was heard, for the next start of the program.

    The file is written over in place once a second and never synced, so that no disk wears. Where the file cannot be
    written there is no mark, and the next start relies on the journal.
    """

    def __init__(self, path: Path, boot_id: str) -> None:
        self._path = path
        self._boot_id = boot_id
        self._file: int | None = None

    def read(self, now_ms: int) -> int | None:
        """Return the moment that the run before wrote, in milliseconds since boot.

        The result is None where there is no mark, or where the machine was booted since.
        """
        try:
            boot_id, heard_ms = self._path.read_text("ascii").split()
            heard = int(heard_ms)
        except (OSError, ValueError):
            return None
        return heard if boot_id == self._boot_id != "" and 0 <= heard <= now_ms else None

    def write(self, heard_ms: int) -> None:
        """Record that the shoe was heard until `heard_ms`."""
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            os.pwrite(self._file, f"{self._boot_id} {heard_ms:020}\n".encode("ascii"), 0)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file, and leave it in its place."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Pace:
    """Times each card: how long it came after the card, or the lock of the wagers, before it.

    Nobody can set the clock.
    """

    def __init__(self) -> None:
        self._last: Stamp | None = None  # of the last card or lock; None where nobody knows

    def timed(self, fact: Fact, at: Stamp, on_time: bool) -> Fact:
        """Return the fact, and add to a card the milliseconds since the card or lock before it.

        A card that waited to be read (not `on_time`) has no such time, nor has the card after it.
        """
        last = self._last
        if isinstance(fact, CardDrawn | CardKept):
            known = on_time and last is not None and at.boot_id != "" and at.boot_id == last.boot_id
            fact = replace(fact, after_ms=at.since_boot_ms - last.since_boot_ms if known and last else None)
        if isinstance(fact, CardDrawn | CardKept | WagersLocked):
            self._last = at if on_time else None
        elif isinstance(fact, ShoeUnheard | ShoeUnplugged | ShoePoweredUp):
            self._last = None
        return fact


class ShoeHeard:
    """Keeps until when the shoe was heard. `heard_ms` is that moment of the run before; None where it is unknown."""

    def __init__(self, heard_ms: int | None, mark: Mark, kept_unread_ms: int) -> None:
        self._heard_ms = heard_ms
        self._mark = mark
        self._marked_ms: int | None = None
        self._kept_unread_ms = kept_unread_ms
        self._beat_ms: int | None = None  # the last beat while the line is up
        self._slept_ms = 0  # in all, by the last beat

    def unheard_ms(self, now_ms: int) -> int | None:
        """Return for how many milliseconds at most the shoe was not heard; None where nobody knows."""
        return None if self._heard_ms is None else now_ms - self._heard_ms

    def line_up(self, now_ms: int, slept_ms: int) -> None:
        """Take note that the shoe's line is read from `now_ms` on."""
        self._beat_ms, self._slept_ms = now_ms, slept_ms

    def line_down(self) -> None:
        """Take note that the shoe's line is lost."""
        self._beat_ms = None

    def stood_still(self, now_ms: int, slept_ms: int) -> bool:
        """Tell whether bytes of the shoe's line may be lost. Any thread may ask.

        That is so where the loop did not look at the line for longer than the kernel keeps its bytes, or where the
        machine was suspended. `slept_ms` is for how long in all the machine was suspended since it started.
        """
        beat_ms = self._beat_ms  # read once: the loop's thread may lose the line meanwhile
        if beat_ms is None:
            return False
        return now_ms - beat_ms > self._kept_unread_ms or slept_ms - self._slept_ms > _SUSPENDED_MS

    def is_late(self, now_ms: int) -> bool:
        """Tell whether bytes that are read now may have waited in the kernel for a while."""
        return self._beat_ms is not None and now_ms - self._beat_ms > _LATE_MS

    def beat(self, now_ms: int, slept_ms: int, proven_ms: int | None = None) -> None:
        """Move on the moment until which the shoe was heard, at each beat of the loop, and record it in the mark.

        Where the table asks the shoe, the shoe was heard until `proven_ms`, which its answers prove. `proven_ms` is
        None where the shoe is not asked; then the moment is the beat before this one.
        """
        self._slept_ms = slept_ms
        if self._beat_ms is not None:
            self._heard_ms, self._beat_ms = self._beat_ms if proven_ms is None else proven_ms, now_ms
        if self._heard_ms is not None and (self._marked_ms is None or now_ms - self._marked_ms >= _MARK_EVERY_MS):
            self._mark.write(self._heard_ms)
            self._marked_ms = now_ms
