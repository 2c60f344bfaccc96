"""The form of a journal's SQLite file (its database schema), the owner that it names, and the errors for a file that is
not a sound journal."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from controller.basics.errors import TableError
from controller.daemon.record.journal_file import JournalFailedError

SCHEMA_VERSION = 3
"""Form 2 also holds how each fact came, the machine's own clock, and which rows archives hold. Form 3 also holds what
`tree.py` keeps. Opening a journal of an earlier form gives the journal form 3."""


_KEY_BYTES = 32


_SHARED_MEMORY_BYTES = 32768  # the least of SQLite's -shm file


BEGIN_ANEW = (
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


_TREE_TABLES = """
CREATE TABLE tree (id INTEGER PRIMARY KEY CHECK (id = 1), first_row INTEGER NOT NULL) STRICT;
CREATE TABLE subtree (
    level INTEGER NOT NULL,
    place INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (level, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoint (kind TEXT PRIMARY KEY, size INTEGER NOT NULL, note TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO tree
"""


SCHEMA = f"""
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
{_TREE_TABLES} VALUES (1, 1);
"""


FROM_FORM = {
    1: (
        _ARCHIVE_TABLE,
        "ALTER TABLE fact ADD COLUMN boot_id TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE fact ADD COLUMN since_boot_ms INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE fact ADD COLUMN via TEXT NOT NULL DEFAULT ''",
    ),
    2: tuple(f"{_TREE_TABLES} SELECT 1, coalesce(max(last_row), 1) FROM archive".split(";")),
}
"""By the form of a journal, the statements that give the journal the next form."""


def whose_journal(db: sqlite3.Connection, path: Path) -> tuple[str, str, bytes]:
    """Return the id of the table to which the journal belongs, the journal's epoch (its random name), and the table's
    public key. `path` is only named in errors."""
    table, epoch, public_key = db.execute("SELECT table_id, epoch, public_key FROM journal").fetchone()
    if len(public_key) != _KEY_BYTES:
        raise _unsound(path, "its entry for the table's key is no key")
    return table, epoch, public_key


def form_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def check_form(db: sqlite3.Connection, path: Path) -> int:
    """Return the version number of the journal's database schema. Raises TableError if this program does not know that
    version."""
    version = form_of(db)
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
def explained(path: Path) -> Iterator[None]:
    """Turn an error of SQLite in the block, or a failure to understand what the journal at `path` holds, into a
    TableError with a text for people."""
    try:
        yield
    except (sqlite3.Error, TypeError, ValueError, MemoryError) as error:  # MemoryError: a size that is nonsense
        if not isinstance(error, sqlite3.OperationalError) or _about_content(error):
            raise _unsound(path, str(error) or type(error).__name__) from error
        raise TableError(
            "journal_unusable",
            f"The journal {path} cannot be opened: {failed(error, path)}.",
            "Make room on its disk."
            if _full(error, path)
            else "Check that its disk is sound and not full, and that the user the table runs as may write there.",
        ) from error


def failed(error: sqlite3.Error, path: Path) -> JournalFailedError:
    """Turn an error of SQLite into an error that says why the disk failed, with SQLite's own code and a text for
    people."""
    code = getattr(error, "sqlite_errorname", type(error).__name__)
    if _full(error, path):
        return JournalFailedError("SQLITE_FULL", f"the disk is full ({code})")
    return JournalFailedError(code, f"{error} ({code})")


def _full(error: sqlite3.Error, path: Path) -> bool:
    """Tell whether the error means that the disk is full. For its shared memory SQLite reports a full disk only as an
    "I/O" error, so in that case the free room on the disk is looked at."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code != sqlite3.SQLITE_IOERR_SHMSIZE:
        return bool(code == sqlite3.SQLITE_FULL)
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < _SHARED_MEMORY_BYTES
    return False


def _about_content(error: sqlite3.OperationalError) -> bool:
    """Tell whether the error is about the file's content (for example, a table is missing), and not about the disk or
    the access rights."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR


def row_damaged(path: Path, row: int, why: str) -> TableError:
    return _journal_damaged(f"The journal {path} is damaged at row {row}: {why}.", "Stop")


def _unsound(path: Path, why: str) -> TableError:
    first = "Check the path first. If this is the table's journal, stop"
    return _journal_damaged(f"The journal {path} is not a sound journal: {why}.", first)


def _journal_damaged(what: str, stop: str) -> TableError:
    do = (
        f"{stop} the table and {BEGIN_ANEW} Do not put an older copy in its place: the pit knows later events than "
        "such a copy, and the table would stop."
    )
    return TableError("journal_damaged", what, do)
