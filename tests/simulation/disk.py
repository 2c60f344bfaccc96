"""The simulated disk under the table's journal: the real `Journal` on a real file, through a connection that can fail.

No file is really synced. For a simulated power cut it is enough to know which commits *should* have been synced. The
cut then deletes from the file exactly the rows that were committed and not synced.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from tests.simulation.loop import PowerCut


@contextmanager
def unsynced() -> Iterator[None]:
    """Run a block in which SQLite does not sync its databases. This is faster, and safe for files that no simulated
    power cut touches."""
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    with patch.object(sqlite3, "connect", lambda path, **options: connect(path, factory=_Unsynced, **options)):
        yield


class _Unsynced(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        return super().execute("PRAGMA synchronous = OFF" if sql.startswith("PRAGMA synchronous") else sql, parameters)


class Disk:
    """A simulated disk under a table's journal. While `failing` is True, writes are refused. A write takes `slow_s`
    seconds. `cut` lets the power fail just before or just after the next commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failing = False
        self.slow_s = 0.0
        self.cut: Literal["before", "after"] | None = None
        self.syncs = True  # what the journal asked for last
        self.kept: tuple[int, int] | None = None  # last row and acknowledgement that are safe, when not all is
        self.connection: sqlite3.Connection | None = None

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Run a block in which SQLite databases are opened on this simulated disk."""
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect

        def on_this_disk(path: Path, **options: Any) -> sqlite3.Connection:
            self.connection = connect(path, factory=lambda *a, **k: _Connection(self, *a, **k), **options)
            return self.connection

        with patch.object(sqlite3, "connect", on_this_disk):
            yield

    def lose_power(self) -> None:
        """Delete from the journal's file the rows that were committed but not synced, as a power cut does."""
        kept, self.kept = self.kept, None
        if kept is not None:
            with sqlite3.connect(self.path) as db:
                db.execute("DELETE FROM message WHERE row > ?", (kept[0],))
                db.execute("DELETE FROM fact WHERE row > ?", (kept[0],))
                db.execute("UPDATE journal SET acked_seq = ?", (kept[1],))
            db.close()


class _Connection(sqlite3.Connection):
    def __init__(self, disk: Disk, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._disk = disk

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        disk = self._disk
        if sql.startswith("PRAGMA synchronous"):
            disk.syncs = sql.endswith("FULL")
            return super().execute("PRAGMA synchronous = OFF")
        if sql.startswith(("BEGIN", "UPDATE")) and not disk.syncs and disk.kept is None:
            disk.kept = super().execute("SELECT (SELECT max(row) FROM fact), acked_seq FROM journal").fetchone()
        if disk.failing and sql.startswith(("COMMIT", "UPDATE")):
            raise sqlite3.OperationalError("disk I/O error")
        if sql != "COMMIT":
            return super().execute(sql, parameters)
        if disk.cut == "before":
            raise PowerCut
        done = super().execute(sql)
        if disk.syncs:
            disk.kept = None
        if disk.cut == "after":
            raise PowerCut
        return done
