"""The events that a ledger has committed, and the last committed event of each table."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from controller.contract.canonical import parse_object
from controller.contract.envelope import GENESIS
from controller.contract.pit_words import AckWord
from controller.contract.signing import Signer
from controller.pit.reference.adoptions import Adoptions
from controller.pit.reference.incoming import TableEvent
from controller.pit.reference.session import Head
from controller.pit.reference.store import Store, damaged


class Ack(Struct, frozen=True):
    """An acknowledgement to a table: every event of `epoch` through the number `seq` is committed. `chain` is the chain
    value of the event `seq`.

    If `seq` is 0, nothing is committed yet, and the chain value is 64 zeros.
    """

    epoch: str
    seq: int
    chain: str

    @classmethod
    def of(cls, head: Head) -> Ack:
        """Return the acknowledgement of a table's last committed event, which `head` names."""
        return cls(head.adoption.epoch, head.seq, head.chain)

    def payload(self, table: str, at: str, signer: Signer) -> bytes:
        """Return the acknowledgement as signed bytes, which the pit publishes to the table. `at` is the time in the
        message."""
        return AckWord(table, self.epoch, self.seq, self.chain, at).payload(signer)


class Events:
    """The committed events of a ledger. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store, adoptions: Adoptions) -> None:
        self._db = db
        self._adoptions = adoptions

    def add(self, table: str, event: TableEvent, body: bytes) -> int:
        """Commit the next event of a table. `body` is the event's bytes exactly as they came. Return the event's number
        in the ledger."""
        (number,) = self._db.execute(
            "INSERT INTO event (table_id, epoch, seq, body) VALUES (?, ?, ?, ?) RETURNING number",
            (table, event.epoch, event.seq, body),
        ).fetchone()
        return int(number)

    def next_number(self) -> int:
        """Return the number that the next committed event will get in the ledger."""
        (number,) = self._db.execute("SELECT coalesce(max(number), 0) + 1 FROM event").fetchone()
        return int(number)

    def set_aside(self, table: str, epoch: str, name: str) -> None:
        """Keep the table's events of this epoch under the other epoch name `name` from now on, because their adoption
        was wrong."""
        self._db.execute("UPDATE event SET epoch = ? WHERE table_id = ? AND epoch = ?", (name, table, epoch))

    def heads(self, tables: Collection[str] | None = None) -> dict[str, Head]:
        """Return the last committed event of each table that the pit listens to. If `tables` is given, return only the
        last events of these tables."""
        adopted = self._adoptions.heard(tables)
        last = self.last({table: adoption.epoch for table, adoption in adopted.items()})
        return {table: Head(adoption, *last[table]) for table, adoption in adopted.items()}

    def last(self, epochs: Mapping[str, str]) -> dict[str, tuple[int, str]]:
        """Return for each table the number and the chain value of its last committed event: 0 and 64 zeros if none is
        committed. `epochs` names the epoch of each table."""
        if not epochs:
            return {}
        of_table = "FROM event WHERE table_id = heard.table_id AND epoch = heard.epoch ORDER BY seq DESC LIMIT 1"
        rows = self._db.execute(
            f"WITH heard (table_id, epoch) AS (VALUES {', '.join(['(?, ?)'] * len(epochs))})"
            f" SELECT table_id, coalesce((SELECT seq {of_table}), 0), (SELECT body {of_table}) FROM heard",
            [each for pair in epochs.items() for each in pair],
        )
        return {table: (seq, self._chain(table, epochs[table], seq, body)) for table, seq, body in rows}

    def _chain(self, table: str, epoch: str, seq: int, body: bytes | None) -> str:
        chain = GENESIS.hex() if body is None else parse_object(bytes(body)).get("chain")
        if not isinstance(chain, str):
            raise damaged(self._db, f"{table}/{epoch}/{seq} is no event")
        return chain

    def has(self, table: str, epoch: str, seq: int, chain: str) -> bool:
        """Tell whether this event is committed, either in the table's present stream or in a stream of the same epoch
        that people set aside."""
        if self._head_seq(table, epoch) >= seq:
            return True
        bodies = (self._body(table, name, seq) for name in self._adoptions.set_aside(table, epoch))
        return any(body is not None and parse_object(body).get("chain") == chain for body in bodies)

    def _head_seq(self, table: str, epoch: str) -> int:
        row = self._db.execute("SELECT max(seq) FROM event WHERE table_id = ? AND epoch = ?", (table, epoch)).fetchone()
        return int(row[0] or 0)

    def _body(self, table: str, epoch: str, seq: int) -> bytes | None:
        row = self._db.execute(
            "SELECT body FROM event WHERE table_id = ? AND epoch = ? AND seq = ?", (table, epoch, seq)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def bodies(self, ids: Collection[tuple[str, str, int]]) -> dict[tuple[str, str, int], bytes]:
        """Return the bytes of these committed events. Each event is named by its table, epoch and number."""
        if not ids:
            return {}
        rows = self._db.execute(
            f"WITH wanted (table_id, epoch, seq) AS (VALUES {', '.join(['(?, ?, ?)'] * len(ids))})"
            " SELECT table_id, epoch, seq, body FROM wanted JOIN event USING (table_id, epoch, seq)",
            [each for id_ in ids for each in id_],
        )
        return {(table, epoch, seq): bytes(body) for table, epoch, seq, body in rows}
