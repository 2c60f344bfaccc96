"""Has the pit cosign checkpoints of this table's journal, so that the pit becomes a witness of the journal. A
checkpoint is the signed size and root hash of the journal's Merkle tree.

A pit that cosigns has a message retained on the table's topic `cosigned`. The table shows checkpoints only to such a
pit. A checkpoint with its proof has some 1,000 bytes, and 2,000 in a journal of many years. To send no more than 200
bytes a round, the table shows one checkpoint at each shoe's end, after every fifteen rounds, and once on each
connection. Each checkpoint was signed while no card lay face down (see `checkpointing`), and is published on the beat
(one of four fixed moments in each second). The pit may refuse a sound checkpoint because its proof was spoiled on the
way. Then the table shows that checkpoint once more.

The tree that the pit has cosigned must be the tree of this journal. If it is another tree, people are told, because
this journal is an older copy, or a second table writes under its name.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable

from controller.contract.canonical import parse_object
from controller.contract.note import Note
from controller.contract.pit_words import CosignedWord
from controller.contract.topics import Topics
from controller.contract.witnessing import PIT_WITNESS, ShownCheckpoint
from controller.daemon.beat import next_beat
from controller.daemon.delivery.alarms import Alarms
from controller.daemon.delivery.pit_trust import PitTrust
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import OnJournal
from controller.table.facts import JournalForked
from drivers.devices import Broker

_log = logging.getLogger(__name__)

SHOWN_EVERY = 15
"""After so many checkpoints one is shown, if no shoe ended before. A table signs one after each round."""


class Witness:
    """Shows the pit the checkpoints (signed sizes and root hashes) of one journal, and judges what the pit has
    cosigned. `is_the_pits` tells whether the pinned key of the pit signed a message on a topic."""

    def __init__(
        self,
        topics: Topics,
        journal: Journal,
        broker: Broker,
        on_journal: OnJournal,
        trust: PitTrust,
        is_the_pits: Callable[[str, dict[str, object]], bool],
        alarms: Alarms,
    ) -> None:
        self._topics = topics
        self._journal = journal
        self._broker = broker
        self._on_journal = on_journal
        self._trust = trust
        self._is_the_pits = is_the_pits
        self._alarms = alarms
        self._word: bytes | None = None  # the pit's last word, until it is judged
        self._size: int | None = None  # how many rows the pit has cosigned; None: on this connection it has not said
        self._signed: Note | None = None  # the table's last checkpoint
        self._shown: Note | None = None  # what was shown last, until it is shown once more
        self._since_shown = 0  # checkpoints since the last that was shown
        self._due = False

    def disconnected(self) -> None:
        """Note that the connection to the broker is gone, and forget what the pit has cosigned. The pit tells it anew
        on the next connection."""
        self._word = self._size = None

    def signed(self, note: Note, at_end: bool) -> None:
        """Take in a checkpoint that the table has just signed. `at_end` says whether a shoe has just ended, because at
        each shoe's end a checkpoint is due to be shown to the pit."""
        self._signed = note
        self._since_shown += 1
        self._due = self._due or at_end or self._since_shown >= SHOWN_EVERY

    def heard(self, payload: bytes) -> None:
        """Keep a message in which the pit tells what it has cosigned. The message is judged within a quarter of a
        second, or once a person has pinned the pit's key."""
        self._word = payload

    async def run(self) -> None:
        """Judge the pit's messages and show the pit the checkpoints that are due, until cancelled. If the disk fails,
        log the failure and go on."""
        while True:
            await next_beat()
            try:
                if self._word is not None and not self._trust.undecided:
                    payload, self._word = self._word, None
                    await self._judge(payload)
                if self._due and self._size is not None and self._signed is not None:
                    self._due, self._since_shown = False, 0
                    self._shown = self._signed
                    await self._show(self._signed, self._size)
            except OSError as error:
                _log.warning("the journal's tree cannot be read, so the pit is shown no checkpoint now: %s", error)

    async def _show(self, note: Note, old: int) -> None:
        point = note.checkpoint()
        assert point is not None, "the table signs checkpoints"
        if point.size <= old:
            return
        proof = await self._on_journal(lambda: self._journal.consistency(old, point.size))
        await next_beat()  # how long the proof took is not told
        self._broker.publish(self._topics.checkpoint, ShownCheckpoint.of(note, old, proof).payload())

    async def _judge(self, payload: bytes) -> None:
        message = parse_object(payload)
        word = CosignedWord.read(message)
        if word is None:
            _log.warning("a message on %s is no word of a pit that cosigns, and is ignored", self._topics.cosigned)
            return
        if not self._is_the_pits(self._topics.cosigned, message):
            return
        if f"{word.table}/{word.epoch}" != self._journal.origin:
            return  # as with an ack: the pit has yet to adopt this journal
        if self._size is None:  # the first on this connection
            self._signed = self._signed or await self._on_journal(lambda: self._journal.last_note("signed"))
            self._due = self._signed is not None
        self._size = word.size
        if word.refused is not None:
            _log.warning("the pit does not cosign the last checkpoint of this journal: %s", word.refused)
        note = await self._on_journal(lambda: self._journal.note_at(word.size)) if word.size else None
        cosigned = None if note is None else self._cosigned(note, word)
        if cosigned is not None:
            await self._on_journal(lambda: self._journal.keep_cosigned(word.size, cosigned))
        if word.refused == "forked" and cosigned is not None and self._shown is not None:
            again, self._shown = self._shown, None
            await self._show(again, word.size)
        if word.refused == "forked" or (word.size and cosigned is None):
            rows = await self._on_journal(lambda: self._journal.tree_size)
            what = f"the pit has cosigned a journal of {word.size} rows under this one's name; this one has {rows}"
            self._alarms.alarm("journal_forked", JournalForked(word.size, rows), what)

    def _cosigned(self, note: Note, word: CosignedWord) -> Note | None:
        """Return the table's own checkpoint `note` with the cosignature of the pit added. Return None if the pit's
        signature does not fit, because the pit cosigned another tree, or if no key of the pit is pinned."""
        line = (PIT_WITNESS, base64.b64decode(word.cosignature))
        whole = Note(note.text, (*note.signatures, line))
        pinned = self._trust.pinned
        return None if pinned is None or whole.cosigned_at_s(PIT_WITNESS, pinned) is None else whole
