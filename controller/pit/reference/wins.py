"""The wins of meters, as the pit tells them to the screens of all tables.

A win is told once all hits of its round have come, because only then its amount is known. If the amount changes later,
the win is told again with a new number, for example if another hit that shared the level is rejected. Each message of
the pit about the meters names one win: the next win, or the last win again if there is no new one.
"""

from __future__ import annotations

from collections.abc import Callable

from controller.contract.events import Win
from controller.pit.reference.clock import next_number, number_text
from controller.pit.reference.store import Store, of_row

SCHEMA = """
CREATE TABLE win ( -- a win as it was told
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    award INTEGER NOT NULL REFERENCES award,
    cents INTEGER NOT NULL,
    base_cents INTEGER NOT NULL -- what the meter showed after the win
) STRICT;
CREATE INDEX win_award ON win (award);
"""

_WIN = (
    "SELECT win.seq, win.at, table_id, id, spot, tier, meter, win.cents, base_cents"
    " FROM win JOIN award ON award.number = win.award"
)


class Wins:
    """The wins of meters in a ledger. Every method must be called inside the ledger's transaction."""

    def __init__(self, db: Store, level_cents: Callable[[str], int]) -> None:
        """Keep the ledger `db`, and the function `level_cents`, which returns the level that a meter shows, given its
        name."""
        self._db = db
        self._level_cents = level_cents

    def tell(self, hand: int) -> None:
        """Give the next number to each win in the round `hand` if the tables have not been told of that win, or if its
        amount has changed since. A rejected award is left out. Nothing happens before all hits of the round have come.
        """
        due = self._db.execute(
            "SELECT award.number, cents, meter FROM award JOIN hand ON hand.number = award.hand"
            " WHERE award.hand = ? AND meter IS NOT NULL AND step != 'rejected'"
            " AND coalesce(hits, 0) <= (SELECT count(*) FROM award AS beside WHERE beside.hand = award.hand)"
            " AND coalesce((SELECT win.cents FROM win WHERE win.award = award.number ORDER BY seq DESC LIMIT 1), -1)"
            " != cents ORDER BY award.number",
            (hand,),
        ).fetchall()
        for award, cents, meter in due:
            (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM win").fetchone()
            seq = next_number(last)
            self._db.execute(
                "INSERT INTO win (seq, at, award, cents, base_cents) VALUES (?, ?, ?, ?, ?)",
                (seq, number_text(seq), award, cents, self._level_cents(meter)),
            )

    def tell_of(self, award: int) -> None:
        """If the amount of this award has changed, tell the tables of the award's win again."""
        (hand,) = self._db.execute("SELECT hand FROM award WHERE number = ?", (award,)).fetchone()
        self.tell(int(hand))

    def after(self, seq: int | None) -> Win | None:
        """Return the first win whose number is above `seq`. If `seq` is None, return the last win. Return None if there
        is no win to return."""
        which = "ORDER BY win.seq DESC" if seq is None else "WHERE win.seq > ? ORDER BY win.seq"
        row = self._db.execute(f"{_WIN} {which} LIMIT 1", () if seq is None else (seq,)).fetchone()
        return None if row is None else of_row(Win, row)
