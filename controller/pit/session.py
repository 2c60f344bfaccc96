"""What the running pit has heard since it started on its ledger, and so whether people may decide on awards.

A ledger restored from an older copy does not know what was decided since: it would let an award be paid twice. The
tables know, and so does the pit's own retained ack. So a decision waits until the pit that runs on this very file has
heard every adopted table to its head, and until the file has all that this pit ever acknowledged. What was heard stays
heard for the session: what a table tells later, it was told by this pit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from controller.errors import TableError
from controller.pit.adoptions import Adoption
from controller.pit.alarms import time_of
from controller.pit.clock import now_text
from controller.pit.ledger_file import PitLock, place_of, served

SCHEMA = """
CREATE TABLE session (token TEXT NOT NULL, since TEXT NOT NULL) STRICT; -- the pit's that runs, or ran last
CREATE TABLE heard_to_head ( -- in this session
    table_id TEXT PRIMARY KEY,
    epoch TEXT NOT NULL
) STRICT;
CREATE TABLE said_before ( -- what this pit acknowledged and this ledger does not have, until it has it
    table_id TEXT PRIMARY KEY,
    epoch TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
"""


class Session:
    """The session in a ledger's file. Every method but `hold` and `close` works inside the ledger's transaction."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._lock: PitLock | None = None
        self._place = ""
        self._heads: dict[str, tuple[Adoption, int]] = {}  # what each table's state said last

    def hold(self, lock: PitLock) -> None:
        """Be the pit that runs, until this is closed."""
        self._lock, self._place = lock, place_of(self._path)

    def begin(self, token: str) -> None:
        """The pit that runs has heard nobody yet."""
        self._db.execute("DELETE FROM session")
        self._db.execute("DELETE FROM heard_to_head")
        self._db.execute("INSERT INTO session VALUES (?, ?)", (token, now_text()))

    def close(self) -> None:
        """Run no more."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def refuse_if_taken_over(self) -> None:
        """Raises TableError `ledger_replaced` where another file has the ledger's name now, or another pit serves it.

        What this pit would write, nobody would read.
        """
        if self._lock is None:
            return
        if place_of(self._path) != self._place or self._token() != self._lock.token:
            raise TableError(
                "ledger_replaced",
                f"The ledger {self._path} was replaced, or another pit was started on it, while this pit ran on it.",
                "See that one pit runs on it, and start that one again: it hears from the tables what the file lacks.",
            )

    def head_told(self, table: str, state_of: Adoption, head_seq: int) -> None:
        """A table's state names its last event."""
        self._heads[table] = state_of, head_seq

    def said(self, table: str, epoch: str, seq: int) -> None:
        """This pit acknowledged more than this ledger has."""
        self._db.execute("INSERT OR REPLACE INTO said_before VALUES (?, ?, ?)", (table, epoch, seq))

    def has_news(self, table: str, adoption: Adoption, seq: int) -> bool:
        """Whether `note_progress` would note anything."""
        return self._lock is not None and (
            self._has_all_that_was_said(table, adoption, seq) or self._has_come_to_its_head(table, adoption, seq)
        )

    def note_progress(self, table: str, adoption: Adoption, seq: int) -> None:
        """So far the table is committed: perhaps that is all that was said before, or all that the table has."""
        if self._lock is None:
            return
        if self._has_all_that_was_said(table, adoption, seq):
            self._db.execute("DELETE FROM said_before WHERE table_id = ?", (table,))
        if self._has_come_to_its_head(table, adoption, seq):
            self._db.execute("INSERT OR REPLACE INTO heard_to_head VALUES (?, ?)", (table, adoption.epoch))

    def forget(self, table: str) -> None:
        """The table is not heard as it was any more: nothing is waited for, and what was heard of it says nothing."""
        self._db.execute("DELETE FROM said_before WHERE table_id = ?", (table,))
        self._db.execute("DELETE FROM heard_to_head WHERE table_id = ?", (table,))

    def waited_for(self, table: str) -> bool:
        """Whether something that was acknowledged of the table is waited for."""
        return self._db.execute("SELECT 1 FROM said_before WHERE table_id = ?", (table,)).fetchone() is not None

    def refuse_decisions(self, heard: Mapping[str, Adoption]) -> None:
        """Raises TableError while nobody may decide on an award: `pit_not_running`, `ledger_replaced`,
        `ledger_behind_acks`, `tables_unheard`. `heard` are the adopted tables."""
        self.refuse_if_taken_over()
        if self._lock is None:
            self._refuse_unserved()
        if behind := self._db.execute("SELECT table_id, epoch, seq FROM said_before ORDER BY table_id").fetchall():
            told = ", ".join(f"{table} through event {table}/{epoch}/{seq}" for table, epoch, seq in behind)
            raise TableError(
                "ledger_behind_acks",
                f"This ledger is an older copy: the pit acknowledged more than it has, of table {told}.",
                "Bring these tables and their links up: they send it again, and a decision is possible then. Adopt an"
                f" epoch that is not adopted here (`alarms` has the command). {_GONE}",
            )
        if missing := [table for table, adoption in heard.items() if not self._is_heard(table, adoption)]:
            (since,) = self._db.execute("SELECT since FROM session").fetchone()
            raise TableError(
                "tables_unheard",
                f"Since it started at {since} the pit has not heard all that these tables have:"
                f" {', '.join(map(self._last_heard, missing))}. They may know of awards that were paid.",
                "Bring these tables' programs, of this pit's version, and their links up: a decision is possible once"
                f" they are heard. {_GONE}",
            )

    def _refuse_unserved(self) -> None:
        running = served(self._path)
        if running is None:
            raise TableError(
                "pit_not_running",
                f"No pit runs on the ledger {self._path}, so nobody knows whether it is the newest.",
                "Start the pit (`run`), and decide once it has heard its tables.",
            )
        token, place = running
        if (token, place) != (self._token(), place_of(self._path)):
            raise TableError(
                "ledger_replaced",
                f"The pit that runs does not serve this file: {self._path} was replaced since it started.",
                "Start the pit again: it hears from the tables what this file lacks. Then decide.",
            )

    def _last_heard(self, table: str) -> str:
        row = self._db.execute(
            "SELECT epoch, seq, body FROM event WHERE table_id = ? ORDER BY number DESC LIMIT 1", (table,)
        ).fetchone()
        if row is None:
            return f"{table} (no event of it ever came)"
        return f"{table} (last event {table}/{row[0]}/{row[1]}, {time_of(row[2])})"

    def _token(self) -> str | None:
        row = self._db.execute("SELECT token FROM session").fetchone()
        return None if row is None else str(row[0])

    def _has_all_that_was_said(self, table: str, adoption: Adoption, seq: int) -> bool:
        said = self._db.execute(
            "SELECT 1 FROM said_before WHERE table_id = ? AND epoch = ? AND seq <= ?", (table, adoption.epoch, seq)
        )
        return said.fetchone() is not None

    def _has_come_to_its_head(self, table: str, adoption: Adoption, seq: int) -> bool:
        """Whether it has for the first time in this session."""
        state_of, head_seq = self._heads.get(table, (None, 0))
        return state_of == adoption and head_seq <= seq and not self._is_heard(table, adoption)

    def _is_heard(self, table: str, adoption: Adoption) -> bool:
        key = (table, adoption.epoch)
        heard = self._db.execute("SELECT 1 FROM heard_to_head WHERE table_id = ? AND epoch = ?", key)
        return heard.fetchone() is not None


_GONE = (
    "Where a table is gone for good, two people can say so: retire --ledger FILE TABLE --by NAME --witness NAME"
    " --reason TEXT."
)
