"""Takes the events that tables sent into the ledger: each event is committed, dropped or refused."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from controller.basics.errors import TableError
from controller.contract.keys import signature_holds
from controller.pit.reference.books import Books
from controller.pit.reference.committed import Ack, Events
from controller.pit.reference.incoming import RefusedError, TableEvent, read_event
from controller.pit.reference.intake import Intake
from controller.pit.reference.session import Head
from controller.pit.reference.store import Store, undone_if_raised
from controller.pit.reference.strangers import Strangers


class Committed(Struct, frozen=True):
    """An event that was just written into the ledger, and the alarms that the event caused."""

    table: str
    seq: int
    type: str
    alarms: tuple[TableError, ...]


class Received(Struct, frozen=True):
    """The outcome for a batch of messages.

    `committed` are the committed events, in order. `acks` has, for each adopted table of the batch, its last committed
    event. `refused` holds pairs: the table on whose topic a message came, and why it was not taken. `left` are the
    messages for which there was no time.
    """

    committed: tuple[Committed, ...]
    acks: dict[str, Ack]
    refused: tuple[tuple[str, RefusedError], ...]
    left: Sequence[tuple[str, bytes]] = ()


class Taken(Struct):
    """The outcome for the first `looked_at` messages of a batch. `gaps` are the tables that sent an event whose number
    is not the next, because events before it are missing."""

    committed: list[Committed] = field(default_factory=list)
    refused: list[tuple[str, RefusedError]] = field(default_factory=list)
    gaps: set[str] = field(default_factory=set)
    looked_at: int = 0


class Taking:
    """Takes tables' events into the ledger. Every method must be called inside the ledger's transaction."""

    def __init__(self, db: Store, events: Events, strangers: Strangers, intake: Intake, books: Books) -> None:
        self._db = db
        self._events = events
        self._strangers = strangers
        self._intake = intake
        self._books = books

    def take_all(self, events: Sequence[tuple[str, bytes]], until_s: float) -> Taken:
        """Commit each of these events that is the next event of its table. Each event is a pair: a table's id and a
        payload. No further event is begun once the monotonic clock has reached `until_s`."""
        try:
            with self._undone_if_raised():
                return self._take(events, until_s)
        except self._db.nonsense:  # perhaps of one event alone, and all are undone: take each by itself
            return self._take_each(events, until_s)

    def _take(self, events: Sequence[tuple[str, bytes]], until_s: float) -> Taken:
        """Commit each of these events that is the next event of its table, all in one step. Raises one of the store's
        `nonsense` errors if an event cannot be booked."""
        taken, heads = Taken(), self._events.heads({table for table, _ in events})
        read = [_read(*each) for each in events]
        bodies = self._events.bodies(
            {
                (table, event.epoch, event.seq)
                for (table, _), event in zip(events, read, strict=True)
                if isinstance(event, TableEvent) and table in heads and event.seq <= heads[table].seq
            }
        )
        for (table, payload), event in zip(events, read, strict=True):
            if taken.looked_at and time.monotonic() >= until_s:
                break
            taken.looked_at += 1
            try:
                if isinstance(event, RefusedError):
                    raise event
                if self._is_next(table, payload, event, heads.get(table), bodies, taken.gaps):
                    taken.committed.append(self._commit(table, payload, event))
                    heads[table].seq = event.seq
                    bodies[table, event.epoch, event.seq] = payload
            except RefusedError as refusal:
                taken.refused.append((table, refusal))
        return taken

    def _take_each(self, events: Sequence[tuple[str, bytes]], until_s: float) -> Taken:
        """Commit these events one by one. An event that cannot be booked is undone and refused, and the rest go on."""
        every = Taken()
        for event in events:
            if every.looked_at and time.monotonic() >= until_s:
                break
            try:
                with self._undone_if_raised():
                    taken = self._take((event,), until_s)
            except self._db.nonsense as error:
                taken = Taken(refused=[(event[0], _not_booked(event[0], error))])
            every.looked_at += 1
            every.committed += taken.committed
            every.refused += taken.refused
        return every

    def _is_next(
        self,
        table: str,
        payload: bytes,
        event: TableEvent,
        head: Head | None,
        bodies: Mapping[tuple[str, str, int], bytes],
        gaps: set[str],
    ) -> bool:
        """Return True if this event, which came as `payload`, is the next event of its table. Return False if the
        message is to be dropped. Raises RefusedError if the message is to be refused.

        `head` is the table's last committed event. `bodies` holds the committed events that have the same numbers as
        events of the batch. This writes nothing to the ledger.

        Verifying a signature is the slowest step, so a message that will be dropped is dropped without it. There is one
        exception: the first event of a table after a gap in the numbers is verified, and the table is put into `gaps`.
        So people are told of a forger who does not know which event is next.
        """
        if head is None or head.adoption.epoch != event.epoch:
            raise self._strangers.of_another_epoch(table, event)
        adopted, after_gap = head.adoption, event.seq > head.seq + 1
        body = bodies.get((table, event.epoch, event.seq))
        if body == payload or (after_gap and table in gaps):
            return False
        if after_gap:
            gaps.add(table)
        if not signature_holds(event.message, adopted.public_key):
            raise self._strangers.of_wrong_signature(table, event, adopted)
        if body is not None:
            raise RefusedError(
                "body_differs",
                f"Event {table}/{event.epoch}/{event.seq} came with another body than the committed body, which"
                " stands.",
                "Stop the table and verify its journal: the disk lost what the table had written, or the journal was"
                " copied.",
            )
        if event.seq != head.seq + 1:
            return False
        self._intake.refuse_unknown_meter(table, event)
        self._intake.refuse_strange_price(table, event)
        return True

    def _commit(self, table: str, payload: bytes, event: TableEvent) -> Committed:
        number = self._events.add(table, event, payload)
        return Committed(table, event.seq, event.type, self._intake.take(number, table, event))

    @contextmanager
    def _undone_if_raised(self) -> Iterator[None]:
        """Run a block inside the transaction. If the block raises, its changes in the ledger are undone, and so are the
        bookings that are still in memory."""
        with undone_if_raised(self._db), self._books.gathered():
            yield


def _read(table: str, payload: bytes) -> TableEvent | RefusedError:
    """Parse the event in a payload that came on a table's topic. If the payload holds no event, return the refusal
    instead of raising it."""
    try:
        return read_event(table, payload)
    except RefusedError as refusal:
        return refusal


def _not_booked(table: str, error: Exception) -> RefusedError:
    return RefusedError(
        "event_not_booked",
        f"An event of table {table} cannot be booked, and was not committed: {error!r:.200}.",
        "The table keeps the event and all later events, and sends them again. Run `account`, which tells whether the"
        " ledger is sound. If the ledger is sound, report this to the maker.",
    )
