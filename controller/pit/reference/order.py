"""Puts the wins of one meter in order: by the time at which the wagers were locked, not by the arrival of the hit.

**The time of a lock** is the time of the pit's last signed message about the meters that the table had received, plus
the milliseconds from that message to the lock. So it is a time by the pit's clock, whatever time the table's clock
shows and however late the event comes. The times of one table never go back, because its stream of events is signed and
chained. If no signed message proves the time of a lock, the hits of that round keep the order of their arrival.

**Levels follow that order.** Rounds of several tables may win the same share of a meter, and each round gets a level of
its own. A hit of an earlier lock may come later. Then the levels are assigned anew in the order of the locks, as long
as all their awards are pending. A level on which people have decided stays as it is. A hit is still paid no less than
the amount that its table showed (`shown`).

**A pending award waits** until no hit of an earlier lock can come any more. Every other adopted table that plays for
the meter and has an open shoe must have sent one of two things: an event which says that it knows of this win
(`win_told`), or a later lock. If the last lock of such a table, with or without an open shoe, is before this award's
lock, the table must also have sent the end of that round.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from controller.basics.errors import TableError
from controller.pit.reference.adoptions import Adoptions
from controller.pit.reference.books import Books
from controller.pit.reference.store import Store

SCHEMA = """
CREATE TABLE locked_at ( -- when a round's wagers were locked, in ms since 1970 by the pit's clock
    hand INTEGER PRIMARY KEY REFERENCES hand,
    ms INTEGER NOT NULL
) STRICT;
CREATE TABLE at_least ( -- what the hits of a round that win this share are paid at least, since their table showed it
    hand INTEGER NOT NULL REFERENCES hand,
    meter TEXT NOT NULL,
    share TEXT NOT NULL,
    cents INTEGER NOT NULL,
    PRIMARY KEY (hand, meter, share)
) STRICT, WITHOUT ROWID;
CREATE TABLE come_to ( -- how far each table's stream has come in the order of locks and wins
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    shoe_open INTEGER NOT NULL DEFAULT 0,
    win INTEGER NOT NULL DEFAULT 0, -- the number of the last win that the table told
    hand INTEGER, -- the round that was locked last by a proven word
    seq INTEGER NOT NULL DEFAULT 0, -- the event of that lock
    ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (table_id, epoch)
) STRICT, WITHOUT ROWID;
"""

_ROUND_OVER = re.compile(rb'"type":"(round|void|shoe_opened|shoe_closed)"')
_MOST_EVENTS_OF_A_ROUND = 500


class Order:
    """The order in which tables locked the wagers of their rounds, in a ledger. Every method must be called inside the
    ledger's transaction."""

    def __init__(self, db: Store, books: Books) -> None:
        self._db = db
        self._books = books
        self._adoptions = Adoptions(db)

    def shoe(self, table: str, epoch: str, is_open: bool) -> None:
        """Note that the table opened or closed a shoe."""
        self._db.execute(
            "INSERT INTO come_to (table_id, epoch, shoe_open) VALUES (?, ?, ?)"
            " ON CONFLICT (table_id, epoch) DO UPDATE SET shoe_open = excluded.shoe_open",
            (table, epoch, int(is_open)),
        )

    def told(self, table: str, epoch: str, win: int) -> None:
        """Note that the table's events say that it heard of the win number `win`. Any lock that the table made before
        it heard of the win is earlier in its stream of events, so the pit has that lock already."""
        self._db.execute(
            "INSERT INTO come_to (table_id, epoch, win) VALUES (?, ?, ?)"
            " ON CONFLICT (table_id, epoch) DO UPDATE SET win = excluded.win",
            (table, epoch, win),
        )

    def lock(self, table: str, epoch: str, hand: int, seq: int, ms: int) -> None:
        """Note that event `seq` locked the wagers of the round `hand` at `ms`, in ms since 1970. The pit's signed
        message in the event proves that time. If the table's last lock has a later time, note that time instead: a
        table's times never go back. A round keeps the time of its first lock."""
        (at_ms,) = self._db.execute(
            "INSERT INTO come_to (table_id, epoch, shoe_open, hand, seq, ms) VALUES (?, ?, 1, ?, ?, ?)"
            " ON CONFLICT (table_id, epoch) DO UPDATE SET shoe_open = 1, hand = excluded.hand, seq = excluded.seq,"
            " ms = CASE WHEN come_to.ms > excluded.ms THEN come_to.ms ELSE excluded.ms END RETURNING ms",
            (table, epoch, hand, seq, ms),
        ).fetchone()
        self._db.execute("INSERT INTO locked_at VALUES (?, ?) ON CONFLICT DO NOTHING", (hand, at_ms))

    def set_aside(self, table: str, epoch: str) -> None:
        """Delete the record of the table's last lock and last known win in this epoch, because people took the epoch's
        adoption back."""
        self._db.execute("DELETE FROM come_to WHERE table_id = ? AND epoch = ?", (table, epoch))

    def note_least(self, hand: int, meter: str, share: str, cents: int) -> None:
        """Record `cents` as the least amount that is paid for this share of the meter to the hits of the round `hand`.
        Only the first call for a round and share counts."""
        self._db.execute("INSERT INTO at_least VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (hand, meter, share, cents))

    def put_right(self, event: int, lock: int) -> list[tuple[int, int]]:
        """Assign the levels of a meter's share to the rounds anew, in the order in which the rounds' wagers were
        locked. `lock` is the number of one of these levels. Only levels whose awards are all pending move.

        Returns a pair for each level that went to another round: the number of the level's row, and the amount in cents
        that the level now pays to that round.
        """
        meter, share, hand = self._db.execute(
            "SELECT meter, share, hand FROM lock WHERE number = ?", (lock,)
        ).fetchone()
        free = self._db.execute(
            "SELECT lock.number, lock.hand, lock.cents, ms, at_least.cents, coalesce(added.cents, 0) FROM lock"
            " JOIN locked_at ON locked_at.hand = lock.hand LEFT JOIN added ON added.lock = lock.number"
            " JOIN at_least ON at_least.hand = lock.hand"
            " AND at_least.meter = lock.meter AND at_least.share = lock.share"
            " WHERE lock.meter = ? AND lock.share = ? AND undone = 0 AND EXISTS"
            " (SELECT 1 FROM award WHERE award.lock = lock.number) AND NOT EXISTS"
            " (SELECT 1 FROM award WHERE award.lock = lock.number AND step != 'pending')"
            " AND ms >= (SELECT ms FROM locked_at WHERE hand = ?) ORDER BY lock.number",
            (meter, share, hand),
        ).fetchall()
        in_order = sorted(free, key=lambda level: level[3])
        moved = [(level, to) for level, to in zip(free, in_order, strict=True) if level[1] != to[1]]
        for (number, *_), _ in moved:  # no two rounds may have one level, not even for a moment
            self._db.execute("UPDATE lock SET share = ? WHERE number = ?", (f"{share} of {number}", number))
        worth = []
        for (number, _, cents, _, _, had), (former, to, _, _, least, _) in moved:
            added = max(0, least - cents)
            self._books.add_shown(event, number, added - had)
            self._db.execute("UPDATE lock SET hand = ?, share = ? WHERE number = ?", (to, share, number))
            self._db.execute("UPDATE award SET lock = ? WHERE lock = ?", (-number, former))
            worth.append((number, cents + added))
        self._db.execute("UPDATE award SET lock = -lock WHERE lock < 0")
        return worth

    def later_decided(self, lock: int) -> list[str]:
        """Return the ids of awards that won the same share of the meter as the win `lock`, in a round that was locked
        later, and that people have verified or paid already."""
        rows = self._db.execute(
            "SELECT award.id FROM lock JOIN locked_at ON locked_at.hand = lock.hand"
            " JOIN lock AS other ON other.meter = lock.meter AND other.share = lock.share AND other.undone = 0"
            " JOIN locked_at AS later ON later.hand = other.hand AND later.ms > locked_at.ms"
            " JOIN award ON award.lock = other.number AND award.step IN ('verified', 'paid')"
            " WHERE lock.number = ? ORDER BY award.number",
            (lock,),
        )
        return [id_ for (id_,) in rows.fetchall()]

    def waits(self, award: int, table: str, meter: str | None, hand: int) -> tuple[tuple[str, str], ...]:
        """Return the tables for which this pending award waits, as pairs of a table and the reason. Each of these
        tables may have locked wagers earlier than the award's table, and one of those wagers may have won."""
        row = self._db.execute("SELECT ms FROM locked_at WHERE hand = ?", (hand,)).fetchone()
        (win,) = self._db.execute("SELECT min(seq) FROM win WHERE award = ?", (award,)).fetchone()
        if meter is None or row is None or win is None:
            return ()
        heard = self._adoptions.heard()
        streams = self._db.execute(
            "SELECT table_id, epoch, shoe_open, win, hand, seq, ms FROM come_to WHERE table_id != ? ORDER BY table_id",
            (table,),
        ).fetchall()
        return tuple(
            (other, why)
            for other, epoch, *come in streams
            if other in heard
            and heard[other].epoch == epoch
            and (why := self._why(other, epoch, come, row[0], win))
            and self._plays(other, meter)
        )

    def _why(self, table: str, epoch: str, come: Sequence[int], ms: int, win: int) -> str:
        """Return why an award locked at `ms` must wait for the table `table`; empty if it need not wait. `win` is the
        number of the award's win. `come` holds the last news of that table: whether a shoe is open, the last win of
        which its events tell, and the round, event number and time of its last lock."""
        shoe_open, told, hand, seq, locked_ms = come
        if hand and locked_ms < ms and not self._is_over(table, epoch, hand, seq):
            shoe, round_ = self._db.execute("SELECT shoe, round FROM hand WHERE number = ?", (hand,)).fetchone()
            return f"it locked shoe {shoe} round {round_} before, and has yet to tell how that round ended"
        if shoe_open and told < win and locked_ms <= ms:
            return "it has yet to tell that it heard of this win"
        return ""

    def _is_over(self, table: str, epoch: str, hand: int, seq: int) -> bool:
        (lacks,) = self._db.execute(
            "SELECT coalesce(hits, 0) - (SELECT count(*) FROM award WHERE award.hand = hand.number) FROM hand"
            " WHERE number = ?",
            (hand,),
        ).fetchone()
        if int(lacks) > 0:
            return False
        later = self._db.execute(
            "SELECT body FROM event WHERE table_id = ? AND epoch = ? AND seq > ? ORDER BY seq LIMIT ?",
            (table, epoch, seq, _MOST_EVENTS_OF_A_ROUND),
        ).fetchall()
        return any(_ROUND_OVER.search(bytes(body)) for (body,) in later)

    def _plays(self, table: str, meter: str) -> bool:
        """Tell whether a wager at this table has ever fed the meter."""
        row = self._db.execute(
            "SELECT 1 FROM hand JOIN stake ON stake.hand = hand.number JOIN feeding ON feeding.stake = stake.number"
            " WHERE table_id = ? AND meter = ? LIMIT 1",
            (table, meter),
        )
        return row.fetchone() is not None


def award_waits(id_: str, waits: Sequence[tuple[str, str]]) -> TableError:
    """Return the error for a decision on a pending award that still waits for tables."""
    told = " ".join(f"Table {table}: {why}." for table, why in waits)
    return TableError(
        "award_waits",
        f"A table may have locked its wagers before award {id_}, and have won. {told}",
        "Bring these tables and their links up, and let their rounds end. Where a table is lost, two people decide"
        " without it: write --without-waiting with this command, which a second person confirms. A win that was locked"
        " before and comes later is then paid what its table showed, and the house pays the difference.",
    )
