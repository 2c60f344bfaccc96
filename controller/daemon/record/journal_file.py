"""Holds the journal's file on the disk for one process, and finds out if the file is removed or replaced.

The lock is on the file itself, and not on a separate lock file, because a lock file can be removed, and a second name
(hard link) of the same journal would have another lock file. The lock is flock's, which SQLite's own locks do not
touch.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import stat
from contextlib import ExitStack
from pathlib import Path

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError

_MODE = 0o600


class JournalFailedError(OSError):
    """Raised when the disk does not read or write the journal. `code` is for the journal's own record of the failure;
    the text is for people."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(what)
        self.code = code


class JournalGoneError(JournalFailedError):
    """Raised when the journal's file is not at its place. `Journal.put_back` writes the file again.

    `file` is the name of the missing file: the journal's, or that of its write-ahead log. The code is "removed",
    "replaced" or "not_opened".
    """

    def __init__(self, file: str, code: str) -> None:
        super().__init__(code, f"{file} was {code.replace('_', ' ')}")
        self.file = file


def code_of(error: OSError | TableError) -> str:
    """Return the short code of an error for the journal's record, such as SQLITE_FULL, ENOSPC or archive_in_the_way."""
    if isinstance(error, JournalFailedError | TableError):
        return error.code
    return errno.errorcode.get(error.errno or 0, "unknown")


_Identity = tuple[int, int]


class JournalFile:
    """The journal's file at `path`, locked by this process until `close` is called. If there is no file, an empty one
    is made.

    Close this object only after SQLite's connection, because closing any descriptor of a file gives up SQLite's locks
    on that file. Raises TableError: `journal_in_use`, `journal_linked`, `journal_unusable`.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))  # as SQLite does: its log is beside the file that a link leads to
        self._log_path = self.path.with_name(self.path.name + "-wal")
        self._log: _Identity | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
        except OSError as error:
            raise _unusable(path, error) from error
        held = os.fstat(self._handle)
        self._self = _identity(held)
        try:
            self._lock(path, held.st_nlink)
        except BaseException:
            os.close(self._handle)
            raise

    def _lock(self, path: Path, names: int) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TableError(
                "journal_in_use",
                f"Another process has the journal {path}.",
                "Stop the other table controller, or give this table a journal of its own.",
            ) from None
        except OSError as error:
            raise _unusable(path, error) from error
        if names > 1:  # each name would have a write-ahead log of its own, and neither log all rows
            raise TableError(
                "journal_linked",
                f"The journal {path} has {names} names on its disk (hard links).",
                "Remove the other names (`find -samefile` finds them). To copy a journal, stop the table and use `cp`.",
            )

    def for_its_user_alone(self) -> None:
        """Set the rights of the journal's file, and of the files that SQLite keeps beside it, so that no other user can
        read them. Raises TableError `journal_unusable`."""
        for suffix in ("", "-wal", "-shm"):
            file = self.path.with_name(self.path.name + suffix)
            try:
                if stat.S_IMODE(file.stat().st_mode) != _MODE:
                    file.chmod(_MODE)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unusable(file, error) from error

    def log_begun(self) -> None:
        """Note that SQLite has begun its write-ahead log, so that `missing` also looks for the log's file from now on.
        Raises TableError `journal_unusable`."""
        try:
            self._log = _identity(self._log_path.stat())
        except OSError as error:
            raise _unusable(self._log_path, error) from error

    def missing(self) -> JournalGoneError | None:
        """Return an error that names the missing file, the journal's or its write-ahead log's; None if both are at
        their place. Raises OSError if the disk cannot be asked."""
        return _amiss(self.path, self._self) or (None if self._log is None else _amiss(self._log_path, self._log))

    def stands(self) -> bool:
        """Tell whether the journal's own file is at its place. Its write-ahead log is not looked at. Raises OSError."""
        return _amiss(self.path, self._self) is None

    def close(self) -> None:
        """Close the file, and so give up its lock."""
        os.close(self._handle)


def set_aside(path: Path, itself: bool = True) -> Path | None:
    """Rename the file at `path`, and the files that SQLite keeps beside it, to a free name in the same folder. Either
    all of them are renamed or none.

    Returns the new path; None if there was nothing to rename: neither the file nor its write-ahead log. With `itself`
    False the file keeps its name, and only SQLite's files are renamed. Raises OSError, also if a table controller has
    the file that is to be renamed open.
    """
    log, index = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    old = [each for each in ([path, log] if itself else [log]) if each.exists()]
    if path in old:
        _refuse_where_held(path)
    if not old:
        index.unlink(missing_ok=True)  # only an index of the log
        return None
    taken = {each.name for each in path.parent.iterdir()}
    names = (f"{path.name}.set-aside-{number}" for number in itertools.count(1))
    aside = path.with_name(next(name for name in names if taken.isdisjoint({name, f"{name}-wal", f"{name}-shm"})))
    with ExitStack() as undo:
        for each in (*old, *([index] if index.exists() else [])):
            to = aside.with_name(aside.name + each.name.removeprefix(path.name))
            each.rename(to)
            undo.callback(to.rename, each)
        sync_folder(path)
        undo.pop_all()
    return aside


def _refuse_where_held(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalFailedError("journal_in_use", f"another process has the file that stands at {path}") from None
    finally:
        os.close(handle)


def _unusable(path: Path, error: OSError) -> TableError:
    return TableError(
        "journal_unusable",
        f"{path} cannot be opened for the table's user alone: {error.strerror}.",
        "Give the file and its folder to the user the table runs as.",
    )


def _identity(stat: os.stat_result) -> _Identity:
    return stat.st_dev, stat.st_ino


def _amiss(path: Path, identity: _Identity) -> JournalGoneError | None:
    try:
        found = _identity(path.stat())
    except FileNotFoundError:
        return JournalGoneError(path.name, "removed")
    return None if found == identity else JournalGoneError(path.name, "replaced")
