"""Record which tables the pit listens to. An adoption is the decision of people to listen to a table in one epoch (the
name of its journal) and under one public key. The keys that tables showed are recorded too.

The last adoption of a table is in force. Two decisions end an adoption. A *retired* table is not heard until somebody
adopts it again, and what the table sent stays valid. An adoption that is *taken back* was wrong, for example because a
thief's key was adopted. The events that came under the wrong key stay in the ledger, but under the name of another
epoch, such as `ab12cd~3`. No table can send events under such a name. The adoption before is in force again.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from controller.contract.fingerprint import fingerprint
from controller.pit.reference.clock import now_text
from controller.pit.reference.store import Store, marks

SCHEMA = """
CREATE TABLE key_seen ( -- what states showed, so that a second key for an epoch is noticed, and can be adopted by name
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    public_key BLOB NOT NULL,
    PRIMARY KEY (table_id, epoch, public_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE adoption (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    public_key BLOB NOT NULL,
    ended_at TEXT, -- NULL while a later adoption alone can end it
    ended_by TEXT,
    ended_why TEXT,
    set_aside_as TEXT, -- the epoch's name since the adoption was taken back, NULL where it was not taken back
    before_event INTEGER -- the adoption was taken back before the event of this number
) STRICT;
CREATE INDEX adoption_table ON adoption (table_id, number);
"""

_MOST_KEYS_OF_A_TABLE = 20
_MOST_KEYS = 2_000
"""A client that shows ever new keys does not fill the disk."""


class Adoption(Struct, frozen=True):
    """The decision to listen to a table: the epoch (the name of the table's journal), and the table's public key of 32
    bytes."""

    epoch: str
    public_key: bytes

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the table's key, in the form in which `tablectl status` shows it at the table."""
        return fingerprint(self.public_key)


class Adoptions:
    """The adoptions in a ledger. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store) -> None:
        self._db = db

    def of(self, table: str) -> Adoption | None:
        """Return the table's adoption that is in force, or None if the table was never adopted or is retired."""
        return self.heard((table,)).get(table)

    def heard(self, tables: Collection[str] | None = None) -> dict[str, Adoption]:
        """Return the adoption of each table that the pit listens to, by the table's name. If `tables` is given, return
        only the adoptions of these tables."""
        if tables is not None and not tables:
            return {}
        of_these = "" if tables is None else f" AND table_id IN ({marks(tables)})"
        rows = self._db.execute(
            "SELECT table_id, epoch, public_key FROM adoption WHERE ended_at IS NULL AND number IN"
            f" (SELECT max(number) FROM adoption WHERE set_aside_as IS NULL{of_these} GROUP BY table_id)"
            " ORDER BY table_id",
            tuple(tables or ()),
        )
        return {table: Adoption(epoch, bytes(key)) for table, epoch, key in rows}

    def knows(self, table: str) -> bool:
        """Tell whether people ever adopted the table."""
        return self._db.execute("SELECT 1 FROM adoption WHERE table_id = ?", (table,)).fetchone() is not None

    def key_of(self, table: str, epoch: str) -> bytes | None:
        """Return the public key that people adopted for this table and epoch. Return None if nobody adopted them, or if
        people took the adoption back."""
        row = self._db.execute(
            "SELECT public_key FROM adoption WHERE table_id = ? AND epoch = ? AND set_aside_as IS NULL", (table, epoch)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def adopt(self, table: str, epoch: str, public_key: bytes) -> int:
        """Record that the pit listens to the table from now on, in this epoch and under this key. Return the adoption's
        number."""
        (number,) = self._db.execute(
            "INSERT INTO adoption (table_id, epoch, public_key) VALUES (?, ?, ?) RETURNING number",
            (table, epoch, public_key),
        ).fetchone()
        return int(number)

    def retire(self, table: str, by: str, why: str) -> int:
        """Stop listening to the table. Return the number of the adoption that ends, or 0 if the table has no
        adoption."""
        row = self._db.execute(
            "UPDATE adoption SET ended_at = ?, ended_by = ?, ended_why = ? WHERE number ="
            " (SELECT max(number) FROM adoption WHERE table_id = ? AND set_aside_as IS NULL) RETURNING number",
            (now_text(), by, why, table),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def last(self, table: str, epoch: str) -> int | None:
        """Return the number of the last adoption of this table and epoch that people did not take back, or None."""
        (number,) = self._db.execute(
            "SELECT max(number) FROM adoption WHERE table_id = ? AND epoch = ? AND set_aside_as IS NULL", (table, epoch)
        ).fetchone()
        return None if number is None else int(number)

    def take_back(self, table: str, epoch: str, set_aside_as: str, before_event: int, by: str, why: str) -> None:
        """End every adoption of this table and epoch, because people found that it was wrong. The ledger keeps its
        events under the epoch name `set_aside_as` from now on. `before_event` is the number of the first event after
        this decision. `by` names the people."""
        self._db.execute(
            "UPDATE adoption SET ended_at = ?, ended_by = ?, ended_why = ?, set_aside_as = ?, before_event = ?"
            " WHERE table_id = ? AND epoch = ? AND set_aside_as IS NULL",
            (now_text(), by, why, set_aside_as, before_event, table, epoch),
        )

    def set_aside(self, table: str, epoch: str) -> tuple[str, ...]:
        """Return the names, such as `ab12cd~3`, under which the ledger keeps the events of wrong adoptions of this
        table and epoch."""
        rows = self._db.execute(
            "SELECT DISTINCT set_aside_as FROM adoption WHERE table_id = ? AND epoch = ? AND set_aside_as IS NOT NULL",
            (table, epoch),
        )
        return tuple(name for (name,) in rows)

    def keys_seen(self, table: str, epoch: str) -> tuple[bytes, ...]:
        """Return the public keys that the table's state messages showed together with this epoch."""
        rows = self._db.execute("SELECT public_key FROM key_seen WHERE table_id = ? AND epoch = ?", (table, epoch))
        return tuple(bytes(key) for (key,) in rows)

    def see_key(self, table: str, epoch: str, public_key: bytes) -> None:
        """Record a public key that the table's state message showed. The caller must know that `keys_seen` does not
        have the key. The ledger stores a limited number of keys. If that number is reached, do nothing."""
        of_table, of_all = self._db.execute(
            "SELECT count(*) FILTER (WHERE table_id = ?), count(*) FROM key_seen", (table,)
        ).fetchone()
        if of_table < _MOST_KEYS_OF_A_TABLE and of_all < _MOST_KEYS:
            self._db.execute("INSERT INTO key_seen VALUES (?, ?, ?)", (table, epoch, public_key))
