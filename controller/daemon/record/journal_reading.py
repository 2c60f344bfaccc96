"""Reads and checks a journal from outside the daemon, even while the daemon writes it. Each row is checked against the
chain of hashes, and each message against its signature."""

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
    """The result of checking a journal: its table and epoch, how many rows and messages were checked and found good,
    and the chain head (a hash over all rows).

    `archived_rows` says how many of the rows are in archives, and `archives` how many archives there are.
    """

    table: str
    epoch: str
    rows: int
    messages: int
    head: bytes
    archived_rows: int = 0
    archives: int = 0


def verify(path: Path, archive: Path | None = None, *folders: Path) -> Verified:
    """Read the whole journal and its archives, and check each row: its number, its place in the chain of hashes, and
    the ids and signatures of its messages. Check too that the stored Merkle tree is the tree of these rows.

    Archives are looked for in the folder `archive` alone. With `archive` None they are looked for at the path that the
    journal names, then in `folders`, then beside the journal. Nothing is written, and the table may run meanwhile.
    Raises TableError `journal_damaged` naming the first bad row, `journal_missing`, `archive_missing`,
    `archive_unreadable` or `archive_damaged`.
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
    """Return the paths of the archives that the journal names, the oldest first.

    Each archive is looked for at the path that the journal names, then in `folders`, then beside the journal. For a
    missing archive the path that the journal names is returned. Raises TableError if the journal cannot be read.
    """
    with reading(path) as db:
        return [file_of_run(run, recorded, *folders, beside(path)) for run, recorded in archived_runs(db)]


def copied(path: Path, copy: Path, *folders: Path) -> list[Path]:
    """Write a whole copy of the journal to `copy`, and return the paths of the archives that the journal names.

    Each archive is looked for at the path that the journal names, then in `folders`, then beside the journal. The
    journal itself is only read, and the table may run meanwhile. Raises TableError if the journal cannot be read, and
    OSError if the copy cannot be written.
    """
    with reading(path) as db:
        copy_database(db, copy)
        return [file_of_run(run, recorded, *folders, beside(path)) for run, recorded in archived_runs(db)]


def copy_database(db: sqlite3.Connection, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(copy, isolation_level=None)) as to:
        db.backup(to)


def read_rows(path: Path, archive: Path | None = None) -> Iterator[Row]:
    """Yield every row of a journal and its archives, with chain of hashes and signatures checked. Nothing is written,
    and the table may run meanwhile.

    `archive` is the folder with the archives; with None they are looked for at the path that the journal names, or
    beside the journal. Raises TableError if the journal or an archive is missing or damaged.
    """
    with reading(path) as db:
        yield from _signed_rows(db, path, archive)


def read_latest(path: Path, most: int | None, *folders: Path) -> Iterator[tuple[bytes, Row]]:
    """Yield the latest rows of a journal, each with the stored bytes of its fact. Chain of hashes and signatures are
    checked.

    At least `most` rows are yielded if the journal has so many; with None all rows are yielded. There may be more,
    because reading begins at the first row of an archive or of a shoe. If an archive is missing, its rows and all
    earlier rows are left out. Archives are looked for at the paths that the journal names, then in `folders`, then
    beside the journal. Nothing is written. A slow caller does not hold the table up, because the journal is closed
    while the caller works on a row.
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
    """Yield the rows numbered `first` to `last`, read in portions.

    The journal is closed between two portions, because an open reader keeps the table from emptying SQLite's
    write-ahead log. If rows move into an archive between two portions, they are read from the archive.
    """
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
    """Yield the rows of the journal's last shoe, from its opening on. Nothing is written, and the table may run
    meanwhile."""
    with reading(path) as db:
        yield from open_shoe_rows(db, path)


def read_shoe(path: Path, shoe: int, *folders: Path) -> Iterator[Row]:
    """Yield the rows of the shoe numbered `shoe`, from the journal or its archives. Chain of hashes and signatures are
    checked. Yield nothing if there is no such shoe.

    Each archive is looked for at the path that the journal names, then in `folders`, then beside the journal. Nothing
    is written, and the table may run meanwhile.
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
    """Return the number of the last shoe in an archive, given the archive's rows; 0 if no event in the rows names a
    shoe."""
    bodies = (json.loads(body) for row in reversed(rows) for body in reversed(row.messages))
    return next((says["shoe"] for says in bodies if says["shoe"]), 0)


def _from(db: sqlite3.Connection, path: Path, row: int) -> tuple[bytes, int, int]:
    """Return the values with which a check of the rows can begin at the row numbered `row`: the chain head (a hash over
    all rows before it), the number `row` itself, and the number of the last message before the row."""
    head, seq = head_before(db, path, row)
    return head, row, seq


def read_events(path: Path, after: int, rounds: int, *folders: Path, since: str = "") -> list[bytes]:
    """Return, in order, the signed events with numbers above `after`. Only the last `rounds` finished rounds are
    covered, and events that were made before the time `since` are left out.

    Events in archives are returned too, as far back as each archive can be found and read. Each archive is looked for
    at the path that the journal names, then in `folders`, then beside the journal. Events in the journal's own file are
    not checked. Nothing is written, and the table may run meanwhile.
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
    """The owner of a journal (table, epoch and public key), and the number of the last event that the pit has
    acknowledged."""

    table: str
    epoch: str
    public_key: bytes
    acked_seq: int


def read_origin(path: Path) -> Origin:
    """Return the owner of the journal at `path` (table, epoch and public key), and the number of the last event that
    the pit has acknowledged. Nothing is written, and the table may run meanwhile."""
    with reading(path) as db:
        (acked_seq,) = db.execute("SELECT acked_seq FROM journal").fetchone()
        return Origin(*whose_journal(db, path), acked_seq)


def open_shoe_rows(db: sqlite3.Connection, path: Path) -> Iterator[Row]:
    start = db.execute(f"SELECT max(row) FROM fact WHERE {OPENED_A_SHOE}").fetchone()[0] or 1
    yield from _rows(path, kept_rows(db, start), *_from(db, path, start))


class Spoken(Struct, frozen=True):
    """The messages in a table's journal, in order, and the journal's owner (table, epoch and public key). The messages
    are not checked."""

    table: str
    epoch: str
    public_key: bytes
    messages: Iterator[Message]


@contextmanager
def reading_messages(path: Path, archive: Path | None = None) -> Iterator[Spoken]:
    """Open a journal and its archives for reading their messages, and close them after the block. The block sees the
    journal as it is now, even if the table writes meanwhile.

    `archive` is the folder with the archives; with None they are looked for at the path that the journal names, or
    beside the journal. Raises TableError if the journal or an archive is missing or damaged.
    """
    with reading(path) as db:
        yield Spoken(*whose_journal(db, path), _spoken(db, path, archive))


def _spoken(db: sqlite3.Connection, path: Path, archive: Path | None) -> Iterator[Message]:
    yield from messages_of(archived_rows(db, path, archive))
    for row in db.execute("SELECT seq, body FROM message ORDER BY seq"):
        yield Message(*row)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the journal's database at `path` read-only, and close it after the block. The block sees the journal as it
    is now, even if the table writes meanwhile."""
    if not path.is_file():
        raise TableError("journal_missing", f"There is no journal at {path}.", "Check the path.")
    address = f"{path.absolute().as_uri()}?mode=ro"
    with explained(path), closing(sqlite3.connect(address, uri=True, isolation_level=None)) as db:
        db.execute("BEGIN")
        check_form(db, path)
        yield db


def _signed_rows(db: sqlite3.Connection, path: Path, archive: Path | None, *folders: Path) -> Iterator[Row]:
    """Yield every row of a journal and its archives. Each row is checked against the chain of hashes, and each of its
    messages against its number, its place in the chain and the table's key."""
    yield from _signed(db, path, _rows(path, chain(archived_rows(db, path, archive, *folders), kept_rows(db, 1))))


def _signed(db: sqlite3.Connection, path: Path, rows: Iterable[Row]) -> Iterator[Row]:
    return _signed_by(whose_journal(db, path), path, rows)


def _signed_by(whose: tuple[str, str, bytes], path: Path, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield these rows after checking their messages: the signature by the table's key, the number, and the place in
    the chain of hashes. `whose` is the journal's table, epoch and public key."""
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
    """Yield the stored rows with their facts decoded, and check that they follow one another.

    `head` is the chain head (a hash over all rows before them), `first` the number of the first row, and `last_seq` the
    number of the last message before it.
    """
    for row, previous in chained(path, stored, head, first):
        if row.messages and row.first_seq != last_seq + 1:
            raise row_damaged(path, row.number, "its messages are not numbered on from those before")
        fact = fact_from_json(row.fact)
        if type(fact).__name__ != RENAMED.get(row.kind, row.kind):
            raise row_damaged(path, row.number, f"it is a {type(fact).__name__}, not a {row.kind}")
        yield Row(row.number, row.stamp, fact, row.messages, previous, last_seq + 1, row.via)
        last_seq += len(row.messages)


def chained(path: Path, stored: Iterable[StoredRow], head: bytes, first: int) -> Iterator[tuple[StoredRow, bytes]]:
    """Yield pairs: a stored row, and the chain head (a hash over all earlier rows) before that row. Each row is checked
    against that hash. `first` is the number of the first row, and `head` the chain head before it."""
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
    """Yield the rows numbered `first` to `last` that are in the journal's own file. Rows in archives are left out."""
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
    """Yield the rows of the journal that are in archives, with each archive checked. Archives are looked for in the
    folder `archive`; with None, at the path that the journal names, then in `folders`, then beside the journal."""
    for run, recorded in archived_runs(db):
        file = archive / run.file_name if archive else file_of_run(run, recorded, *folders, beside(path))
        yield from read_archive(file, run)


def archived_runs(db: sqlite3.Connection, where: str = "", *values: int) -> list[tuple[Run, Path]]:
    """Return what the journal stores about its archives, the oldest first, as pairs: the range of rows in an archive,
    and the archive's path. `where` is an SQL clause with the parameters `values`, to choose some of the archives."""
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
    """Return the path of the archive with the rows of `run`: the path `recorded` in the journal or, if no file is
    there, one in `folders`. Return `recorded` if the archive is found nowhere."""
    candidates = (recorded, *(folder / run.file_name for folder in folders))
    return next((path for path in candidates if path.exists()), recorded)


def messages_of(rows: Iterable[StoredRow]) -> Iterator[Message]:
    return (Message(seq, body) for row in rows for seq, body in enumerate(row.messages, row.first_seq))


def head_before(db: sqlite3.Connection, path: Path, row: int) -> tuple[bytes, int]:
    """Return the chain head (a hash over all earlier rows) before the row numbered `row`, and the number of the last
    message before that row."""
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
    """Return the number of the journal's last event. Raises TableError if an even later event is marked as acknowledged
    by the pit. `row` is only named in the error."""
    head_seq: int
    head_seq, acked_seq = db.execute(
        "SELECT (SELECT coalesce(max(seq), 0) FROM message), acked_seq FROM journal"
    ).fetchone()
    if not 0 <= acked_seq <= head_seq:
        raise row_damaged(path, row, f"event {acked_seq} is marked as acknowledged, and the last is {head_seq}")
    return head_seq
