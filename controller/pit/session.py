"""What the running pit has heard since it started on its ledger, and so whether people may decide on awards.

A ledger that was restored from an older copy does not know what was decided since the copy was made: an award could be
paid twice. The tables know, and so do the pit's own retained acks. So a decision waits until the pit that runs on this
very file has heard every adopted table to its head, and until the file has all that this pit ever acknowledged. Once a
table is heard to its head, it counts as heard for the whole session: whatever the table tells of awards later, this pit
told the table.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.errors import TableError
from controller.pit.adoptions import Adoption
from controller.pit.alarms import time_of
from controller.pit.clock import now_text
from controller.pit.store import Store

SCHEMA = """
CREATE TABLE session (token TEXT NOT NULL, since TEXT NOT NULL) STRICT; -- of the pit that runs, or ran last
CREATE TABLE heard_to_head ( -- the tables heard to their heads in this session
    table_id TEXT PRIMARY KEY,
    epoch TEXT NOT NULL
) STRICT;
CREATE TABLE said_before ( -- events that this pit acknowledged and that this ledger does not have
    table_id TEXT PRIMARY KEY,
    epoch TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
"""


class Session:
    """The session of a ledger. Every method but `note_head` works inside the ledger's transaction."""

    def __init__(self, db: Store) -> None:
        self._db = db
        self._heads: dict[str, tuple[Adoption, int]] = {}  # what each table's state said last

    def begin(self, token: str) -> None:
        """Begin a session: the pit has heard no table yet."""
        self._db.execute("DELETE FROM session")
        self._db.execute("DELETE FROM heard_to_head")
        self._db.execute("INSERT INTO session VALUES (?, ?)", (token, now_text()))

    def refuse_if_taken_over(self) -> None:
        """Raises TableError where this pit is not the one that runs on the ledger any more."""
        self._db.refuse_if_taken_over(self._token)

    def note_head(self, table: str, state_of: Adoption, head_seq: int) -> None:
        """Note the number of a table's last event, which the table's state names."""
        self._heads[table] = state_of, head_seq

    def said(self, table: str, epoch: str, seq: int) -> None:
        """Note an event that this pit acknowledged and this ledger does not have."""
        self._db.execute(
            "INSERT INTO said_before VALUES (?, ?, ?)"
            " ON CONFLICT (table_id) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq",
            (table, epoch, seq),
        )

    def has_news(self, table: str, adoption: Adoption, seq: int) -> bool:
        """Whether `note_progress` would note anything."""
        return self._db.leads and (
            self._has_all_that_was_said(table, adoption, seq) or self._has_come_to_its_head(table, adoption, seq)
        )

    def note_progress(self, table: str, adoption: Adoption, seq: int) -> None:
        """The table is committed through event `seq`. Note what that completes.

        The ledger may now have all that this pit ever acknowledged of the table, and all that the table has.
        """
        if not self._db.leads:
            return
        if self._has_all_that_was_said(table, adoption, seq):
            self._db.execute("DELETE FROM said_before WHERE table_id = ?", (table,))
        if self._has_come_to_its_head(table, adoption, seq):
            self._db.execute(
                "INSERT INTO heard_to_head VALUES (?, ?) ON CONFLICT (table_id) DO UPDATE SET epoch = excluded.epoch",
                (table, adoption.epoch),
            )

    def forget(self, table: str) -> None:
        """The table's adoption has ended: forget what the pit waits for, and what was heard of the table."""
        self._db.execute("DELETE FROM said_before WHERE table_id = ?", (table,))
        self._db.execute("DELETE FROM heard_to_head WHERE table_id = ?", (table,))

    def waited_for(self, table: str) -> bool:
        """Whether the pit waits for events of the table that it once acknowledged."""
        return self._db.execute("SELECT 1 FROM said_before WHERE table_id = ?", (table,)).fetchone() is not None

    def refuse_decisions(self, heard: Mapping[str, Adoption]) -> None:
        """Raises TableError while nobody may decide on an award: `pit_not_running`, `ledger_replaced`,
        `ledger_behind_acks`, `tables_unheard`. `heard` are the adopted tables."""
        self.refuse_if_taken_over()
        if not self._db.leads:
            self._db.refuse_unserved(self._token())
        if behind := self._db.execute("SELECT table_id, epoch, seq FROM said_before ORDER BY table_id").fetchall():
            told = ", ".join(f"{table} through event {table}/{epoch}/{seq}" for table, epoch, seq in behind)
            raise TableError(
                "ledger_behind_acks",
                f"This ledger is an older copy: the pit acknowledged more than the ledger has, of table {told}.",
                "Bring these tables and their links up: they send again what is missing, and then a decision is"
                f" possible. Adopt an epoch that this ledger has not adopted (`alarms` has the command). {_GONE}",
            )
        if missing := [table for table, adoption in heard.items() if not self._is_heard(table, adoption)]:
            (since,) = self._db.execute("SELECT since FROM session").fetchone()
            raise TableError(
                "tables_unheard",
                f"Since the pit started at {since}, it has not heard all events of these tables:"
                f" {', '.join(map(self._last_heard, missing))}. The tables may know of awards that were paid.",
                "Bring the programs of these tables, in this pit's version, and their links up. A decision is possible"
                f" once the tables are heard. {_GONE}",
            )

    def _last_heard(self, table: str) -> str:
        row = self._db.execute(
            "SELECT epoch, seq, body FROM event WHERE table_id = ? ORDER BY number DESC LIMIT 1", (table,)
        ).fetchone()
        if row is None:
            return f"{table} (no event of this table ever came)"
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
        """Whether the table is heard to its head for the first time in this session."""
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
