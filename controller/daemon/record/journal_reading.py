"""Reads and checks a journal without the daemon, also while the daemon writes it. Each row is checked against the
chain, and each message against its signature."""

from __future__ import annotations

import json
import os
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice, takewhile, tee
from pathlib import Path

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.envelope import GENESIS, Stamp
from controller.contract.keys import signature_holds
from controller.daemon.record.archive import Run, beside, read_archive
from controller.daemon.record.fact_json import fact_from_json
from controller.daemon.record.journal_form import (
    check_form,
    explained,
    form_of,
    row_damaged,
    whose_journal,
)
from controller.daemon.record.journal_rows import Message, Row
from controller.daemon.record.old_facts import RENAMED
from controller.daemon.record.stored_row import StoredRow
from controller.daemon.record.tree_check import TreeCheck

_LAST_ROW = 2**63 - 1
_PORTION = 500


_MOST_MS = 253_402_300_800_000  # the year 10000, which no clock tells


# A `ShoeOpened` whose step failed opened no shoe.
OPENED_A_SHOE = """
kind = 'ShoeOpened' AND NOT EXISTS
(SELECT 1 FROM fact AS next WHERE next.row = fact.row + 1 AND next.kind = 'StepFailed')
"""


class Verified(Struct, frozen=True):
    """What `verify` has checked: the journal's table and epoch, how many rows and messages are good, and the chain head
    at the end.

    `archived_rows` says how many of the rows are in archives, and `archives` in how many.
    """

    table: str
    epoch: str
    rows: int
    messages: int
    head: bytes
    archived_rows: int = 0
    archives: int = 0


def verify(path: Path, archive: Path | None = None, *folders: Path) -> Verified:
    """Read the whole journal and its archives, and check each row: numbering, chain, message ids, signatures. Check too
    that the Merkle tree which the journal keeps is the tree of its rows.

    Archives are looked for in the folder `archive` alone; without it, where the journal says that they are, in these
    `folders`, or beside the journal. Only reads, also while the table runs. Raises TableError `journal_damaged` naming
    the first bad row, `journal_missing`, `archive_missing`, `archive_unreadable` or `archive_damaged`.
    """
    with reading(path) as db:
        table, epoch = db.execute("SELECT table_id, epoch FROM journal").fetchone()
        archives, archived_rows, archived_seq = db.execute(
            "SELECT count(*), coalesce(max(last_row), 0), coalesce(max(last_seq), 0) FROM archive"
            if form_of(db) > 1
            else "SELECT 0, 0, 0"
        ).fetchone()
        rows, messages, tree = 0, 0, TreeCheck(db, path)
        for row in _signed_rows(db, path, archive, *folders):
            tree.row(rows, row.previous_head)
            rows, messages = row.number, messages + len(row.messages)
        head = last_row_of(db)[1]
        tree.row(rows, head)
        tree.end(rows)
        head_seq_at(db, path, rows)
        if stray := db.execute("SELECT count(*) FROM message").fetchone()[0] - (messages - archived_seq):
            raise row_damaged(path, rows, f"{stray} messages belong to no row")
        if (sound := db.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
            raise row_damaged(path, rows, f"all rows are good, but not the file around them: {sound}")
    return Verified(table, epoch, rows, messages, head, archived_rows, archives)


def archives_of(path: Path, *folders: Path) -> list[Path]:
    """Return the paths of the archives that the journal names, the oldest first. Each is looked for where the journal
    says, in `folders`, and beside the journal. For a missing archive the path that the journal says is returned. Raises
    as `verify`."""
    with reading(path) as db:
        return [file_of_run(run, recorded, *folders, beside(path)) for run, recorded in archived_runs(db)]


def copied(path: Path, copy: Path, *folders: Path) -> list[Path]:
    """Write a whole copy of the journal to `copy`, and return the paths of the archives that the copy names. Only reads
    the journal, also while the table runs. `folders`, and the errors raised, are as in `verify`; OSError where the copy
    cannot be written."""
    with reading(path) as db:
        copy_database(db, copy)
        return [file_of_run(run, recorded, *folders, beside(path)) for run, recorded in archived_runs(db)]


def copy_database(db: sqlite3.Connection, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(copy, isolation_level=None)) as to:
        db.backup(to)


def read_rows(path: Path, archive: Path | None = None) -> Iterator[Row]:
    """Yield every row of a journal and its archives, with chain and signatures checked. Only reads, also while the
    table runs.

    `archive`, and the errors raised, are as in `verify`.
    """
    with reading(path) as db:
        yield from _signed_rows(db, path, archive)


def read_latest(path: Path, most: int | None, *folders: Path) -> Iterator[tuple[bytes, Row]]:
    """Yield the latest rows of a journal, each with its fact's stored bytes, checked as by `read_rows`.

    There are at least `most` rows, where the journal has so many: the first row is the first of an archive or of a
    shoe. With None all rows are yielded. Rows before a missing archive, and in it, are left out. Only reads. A slow
    caller does not keep the table from its journal: see `_portions`.
    """
    with reading(path) as db:
        wanted = 1 if most is None else max(1, last_row_of(db)[0] - most + 1)
        runs = [(run, file_of_run(run, recorded, *folders, beside(path))) for run, recorded in archived_runs(db)]
        there = [*takewhile(lambda run: run[0].last_row >= wanted and run[1].exists(), reversed(runs))][::-1]
        if there:
            first = there[0][0]
            start = (first.head_before, first.first_row, first.first_seq - 1)
        else:
            kept = db.execute("SELECT min(row) FROM fact").fetchone()[0] or 1
            opened = f"SELECT max(row) FROM fact WHERE {OPENED_A_SHOE} AND row <= ?"
            row = max(kept, db.execute(opened, (wanted,)).fetchone()[0] or kept)
            start = _from(db, path, row)
        whose, last = whose_journal(db, path), last_row_of(db)[0]
    stored, again = tee(_portions(path, start[1], last, *folders))
    rows = _signed_by(whose, path, _rows(path, stored, *start))
    yield from ((raw.fact, row) for raw, row in zip(again, rows, strict=True))


def _portions(path: Path, first: int, last: int, *folders: Path) -> Iterator[StoredRow]:
    """Yield the rows from `first` to `last`. The journal is closed between two portions, because an open reader keeps
    the table from emptying SQLite's write-ahead log. Between two portions rows may move into an archive, and are read
    there."""
    while first <= last:
        with reading(path) as db:
            runs = archived_runs(db, "WHERE last_row >= ?", first)
            portion = [] if runs else [*islice(kept_rows(db, first, last), _PORTION)]
        if runs:
            run, recorded = runs[0]
            file = file_of_run(run, recorded, *folders, beside(path))
            yield from (row for row in read_archive(file, run) if row.number >= first)
            first = run.last_row + 1
        elif not portion:
            raise row_damaged(path, first, "it is missing")
        else:
            yield from portion
            first = portion[-1].number + 1


def read_open_shoe(path: Path) -> Iterator[Row]:
    """Yield the rows from the last shoe's opening on, as `Journal.open_shoe` does. Only reads, also while the table
    runs."""
    with reading(path) as db:
        yield from open_shoe_rows(db, path)


def read_shoe(path: Path, shoe: int, *folders: Path) -> Iterator[Row]:
    """Yield the rows of the shoe numbered `shoe`, from the journal or its archives, checked as by `read_rows`; none
    where there is no such shoe.

    An archive that is not where the journal says is looked for in these `folders`, and beside the journal. Only reads,
    also while the table runs.
    """
    with reading(path) as db:
        end = _LAST_ROW
        opened = f"SELECT row, body FROM fact JOIN message USING (row) WHERE {OPENED_A_SHOE} ORDER BY seq DESC"
        for row, body in db.execute(opened).fetchall():
            says = json.loads(body)
            if says["type"] == "shoe_opened" and says["shoe"] == shoe:
                yield from _signed(db, path, _rows(path, kept_rows(db, row, end), *_from(db, path, row)))
                return
            end = row - 1 if says["type"] == "shoe_opened" else end
        runs = [(run, file_of_run(run, recorded, *folders, beside(path))) for run, recorded in archived_runs(db)]
        oldest = bisect_left(runs, shoe, key=lambda run: _last_shoe(read_archive(run[1], run[0])))
        if oldest == len(runs):
            return
        run = runs[oldest][0]
        archived = (row for run, file in runs[oldest:] for row in read_archive(file, run))
        stored = chain(archived, kept_rows(db, 1))
        begun = False
        for each in _signed(db, path, _rows(path, stored, run.head_before, run.first_row, run.first_seq - 1)):
            shoes = [says["shoe"] for says in map(json.loads, each.messages) if says["type"] == "shoe_opened"]
            if shoes and begun:
                return
            begun = begun or shoe in shoes
            if begun:
                yield each


def _last_shoe(rows: Sequence[StoredRow]) -> int:
    """Return the number of the shoe that the last event of an archive names, given the archive's rows; 0 where no event
    names one."""
    bodies = (json.loads(body) for row in reversed(rows) for body in reversed(row.messages))
    return next((says["shoe"] for says in bodies if says["shoe"]), 0)


def _from(db: sqlite3.Connection, path: Path, row: int) -> tuple[bytes, int, int]:
    """Return what the rows from `row` on are checked against: the chain's head before them, the number `row`, and the
    number of the last message before them."""
    head, seq = head_before(db, path, row)
    return head, row, seq


def read_events(path: Path, after: int, rounds: int, *folders: Path, since: str = "") -> list[bytes]:
    """Return the events numbered above `after`, in order, of at most the last `rounds` finished rounds, and made no
    earlier than `since`.

    Events in archives are returned too, as far back as the archives are found, which are looked for as by `read_shoe`.
    Events in the journal's own file are not checked. Only reads, also while the table runs.
    """
    found: list[bytes] = []
    with reading(path) as db, suppress(TableError):
        for seq, body in _events_backwards(db, path, folders, after):
            rounds -= b'"type":"round"' in body
            if seq <= after or rounds < 0:
                break
            if json.loads(body)["at"] >= since:  # a clock that was wrong for a while hides no event before
                found.append(body)
    return found[::-1]


def _events_backwards(
    db: sqlite3.Connection, path: Path, folders: Sequence[Path], after: int
) -> Iterator[tuple[int, bytes]]:
    yield from db.execute("SELECT seq, body FROM message WHERE seq > ? ORDER BY seq DESC", (after,))
    for run, recorded in reversed(archived_runs(db, "WHERE last_seq > ?", after)):
        rows = read_archive(file_of_run(run, recorded, *folders, beside(path)), run)
        yield from ((message.seq, message.body) for message in reversed(list(messages_of(rows))))


class Origin(Struct, frozen=True):
    """Whose a journal is (table, epoch and public key), and up to which of its events the pit has acknowledged."""

    table: str
    epoch: str
    public_key: bytes
    acked_seq: int


def read_origin(path: Path) -> Origin:
    """Return whose the journal at `path` is, and how far the pit has acknowledged. Only reads, also while the table
    runs."""
    with reading(path) as db:
        (acked_seq,) = db.execute("SELECT acked_seq FROM journal").fetchone()
        return Origin(*whose_journal(db, path), acked_seq)


def open_shoe_rows(db: sqlite3.Connection, path: Path) -> Iterator[Row]:
    start = db.execute(f"SELECT max(row) FROM fact WHERE {OPENED_A_SHOE}").fetchone()[0] or 1
    yield from _rows(path, kept_rows(db, start), *_from(db, path, start))


class Spoken(Struct, frozen=True):
    """The messages that a table has sent, in order, as its journal has them, and whose journal it is. Nothing is
    checked."""

    table: str
    epoch: str
    public_key: bytes
    messages: Iterator[Message]


@contextmanager
def reading_messages(path: Path, archive: Path | None = None) -> Iterator[Spoken]:
    """Open a journal and its archives, as they stand at this moment, to read their messages. Only reads, also while the
    table runs.

    `archive`, and the errors raised, are as in `verify`.
    """
    with reading(path) as db:
        yield Spoken(*whose_journal(db, path), _spoken(db, path, archive))


def _spoken(db: sqlite3.Connection, path: Path, archive: Path | None) -> Iterator[Message]:
    yield from messages_of(archived_rows(db, path, archive))
    for row in db.execute("SELECT seq, body FROM message ORDER BY seq"):
        yield Message(*row)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the journal at `path` read-only, as it stands at this moment, and close it after the block."""
    if not path.is_file():
        raise TableError("journal_missing", f"There is no journal at {path}.", "Check the path.")
    address = f"{path.absolute().as_uri()}?mode=ro"
    with explained(path), closing(sqlite3.connect(address, uri=True, isolation_level=None)) as db:
        db.execute("BEGIN")
        check_form(db, path)
        yield db


def _signed_rows(db: sqlite3.Connection, path: Path, archive: Path | None, *folders: Path) -> Iterator[Row]:
    """Yield every row of a journal and its archives, checked against the chain. Each of its messages is checked against
    its place and the journal's key."""
    yield from _signed(db, path, _rows(path, chain(archived_rows(db, path, archive, *folders), kept_rows(db, 1))))


def _signed(db: sqlite3.Connection, path: Path, rows: Iterable[Row]) -> Iterator[Row]:
    return _signed_by(whose_journal(db, path), path, rows)


def _signed_by(whose: tuple[str, str, bytes], path: Path, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield these rows, with each of their messages checked against its place and the journal's key. `whose` is the
    journal's table, epoch and public key."""
    table, epoch, public_key = whose
    for row in rows:
        for seq, body in enumerate(row.messages, row.first_seq):
            check_message(path, row.number, row.previous_head, body, f"{table}/{epoch}/{seq}", public_key)
        yield row


def check_message(path: Path, row: int, previous_head: bytes, body: bytes, id_: str, public_key: bytes) -> None:
    message = parse_object(body)
    if not signature_holds(message, public_key):
        raise row_damaged(path, row, f"the signature of message {id_} does not hold")
    if message.get("id") != id_ or message.get("chain") != previous_head.hex():
        raise row_damaged(path, row, f"a message stands where {id_} should, or names another place in the chain")


def _rows(
    path: Path, stored: Iterable[StoredRow], head: bytes = GENESIS, first: int = 1, last_seq: int = 0
) -> Iterator[Row]:
    """Yield the stored rows with their facts read. Each row must follow the chain's `head`, the row number `first` and
    the message number `last_seq`."""
    for row, previous in chained(path, stored, head, first):
        if row.messages and row.first_seq != last_seq + 1:
            raise row_damaged(path, row.number, "its messages are not numbered on from those before")
        fact = fact_from_json(row.fact)
        if type(fact).__name__ != RENAMED.get(row.kind, row.kind):
            raise row_damaged(path, row.number, f"it is a {type(fact).__name__}, not a {row.kind}")
        yield Row(row.number, row.stamp, fact, row.messages, previous, last_seq + 1, row.via)
        last_seq += len(row.messages)


def chained(path: Path, stored: Iterable[StoredRow], head: bytes, first: int) -> Iterator[tuple[StoredRow, bytes]]:
    """Yield the rows from number `first` on, each checked against the chain, and with each row the chain head before
    it."""
    for number, row in enumerate(stored, first):
        if row.number != number:
            raise row_damaged(path, number, "it is missing")
        if not 0 <= row.stamp.at_ms < _MOST_MS:
            raise row_damaged(path, row.number, f"{row.stamp.at_ms} is no time")
        if row.head_after(head) != row.head:
            raise row_damaged(path, row.number, "it does not fit the chain")
        yield row, head
        head = row.head


def kept_rows(db: sqlite3.Connection, first: int, last: int = _LAST_ROW) -> Iterator[StoredRow]:
    """Yield the rows from `first` to `last` that are in the journal's own file, without rows in archives."""
    path = Path(db.execute("PRAGMA database_list").fetchone()[2])
    how_it_came = "boot_id, since_boot_ms, via" if form_of(db) > 1 else "'', 0, ''"
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
                raise row_damaged(path, number, "its messages are not numbered on from those before")
            stamp = Stamp(at_ms, bool(synchronised), boot_id, since_boot_ms)
            bodies = tuple(body for _, body in messages)
            yield StoredRow(number, stamp, via, kind, fact, salt, head, seq, bodies)
        first = some[-1][0] + 1


def archived_rows(db: sqlite3.Connection, path: Path, archive: Path | None, *folders: Path) -> Iterator[StoredRow]:
    """Yield the journal's rows that are in archives. Each archive is checked."""
    for run, recorded in archived_runs(db):
        file = archive / run.file_name if archive else file_of_run(run, recorded, *folders, beside(path))
        yield from read_archive(file, run)


def archived_runs(db: sqlite3.Connection, where: str = "", *values: int) -> list[tuple[Run, Path]]:
    """Return the journal's notes of its archives, the oldest first: which rows each archive holds, and where the
    archive is."""
    if form_of(db) < 2:
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


def file_of_run(run: Run, recorded: Path, *folders: Path) -> Path:
    """Return the path of the archive of these rows: where the journal says (`recorded`), or else in one of these
    folders."""
    candidates = (recorded, *(folder / run.file_name for folder in folders))
    return next((path for path in candidates if path.exists()), recorded)


def messages_of(rows: Iterable[StoredRow]) -> Iterator[Message]:
    return (Message(seq, body) for row in rows for seq, body in enumerate(row.messages, row.first_seq))


def head_before(db: sqlite3.Connection, path: Path, row: int) -> tuple[bytes, int]:
    """Return the chain's head before `row`, and the number of the last message before `row`."""
    if row == 1:
        return GENESIS, 0
    archived = archived_runs(db, "WHERE last_row < ? AND last_row >= (SELECT max(last_row) FROM archive)", row)
    seq = archived[0][0].last_seq if archived else 0
    last = db.execute("SELECT seq FROM message WHERE row < ? ORDER BY seq DESC LIMIT 1", (row,)).fetchone()
    kept = db.execute("SELECT head FROM fact WHERE row = ?", (row - 1,)).fetchone()
    if kept is not None:
        return kept[0], seq if last is None else last[0]
    if not archived or archived[0][0].last_row != row - 1:
        raise row_damaged(path, row - 1, "it is missing")
    return archived[0][0].head_after, seq


def last_row_of(db: sqlite3.Connection) -> tuple[int, bytes]:
    last = db.execute("SELECT row, head FROM fact ORDER BY row DESC LIMIT 1").fetchone()
    return (0, GENESIS) if last is None else last  # the last row is never in an archive


def head_seq_at(db: sqlite3.Connection, path: Path, row: int) -> int:
    """Return the number of the journal's last event. Raises TableError where a later event is marked as acknowledged by
    the pit."""
    head_seq: int
    head_seq, acked_seq = db.execute(
        "SELECT (SELECT coalesce(max(seq), 0) FROM message), acked_seq FROM journal"
    ).fetchone()
    if not 0 <= acked_seq <= head_seq:
        raise row_damaged(path, row, f"event {acked_seq} is marked as acknowledged, and the last is {head_seq}")
    return head_seq
