"""Moves the rows of old shoes from the journal into archives while the table runs. The rows move in portions, between
rounds.

The table does not wait for archiving: the copy is made on a thread of its own, and the journal's thread only deletes
the rows that were copied. A shoe is closed every hour or so, and is one portion. A journal that grew while the pit
acknowledged nothing takes many portions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from controller.basics.errors import TableError
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_file import code_of
from controller.daemon.record.journal_rows import OnJournal
from controller.table.facts import ArchiveFailed, JournalLarge, OwnFact

_log = logging.getLogger(__name__)

_AT_MOST_ROWS = 1000  # a shoe has some 700; on a Pi 3 the copy of so many takes a second of one core
_LOOK_EVERY_S = 2.0
_BETWEEN_PORTIONS_S = 1.0
_RETRY_S = 60.0

_T = TypeVar("_T")


class Archivist:
    """Keeps a journal short by moving its old shoes into archives. `keep_shoes` and `most_bytes` are settings from the
    table file's section `[journal]`.

    `quiet` tells whether the table is between rounds. `tell` takes facts for the table.
    """

    def __init__(
        self,
        journal: Journal,
        keep_shoes: int,
        most_bytes: int,
        on_journal: OnJournal,
        quiet: Callable[[], bool],
        tell: Callable[[OwnFact], None],
    ) -> None:
        self._journal = journal
        self._keep_shoes = keep_shoes
        self._most_bytes = most_bytes
        self._on_journal = on_journal
        self._quiet = quiet
        self._tell = tell
        self._large_told = False
        self.error: str | None = None
        """Why the last portion could not be archived, in words for people."""

    async def run(self) -> None:
        """Archive the journal's old rows between rounds, until cancelled."""
        pause_s = _LOOK_EVERY_S
        while True:
            await asyncio.sleep(pause_s)
            if self._quiet():
                pause_s = await self._portion_or_why_not()

    async def _portion_or_why_not(self) -> float:
        """Archive one portion of rows, and return how many seconds to wait before the next one. The table is told of a
        failure once, and of a further failure only after some portion succeeded."""
        try:
            went = await self._portion()
        except (OSError, TableError) as error:
            if self.error is None:
                _log.error("the journal's old rows cannot be archived, and stay in it: %s", error)
                self._tell(ArchiveFailed(code_of(error)))
            self.error = error.what if isinstance(error, TableError) else str(error)
            return _RETRY_S
        self.error = None
        return _BETWEEN_PORTIONS_S if went else _LOOK_EVERY_S

    async def _portion(self) -> bool:
        """Archive the oldest rows that may leave the journal. If no rows may leave, make the journal's file shorter
        instead. Return whether there may be more to do."""
        journal, most = self._journal, self._most_bytes
        used = await self._on_journal(lambda: journal.used_bytes)
        keep = 0 if used > most else self._keep_shoes
        run = await self._on_journal(lambda: journal.next_to_archive(keep, _AT_MOST_ROWS))
        self._look_at_size(used, run is None)
        if run is None:
            return await self._on_journal(lambda: journal.give_back_room(most))
        archive = await _to_its_end(asyncio.to_thread(journal.write_archive, run))
        await self._on_journal(lambda: journal.leave_to_archive(run, archive))
        _log.info("rows %d to %d of the journal are in %s now", run.first_row, run.last_row, archive)
        return True

    def _look_at_size(self, used: int, nothing_may_go: bool) -> None:
        """Tell the table if the journal uses more bytes than allowed and no rows may be archived. The table is told
        once, and a second time only if the journal was small enough in between."""
        if used <= self._most_bytes:
            self._large_told = False
        elif nothing_may_go and not self._large_told:
            self._large_told = True
            self._tell(JournalLarge(used, self._most_bytes))


async def _to_its_end(copy: Coroutine[Any, Any, _T]) -> _T:
    """Await the copying of rows into an archive, and return its result. If the table is stopped meanwhile, wait for the
    copy to end, because no thread may still work after the journal is closed."""
    task = asyncio.create_task(copy)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
