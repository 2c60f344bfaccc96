"""Signs checkpoints of a table's journal. A checkpoint is a signed note that names the number of the journal's rows and
the root hash of their Merkle tree.

A checkpoint is due when a round or a shoe ends, when a round's record is corrected, and when an award reaches its next
step. A checkpoint reveals how many rows the journal has. Cards that lie face down decide how many rows a round has, and
when the rows come. So a checkpoint is signed only while no card of a round is hidden, and at a beat of the clock, never
at the moment of a commit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from controller.basics.errors import TableError
from controller.contract.note import Note
from controller.daemon.beat import next_beat
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Message, OnJournal

_log = logging.getLogger(__name__)

_AFTER = ("round", "void", "correction", "award", "shoe_closed")
"""The events after which a checkpoint is due: the end of a round or a shoe, and what becomes of a round later."""


class Checkpointing:
    """Signs the checkpoints of one journal.

    `on_journal` runs a function in the journal's thread. `hidden` tells whether a round has a card that nobody has
    seen. `tell` is called with each new checkpoint and with a flag. The flag is True if a shoe has ended since the
    previous checkpoint. `last` is the latest checkpoint.
    """

    def __init__(
        self, journal: Journal, on_journal: OnJournal, hidden: Callable[[], bool], tell: Callable[[Note, bool], None]
    ) -> None:
        self._journal = journal
        self._on_journal = on_journal
        self._hidden = hidden
        self._tell = tell
        self._due = self._shoe_ended = False
        self.last = journal.last_note("signed")

    def committed(self, messages: Iterable[Message]) -> None:
        """Take note of new events in the journal. A checkpoint becomes due if one of these events ends a round or a
        shoe, corrects a round, or changes an award."""
        told = {message.head.type for message in messages}
        self._due = self._due or not told.isdisjoint(_AFTER)
        self._shoe_ended = self._shoe_ended or "shoe_closed" in told

    async def run(self) -> None:
        """Sign a checkpoint whenever one is due, until cancelled.

        If the disk fails, wait until the next checkpoint is due, for example at the end of the next round.
        """
        while True:
            await next_beat()
            if not self._due or self._hidden():
                continue
            self._due = False
            try:
                note = await self._on_journal(self._journal.checkpoint)
            except (OSError, TableError) as error:
                _log.warning("no checkpoint of the journal can be signed now: %s", error)
            else:
                self.last = note
                self._tell(note, self._shoe_ended)
                self._shoe_ended = False
