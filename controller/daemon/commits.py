"""Commits rows to the journal, one commit at a time, in the only thread that may use the journal.

A commit that fails is tried again until the rows are on the disk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_file import JournalGoneError, code_of
from controller.daemon.record.journal_rows import Entry, Message
from controller.table.facts import CommitFailed, Fact, JournalGone

_log = logging.getLogger(__name__)

PING_S = 1.0
"""How often the watchdog is pinged."""

_RETRY_S = 1.0

_T = TypeVar("_T")


class Commits:
    """The journal's thread, and the handling of a disk that fails.

    While rows wait to be written, `error` says why they wait; otherwise `error` is None. `waits` is called when rows
    begin to wait. `alive` is called to ping the watchdog. `tell` is called when the disk works again. Its argument is a
    fact that records the failure in the journal.
    """

    def __init__(
        self, journal: Journal, alive: Callable[[], None], waits: Callable[[], None], tell: Callable[[Fact], None]
    ) -> None:
        self._journal = journal
        self._alive = alive
        self._waits = waits
        self._tell = tell
        self._thread = ThreadPoolExecutor(1, "journal")
        self.error: str | None = None

    def on_journal(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Run `work` in the journal's own thread, the only one that may use the journal. Return an awaitable of its
        result."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Wait for the journal's thread to finish its work, and end the thread."""
        self._thread.shutdown(wait=True)

    async def commit(self, entries: list[Entry]) -> list[Message]:
        """Commit the rows to the journal, and return the events that they made. If the disk fails, try again each
        second.

        If the journal's file is gone, write the file again. While rows wait, they are kept in memory, and people are
        told at once that rows wait. People are told even if the rows are about face-down cards, although the moment of
        the message can then reveal that the shoe's result came. The other way would be to keep such rows in memory
        until the cards are turned up. That would be worse, because a power cut would lose the rows.
        """
        failed: OSError | None = None
        gone: JournalGoneError | None = None
        kept_as: str | None = None
        while True:
            try:
                try:
                    messages = await self.on_journal(lambda: self._journal.append(entries))
                except JournalGoneError as error:
                    _log.error("the journal is not where it was: %s", error)
                    self._wait_for_journal(str(error))
                    gone = gone or error
                    kept_as = await self._with_pings(self.on_journal(self._journal.put_back)) or kept_as
                    _log.warning("the journal is written there again; what stood there: %s", kept_as or "nothing")
                    continue
            except OSError as error:
                if failed is None:
                    _log.error("the journal cannot be written, and is tried again: %s", error)
                failed = error
                self._wait_for_journal(str(error))
                await asyncio.sleep(_RETRY_S)
                continue
            self.error = None
            if gone is not None:
                self._tell(JournalGone(gone.file, gone.code, kept_as))
            elif failed is not None:
                _log.warning("the journal can be written again")
                self._tell(CommitFailed(code_of(failed)))
            return messages

    def _wait_for_journal(self, why: str) -> None:
        self.error = why
        self._alive()
        self._waits()

    async def _with_pings(self, work: Awaitable[_T]) -> _T:
        """Await `work` and return its result. Ping the watchdog meanwhile, because `work` may take longer than the
        watchdog waits for a ping."""
        doing = asyncio.ensure_future(work)
        while not (await asyncio.wait([doing], timeout=PING_S))[0]:
            self._alive()
        return doing.result()
