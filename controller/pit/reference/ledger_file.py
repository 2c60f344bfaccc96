"""A ledger in one SQLite file, which is the default, and the lock that shows which pit runs on that file.

A pit that runs holds the lock on a file beside the ledger. Into that lock file the pit writes its session's token and
the ledger's place on the disk (device and inode). The token stands in the ledger too. So another process can tell
whether the running pit serves this very file. If somebody replaced the ledger by a copy while the pit ran, the copy has
another place on the disk. If somebody replaced it before the pit started, the copy has another token.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from controller.basics.errors import TableError
from controller.pit.reference.forms import FORM, FROM_FORM, MIGRATED_FROM, NEW
from controller.pit.reference.store import (
    NONSENSE,
    damaged,
    locked,
    missing,
    nonsense_explained,
    of_another_program,
    of_earlier_form,
    refuse_form,
    unusable,
)

APPLICATION_ID = 0x50495431  # "PIT1": a table's journal is an SQLite file too, and not a ledger

_BUSY_S = 5.0  # a person's command, for example `adopt`, locks the file for some milliseconds
_LOCK_TRIES, _LOCK_AGAIN_AFTER_S = 10, 0.05  # a process that looks whether a pit runs holds the lock for a moment
_LOCK_BYTES = 200


class PitLock:
    """The file lock that a running pit holds on its ledger, so that no second pit runs on it. The lock ends with
    `close` or with the process."""

    def __init__(self, path: Path) -> None:
        """Take the file lock of the ledger at `path`. Raises TableError `ledger_locked` if another pit runs on the
        ledger, or `ledger_unusable`."""
        self.token = secrets.token_hex(16)
        self._path = path
        try:
            self._handle = os.open(_lock_of(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unusable(path, error.strerror) from error
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOCK_AGAIN_AFTER_S)
            else:
                return
        os.close(self._handle)
        raise locked(path)

    def serve(self) -> None:
        """Write this session's token, and the ledger's present place on the disk, into the lock file."""
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"{self.token} {place_of(self._path)}\n".encode(), 0)

    def close(self) -> None:
        """Free the lock, so that another pit can run."""
        os.close(self._handle)


def refuse_linked(path: Path) -> None:
    """Raise TableError `ledger_linked` if a ledger file has more than one name (hard links), because each name would
    have its own lock file and its own SQLite log."""
    with suppress(OSError):  # the file is not there yet, or cannot be read, which SQLite tells
        if path.is_file() and (names := path.stat().st_nlink) > 1:
            raise TableError(
                "ledger_linked",
                f"The ledger {path} has {names} names on its disk (hard links).",
                "Remove the other names (`find -samefile` finds them); a copy is made with `cp`, of a stopped pit.",
            )


def served(path: Path) -> tuple[str, str] | None:
    """Return two values about the pit that runs on this ledger file: its session token, and the place on the disk
    (device and inode) of the ledger that it opened. Return None if no pit runs."""
    try:
        handle = os.open(_lock_of(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        token, _, place = os.pread(handle, _LOCK_BYTES, 0).decode("ascii", "replace").strip().partition(" ")
        return token, place
    else:
        return None
    finally:
        os.close(handle)


def place_of(path: Path) -> str:
    """Return the file's place on the disk, as device and inode; "nowhere" if the file cannot be found. Another file
    under the same name has another place."""
    try:
        status = path.stat()
    except OSError:
        return "nowhere"
    return f"{status.st_dev}:{status.st_ino}"


class LedgerFile:
    """The `Store` (place in which a ledger is kept) that is a SQLite file."""

    nonsense: tuple[type[Exception], ...] = NONSENSE

    def __init__(self, path: Path, begin: bool = True, read_only: bool = False) -> None:
        """Open the ledger file at `path`; with `begin`, make one if there is none.

        Raises TableError `ledger_locked`, `ledger_unusable`, `ledger_damaged`, `ledger_of_another_program`,
        `ledger_too_old`, `ledger_too_new`, `ledger_missing`, and `ledger_linked` unless `read_only`. With `read_only`
        the file keeps its form (schema): reading a column or table that an older form lacks raises
        `ledger_of_earlier_form`.
        """
        if not (begin or path.is_file()):
            raise missing(path)
        self.path = path
        self._lock: PitLock | None = None
        self._place = ""
        self._data_version: int | None = None
        self._only_reads_form = FORM
        if read_only:
            with self.explained():
                address = f"{path.absolute().as_uri()}?mode=ro{_alone(path)}"
                self.connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_S)
                self._only_reads_form = self._form()
            return
        refuse_linked(path)
        with nonsense_explained(self):
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
            self._begin_or_check()
            self.execute("PRAGMA synchronous = FULL")
            # A sync of an earlier run may have failed. The kernel then takes the log for written, so write the log
            # anew.
            self.execute("PRAGMA wal_checkpoint")

    def __str__(self) -> str:
        return str(self.path)

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run one SQL statement with these values."""
        return self.connection.execute(statement, values)

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> sqlite3.Cursor:
        """Run one SQL statement for each row of values."""
        return self.connection.executemany(statement, values)

    stream = execute

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Run a block, and turn SQLite's errors about the file into a TableError."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise locked(self) from error
            if "decode to UTF-8" in str(error):  # Python's own error, for a text that is not UTF-8
                raise damaged(self, str(error)) from error
            if self._only_reads_form < FORM and str(error).startswith("no such "):  # a table, or a column
                raise of_earlier_form(self, self._only_reads_form, FORM) from error
            raise unusable(self, str(error)) from error
        except sqlite3.Error as error:
            raise damaged(self, str(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction, all or nothing, in which no other process writes. When the block has ended,
        the commit is on the disk."""
        with self.explained():
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run a block on one consistent view of the file, which no other process's writing changes."""
        with self.explained():
            self.execute("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def others_wrote(self) -> bool:
        """Tell whether another process has written to the file since the last call."""
        (version,) = self.execute("PRAGMA data_version").fetchone()
        before, self._data_version = self._data_version, version
        return bool(version != before)

    def refuse_unsound(self) -> None:
        """Raise sqlite3.DatabaseError if SQLite finds the file damaged."""
        (sound,) = self.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(sound)

    @property
    def leads(self) -> bool:
        """Tell whether this process is the pit that runs on the ledger."""
        return self._lock is not None

    @contextmanager
    def lead(self, say: Callable[[str], None]) -> Iterator[str]:
        """Become the pit that runs on the ledger file. Yields the new session's token inside a transaction. Raises
        TableError `ledger_locked` if another pit runs on the file."""
        self._lock, self._place = PitLock(self.path), place_of(self.path)
        with self.transaction():
            yield self._lock.token
        self._lock.serve()

    def refuse_if_taken_over(self, token: Callable[[], str | None]) -> None:
        """Raise TableError `ledger_replaced` if another file has the ledger's name now, or if another pit serves the
        ledger.

        In both cases nobody would read what this pit writes.
        """
        if self._lock is not None and (place_of(self.path) != self._place or token() != self._lock.token):
            raise TableError(
                "ledger_replaced",
                f"The ledger {self} was replaced, or another pit was started on it, while this pit ran on it.",
                "Let one pit alone run on the ledger, and start that pit again: the tables send what the file lacks.",
            )

    def refuse_unserved(self, token: str | None) -> None:
        """Raise TableError `pit_not_running` if no pit runs on the ledger, or `ledger_replaced` if the running pit
        serves another file."""
        running = served(self.path)
        if running is None:
            raise TableError(
                "pit_not_running",
                f"No pit runs on the ledger {self}, so nobody knows whether this ledger is the newest copy.",
                "Start the pit (`run`), and decide once the pit has heard its tables.",
            )
        if running != (token, place_of(self.path)):
            raise TableError(
                "ledger_replaced",
                f"The pit that runs does not serve this file: {self} was replaced since the pit started.",
                "Start the pit again: the tables send what this file lacks. Then decide.",
            )

    def close(self) -> None:
        """Let go of the file, so that another pit can run on it."""
        self.connection.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.execute("ROLLBACK")

    def _begin_or_check(self) -> None:
        empty = self.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
        form = 0 if empty else self._form()
        self.execute("PRAGMA journal_mode = WAL")  # first: after an ALTER TABLE SQLite calls its own file locked
        if empty:
            with self.transaction():
                self._make(NEW)
                self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        elif form < FORM:
            with self.transaction():  # where another process has just done so, nothing is left to do
                for each in range(self._form(), FORM):
                    self._make(FROM_FORM[each])
        self._form()

    def _make(self, schemas: Iterable[str]) -> None:
        """Run each SQL statement of these schemas. No comment in a schema may contain a semicolon, which ends a
        statement."""
        for schema in schemas:
            for statement in schema.split(";"):
                self.execute(statement)
        self.execute(f"PRAGMA user_version = {FORM}")

    def _form(self) -> int:
        """Return the number of the ledger's form (schema). Raises TableError if this program cannot read it."""
        (application_id,) = self.execute("PRAGMA application_id").fetchone()
        (form,) = self.execute("PRAGMA user_version").fetchone()
        if application_id != APPLICATION_ID:
            raise of_another_program(self)
        refuse_form(self, form, MIGRATED_FROM, FORM)
        return int(form)


def _alone(path: Path) -> str:
    """Return SQLite's option `&immutable=1` if the ledger has no SQLite log beside it and this process may not write
    one; otherwise return an empty text. Without the option SQLite could not open the ledger in this case."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    return "" if has_log or os.access(path.parent, os.W_OK) else "&immutable=1"


def _lock_of(path: Path) -> Path:
    """Return the path of the ledger's lock file. The lock file lies beside the ledger itself, even if `path` is a link
    to it."""
    whole = path.resolve()
    return whole.with_name(whole.name + ".lock")
