"""The journal of a table: every fact in the order in which the table accepted it, the events that each fact made, and
the number of the last event that the pit has acknowledged.

The journal is one SQLite file. A fact is stored as a row, and its events as the row's messages. Both are committed in
one transaction before anything acts on them. Each row is chained to the row before by a salted hash
(`contract.envelope.chain_head`). Rows are kept for ever. The rows of old shoes go to archives (`archive.py`), and the
file notes which rows each archive holds, and where the archive is. The events after the last acknowledged one are the
outbox.

Every method waits for the disk. The daemon calls all methods but `write_archive` on its one commit thread.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.contract.merkle import consistency_proof, edge_of
from controller.contract.note import Note
from controller.contract.signing import Signer
from controller.daemon.record.archive import Run, beside, read_archive, write_archive
from controller.daemon.record.checkpoints import keep_note, kept_note, signed_checkpoint
from controller.daemon.record.fact_json import fact_to_json
from controller.daemon.record.journal_file import JournalFailedError, JournalFile, JournalGoneError, set_aside
from controller.daemon.record.journal_form import (
    BEGIN_ANEW,
    FROM_FORM,
    SCHEMA,
    SCHEMA_VERSION,
    check_form,
    explained,
    failed,
    row_damaged,
)
from controller.daemon.record.journal_reading import (
    OPENED_A_SHOE,
    archived_runs,
    chained,
    check_message,
    copy_database,
    file_of_run,
    head_before,
    head_seq_at,
    kept_rows,
    last_row_of,
    messages_of,
    open_shoe_rows,
    reading,
)
from controller.daemon.record.journal_rows import Entry, Message, Row
from controller.daemon.record.stored_row import stamped
from controller.daemon.record.tree import Tree

_CHECKPOINT_PAGES = 1000  # SQLite's own
_PAGES_GIVEN_BACK_AT_ONCE = 500


def rescued(path: Path, epoch: str) -> Path:
    """Return the path for a rescued copy of a journal whose file was removed. The copy is written at this path, and is
    then renamed to the journal's own path."""
    return path.with_name(f"{path.name}.rescued-{epoch}")


class Journal:
    """An open journal of a table, which only this process writes.

    `epoch` is this journal's random name. `boot` counts how often the journal was opened. `head_seq` is the number of
    the last event, and `acked_seq` the number of the last event that is marked as acknowledged by the pit.
    `archived_rows` says how many of the first rows are in archives.
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
        """Open the journal at `path`, or begin a new one. If `epoch` is given, open only the journal of that name, and
        begin none.

        `archive` is the folder of the journal's archives; with None they are beside the journal.

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
        with ExitStack() as undo, explained(path):
            self._take()
            undo.callback(self._let_go)
            self._begin_or_check(epoch)
            self._file.for_its_user_alone()
            self._set_up()
            self._log_in_doubt = False
            self._row, self._head = last_row_of(self._db)
            self.head_seq = head_seq_at(self._db, path, self._row)
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
        self._tree: Tree | None = None

    def _set_up(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA wal_checkpoint")  # an earlier run's sync may have failed: see _begin_log_anew

    def _begin_or_check(self, must_be: str | None) -> None:
        if must_be is None and not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            epoch = secrets.token_hex(5)
            self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # room that archived rows leave can be given back
            with self._transaction():
                for statement in SCHEMA.split(";"):
                    self._db.execute(statement)
                whose = self._table_id, epoch, self._public_key
                self._db.execute("INSERT INTO journal VALUES (1, ?, ?, ?, 0, 0)", whose)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        form = check_form(self._db, self._path)
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
                f"Restore the key that belongs to this journal, or {BEGIN_ANEW}",
            )
        if must_be is not None and epoch != must_be:
            raise TableError(
                "journal_of_another_epoch",
                f"The journal {self._path} is of epoch {epoch}. This table's last journal is of epoch {must_be}.",
                f"Put the journal of epoch {must_be} there, or {BEGIN_ANEW}",
            )
        if form < SCHEMA_VERSION:
            with self._transaction():
                for statement in (each for earlier in range(form, SCHEMA_VERSION) for each in FROM_FORM[earlier]):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def append(self, entries: Sequence[Entry]) -> list[Message]:
        """Commit the entries (facts with their events), all or none, and return the events as signed messages.

        Raises OSError if the disk fails. Raises JournalGoneError, and commits nothing, if the journal's file is not at
        its place. In that case `put_back` writes the file again.
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
                at, name = entry.stamp, type(entry.fact).__name__
                self._db.execute(
                    "INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (row, at.at_ms, at.synchronised, name, fact, salt, head, at.boot_id, at.since_boot_ms, entry.via),
                )
                for body in messages:
                    seq += 1
                    self._db.execute("INSERT INTO message VALUES (?, ?, ?)", (seq, row, body))
                    made.append(Message(seq, body))
        self._row, self._head, self.head_seq = row, head, seq
        return made

    def missing(self) -> JournalGoneError | None:
        """Return an error that names the missing part of the journal's file; None if the whole file is at its place.
        Raises OSError."""
        return self._file.missing() if self._open else JournalGoneError(self._path.name, "not_opened")

    def put_back(self) -> str | None:
        """Write the whole journal to its place again, after its file was removed or replaced.

        This process still has the removed or replaced file open, and can read all that was committed to it. If another
        file stands in its place by now, that file is renamed, and its new name is returned; otherwise None. Raises
        OSError if the disk fails; the caller may try again.
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
                if last_row_of(self._db) != (self._row, self._head):
                    what = f"the file at {self._path.name} does not end as this journal does"
                    raise JournalFailedError("journal_differs", what)
                self._file.log_begun()
                undo.pop_all()
        except sqlite3.Error as error:
            raise failed(error, self._path) from error
        except TableError as error:
            raise JournalFailedError(error.code, error.what) from error
        kept_as, self._kept_as = self._kept_as, None
        return kept_as

    def _copied(self) -> Path:
        """Write a whole copy of the journal beside it, and return the copy's path."""
        copy = rescued(self._file.path, self.epoch)
        copy_database(self._db, copy)
        return copy

    def _begin_log_anew(self) -> None:
        """Copy the content of SQLite's write-ahead log into the journal's file, and sync the file.

        The kernel reports a failed sync only once. After that it treats the unwritten pages of the log as written, and
        the next sync skips them. The pages can still be read, so this method writes them to another place.
        """
        busy, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            what = "another program reads the journal, so its write-ahead log cannot be emptied yet"
            raise JournalFailedError("journal_read_meanwhile", what)
        self._log_in_doubt = False

    @property
    def last_stamp(self) -> Stamp | None:
        """Return the time of the last fact in the journal; None if the journal has no fact."""
        last = self._db.execute(
            "SELECT at_ms, clock_synchronised, boot_id, since_boot_ms FROM fact ORDER BY row DESC LIMIT 1"
        ).fetchone()
        return None if last is None else Stamp(last[0], bool(last[1]), *last[2:])

    def messages_after(self, seq: int, limit: int) -> list[Message]:
        """Return at most `limit` messages, in order, beginning with the one after number `seq`. Messages in archives
        are returned too.

        The list ends before the first message that differs from the message that was signed. Raises OSError if the disk
        fails, or if an archive that is needed is missing or damaged.
        """
        found: list[Message] = []
        while len(found) < limit and (archived := self._archived(seq + 1 + len(found))):
            found += archived[: limit - len(found)]
        return found + self._messages(range(seq + 1 + len(found), min(seq + limit, self.head_seq) + 1))

    def message(self, seq: int) -> Message | None:
        """Return the message numbered `seq`; None if there is no such message, or if it differs from the message that
        was signed. Raises OSError if the disk fails, or if an archive is missing or damaged."""
        return next((message for message in self.messages_after(seq - 1, 1) if message.seq == seq), None)

    def _archived(self, seq: int) -> list[Message]:
        """Return message `seq` and the later messages in the same archive; an empty list if `seq` is in no archive.

        Commits wait while an archive is read. The wait is short: unpacking the 240 rows of a short shoe takes 6 ms on a
        PC's core. The messages of the last archive stay in memory, so in the usual order each archive is read once. The
        pit takes longer than that to acknowledge the archive's events.
        """
        with self._telling():
            first = self._db.execute("SELECT min(seq) FROM message").fetchone()[0]
            if first is not None and seq >= first:
                return []
            runs = archived_runs(self._db, "WHERE first_seq <= ?1 AND last_seq >= ?1", seq)
        for run, path in runs:
            if self._archive_read is None or self._archive_read[0] != run.first_row:
                try:
                    rows = read_archive(file_of_run(run, path, self._archive, beside(self._path)), run)
                except TableError as error:
                    raise JournalFailedError(error.code, error.what) from error
                self._archive_read = run.first_row, list(messages_of(rows))
            return [message for message in self._archive_read[1] if message.seq >= seq]
        return []

    def _messages(self, seqs: range) -> list[Message]:
        """Return the messages with these numbers from the journal's own file. The signature of each is checked, and its
        place in the chain.

        The list ends before the first message that is not as this table made it, because the pit would refuse that
        message and all later ones.
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
                check_message(self._path, row, GENESIS if row == 1 else head, body, id_, self._public_key)
                good.append(Message(seq, body))
        return good

    def mark_acked(self, seq: int) -> None:
        """Mark in the journal that the pit has acknowledged all events up to number `seq`. Raises OSError if the disk
        fails.

        The mark is not synced to the disk at once, but with the next fact. If the mark is lost, events are sent again,
        and the pit drops them.
        """
        with self._unsynced():
            self._db.execute("UPDATE journal SET acked_seq = ?", (seq,))
        self.acked_seq = seq

    @property
    def origin(self) -> str:
        """Return the name (table and epoch) by which witnesses know this journal and its Merkle tree."""
        return f"{self._table_id}/{self.epoch}"

    def checkpoint(self) -> Note:
        """Sign, store and return a checkpoint: the present size and root hash of the Merkle tree of all rows. Raises
        OSError.

        The stored checkpoint is synced only by a later commit, because a lost checkpoint can be made again.
        """
        with self._unsynced(), self._transaction():
            edge = self._tree_now().grow()
            note = signed_checkpoint(self.origin, edge, self._signer, self._public_key)
            keep_note(self._db, "signed", edge.size, note)
        self._tree_now().grown_to(edge)
        return note

    def consistency(self, old: int, size: int) -> list[bytes]:
        """Return the Merkle proof that the tree of `size` rows begins with the tree of the first `old` rows. Raises
        OSError if an archive is missing, or if the disk fails."""
        with self._telling():
            return consistency_proof(old, size, self._archives_explained)

    def note_at(self, size: int) -> Note | None:
        """Return a signed checkpoint of the Merkle tree of the first `size` rows; None if there are fewer rows. Raises
        OSError if an archive is missing, or if the disk fails."""
        with self._telling():
            if not 0 < size <= self._tree_now().place_of(self._row) + 1:
                return None
            return signed_checkpoint(
                self.origin, edge_of(size, self._archives_explained), self._signer, self._public_key
            )

    @property
    def tree_size(self) -> int:
        """Return how many rows of the journal its Merkle tree covers at present. Raises OSError."""
        with self._telling():
            return max(self._tree_now().place_of(self._row) + 1, 0)

    def keep_cosigned(self, size: int, note: Note) -> None:
        """Store `note`, a checkpoint of the first `size` rows, as the last that a witness cosigned. Raises OSError."""
        with self._unsynced():
            keep_note(self._db, "cosigned", size, note)

    def last_note(self, kind: str) -> Note | None:
        """Return the last stored checkpoint of the kind "signed" or "cosigned"; None without one. Raises OSError."""
        with self._telling():
            return kept_note(self._db, kind)

    def _tree_now(self) -> Tree:
        if self._tree is None:
            self._tree = Tree(self._db, self._archive, beside(self._path))
        return self._tree

    def _archives_explained(self, level: int, place: int) -> bytes:
        try:
            return self._tree_now().whole(level, place)
        except TableError as error:
            raise JournalFailedError(error.code, error.what) from error

    @property
    def used_bytes(self) -> int:
        """Return how many bytes of the journal's file are in use. Room that became free when rows were archived does
        not count."""
        pages, free, page_bytes = self._pages()
        return (pages - free) * page_bytes

    def _pages(self) -> tuple[int, int, int]:
        with self._telling():
            return tuple(
                self._db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )

    def next_to_archive(self, keep_shoes: int, at_most_rows: int) -> Run | None:
        """Return which rows may go to an archive next: the oldest ones, at most `at_most_rows`. If at least one whole
        shoe fits into that many rows, only whole shoes go.

        The last shoe stays, and so do the `keep_shoes` before it, and every shoe with an event that the pit has not
        acknowledged. Returns None if no row may go. Raises OSError if the disk fails.
        """
        with self._telling():
            return self._next_to_archive(keep_shoes, at_most_rows)

    def _next_to_archive(self, keep_shoes: int, at_most_rows: int) -> Run | None:
        db = self._db
        kept = db.execute(
            f"SELECT row FROM fact WHERE {OPENED_A_SHOE} ORDER BY row DESC LIMIT 1 OFFSET ?", (keep_shoes,)
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
        before, seq = head_before(db, self._path, first)
        head_after, last_seq = head_before(db, self._path, end)
        whose = self._table_id, self.epoch, self._public_key
        return Run(*whose, first, end - 1, seq + 1, last_seq, before, head_after)

    def write_archive(self, run: Run) -> Path:
        """Copy the rows that `run` names into an archive, and return the archive's path. The rows stay in the journal,
        too.

        May be called on any thread, because it reads over a connection of its own. Raises OSError if the disk fails,
        and TableError if the rows are damaged, or if an archive is in the way or cannot be read back.
        """
        with reading(self._path) as db:
            rows = []
            kept = kept_rows(db, run.first_row, run.last_row)
            for row, previous in chained(self._path, kept, run.head_before, run.first_row):
                for seq, body in enumerate(row.messages, row.first_seq):
                    id_ = f"{run.table}/{run.epoch}/{seq}"
                    check_message(self._path, row.number, previous, body, id_, run.public_key)
                rows.append(row)
        return write_archive(self._archive, run, rows, self._signer)

    def leave_to_archive(self, run: Run, archive: Path) -> None:
        """Delete the rows that `run` names from the journal, and note that they are in the file `archive`, in one
        transaction.

        Raises OSError if the disk fails, and TableError `journal_damaged` if the journal's first rows are not those of
        `run`.
        """
        with self._commit():
            first = self._db.execute("SELECT min(row) FROM fact").fetchone()[0]
            if (first, head_before(self._db, self._path, run.last_row + 1)) != (
                run.first_row,
                (run.head_after, run.last_seq),
            ):
                raise row_damaged(self._path, run.first_row, "it is not the row that was archived")
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
            edge = self._tree_now().grow()
            self._tree_now().keep_edge(run.last_row)
            self._db.execute("DELETE FROM message WHERE row <= ?", (run.last_row,))
            self._db.execute("DELETE FROM fact WHERE row <= ?", (run.last_row,))
        self._tree_now().grown_to(edge)
        self.archived_rows = run.last_row

    def give_back_room(self, most_bytes: int) -> bool:
        """Make the journal's file a little shorter if it is longer than `most_bytes` and has unused room. Return
        whether the file became shorter.

        A file that was begun with the first version of the database schema keeps its length, and its room is used
        again. Raises OSError.
        """
        pages, free, page_bytes = self._pages()
        if pages * page_bytes <= most_bytes or not free:
            return False
        with self._telling():
            self._db.execute(f"PRAGMA incremental_vacuum({_PAGES_GIVEN_BACK_AT_ONCE})").fetchall()
        return self._pages()[0] < pages

    def open_shoe(self) -> Iterator[Row]:
        """Yield the rows of the last shoe, from its opening on, for replay. Yield all rows if no shoe was opened.

        Raises TableError `journal_damaged` at a row that does not fit the chain of hashes.
        """
        with explained(self._path):
            yield from open_shoe_rows(self._db, self._path)

    def open_shoe_begun_by(self) -> str | None:
        """Return the version of the program that opened the last shoe; None if no shoe was opened.

        The version can be read even if this program cannot read the rest of the row in which the shoe was opened.
        """
        with explained(self._path):
            row = self._db.execute(f"SELECT fact FROM fact WHERE {OPENED_A_SHOE} ORDER BY row DESC LIMIT 1").fetchone()
            return None if row is None else json.loads(row[0]).get("version")

    def close(self) -> None:
        """Close the journal's file, so that another process may open the journal."""
        if self._open:
            self._let_go()

    def _let_go(self) -> None:
        self._db.close()
        self._file.close()
        self._open = False

    @contextmanager
    def _commit(self) -> Iterator[None]:
        """Run the block in a transaction that is safely on the disk when the block ends. Raises OSError if the disk
        fails."""
        try:
            if self._log_in_doubt:
                self._begin_log_anew()
            with self._transaction():
                yield
        except sqlite3.Error as error:
            self._log_in_doubt |= getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_FSYNC
            raise failed(error, self._path) from error

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn an error that SQLite raises in the block into an OSError with a text for people."""
        try:
            yield
        except sqlite3.Error as error:
            raise failed(error, self._path) from error

    @contextmanager
    def _unsynced(self) -> Iterator[None]:
        """Run a block whose writes need not be safely on the disk before the next commit. Raises OSError if the disk
        fails."""
        with self._telling():
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA wal_autocheckpoint = 0")  # else a sync could fail, and nobody would hear of that
            try:
                yield
            finally:
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")

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
