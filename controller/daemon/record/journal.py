"""The journal: every fact in the order it was believed, the events it made, and how far the pit has acknowledged.

The journal is one SQLite file. A fact and its events are one row and its messages, in one transaction that is committed
before anything acts on them. Each row is chained to the row before by a salted hash (`contract.envelope.chain_head`).
Rows are kept for ever. The rows of old shoes go to archives (`archive.py`), and the file notes which rows each archive
holds, and where the archive is. The outbox is the events after the pit's acknowledgement.

Every method waits for the disk. The daemon calls all methods but `write_archive` on its one commit thread.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.contract.events import Event
from controller.contract.keys import signature_holds
from controller.contract.signing import Signer
from controller.daemon.record.archive import Run, beside, read_archive, write_archive
from controller.daemon.record.fact_json import fact_from_json, fact_to_json
from controller.daemon.record.journal_file import JournalFailedError, JournalFile, JournalGoneError, set_aside
from controller.daemon.record.stored_row import StoredRow, stamped
from controller.table.facts import Fact

SCHEMA_VERSION = 2
"""Form 2 also holds how each fact came, the machine's own clock, and which rows archives hold. Opening a journal of
form 1 gives the journal form 2."""

_KEY_BYTES = 32
_LAST_ROW = 2**63 - 1
_MOST_MS = 253_402_300_800_000  # the year 10000, which no clock tells
_CHECKPOINT_PAGES = 1000  # SQLite's own
_SHARED_MEMORY_BYTES = 32768  # the least of SQLite's -shm file
_PAGES_GIVEN_BACK_AT_ONCE = 500

_BEGIN_ANEW = (
    "begin a new journal, which the pit must adopt: tablectl new-journal TABLE.toml --by NAME. That keeps this file "
    "for the audit, under another name."
)

_ARCHIVE_TABLE = """
CREATE TABLE archive (
    first_row INTEGER PRIMARY KEY,
    last_row INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    head_before BLOB NOT NULL,
    head_after BLOB NOT NULL,
    path TEXT NOT NULL
) STRICT
"""
_SCHEMA = f"""
CREATE TABLE journal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    public_key BLOB NOT NULL,
    boots INTEGER NOT NULL,
    acked_seq INTEGER NOT NULL
) STRICT;
CREATE TABLE fact (
    row INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    clock_synchronised INTEGER NOT NULL,
    kind TEXT NOT NULL,
    fact BLOB NOT NULL,
    salt BLOB NOT NULL,
    head BLOB NOT NULL,
    boot_id TEXT NOT NULL DEFAULT '',
    since_boot_ms INTEGER NOT NULL DEFAULT 0,
    via TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX shoe_opened ON fact (row) WHERE kind = 'ShoeOpened';
CREATE TABLE message (
    seq INTEGER PRIMARY KEY,
    row INTEGER NOT NULL REFERENCES fact (row),
    body BLOB NOT NULL
) STRICT;
CREATE INDEX message_row ON message (row);
{_ARCHIVE_TABLE};
"""

# A `ShoeOpened` whose step failed opened no shoe.
_OPENED_A_SHOE = """
kind = 'ShoeOpened' AND NOT EXISTS
(SELECT 1 FROM fact AS next WHERE next.row = fact.row + 1 AND next.kind = 'StepFailed')
"""

_TO_FORM_2 = (
    _ARCHIVE_TABLE,
    "ALTER TABLE fact ADD COLUMN boot_id TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE fact ADD COLUMN since_boot_ms INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE fact ADD COLUMN via TEXT NOT NULL DEFAULT ''",
)


_T = TypeVar("_T")


class Entry(Struct, frozen=True):
    """A fact to be journalled, when it came and the events it made.

    `via` is the way on which the fact came: the shoe with its brand (`shoe beetek`), `controller`, `pit`, a button's
    name, or who was on the socket.
    """

    stamp: Stamp
    fact: Fact
    events: tuple[Event, ...]
    via: str = ""


class Row(Struct, frozen=True):
    """A fact as it stands in the journal, and the bytes of its messages; `via` as in `Entry`."""

    number: int
    stamp: Stamp
    fact: Fact
    messages: tuple[bytes, ...]
    previous_head: bytes
    first_seq: int
    via: str = ""


class Message(Struct, frozen=True, dict=True):  # what it says is read once
    """A message of the outbox: its number in the stream and its bytes."""

    seq: int
    body: bytes

    @cached_property
    def says(self) -> dict[str, Any]:
        """The body, read once."""
        value: dict[str, Any] = json.loads(self.body)
        return value


class OnJournal(Protocol):
    """Does work in the one thread that may touch the journal."""

    def __call__(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """The result of `work`."""


def rescued(path: Path, epoch: str) -> Path:
    """The path at which a journal whose file was removed is written again. From there the copy takes its place."""
    return path.with_name(f"{path.name}.rescued-{epoch}")


class Journal:
    """An open journal, written by this process alone.

    `epoch` names this journal's stream. `boot` counts its openings. `head_seq` is the last event's number,
    `acked_seq` the number of the last event that `mark_acked` has marked. `archived_rows` says how many of the first
    rows are in archives.
    """

    def __init__(
        self,
        path: Path,
        table_id: str,
        signer: Signer,
        public_key: bytes,
        archive: Path | None = None,
        epoch: str | None = None,
    ) -> None:
        """Open the journal at `path`, or begin one there. With `epoch`, open no journal but the one of this epoch.

        `archive` is the folder of the journal's archives; without it, they are beside the journal.

        Raises TableError: `journal_in_use`, `journal_of_another_table`, `journal_of_another_key`,
        `journal_of_another_epoch`, `journal_too_new`, `journal_damaged`, `journal_linked`, `journal_unusable`.
        """
        self._path = path
        self._archive = archive or beside(path)
        self._archive_read: tuple[int, list[Message]] | None = None  # the last read, by its first row
        self._kept_as: str | None = None  # the name of a file that an unfinished `put_back` set aside
        self._signer = signer
        self._public_key = public_key
        self._table_id = table_id
        with ExitStack() as undo, _explained(path):
            self._take()
            undo.callback(self._let_go)
            self._begin_or_check(epoch)
            self._file.for_its_user_alone()
            self._set_up()
            self._log_in_doubt = False
            self._row, self._head = _last_row(self._db)
            self.head_seq = _head_seq(self._db, path, self._row)
            self.archived_rows: int = self._db.execute("SELECT coalesce(max(last_row), 0) FROM archive").fetchone()[0]
            self.epoch, self.boot, self.acked_seq = self._db.execute(
                "UPDATE journal SET boots = boots + 1 RETURNING epoch, boots, acked_seq"
            ).fetchone()
            self._file.log_begun()
            undo.pop_all()

    def _take(self) -> None:
        file = JournalFile(self._path)
        try:
            self._db = sqlite3.connect(file.path, isolation_level=None, check_same_thread=False)
        except sqlite3.Error:
            file.close()
            raise
        self._file, self._open = file, True

    def _set_up(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA wal_checkpoint")  # an earlier run's sync may have failed: see _begin_log_anew

    def _begin_or_check(self, must_be: str | None) -> None:
        if must_be is None and not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            epoch = secrets.token_hex(5)
            self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # room that archived rows leave can be given back
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                whose = self._table_id, epoch, self._public_key
                self._db.execute("INSERT INTO journal VALUES (1, ?, ?, ?, 0, 0)", whose)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        form = _check_form(self._db, self._path)
        table_id, key, epoch = self._db.execute("SELECT table_id, public_key, epoch FROM journal").fetchone()
        if table_id != self._table_id:
            raise TableError(
                "journal_of_another_table",
                f"The journal {self._path} belongs to table {table_id}, not to {self._table_id}.",
                "Correct [journal] path or [table] id in the table's file.",
            )
        if key != self._public_key:
            raise TableError(
                "journal_of_another_key",
                f"The journal {self._path} was signed by another key than [journal] signing_key.",
                f"Restore the key that belongs to this journal, or {_BEGIN_ANEW}",
            )
        if must_be is not None and epoch != must_be:
            raise TableError(
                "journal_of_another_epoch",
                f"The journal {self._path} is of epoch {epoch}. This table's last journal is of epoch {must_be}.",
                f"Put the journal of epoch {must_be} there, or {_BEGIN_ANEW}",
            )
        if form == 1:
            with self._transaction():
                for statement in _TO_FORM_2:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def append(self, entries: Sequence[Entry]) -> list[Message]:
        """Commit the entries, all or none, and return their messages.

        Raises OSError where the disk fails. Raises JournalGoneError, having committed nothing, where the file is not at
        its place: `put_back` writes the file again.
        """
        row, head, seq = self._row, self._head, self.head_seq
        made: list[Message] = []
        if (missing := self.missing()) is not None:
            raise missing
        with self._commit():
            for entry in entries:
                row += 1
                fact = fact_to_json(entry.fact)
                salt = os.urandom(16)
                messages = [
                    seal(event, self._table_id, self.epoch, seq + place, entry.stamp, head, self._signer)
                    for place, event in enumerate(entry.events, 1)
                ]
                head = chain_head(head, stamped(entry.stamp, entry.via, fact), messages, salt)
                self._db.execute(
                    "INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        row,
                        entry.stamp.at_ms,
                        entry.stamp.synchronised,
                        type(entry.fact).__name__,
                        fact,
                        salt,
                        head,
                        entry.stamp.boot_id,
                        entry.stamp.since_boot_ms,
                        entry.via,
                    ),
                )
                for body in messages:
                    seq += 1
                    self._db.execute("INSERT INTO message VALUES (?, ?, ?)", (seq, row, body))
                    made.append(Message(seq, body))
        self._row, self._head, self.head_seq = row, head, seq
        return made

    def missing(self) -> JournalGoneError | None:
        """Which part of the file is not at its place; None where all is well. Raises OSError."""
        return self._file.missing() if self._open else JournalGoneError(self._path.name, "not_opened")

    def put_back(self) -> str | None:
        """Write the whole journal to its place again.

        The process that has a removed or replaced file open can still read all that was committed to the file. A file
        that stands in its place by now gets another name, which is returned; None where no file stood there. Raises
        OSError where the disk fails: try again.
        """
        try:
            if self._open:
                self._begin_log_anew()  # the open file, whatever its name, holds everything now
                stands = self._file.stands()
                copy = None if stands else self._copied()
                if (aside := set_aside(self._file.path, itself=not stands)) is not None:
                    self._kept_as = aside.name
                if copy is not None:
                    copy.rename(self._file.path)
                sync_folder(self._file.path)
                self._let_go()
            with ExitStack() as undo:
                self._take()
                undo.callback(self._let_go)
                self._set_up()
                if _last_row(self._db) != (self._row, self._head):
                    what = f"the file at {self._path.name} does not end as this journal does"
                    raise JournalFailedError("journal_differs", what)
                self._file.log_begun()
                undo.pop_all()
        except sqlite3.Error as error:
            raise _failed(error, self._path) from error
        except TableError as error:
            raise JournalFailedError(error.code, error.what) from error
        kept_as, self._kept_as = self._kept_as, None
        return kept_as

    def _copied(self) -> Path:
        """A whole copy of the journal, on the disk."""
        copy = rescued(self._file.path, self.epoch)
        _copy(self._db, copy)
        return copy

    def _begin_log_anew(self) -> None:
        """Copy the content of the write-ahead log into the file, and sync the file.

        A failed sync is reported once: the kernel then takes the unwritten pages of the log for written, and the next
        sync passes them over. The pages can still be read, so they are written to another place.
        """
        busy, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            what = "another program reads the journal, so its write-ahead log cannot be emptied yet"
            raise JournalFailedError("journal_read_meanwhile", what)
        self._log_in_doubt = False

    @property
    def last_stamp(self) -> Stamp | None:
        """When the last fact came; None before the first."""
        last = self._db.execute(
            "SELECT at_ms, clock_synchronised, boot_id, since_boot_ms FROM fact ORDER BY row DESC LIMIT 1"
        ).fetchone()
        return None if last is None else Stamp(last[0], bool(last[1]), *last[2:])

    def messages_after(self, seq: int, limit: int) -> list[Message]:
        """The messages numbered after `seq`, in order, at most `limit`, also from archives.

        They end before the first message that is not as it was signed. Raises OSError where the disk fails, or where an
        archive that is needed is missing or damaged.
        """
        found: list[Message] = []
        while len(found) < limit and (archived := self._archived(seq + 1 + len(found))):
            found += archived[: limit - len(found)]
        return found + self._messages(range(seq + 1 + len(found), min(seq + limit, self.head_seq) + 1))

    def message(self, seq: int) -> Message | None:
        """The message of this number as it was signed; None where there is none. Raises OSError as `messages_after`."""
        return next((message for message in self.messages_after(seq - 1, 1) if message.seq == seq), None)

    def _archived(self, seq: int) -> list[Message]:
        """The messages from `seq` on of the archive that holds message `seq`; empty where no archive does.

        Commits wait meanwhile. Unpacking the 240 rows of a short shoe takes 6 ms on a PC's core, once for each archive.
        A pit that went back takes longer to acknowledge so many events.
        """
        with self._telling():
            first = self._db.execute("SELECT min(seq) FROM message").fetchone()[0]
            if first is not None and seq >= first:
                return []
            runs = _runs(self._db, "WHERE first_seq <= ?1 AND last_seq >= ?1", seq)
        for run, path in runs:
            if self._archive_read is None or self._archive_read[0] != run.first_row:
                try:
                    rows = read_archive(_file_of(run, path, self._archive, beside(self._path)), run)
                except TableError as error:
                    raise JournalFailedError(error.code, error.what) from error
                self._archive_read = run.first_row, list(_messages_of(rows))
            return [message for message in self._archive_read[1] if message.seq >= seq]
        return []

    def _messages(self, seqs: range) -> list[Message]:
        """These messages from the disk, each checked against its signature and its place in the chain.

        They end before the first message that is not as this table made it: the pit would refuse that message and all
        later ones.
        """
        good: list[Message] = []
        with self._telling(), suppress(TableError):
            for seq, (stored, row, body, head) in zip(
                seqs,
                self._db.execute(
                    "SELECT seq, row, body, coalesce((SELECT head FROM fact WHERE fact.row = message.row - 1), "
                    "(SELECT head_after FROM archive WHERE last_row = message.row - 1)) "
                    "FROM message WHERE seq BETWEEN ? AND ? ORDER BY seq",
                    (seqs.start, seqs.stop - 1),
                ),
                strict=False,
            ):
                if stored != seq or (row > 1 and head is None):
                    break
                id_ = f"{self._table_id}/{self.epoch}/{seq}"
                _check_message(self._path, row, GENESIS if row == 1 else head, body, id_, self._public_key)
                good.append(Message(seq, body))
        return good

    def mark_acked(self, seq: int) -> None:
        """Mark everything through `seq` as acknowledged by the pit. Raises OSError where the disk fails.

        The mark is not synced: the next fact's commit syncs it. Where the mark is lost, events are sent again, and the
        pit drops them.
        """
        with self._telling():
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA wal_autocheckpoint = 0")  # else a sync could fail, and nobody would hear of that
            try:
                self._db.execute("UPDATE journal SET acked_seq = ?", (seq,))
            finally:
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        self.acked_seq = seq

    @property
    def used_bytes(self) -> int:
        """The bytes that the file's rows take, without the room that archived rows left in the file."""
        pages, free, page_bytes = self._pages()
        return (pages - free) * page_bytes

    def _pages(self) -> tuple[int, int, int]:
        with self._telling():
            return tuple(
                self._db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )

    def next_to_archive(self, keep_shoes: int, at_most_rows: int) -> Run | None:
        """The oldest rows that may go to an archive, at most so many: whole shoes where they fit.

        The last shoe stays, and so do the `keep_shoes` before it, and every shoe with an event that the pit has not
        acknowledged. Raises OSError where the disk fails.
        """
        with self._telling():
            return self._next_to_archive(keep_shoes, at_most_rows)

    def _next_to_archive(self, keep_shoes: int, at_most_rows: int) -> Run | None:
        db = self._db
        kept = db.execute(
            f"SELECT row FROM fact WHERE {_OPENED_A_SHOE} ORDER BY row DESC LIMIT 1 OFFSET ?", (keep_shoes,)
        ).fetchone()
        if kept is None:
            return None
        (stays,) = kept
        waiting = db.execute("SELECT row FROM message WHERE seq > ? ORDER BY seq LIMIT 1", (self.acked_seq,)).fetchone()
        if waiting is not None and waiting[0] <= stays:  # a shoe's opening also tells that the shoe before closed
            query = "SELECT coalesce(max(row), 0) FROM fact WHERE kind = 'ShoeOpened' AND row < ?"
            stays = db.execute(query, waiting).fetchone()[0]
        first: int = db.execute("SELECT min(row) FROM fact").fetchone()[0]
        if stays <= first:
            return None
        end = min(stays, first + at_most_rows)  # the row after the last
        whole = "SELECT max(row) FROM fact WHERE kind = 'ShoeOpened' AND row > ? AND row <= ?"
        end = db.execute(whole, (first, end)).fetchone()[0] or end
        head_before, seq = _before(db, self._path, first)
        head_after, last_seq = _before(db, self._path, end)
        whose = self._table_id, self.epoch, self._public_key
        return Run(*whose, first, end - 1, seq + 1, last_seq, head_before, head_after)

    def write_archive(self, run: Run) -> Path:
        """Copy the rows of `next_to_archive` into their archive, and return its path. The rows also stay here.

        May be called on any thread: it reads over a connection of its own. Raises OSError where the disk fails, and
        TableError where the rows are damaged, or where an archive is in the way or cannot be read back.
        """
        with _reading(self._path) as db:
            rows = []
            kept = _kept(db, run.first_row, run.last_row)
            for row, previous in _chained(self._path, kept, run.head_before, run.first_row):
                for seq, body in enumerate(row.messages, row.first_seq):
                    id_ = f"{run.table}/{run.epoch}/{seq}"
                    _check_message(self._path, row.number, previous, body, id_, run.public_key)
                rows.append(row)
        return write_archive(self._archive, run, rows, self._signer)

    def leave_to_archive(self, run: Run, archive: Path) -> None:
        """Delete the rows that `write_archive` put into `archive`, and note where the rows are: both or neither.

        Raises OSError where the disk fails.
        """
        with self._commit():
            first = self._db.execute("SELECT min(row) FROM fact").fetchone()[0]
            if (first, _before(self._db, self._path, run.last_row + 1)) != (
                run.first_row,
                (run.head_after, run.last_seq),
            ):
                raise _damaged(self._path, run.first_row, "it is not the row that was archived")
            self._db.execute(
                "INSERT INTO archive VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    run.first_row,
                    run.last_row,
                    run.first_seq,
                    run.last_seq,
                    run.head_before,
                    run.head_after,
                    str(archive.absolute()),
                ),
            )
            self._db.execute("DELETE FROM message WHERE row <= ?", (run.last_row,))
            self._db.execute("DELETE FROM fact WHERE row <= ?", (run.last_row,))
        self.archived_rows = run.last_row

    def give_back_room(self, most_bytes: int) -> bool:
        """Make the file a little shorter where it is longer than `most_bytes` and has unused room. Returns whether it
        did.

        A file that was begun in form 1 keeps its length, and its room is used again. Raises OSError.
        """
        pages, free, page_bytes = self._pages()
        if pages * page_bytes <= most_bytes or not free:
            return False
        with self._telling():
            self._db.execute(f"PRAGMA incremental_vacuum({_PAGES_GIVEN_BACK_AT_ONCE})").fetchall()
        return self._pages()[0] < pages

    def open_shoe(self) -> Iterator[Row]:
        """The rows from the last shoe's opening on (all rows where none was opened), for replay.

        Raises TableError `journal_damaged` at a row that does not fit its chain.
        """
        with _explained(self._path):
            yield from _open_shoe(self._db, self._path)

    def open_shoe_begun_by(self) -> str | None:
        """The version of the program that opened the open shoe; None where no shoe was opened.

        The version can be read where the rest of the shoe's first row cannot.
        """
        with _explained(self._path):
            row = self._db.execute(f"SELECT fact FROM fact WHERE {_OPENED_A_SHOE} ORDER BY row DESC LIMIT 1").fetchone()
            return None if row is None else json.loads(row[0]).get("version")

    def close(self) -> None:
        """Let go of the file."""
        if self._open:
            self._let_go()

    def _let_go(self) -> None:
        self._db.close()
        self._file.close()
        self._open = False

    @contextmanager
    def _commit(self) -> Iterator[None]:
        """A transaction that is on the disk when it ends. Raises OSError where the disk fails."""
        try:
            if self._log_in_doubt:
                self._begin_log_anew()
            with self._transaction():
                yield
        except sqlite3.Error as error:
            self._log_in_doubt |= getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_FSYNC
            raise _failed(error, self._path) from error

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn SQLite's errors into OSError, in words for people."""
        try:
            yield
        except sqlite3.Error as error:
            raise _failed(error, self._path) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


class Verified(Struct, frozen=True):
    """What `verify` found good: how many rows and messages, and the epoch and chain head at the end.

    Also how many of the rows are in archives, and in how many archives.
    """

    table: str
    epoch: str
    rows: int
    messages: int
    head: bytes
    archived_rows: int = 0
    archives: int = 0


def verify(path: Path, archive: Path | None = None, *folders: Path) -> Verified:
    """Read the whole journal and its archives, and check each row: numbering, chain, message ids, signatures.

    Archives are looked for in the folder `archive` alone; without it, where the journal says that they are, in these
    `folders`, or beside the journal. Only reads, also while the table runs. Raises TableError `journal_damaged` naming
    the first bad row, `journal_missing`, `archive_missing`, `archive_unreadable` or `archive_damaged`.
    """
    with _reading(path) as db:
        table, epoch = db.execute("SELECT table_id, epoch FROM journal").fetchone()
        archives, archived_rows, archived_seq = db.execute(
            "SELECT count(*), coalesce(max(last_row), 0), coalesce(max(last_seq), 0) FROM archive"
            if _form(db) > 1
            else "SELECT 0, 0, 0"
        ).fetchone()
        rows, messages = 0, 0
        for row in _signed_rows(db, path, archive, *folders):
            rows, messages = row.number, messages + len(row.messages)
        head = _last_row(db)[1]
        _head_seq(db, path, rows)
        if stray := db.execute("SELECT count(*) FROM message").fetchone()[0] - (messages - archived_seq):
            raise _damaged(path, rows, f"{stray} messages belong to no row")
        if (sound := db.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
            raise _damaged(path, rows, f"all rows are good, but not the file around them: {sound}")
    return Verified(table, epoch, rows, messages, head, archived_rows, archives)


def copied(path: Path, copy: Path, *folders: Path) -> list[Path]:
    """Write a whole copy of the journal, and return the archives that the copy names. Only reads, also while the table
    runs. `folders`, and what is raised, are as in `verify`; OSError where the copy cannot be written."""
    with _reading(path) as db:
        _copy(db, copy)
        return [_file_of(run, recorded, *folders, beside(path)) for run, recorded in _runs(db)]


def _copy(db: sqlite3.Connection, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(copy, isolation_level=None)) as to:
        db.backup(to)


def read_rows(path: Path, archive: Path | None = None) -> Iterator[Row]:
    """Every row of a journal and its archives, with chain and signatures checked. Only reads, also while the table
    runs.

    `archive`, and what is raised, are as in `verify`.
    """
    with _reading(path) as db:
        yield from _signed_rows(db, path, archive)


def read_open_shoe(path: Path) -> Iterator[Row]:
    """The rows from the last shoe's opening on, as `Journal.open_shoe`. Only reads, also while the table runs."""
    with _reading(path) as db:
        yield from _open_shoe(db, path)


def read_shoe(path: Path, shoe: int, *folders: Path) -> Iterator[Row]:
    """The rows of this shoe, in the journal or in its archives, checked as by `read_rows`; empty where there is none.

    An archive that is not where the journal says is looked for in these folders, and beside the journal. Only reads,
    also while the table runs.
    """
    with _reading(path) as db:
        end = _LAST_ROW
        opened = f"SELECT row, body FROM fact JOIN message USING (row) WHERE {_OPENED_A_SHOE} ORDER BY seq DESC"
        for row, body in db.execute(opened).fetchall():
            says = json.loads(body)
            if says["type"] == "shoe_opened" and says["shoe"] == shoe:
                yield from _signed(db, path, _rows(path, _kept(db, row, end), *_from(db, path, row)))
                return
            end = row - 1 if says["type"] == "shoe_opened" else end
        runs = [(run, _file_of(run, recorded, *folders, beside(path))) for run, recorded in _runs(db)]
        oldest = bisect_left(runs, shoe, key=lambda run: _last_shoe(read_archive(run[1], run[0])))
        if oldest == len(runs):
            return
        run = runs[oldest][0]
        archived = (row for run, file in runs[oldest:] for row in read_archive(file, run))
        stored = chain(archived, _kept(db, 1))
        begun = False
        for each in _signed(db, path, _rows(path, stored, run.head_before, run.first_row, run.first_seq - 1)):
            shoes = [says["shoe"] for says in map(json.loads, each.messages) if says["type"] == "shoe_opened"]
            if shoes and begun:
                return
            begun = begun or shoe in shoes
            if begun:
                yield each


def _last_shoe(rows: Sequence[StoredRow]) -> int:
    """The shoe that the last event in this archive is about."""
    bodies = (json.loads(body) for row in reversed(rows) for body in reversed(row.messages))
    return next((says["shoe"] for says in bodies if says["shoe"]), 0)


def _from(db: sqlite3.Connection, path: Path, row: int) -> tuple[bytes, int, int]:
    """Against what the rows from `row` on are checked: the head before, the row's number, the last message's."""
    head, seq = _before(db, path, row)
    return head, row, seq


def read_events(path: Path, after: int, rounds: int, *folders: Path) -> list[bytes]:
    """The events numbered above `after`, in order, of at most the last `rounds` finished rounds.

    Events in archives are among them, as far back as the archives are found, which are looked for as by `read_shoe`.
    Events in the journal's own file are not checked. Only reads, also while the table runs.
    """
    found: list[bytes] = []
    with _reading(path) as db, suppress(TableError):
        for seq, body in _events_backwards(db, path, folders, after):
            rounds -= b'"type":"round"' in body
            if seq <= after or rounds < 0:
                break
            found.append(body)
    return found[::-1]


def _events_backwards(
    db: sqlite3.Connection, path: Path, folders: Sequence[Path], after: int
) -> Iterator[tuple[int, bytes]]:
    yield from db.execute("SELECT seq, body FROM message WHERE seq > ? ORDER BY seq DESC", (after,))
    for run, recorded in reversed(_runs(db, "WHERE last_seq > ?", after)):
        rows = read_archive(_file_of(run, recorded, *folders, beside(path)), run)
        yield from ((message.seq, message.body) for message in reversed(list(_messages_of(rows))))


class Origin(Struct, frozen=True):
    """Whose a journal is, and up to which of its events the pit has acknowledged."""

    table: str
    epoch: str
    public_key: bytes
    acked_seq: int


def read_origin(path: Path) -> Origin:
    """The origin of this journal. Only reads, also while the table runs."""
    with _reading(path) as db:
        (acked_seq,) = db.execute("SELECT acked_seq FROM journal").fetchone()
        return Origin(*_whose(db, path), acked_seq)


def _open_shoe(db: sqlite3.Connection, path: Path) -> Iterator[Row]:
    start = db.execute(f"SELECT max(row) FROM fact WHERE {_OPENED_A_SHOE}").fetchone()[0] or 1
    yield from _rows(path, _kept(db, start), *_from(db, path, start))


class Spoken(Struct, frozen=True):
    """What a journal says that its table sent: whose journal it is, and its messages in order. Nothing is checked."""

    table: str
    epoch: str
    public_key: bytes
    messages: Iterator[Message]


@contextmanager
def reading_messages(path: Path, archive: Path | None = None) -> Iterator[Spoken]:
    """The messages of a journal and its archives as they stand at this moment. Only reads, also while the table runs.

    `archive`, and what is raised, are as in `verify`.
    """
    with _reading(path) as db:
        yield Spoken(*_whose(db, path), _spoken(db, path, archive))


def _spoken(db: sqlite3.Connection, path: Path, archive: Path | None) -> Iterator[Message]:
    yield from _messages_of(_archived(db, path, archive))
    for row in db.execute("SELECT seq, body FROM message ORDER BY seq"):
        yield Message(*row)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The journal as it stands at this moment, to be read only."""
    if not path.is_file():
        raise TableError("journal_missing", f"There is no journal at {path}.", "Check the path.")
    address = f"{path.absolute().as_uri()}?mode=ro"
    with _explained(path), closing(sqlite3.connect(address, uri=True, isolation_level=None)) as db:
        db.execute("BEGIN")
        _check_form(db, path)
        yield db


def _signed_rows(db: sqlite3.Connection, path: Path, archive: Path | None, *folders: Path) -> Iterator[Row]:
    """Every row, checked against its chain, and each of its messages against its place and the journal's key."""
    yield from _signed(db, path, _rows(path, chain(_archived(db, path, archive, *folders), _kept(db, 1))))


def _signed(db: sqlite3.Connection, path: Path, rows: Iterable[Row]) -> Iterator[Row]:
    """These rows, each of their messages checked against its place and the journal's key."""
    table, epoch, public_key = _whose(db, path)
    for row in rows:
        for seq, body in enumerate(row.messages, row.first_seq):
            _check_message(path, row.number, row.previous_head, body, f"{table}/{epoch}/{seq}", public_key)
        yield row


def _check_message(path: Path, row: int, previous_head: bytes, body: bytes, id_: str, public_key: bytes) -> None:
    message = parse_object(body)
    if not signature_holds(message, public_key):
        raise _damaged(path, row, f"the signature of message {id_} does not hold")
    if message.get("id") != id_ or message.get("chain") != previous_head.hex():
        raise _damaged(path, row, f"a message stands where {id_} should, or names another place in the chain")


def _rows(
    path: Path, stored: Iterable[StoredRow], head: bytes = GENESIS, first: int = 1, last_seq: int = 0
) -> Iterator[Row]:
    """The rows with the facts that they hold, each checked against its place after this head, row and message."""
    for row, previous in _chained(path, stored, head, first):
        if row.messages and row.first_seq != last_seq + 1:
            raise _damaged(path, row.number, "its messages are not numbered on from those before")
        fact = fact_from_json(row.fact)
        if type(fact).__name__ != row.kind:
            raise _damaged(path, row.number, f"it is a {type(fact).__name__}, not a {row.kind}")
        yield Row(row.number, row.stamp, fact, row.messages, previous, last_seq + 1, row.via)
        last_seq += len(row.messages)


def _chained(path: Path, stored: Iterable[StoredRow], head: bytes, first: int) -> Iterator[tuple[StoredRow, bytes]]:
    """The rows from number `first` on, each checked against its chain, and the head before it."""
    for number, row in enumerate(stored, first):
        if row.number != number:
            raise _damaged(path, number, "it is missing")
        if not 0 <= row.stamp.at_ms < _MOST_MS:
            raise _damaged(path, row.number, f"{row.stamp.at_ms} is no time")
        if row.head_after(head) != row.head:
            raise _damaged(path, row.number, "it does not fit the chain")
        yield row, head
        head = row.head


def _kept(db: sqlite3.Connection, first: int, last: int = _LAST_ROW) -> Iterator[StoredRow]:
    """These rows as far as the journal's own file has them, without rows in archives."""
    path = Path(db.execute("PRAGMA database_list").fetchone()[2])
    how_it_came = "boot_id, since_boot_ms, via" if _form(db) > 1 else "'', 0, ''"
    # A portion at a time: where a row is bad, an open statement would keep the closed file from its next reader.
    while some := db.execute(
        f"SELECT row, at_ms, clock_synchronised, kind, fact, salt, head, {how_it_came} FROM fact"
        " WHERE row BETWEEN ? AND ? ORDER BY row LIMIT 500",
        (first, last),
    ).fetchall():
        for number, at_ms, synchronised, kind, fact, salt, head, boot_id, since_boot_ms, via in some:
            messages = db.execute("SELECT seq, body FROM message WHERE row = ? ORDER BY seq", (number,)).fetchall()
            seq = messages[0][0] if messages else 0
            if [number for number, _ in messages] != [*range(seq, seq + len(messages))]:
                raise _damaged(path, number, "its messages are not numbered on from those before")
            stamp = Stamp(at_ms, bool(synchronised), boot_id, since_boot_ms)
            bodies = tuple(body for _, body in messages)
            yield StoredRow(number, stamp, via, kind, fact, salt, head, seq, bodies)
        first = some[-1][0] + 1


def _archived(db: sqlite3.Connection, path: Path, archive: Path | None, *folders: Path) -> Iterator[StoredRow]:
    """The rows that archives hold, each archive checked."""
    for run, recorded in _runs(db):
        file = archive / run.file_name if archive else _file_of(run, recorded, *folders, beside(path))
        yield from read_archive(file, run)


def _runs(db: sqlite3.Connection, where: str = "", *values: int) -> list[tuple[Run, Path]]:
    """What the journal notes of its archives: which rows each archive holds, and where the archive is."""
    if _form(db) < 2:
        return []
    whose = db.execute("SELECT table_id, epoch, public_key FROM journal").fetchone()
    return [
        (Run(*whose, *run), Path(path))
        for *run, path in db.execute(
            "SELECT first_row, last_row, first_seq, last_seq, head_before, head_after, path FROM archive "
            f"{where} ORDER BY first_row",
            values,
        )
    ]


def _file_of(run: Run, recorded: Path, *folders: Path) -> Path:
    """The archive's file: where the journal says that it is, or else in one of these folders."""
    candidates = (recorded, *(folder / run.file_name for folder in folders))
    return next((path for path in candidates if path.exists()), recorded)


def _messages_of(rows: Iterable[StoredRow]) -> Iterator[Message]:
    return (Message(seq, body) for row in rows for seq, body in enumerate(row.messages, row.first_seq))


def _before(db: sqlite3.Connection, path: Path, row: int) -> tuple[bytes, int]:
    """The chain's head and the last message's number before that row."""
    if row == 1:
        return GENESIS, 0
    archived = _runs(db, "WHERE last_row < ? AND last_row >= (SELECT max(last_row) FROM archive)", row)
    seq = archived[0][0].last_seq if archived else 0
    last = db.execute("SELECT seq FROM message WHERE row < ? ORDER BY seq DESC LIMIT 1", (row,)).fetchone()
    kept = db.execute("SELECT head FROM fact WHERE row = ?", (row - 1,)).fetchone()
    if kept is not None:
        return kept[0], seq if last is None else last[0]
    if not archived or archived[0][0].last_row != row - 1:
        raise _damaged(path, row - 1, "it is missing")
    return archived[0][0].head_after, seq


def _last_row(db: sqlite3.Connection) -> tuple[int, bytes]:
    last = db.execute("SELECT row, head FROM fact ORDER BY row DESC LIMIT 1").fetchone()
    return (0, GENESIS) if last is None else last  # the last row is never in an archive


def _head_seq(db: sqlite3.Connection, path: Path, row: int) -> int:
    """The last event's number. The pit cannot have acknowledged any event after it."""
    head_seq: int
    head_seq, acked_seq = db.execute(
        "SELECT (SELECT coalesce(max(seq), 0) FROM message), acked_seq FROM journal"
    ).fetchone()
    if not 0 <= acked_seq <= head_seq:
        raise _damaged(path, row, f"event {acked_seq} is marked as acknowledged, and the last is {head_seq}")
    return head_seq


def _whose(db: sqlite3.Connection, path: Path) -> tuple[str, str, bytes]:
    """The journal's table, epoch and public key."""
    table, epoch, public_key = db.execute("SELECT table_id, epoch, public_key FROM journal").fetchone()
    if len(public_key) != _KEY_BYTES:
        raise _unsound(path, "its entry for the table's key is no key")
    return table, epoch, public_key


def _form(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _check_form(db: sqlite3.Connection, path: Path) -> int:
    """The journal's form. Raises TableError where this program does not know that form."""
    version = _form(db)
    if version > SCHEMA_VERSION:
        raise TableError(
            "journal_too_new",
            f"The journal {path} has form {version}; this program knows form {SCHEMA_VERSION}.",
            "Run the version of the program that wrote it.",
        )
    if version < 1:
        raise _unsound(path, f"it has form {version}, which no program wrote")
    return version


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """SQLite's complaints about a file, in words for people."""
    try:
        yield
    except (sqlite3.Error, TypeError, ValueError, MemoryError) as error:  # MemoryError: a size that is nonsense
        if not isinstance(error, sqlite3.OperationalError) or _about_content(error):
            raise _unsound(path, str(error) or type(error).__name__) from error
        raise TableError(
            "journal_unusable",
            f"The journal {path} cannot be opened: {_failed(error, path)}.",
            "Make room on its disk."
            if _full(error, path)
            else "Check that its disk is sound and not full, and that the user the table runs as may write there.",
        ) from error


def _failed(error: sqlite3.Error, path: Path) -> JournalFailedError:
    """Why the disk failed: SQLite's own code, and words for people."""
    code = getattr(error, "sqlite_errorname", type(error).__name__)
    if _full(error, path):
        return JournalFailedError("SQLITE_FULL", f"the disk is full ({code})")
    return JournalFailedError(code, f"{error} ({code})")


def _full(error: sqlite3.Error, path: Path) -> bool:
    """Whether the disk is full. SQLite says so of the files that it writes, and of its shared memory only "I/O"."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code != sqlite3.SQLITE_IOERR_SHMSIZE:
        return bool(code == sqlite3.SQLITE_FULL)
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < _SHARED_MEMORY_BYTES
    return False


def _about_content(error: sqlite3.OperationalError) -> bool:
    """Whether the error is about the file's content (no such table, no text), not about the disk or the rights."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR


def _damaged(path: Path, row: int, why: str) -> TableError:
    return _journal_damaged(f"The journal {path} is damaged at row {row}: {why}.")


def _unsound(path: Path, why: str) -> TableError:
    return _journal_damaged(f"The journal {path} is not a sound journal: {why}.")


def _journal_damaged(what: str) -> TableError:
    do = (
        f"Stop the table and {_BEGIN_ANEW} Do not put an older copy in its place: the pit knows later events than "
        "such a copy, and the table would stop."
    )
    return TableError("journal_damaged", what, do)
