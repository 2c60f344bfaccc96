"""A hit's way through the pit: pending, verified, paid, or rejected. Each step has a time and a name, and is kept.

Hits of one hand that win the same meter share the level that the first of them locked, equally; cents that cannot be
shared go to the first hits. The hits come one by one: an award whose hand has more to come stays pending.

A step is published until the table's own stream tells of it: an `award` event with the same award, step and cents.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from controller.contract.canonical import canonical
from controller.errors import TableError
from controller.pit.books import Books
from controller.pit.clock import now_text
from controller.pit.meters import split

SCHEMA = """
CREATE TABLE award (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    table_id TEXT NOT NULL,
    event INTEGER NOT NULL UNIQUE,
    hit TEXT NOT NULL,
    hand INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    tier TEXT NOT NULL,
    meter TEXT,
    lock INTEGER,
    cents INTEGER NOT NULL,
    step TEXT NOT NULL
) STRICT;
CREATE INDEX award_table ON award (table_id);
CREATE INDEX award_hand ON award (hand);
CREATE TABLE step (
    table_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    award INTEGER NOT NULL REFERENCES award,
    step TEXT NOT NULL,
    cents INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    at TEXT NOT NULL,
    heard INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (table_id, seq)
) STRICT;
CREATE INDEX step_unheard ON step (table_id, seq) WHERE NOT heard;
"""

Step = Literal["verified", "paid", "rejected"]

_AFTER: dict[Step, tuple[str, ...]] = {
    "verified": ("pending",),
    "paid": ("verified",),
    "rejected": ("pending", "verified"),
}


@dataclass(frozen=True, slots=True)
class Award:
    """An award as it stands. `shoe` and `round` name its hand; `more` hits of that hand are still to come."""

    number: int
    id: str
    table: str
    shoe: int
    round: int
    seat: int
    tier: str
    meter: str | None
    lock: int | None
    cents: int
    step: str
    more: int
    alarms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AwardStep:
    """A step as it is published; `seq` numbers the steps of a table's awards."""

    award: str
    hit: str
    table: str
    seat: int
    tier: str
    meter: str | None
    cents: int
    step: str
    by: str
    at: str
    seq: int

    def payload(self) -> bytes:
        """As it is published."""
        return canonical(asdict(self))


class Awards:
    """The awards in a ledger's file. Every method works inside the ledger's transaction."""

    def __init__(self, db: sqlite3.Connection, books: Books) -> None:
        self._db = db
        self._books = books

    def hit(self, event: int, hit: str, hand: int, seat: int, tier: str, won: str | int) -> bool:
        """A hit is committed: its award is pending. `won` is a meter, or fixed cents.

        False when its level had been settled without it: the award is then of 0 cents, for people to judge.
        """
        meter, lock, cents, settled = None, None, 0, False
        if isinstance(won, str):
            meter = won
            lock, level = self._books.win(event, hand, won)
            shared = self._db.execute("SELECT number, step FROM award WHERE lock = ? ORDER BY number", (lock,))
            sharers = shared.fetchall()
            settled = any(step != "pending" for _, step in sharers)
            if not settled:
                *others, cents = split(level, len(sharers) + 1)
                for (number, _), part in zip(sharers, others, strict=True):
                    self._db.execute("UPDATE award SET cents = ? WHERE number = ?", (part, number))
                    self._take(number, "pending", "pit")
        else:
            cents = won
            self._books.owe(event, cents)
        table = hit.partition("/")[0]
        (before,) = self._db.execute("SELECT count(*) FROM award WHERE table_id = ?", (table,)).fetchone()
        number = self._db.execute(
            "INSERT INTO award (id, table_id, event, hit, hand, seat, tier, meter, lock, cents, step)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')",
            (f"{table}.{before + 1}", table, event, hit, hand, seat, tier, meter, lock, cents),
        ).lastrowid
        assert number is not None
        self._take(number, "pending", "pit")
        return not settled

    def take(self, id_: str, step: Step, by: str) -> Award:
        """A person takes the award's next step; the award as it stands then.

        Raises TableError `award_unknown`, `name_missing`, `step_not_next`, or `award_incomplete`: hits of its hand are
        still to come, and may share it.
        """
        found = self.listed(lambda award: award.id == id_)
        if not found:
            raise TableError("award_unknown", f"There is no award {id_!r}.", "Take it from `award list --all`.")
        (award,) = found
        if not by.strip() or not by.isprintable() or len(by) > 60:
            raise TableError("name_missing", f"{by!r} is nobody's name.", "Say with --by who decides this.")
        if award.step not in _AFTER[step]:
            do = "Verify it first." if (step, award.step) == ("paid", "pending") else "What was decided stands."
            raise TableError("step_not_next", f"Award {id_} is {award.step}; it cannot become {step}.", do)
        if award.more:
            raise TableError(
                "award_incomplete",
                f"Award {id_} is of a hand of which {award.more} more winning wagers are still to be told.",
                f"Wait for table {award.table} to send the rest; see to its link.",
            )
        self._take(award.number, step, by.strip())
        if step == "paid":
            self._books.pay(award.number, award.cents)
        elif step == "rejected":
            self._books.give_back(award.number, award.cents, award.meter)
            self._undo(award)
        return self.listed(lambda now: now.id == id_)[0]

    def listed(self, wanted: Callable[[Award], bool] = lambda award: True) -> list[Award]:
        """The awards, oldest first, each with what alarms there were about its hand."""
        rows = self._db.execute(
            "SELECT award.number, id, award.table_id, shoe, round, seat, tier, meter, lock, cents, step,"
            " max(0, coalesce(hits, 0) - (SELECT count(*) FROM award AS beside WHERE beside.hand = award.hand)), hand"
            " FROM award JOIN hand ON hand.number = award.hand ORDER BY award.number"
        )
        awards = (replace(Award(*row), alarms=self._alarms_about(hand)) for *row, hand in rows.fetchall())
        return [award for award in awards if wanted(award)]

    def heard(self, table: str, id_: str, step: str, cents: int) -> None:
        """The table's stream tells of a step: it and those before it need not be said again, they would be too old."""
        self._db.execute(
            "UPDATE step SET heard = 1 WHERE table_id = :table AND NOT heard AND seq <= (SELECT max(seq) FROM step"
            " WHERE table_id = :table AND step = :step AND cents = :cents"
            " AND award = (SELECT number FROM award WHERE id = :id))",
            {"table": table, "id": id_, "step": step, "cents": cents},
        )

    def unheard(self, table: str, after_seq: int) -> list[AwardStep]:
        """The steps of a table's awards after this one that its stream has not told of, in order."""
        return [
            AwardStep(*row)
            for row in self._db.execute(
                "SELECT id, hit, step.table_id, seat, tier, meter, step.cents, step.step, by_whom, at, seq"
                " FROM step JOIN award ON award.number = step.award"
                " WHERE step.table_id = ? AND seq > ? AND NOT heard ORDER BY seq",
                (table, after_seq),
            )
        ]

    def _take(self, number: int, step: str, by: str) -> None:
        self._db.execute("UPDATE award SET step = ? WHERE number = ?", (step, number))
        self._db.execute(
            "INSERT INTO step (table_id, seq, award, step, cents, by_whom, at)"
            " SELECT table_id, (SELECT coalesce(max(seq), 0) + 1 FROM step WHERE step.table_id = award.table_id),"
            " number, step, cents, ?, ? FROM award WHERE number = ?",
            (by, now_text(), number),
        )

    def _undo(self, award: Award) -> None:
        """Take the reseed back once no award of the lock stands."""
        standing = self._db.execute("SELECT 1 FROM award WHERE lock = ? AND step != 'rejected'", (award.lock,))
        if award.lock is not None and standing.fetchone() is None:
            self._books.undo_reseed(award.number, award.lock)

    def _alarms_about(self, hand: int) -> tuple[str, ...]:
        return tuple(what for (what,) in self._db.execute("SELECT what FROM alarm WHERE hand = ?", (hand,)))
