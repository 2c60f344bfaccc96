"""The ledger's file: which form the file has, what is wrong with it in words for people, and which pit runs on it.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from controller.errors import TableError

APPLICATION_ID = 0x50495431  # "PIT1": a table's journal is an SQLite file too, and not a ledger
FORM = 5
MIGRATED_FROM = 3

_LOCK_TRIES, _LOCK_AGAIN_AFTER_S = 10, 0.05  # a process that looks whether a pit runs holds the lock for a moment
_LOCK_BYTES = 200
NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, AssertionError, RecursionError, MemoryError)


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


def form_of(db: sqlite3.Connection, path: Path) -> int:
    """The form of the ledger, where this program can read that form.

    Raises TableError `ledger_of_another_program`, `ledger_too_old` or `ledger_too_new`.
    """
    (application_id,) = db.execute("PRAGMA application_id").fetchone()
    (form,) = db.execute("PRAGMA user_version").fetchone()
    if application_id != APPLICATION_ID:
        raise TableError(
            "ledger_of_another_program",
            f"{path} is a database, but no pit's ledger.",
            "Correct --ledger.",
        )
    if form < MIGRATED_FROM:
        raise TableError(
            "ledger_too_old",
            f"The ledger {path} has form {form}; this program knows form {FORM}.",
            "Keep that ledger for the audit, and begin a new ledger. The tables send their streams again, and people"
            " recall what was decided on awards (`award list`, `award recall`).",
        )
    if form > FORM:
        raise TableError(
            "ledger_too_new",
            f"The ledger {path} has form {form}; this program knows form {FORM}.",
            "Run the version of the pit that wrote this ledger.",
        )
    return int(form)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's complaints about a file, in words for people."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise locked(path) from error
        if "decode to UTF-8" in str(error):  # Python's own, on a text that is none
            raise damaged(path, error) from error
        raise unusable(path, str(error)) from error
    except sqlite3.Error as error:
        raise damaged(path, error) from error


@contextmanager
def told_of_nonsense(path: Path) -> Iterator[None]:
    """As `told`. Values in the file that cannot be reckoned with are damage too.

    Only for code that works on nothing but the file: elsewhere such an exception is a defect of this program.
    """
    with told(path):
        try:
            yield
        except NONSENSE as error:
            raise damaged(path, error) from error


def locked(path: Path) -> TableError:
    """The error that another process has the file."""
    return TableError(
        "ledger_locked",
        f"Another process has the ledger {path}.",
        "Stop the other pit or whatever has the file open, or give this pit a ledger of its own.",
    )


def unusable(path: Path, why: str | None) -> TableError:
    """The error that the file cannot be opened or written."""
    return TableError(
        "ledger_unusable",
        f"The ledger {path} cannot be used: {why}.",
        "Check the path, that the disk is not full, and that the user the pit runs as may write there.",
    )


def damaged(path: Path, error: BaseException) -> TableError:
    """The error that the file does not hold what was written."""
    why = str(error) if isinstance(error, sqlite3.Error) else f"a value in the file makes no sense ({error!r:.200})"
    return TableError(
        "ledger_damaged",
        f"The ledger {path} is not sound: {why}.",
        "Keep the file for the audit and restore the last good copy. The tables send again what the copy lacks, and"
        " people recall what was decided on awards since (`award list`, `award recall`).",
    )


def _lock_of(path: Path) -> Path:
    """The lock's file, beside the ledger itself, whichever links lead to the ledger."""
    whole = path.resolve()
    return whole.with_name(whole.name + ".lock")
