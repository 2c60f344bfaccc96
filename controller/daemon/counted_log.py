"""A log that nobody outside can fill: repeated lines are counted, and the count is written once a minute.

People and devices outside the daemon can cause some lines as often as they like: bad messages, refused requests, noise
on the shoe's line. The first line of each kind is written at once. A line that equals a line of the last minute is only
counted, and the count is written when the minute is over. Some lines have the same wording but name different things,
such as different topics. Each such text is counted by itself, up to `_DIFFERENT` texts. All further texts are counted
together. All lines of the daemon pass through this log, so code that logs a new line needs to do nothing for this.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TextIO

from msgspec import Struct

EVERY_ONE = {"every_one": True}
"""`extra=` of a line that is always written: the outside causes such a line only by an act that is journalled."""

_MINUTE_S = 60.0
_DIFFERENT = 8
_LOOK_EVERY_S = 5.0


class _Kind(Struct):
    """A count of equal log lines. The first of them, or the last count, was written at `told_s`. `more` is the number
    of equal lines since that moment, and `last` is the newest of them."""

    told_s: float
    more: int = 0
    last: logging.LogRecord | None = None


class CountedLog(logging.StreamHandler[TextIO]):
    """A log handler that writes to `stream`. It writes the first of several equal lines, counts the others, and writes
    the count once a minute. `now_s` is a clock that nobody can set."""

    def __init__(self, stream: TextIO, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._now_s = now_s
        self._kinds: dict[str, dict[str, _Kind]] = {}  # by wording, then by the text; "" for all beyond `_DIFFERENT`

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line, or only count it if an equal line was written within the last minute.

        A record with `every_one` set is always written. If lines of one wording have too many different texts, all
        further texts count as equal.
        """
        if getattr(record, "every_one", False):
            self.write(record)
            return
        texts = self._kinds.setdefault(f"{record.name} {record.msg}", {})
        text = record.getMessage()
        kind = texts.get(text if text in texts or len(texts) < _DIFFERENT else "")
        if kind is None:
            texts[text if len(texts) < _DIFFERENT else ""] = _Kind(self._now_s())
            self.write(record)
        else:
            kind.more, kind.last = kind.more + 1, record

    def write(self, record: logging.LogRecord) -> None:
        """Write this log line to the stream at once, without counting it."""
        super().emit(record)

    def tell_counts(self, *, all_of_them: bool = False) -> None:
        """Write the counts of repeated log lines whose minute is over. With `all_of_them`, write every count."""
        self.acquire()
        try:
            self._tell_counts(all_of_them)
        finally:
            self.release()

    def _tell_counts(self, all_of_them: bool) -> None:
        due_s = self._now_s() - _MINUTE_S
        for wording, texts in list(self._kinds.items()):
            for text, kind in list(texts.items()):
                if kind.told_s > due_s and not all_of_them:
                    continue
                if kind.last is None:
                    del texts[text]
                    continue
                self.write(_counted(kind.last, kind.more))
                texts[text] = _Kind(self._now_s())
            if not texts:
                del self._kinds[wording]

    async def keep_telling(self) -> None:
        """Write each count of repeated log lines when its minute is over. When cancelled, write all counts that are
        left."""
        try:
            while True:
                await asyncio.sleep(_LOOK_EVERY_S)
                self.tell_counts()
        finally:
            self.tell_counts(all_of_them=True)


def _counted(last: logging.LogRecord, more: int) -> logging.LogRecord:
    """Return one log record in place of `more` equal lines: the last of these lines, with their number added to its
    text."""
    text = last.getMessage() if more == 1 else f"{last.getMessage()} (the last of {more} such lines)"
    return logging.makeLogRecord(last.__dict__ | {"msg": text, "args": None})
