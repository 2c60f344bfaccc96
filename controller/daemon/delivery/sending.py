"""Sends the table's events to the pit in their order. Events that are not in memory are read from the disk, and events
that the pit has acknowledged are dropped from memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from controller.contract.events import Hit
from controller.daemon import clock
from controller.daemon.delivery.guarantee import (
    NOBODY_LISTENS,
    REFUSED_FROM,
    WINDOW,
    Delivery,
    Phase,
)
from controller.daemon.delivery.outbox import OutboxWatch
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Message, OnJournal
from controller.table.facts import (
    HitUnheard,
    JournalAltered,
    OwnFact,
    PublishRefused,
)
from drivers.devices import Broker

_log = logging.getLogger(__name__)

_RETRY_READ_S = 1.0

_T = TypeVar("_T")


class Sending:
    """Sends the events of one journal to the pit. `delivery` decides which events are sent and when.

    `altered` is the number of the last event that was found altered in the journal, and of which people were told.
    `unread` says why the journal cannot be read; the text is empty if it can. `refused` is a pair: the number of the
    last event that the broker refused, and the broker's reason code.
    """

    def __init__(
        self,
        topic: str,
        journal: Journal,
        broker: Broker,
        on_journal: OnJournal,
        tell: Callable[[OwnFact], None],
        delivery: Delivery,
        most_unacknowledged: int,
    ) -> None:
        self._topic = topic
        self._journal = journal
        self._broker = broker
        self._on_journal = on_journal
        self._tell = tell
        self._delivery = delivery
        self._watch = OutboxWatch(most_unacknowledged)
        self._marked_seq = journal.acked_seq
        self._outbox: dict[int, Message] = {}  # the next events of the window, by seq; later events are on the disk
        self._on_the_way: dict[int, int] = {}  # by the broker's token, the seq of the event
        self._unheard: set[int] = set()  # hits that had no listener at the broker, of which people were told
        self.altered = 0
        self.unread = ""
        self.refused = 0, 0

    def connected(self) -> None:
        """Begin a new connection to the broker. Forget the events that were on their way on the old connection, because
        the broker will not answer for them any more."""
        self._on_the_way.clear()

    def keep(self, messages: Sequence[Message]) -> None:
        """Keep in memory those of the new events that may be sent soon, so that they need not be read from the disk.
        These are the 50 events after the last acknowledged event."""
        for message in messages:
            if message.seq <= self._delivery.acked_seq + WINDOW:
                self._outbox[message.seq] = message

    def send_new(self) -> None:
        """Send the events that are due now. Send nothing if some unacknowledged event is not in memory, because that
        event has to be read from the disk first."""
        if len(self._outbox) == self._delivery.unacknowledged:
            self._send(self._delivery.due(clock.monotonic_s()))

    def let_go(self) -> None:
        """Drop from memory the events that the pit has acknowledged, because they need not be sent again."""
        self.look_at_outbox()
        for seq in [seq for seq in self._outbox if seq <= self._delivery.acked_seq]:
            del self._outbox[seq]

    @property
    def oldest_at(self) -> str | None:
        """Return the time at which the oldest unacknowledged event was made. Return None if no event waits, or if that
        event is not in memory."""
        oldest = self._outbox.get(self._delivery.acked_seq + 1)
        return oldest.head.at if oldest else None

    def answered(self, token: int, reason_code: int) -> bool:
        """Take in the broker's answer to the message that was published under `token`. Return True if the message was
        one of the events sent here, and False if it was another message."""
        seq = self._on_the_way.pop(token, None)
        if seq is None:
            return False
        if reason_code >= REFUSED_FROM:
            self.refused = seq, reason_code
        if self._delivery.published(seq, reason_code, clock.monotonic_s()):
            self._tell(PublishRefused(seq, reason_code))
        elif reason_code == NOBODY_LISTENS and seq not in self._unheard:
            message = self._outbox.get(seq)
            if message is not None and message.head.type == Hit.TYPE:
                self._unheard.add(seq)
                self._tell(HitUnheard(seq))
        return True

    def look_at_outbox(self) -> None:
        """Tell the table if too many events wait for the pit.

        Call this only when the number of waiting events has changed, and never when a fact without an event is
        committed. Such a fact may be the shoe's result for cards that still lie face down. A message of the table at
        that moment would give the result away.
        """
        for fact in self._watch.look(self._delivery.unacknowledged):
            self._tell(fact)

    async def message(self, seq: int) -> Message | None:
        if seq in self._outbox:
            return self._outbox[seq]
        message = await self._read(lambda: self._journal.message(seq))
        if message is None and 0 < seq <= self._delivery.head_seq:
            self._found_altered(seq)
        return message

    async def _read(self, work: Callable[[], _T]) -> _T:
        """Run `work`, which reads from the journal, and return its result. If the disk fails, run `work` again and
        again until it succeeds. Meanwhile no events are sent, but the table goes on."""
        while True:
            try:
                read = await self._on_journal(work)
            except OSError as error:
                if not self.unread:
                    _log.error("the journal cannot be read, and is tried again: %s", error)
                self.unread = str(error)
            else:
                self.unread = ""
                return read
            await asyncio.sleep(_RETRY_READ_S)

    async def send_due(self) -> None:
        due = self._delivery.due(clock.monotonic_s())
        if due and any(seq not in self._outbox for seq in due):
            for message in await self._read(lambda: self._journal.messages_after(due.start - 1, len(due))):
                self._outbox[message.seq] = message
            if self._delivery.phase not in (Phase.STREAMING, Phase.REFUSED):
                return  # while the disk was read the connection went, and perhaps a new one came
        altered = next((seq for seq in due if seq not in self._outbox), None)
        self._send(due if altered is None else range(due.start, altered))
        if altered is not None:
            self._found_altered(altered)

    def _send(self, due: range) -> None:
        for seq in due:
            message = self._outbox[seq]
            token = self._broker.publish(self._topic, message.body, event_type=message.head.type)
            if token is not None:
                self._on_the_way[token] = seq

    async def mark_acked(self) -> None:
        """Write into the journal up to which event the pit has acknowledged. Call this when nothing more urgent is to
        be done.

        If the mark is lost, some events are sent again after a restart, which does no harm.
        """
        seq = self._delivery.acked_seq
        if seq > self._marked_seq:
            try:
                await self._on_journal(lambda: self._journal.mark_acked(seq))
                self._marked_seq = seq
            except OSError as error:
                _log.warning("the pit's acknowledgement could not be marked: %s", error)

    def _found_altered(self, seq: int) -> None:
        """Stop the sending and tell people, because event `seq` is missing in the journal or differs from the event
        that was signed. The numbers of a journal's events have no gaps, so somebody must have altered or removed the
        event."""
        self._delivery.altered(clock.monotonic_s())
        if seq != self.altered:
            self.altered = seq
            _log.error("event %d is not in the journal as it was signed: neither it nor any later event is sent", seq)
            self._tell(JournalAltered(seq))
