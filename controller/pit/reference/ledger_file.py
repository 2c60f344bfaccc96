"""A ledger in one SQLite file, which is the default; and who tells which pit runs on that file.

A pit that runs holds the lock on a file beside the ledger. Into that lock file the pit writes which session it serves:
the session's token, which stands in the ledger too, and the ledger's own place on the disk. So another process can tell
whether the pit that runs serves this very file. A copy that was put under the ledger's name later lies at another
place. A copy that was put there before the pit started has another token.
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
    """The lock that the one pit which runs on a ledger holds, until it is closed or its process is gone."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises TableError `ledger_locked` where another pit runs on the ledger, `ledger_unusable`."""
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
        """Write that this session serves the ledger at its present place on the disk."""
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"{self.token} {place_of(self._path)}\n".encode(), 0)

    def close(self) -> None:
        """Let another pit run."""
        os.close(self._handle)


def refuse_linked(path: Path) -> None:
    """Raises TableError `ledger_linked` for a file of two names: each name would have a lock and a log of its own."""
    with suppress(OSError):  # the file is not there yet, or cannot be read, which SQLite tells
        if path.is_file() and (names := path.stat().st_nlink) > 1:
            raise TableError(
                "ledger_linked",
                f"The ledger {path} has {names} names on its disk (hard links).",
                "Remove the other names (`find -samefile` finds them); a copy is made with `cp`, of a stopped pit.",
            )


def served(path: Path) -> tuple[str, str] | None:
    """The token of the session that the running pit serves, and its ledger's place; None where no pit runs."""
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
    """Where the file lies on the disk. Another file under the same name lies at another place."""
    try:
        status = path.stat()
    except OSError:
        return "nowhere"
    return f"{status.st_dev}:{status.st_ino}"


class LedgerFile:
    """The SQLite file of a ledger: a `Store`."""

    nonsense: tuple[type[Exception], ...] = NONSENSE

    def __init__(self, path: Path, begin: bool = True, read_only: bool = False) -> None:
        """Open the file at `path`, or `begin` it.

        Raises TableError `ledger_locked`, `ledger_unusable`, `ledger_damaged`, `ledger_of_another_program`,
        `ledger_too_old`, `ledger_too_new`, `ledger_missing`, and `ledger_linked` unless the file is only read.
        A file that is only read keeps its form: what that form lacks raises `ledger_of_earlier_form`.
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
        """Run one statement."""
        return self.connection.execute(statement, values)

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> sqlite3.Cursor:
        """Run one statement for each of these rows of values."""
        return self.connection.executemany(statement, values)

    stream = execute

    @contextmanager
    def explained(self) -> Iterator[None]:
        """A block in which SQLite's errors about the file become a TableError."""
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
        """All or nothing. What is committed is on the disk when the block has ended, and nobody wrote meanwhile."""
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
        """One view of the file, whoever writes to it meanwhile."""
        with self.explained():
            self.execute("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def others_wrote(self) -> bool:
        """Whether another process has written to the file since the last call."""
        (version,) = self.execute("PRAGMA data_version").fetchone()
        before, self._data_version = self._data_version, version
        return bool(version != before)

    def refuse_unsound(self) -> None:
        """Raises sqlite3.DatabaseError where SQLite finds the file damaged."""
        (sound,) = self.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(sound)

    @property
    def leads(self) -> bool:
        """Whether this process is the pit that runs on the ledger."""
        return self._lock is not None

    @contextmanager
    def lead(self, say: Callable[[str], None]) -> Iterator[str]:
        """Become the pit that runs on the file. Raises TableError `ledger_locked` where another pit does."""
        self._lock, self._place = PitLock(self.path), place_of(self.path)
        with self.transaction():
            yield self._lock.token
        self._lock.serve()

    def refuse_if_taken_over(self, token: Callable[[], str | None]) -> None:
        """Raises TableError `ledger_replaced` where another file has the ledger's name now, or another pit serves it.

        Nobody would read what this pit writes.
        """
        if self._lock is not None and (place_of(self.path) != self._place or token() != self._lock.token):
            raise TableError(
                "ledger_replaced",
                f"The ledger {self} was replaced, or another pit was started on it, while this pit ran on it.",
                "Let one pit alone run on the ledger, and start that pit again: the tables send what the file lacks.",
            )

    def refuse_unserved(self, token: str | None) -> None:
        """Raises TableError `pit_not_running`, or `ledger_replaced` where the pit that runs serves another file."""
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
        """Let go of the file, and let another pit run on it."""
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
        """Run each statement of these schemas. No semicolon may stand in a comment there."""
        for schema in schemas:
            for statement in schema.split(";"):
                self.execute(statement)
        self.execute(f"PRAGMA user_version = {FORM}")

    def _form(self) -> int:
        """The form of the ledger, where this program can read that form."""
        (application_id,) = self.execute("PRAGMA application_id").fetchone()
        (form,) = self.execute("PRAGMA user_version").fetchone()
        if application_id != APPLICATION_ID:
            raise of_another_program(self)
        refuse_form(self, form, MIGRATED_FROM, FORM)
        return int(form)


def _alone(path: Path) -> str:
    """The option by which SQLite reads a ledger that nobody has open, where this process may not make a log there."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    return "" if has_log or os.access(path.parent, os.W_OK) else "&immutable=1"


def _lock_of(path: Path) -> Path:
    """The lock's file, beside the ledger itself, whichever links lead to the ledger."""
    whole = path.resolve()
    return whole.with_name(whole.name + ".lock")
