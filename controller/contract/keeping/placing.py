"""Puts several files in place, either all or none. If a restore of a backup fails, everything that it has changed is
undone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from controller.basics.disk import sync_folder
from controller.contract.keeping.packed import Content
from controller.contract.keys import for_owner

_SQLITE = ("", "-wal", "-shm")
_HALF, _BEFORE = ".restoring", ".before-restoring"  # a restore that was killed may leave these; the next removes them


class Placing:
    """A context manager that undoes changes of files. If its block ends with an error, every change that was made
    through it is undone."""

    def __init__(self) -> None:
        self._undo = ExitStack()
        self._before: list[Path] = []

    def __enter__(self) -> Placing:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._undo.close()
            return
        self._undo.pop_all()
        for each in self._before:
            each.unlink(missing_ok=True)

    def put(self, content: Content, to: Path, owner: Path | None, mode: int = 0o600) -> None:
        """Write a file to the path `to`, safe from a power cut. `content` is the bytes, or the file to copy. The new
        file belongs to the owner of the folder `owner`, or to the current user if `owner` is None. Raises OSError."""
        self.make_folder(to.parent, owner)
        half, before = to.with_name(to.name + _HALF), to.with_name(to.name + _BEFORE)
        for each in (half, before):
            each.unlink(missing_ok=True)
        self._undo.callback(half.unlink, missing_ok=True)
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            if isinstance(content, bytes):
                out.write(content)
            else:
                with content.open("rb") as file:
                    shutil.copyfileobj(file, out)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        if owner is not None:
            for_owner(half, owner)
        if os.path.lexists(to):
            os.link(to, before, follow_symlinks=False)
            self._before.append(before)
            self._undo.callback(before.unlink, missing_ok=True)  # where both names are one file, no rename takes place
            self._undo.callback(before.replace, to)
        else:
            self._undo.callback(to.unlink, missing_ok=True)
        half.rename(to)
        sync_folder(to)

    def make_folder(self, folder: Path, owner: Path | None) -> None:
        """Make the folder, and its missing parents. New folders belong to the owner of the folder `owner`. They belong
        to the current user if `owner` is None or does not exist. Raises OSError."""
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir(mode=0o755 if owner is None else 0o700)
            self._undo.callback(each.rmdir)
            if owner is not None and owner.exists():
                for_owner(each, owner)

    def may_be_made(self, *paths: Path) -> None:
        """Register paths that the code in the `with` block may create. If the block ends with an error, the files at
        these paths are deleted. A file that exists already is not deleted."""
        for path in paths:
            if not os.path.lexists(path):
                self._undo.callback(path.unlink, missing_ok=True)

    def move(self, file: Path, to: Path) -> None:
        """Rename an SQLite database to the path `to`, with the `-wal` and `-shm` files that SQLite keeps beside it.
        Raises OSError."""
        for ending in _SQLITE:
            here, there = (each.with_name(each.name + ending) for each in (file, to))
            if here.exists():
                here.rename(there)
                self._undo.callback(there.rename, here)

    def set_aside(self, aside: Callable[[], Path | None], file: Path) -> Path | None:
        """Call the function `aside`, which renames the SQLite database `file` and the files beside it. `aside` returns
        the new path, or None if it renamed nothing. Return what `aside` returned. If the `with` block ends with an
        error, the old names are restored."""
        to = aside()
        if to is not None:
            for ending in _SQLITE:
                moved = to.with_name(to.name + ending)
                if moved.exists():
                    self._undo.callback(moved.rename, file.with_name(file.name + ending))
        return to
