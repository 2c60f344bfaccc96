"""What the running pit has heard since it started on its ledger, and so whether people may decide on awards.

A ledger that was restored from an older copy does not know what was decided since the copy was made, so an award could
be paid twice. The tables know these decisions. The pit's own retained acknowledgements (acks) show how far the lost
ledger went. So a decision waits until two things are true. First, the pit that runs on this very ledger has committed
the events of every adopted table up to the head (the last event that the table's state names). Second, the ledger has
every event that this pit ever acknowledged. Reaching a table's head once is enough for the whole session, because the
table learns of later award decisions only from this pit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from controller.basics.errors import TableError, listed
from controller.pit.reference.adoptions import Adoption
from controller.pit.reference.alarms import time_of
from controller.pit.reference.clock import now_text
from controller.pit.reference.store import Store, marks

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


_MOST_HEADS = 10_000  # of tables that nobody adopted, too: anybody can invent names of tables


class Head(Struct):
    """The last committed event of a table: number `seq` of the adopted epoch. `chain` is the hash chain's value at that
    event."""

    adoption: Adoption
    seq: int
    chain: str


class Session:
    """The session (one run of a pit) on a ledger. Every method but `note_head` must be called inside the ledger's
    transaction."""

    def __init__(self, db: Store) -> None:
        self._db = db
        self._heads: dict[str, tuple[Adoption, int]] = {}  # what each table's state said last

    def begin(self, token: str) -> None:
        """Begin a session with this token. At this moment no table counts as heard."""
        self._db.execute("DELETE FROM session")
        self._db.execute("DELETE FROM heard_to_head")
        self._db.execute("INSERT INTO session VALUES (?, ?)", (token, now_text()))

    def refuse_if_taken_over(self) -> None:
        """Raise TableError if this pit does not run on the ledger any more: another pit took over, or another file has
        the ledger's name."""
        self._db.refuse_if_taken_over(self.token)

    def note_head(self, table: str, state_of: Adoption, head_seq: int, known: bool) -> bool:
        """Note `head_seq`, the number of a table's last event according to the table's state. Returns True if that
        number is lower than the number noted before: the ledger may then have that event already, though no new event
        came.

        `known` is True if somebody once adopted the table. Anybody can invent names of other tables, so their numbers
        are noted only until the list is full.
        """
        before = self._heads.get(table)
        if known or table in self._heads or len(self._heads) < _MOST_HEADS:
            self._heads[table] = state_of, head_seq
        return before is not None and before[0] == state_of and head_seq < before[1]

    def note_acknowledged(self, table: str, epoch: str, seq: int) -> None:
        """Note an event that this pit once acknowledged and that this ledger lacks."""
        self._db.execute(
            "INSERT INTO said_before VALUES (?, ?, ?)"
            " ON CONFLICT (table_id) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq",
            (table, epoch, seq),
        )

    def news(self, heads: Mapping[str, Head]) -> tuple[list[str], list[str]]:
        """Return two lists of tables that have caught up. `heads` maps each table to its last committed event. Nothing
        is written. Both lists are empty if this process is not the pit that runs.

        The first list holds the tables whose acknowledged events were missing from this ledger and are now all in it.
        The second list holds the tables of which, for the first time in this session, every event up to the last one
        that the table's state names is committed.
        """
        if not self._db.leads:
            return [], []
        said = self._db.execute("SELECT table_id, epoch, seq FROM said_before").fetchall()
        caught_up = [
            table
            for table, epoch, seq in said
            if table in heads and heads[table].adoption.epoch == epoch and seq <= heads[table].seq
        ]
        at_head = {
            table: head.adoption.epoch
            for table, head in heads.items()
            if (shown := self._heads.get(table)) is not None and shown[0] == head.adoption and shown[1] <= head.seq
        }
        heard = self.heard(at_head)
        return caught_up, [table for table, epoch in at_head.items() if heard.get(table) != epoch]

    def note_progress(self, heads: Mapping[str, Head]) -> None:
        """Record two kinds of tables: those whose acknowledged events are now all in the ledger, and those that now
        have every event up to the last one that their state names. `heads` maps each table to its last committed event.
        """
        caught_up, at_head = self.news(heads)
        for table in caught_up:
            self._db.execute("DELETE FROM said_before WHERE table_id = ?", (table,))
        for table in at_head:
            self._db.execute(
                "INSERT INTO heard_to_head VALUES (?, ?) ON CONFLICT (table_id) DO UPDATE SET epoch = excluded.epoch",
                (table, heads[table].adoption.epoch),
            )

    def forget(self, table: str) -> None:
        """Delete what is noted of a table whose adoption has ended, so that the pit no longer waits for the table's
        events."""
        self._db.execute("DELETE FROM said_before WHERE table_id = ?", (table,))
        self._db.execute("DELETE FROM heard_to_head WHERE table_id = ?", (table,))

    def waited_for(self, table: str) -> bool:
        """Tell whether the pit waits for events that it once acknowledged to the table and that this ledger lacks."""
        return self._db.execute("SELECT 1 FROM said_before WHERE table_id = ?", (table,)).fetchone() is not None

    def refuse_decisions(self, heard: Mapping[str, Adoption]) -> None:
        """Raise TableError while nobody may decide on an award: `pit_not_running`, `ledger_replaced`,
        `ledger_behind_acks`, `tables_unheard`. `heard` holds the adoption that is in force for each table."""
        self.refuse_if_taken_over()
        if not self._db.leads:
            self._db.refuse_unserved(self.token())
        if behind := self._db.execute("SELECT table_id, epoch, seq FROM said_before ORDER BY table_id").fetchall():
            acked = ", ".join(f"{table} through event {table}/{epoch}/{seq}" for table, epoch, seq in behind)
            raise TableError(
                "ledger_behind_acks",
                f"This ledger is an older copy: the pit acknowledged more than the ledger has, of table {acked}.",
                "Bring these tables and their links up: they send again what is missing, and then a decision is"
                f" possible. Adopt an epoch that this ledger has not adopted (`alarms` has the command). {_GONE}",
            )
        heard_to_head = self.heard(heard)
        if missing := [table for table, adoption in heard.items() if heard_to_head.get(table) != adoption.epoch]:
            (since,) = self._db.execute("SELECT since FROM session").fetchone()
            named = listed([*map(self._last_heard, missing)], _MOST_NAMED)
            raise TableError(
                "tables_unheard",
                f"Since the pit started at {since}, it has not heard all events of these tables:"
                f" {named}. The tables may know of awards that were paid.",
                "Bring the programs of these tables, in this pit's version, and their links up. A decision is possible"
                " once the tables are heard. Where `alarms` has `meter_unknown` of a table, add that meter first."
                f" {_GONE}",
            )

    def _last_heard(self, table: str) -> str:
        row = self._db.execute(
            "SELECT epoch, seq, body FROM event WHERE table_id = ? ORDER BY number DESC LIMIT 1", (table,)
        ).fetchone()
        if row is None:
            return f"{table} (no event of this table ever came)"
        return f"{table} (last event {table}/{row[0]}/{row[1]}, {time_of(row[2])})"

    def refuse_unless(self, token: str) -> None:
        """Raise TableError `leadership_lost` if the ledger's newest session has another token than `token`."""
        if self.token() != token:
            raise TableError(
                "leadership_lost",
                "Another pit leads on this ledger since, and this pit takes no decision any more.",
                "Decide at the pit that leads: its machine has the control socket of that pit.",
            )

    def token(self) -> str | None:
        """Return the session token of the pit that runs on the ledger, or ran last; None before the first pit."""
        row = self._db.execute("SELECT token FROM session").fetchone()
        return None if row is None else str(row[0])

    def heard(self, tables: Collection[str]) -> dict[str, str]:
        """Return a dict that maps a table to its epoch. It has those of `tables` that were found complete in this
        session: the ledger had every event up to the last one that the table's state named."""
        if not tables:
            return {}
        wanted = f"SELECT table_id, epoch FROM heard_to_head WHERE table_id IN ({marks(tables)})"
        return dict(self._db.execute(wanted, tuple(tables)))


_MOST_NAMED = 20
_GONE = "Where a table is gone for good, two people can say so: retire TABLE --reason TEXT."
