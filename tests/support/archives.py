"""Helpers that archive a journal without a running table. With them, a test can act before each step that the archiving
takes on the disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.daemon.record.journal import Journal

_STEPS = ((Path, "mkdir"), (os, "open"), (os, "fsync"), (os, "posix_fadvise"), (Path, "rename"), (Path, "read_bytes"))


def archive_all(journal: Journal, keep_shoes: int = 0, at_most_rows: int = 10**6) -> list[Path]:
    """Archive rows of the journal until no more may be archived, and return the paths of the archives."""
    made = []
    while (run := journal.next_to_archive(keep_shoes, at_most_rows)) is not None:
        made.append(journal.write_archive(run))
        journal.leave_to_archive(run, made[-1])
    return made


class AtStep:
    """A function object to be called before each step of the archiving. It does nothing in its first `passes` calls,
    and calls `act` in the next one."""

    def __init__(self, passes: int, act: Callable[[], None]) -> None:
        self.passes = passes
        self._act = act

    def __call__(self) -> None:
        self.passes -= 1
        if self.passes == -1:
            self._act()


def watch_files(set_: Callable[[object, str, object], None], before: Callable[[], None]) -> None:
    """Let `before` be called before each step that makes, writes, syncs, renames or reads an archive's file."""
    for owner, name in _STEPS:
        set_(owner, name, _stepped(getattr(owner, name), before))


def watch_statements(journal: Journal, before: Callable[[], None]) -> None:
    """Let `before` be called before each SQL statement that removes rows from the journal's file."""

    def traced(statement: str) -> None:
        if statement.startswith(("BEGIN", "INSERT", "DELETE", "COMMIT")):
            before()

    journal._db.set_trace_callback(traced)


def _stepped(real: Callable[..., Any], before: Callable[[], None]) -> Callable[..., Any]:
    def stepped(*args: Any, **kwargs: Any) -> Any:
        before()
        return real(*args, **kwargs)

    return stepped
