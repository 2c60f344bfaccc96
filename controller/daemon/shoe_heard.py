"""Keeps account of the moment until which the shoe was certainly heard, so that a missed card is noticed.

Nothing here does I/O, except for the mark: a file that is kept when the program ends, but not when the machine boots.
Moments are milliseconds since the machine started (`clock.since_boot_ms`), a clock that nobody can set. The main loop
beats (does its regular work) four times a second or more, and looks at the shoe's line between two beats. A lost line
is noticed within one beat. So the line was certainly read until the beat before the last one, even if the program then
stood still or the line was lost. The table may therefore count up to half a second too much as time without the shoe.
Example: the report numbers of an Angel Eye at 4800 baud repeat within 312 ms, so each loss of that line, however short,
stops the table until people have counted the cards.

While only the program stands still, the kernel keeps the bytes of the line, up to the size of its buffer. While the
machine is suspended, the bytes are lost. One second of suspension can lose a card. A shoe whose reports have no numbers
never shows that a card was lost.
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

    The file is overwritten once a second and never synced, so that no disk wears. If the file cannot be written, the
    next start of the program relies on the journal alone.
    """

    def __init__(self, path: Path, boot_id: str) -> None:
        self._path = path
        self._boot_id = boot_id
        self._file: int | None = None

    def read(self, now_ms: int) -> int | None:
        """Return the moment until which the program's run before this one heard the shoe, in milliseconds since boot.

        The result is None if the file is missing or unreadable, or if the machine has booted since.
        """
        try:
            boot_id, heard_ms = self._path.read_text("ascii").split()
            heard = int(heard_ms)
        except (OSError, ValueError):
            return None
        return heard if boot_id == self._boot_id != "" and 0 <= heard <= now_ms else None

    def write(self, heard_ms: int) -> None:
        """Record in the file that the shoe was heard until `heard_ms`, in milliseconds since boot."""
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            os.pwrite(self._file, f"{self._boot_id} {heard_ms:020}\n".encode("ascii"), 0)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file, but do not delete it, because the next start of the program reads it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Pace:
    """Measures the milliseconds from each card to the next. For a round's first card, measures the time since the
    wagers were locked.

    The clock is one that nobody can set.
    """

    def __init__(self) -> None:
        self._last: Stamp | None = None  # of the last card or lock; None where nobody knows

    def timed(self, fact: Fact, at: Stamp, on_time: bool) -> Fact:
        """Return the fact. If it is a card, add the milliseconds since the card before it, or since the lock of the
        wagers (the end of betting).

        `on_time` is False if the fact was read later than it came. A card that was read late gets no such time, and
        neither does the card after it. A card after a break gets none either: the shoe was unheard, unplugged or
        powered up, or the machine was booted.
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
    """Keeps the moment until which the shoe was certainly heard.

    `heard_ms` is the moment until which the program's previous run heard the shoe; None if unknown. `kept_unread_ms` is
    how long the kernel keeps the bytes of the shoe's line while nobody reads them.
    """

    def __init__(self, heard_ms: int | None, mark: Mark, kept_unread_ms: int) -> None:
        self._heard_ms = heard_ms
        self._mark = mark
        self._marked_ms: int | None = None
        self._kept_unread_ms = kept_unread_ms
        self._beat_ms: int | None = None  # the last beat while the line is up
        self._slept_ms = 0  # in all, by the last beat

    def unheard_ms(self, now_ms: int) -> int | None:
        """Return the longest time, in milliseconds, for which the shoe may not have been heard; None if that is
        unknown."""
        return None if self._heard_ms is None else now_ms - self._heard_ms

    def line_up(self, now_ms: int, slept_ms: int) -> None:
        """Take note that the shoe's line works and is read, beginning at `now_ms`. `slept_ms` is the total time for
        which the machine has been suspended."""
        self._beat_ms, self._slept_ms = now_ms, slept_ms

    def line_down(self) -> None:
        """Take note that the shoe's line is lost."""
        self._beat_ms = None

    def stood_still(self, now_ms: int, slept_ms: int) -> bool:
        """Tell whether bytes of the shoe's line may be lost. Any thread may call this.

        Return True if the main loop did not look at the line for longer than the kernel keeps its bytes, or if the
        machine was suspended. `slept_ms` is the total time for which the machine has been suspended since it started.
        """
        beat_ms = self._beat_ms  # read once: the loop's thread may lose the line meanwhile
        if beat_ms is None:
            return False
        return now_ms - beat_ms > self._kept_unread_ms or slept_ms - self._slept_ms > _SUSPENDED_MS

    def is_late(self, now_ms: int) -> bool:
        """Return True if bytes of the shoe that are read now may have waited in the kernel for more than half a second,
        because the main loop was busy."""
        return self._beat_ms is not None and now_ms - self._beat_ms > _LATE_MS

    def beat(self, now_ms: int, slept_ms: int, proven_ms: int | None = None) -> None:
        """Move forward the moment until which the shoe was certainly heard, and write that moment to the mark's file
        once a second. The main loop calls this at each beat.

        The new moment is `proven_ms`, until which the shoe's answers prove that it was heard. If `proven_ms` is None,
        the new moment is the beat before this one. While the line is lost, the moment stays as it was.
        """
        self._slept_ms = slept_ms
        if self._beat_ms is not None:
            self._heard_ms, self._beat_ms = self._beat_ms if proven_ms is None else proven_ms, now_ms
        if self._heard_ms is not None and (self._marked_ms is None or now_ms - self._marked_ms >= _MARK_EVERY_MS):
            self._mark.write(self._heard_ms)
            self._marked_ms = now_ms
