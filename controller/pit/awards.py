"""A hit's way through the pit: pending, verified, paid, or rejected. Each step has a time and a name, and is kept.

Hits of one hand that win the same share of a meter divide what the first of them locked, equally; cents that cannot be
divided go to the first hits. The hits come one by one: an award whose hand has more to come stays pending. When one of
them is rejected and none is paid, the level is shared anew among those that stand.

A step is published until the table's own stream tells of it: an `award` event with the same hit, step, cents and name.
Where the table's stream tells instead that the hit cannot have that amount, the award is disputed: its steps wait, and
those of other awards do not. Two people at the table accept the amount, or the award is rejected here.
A table's stream may tell of a step that this ledger does not have. Such a step was taken by a pit with a newer ledger,
and this ledger is an older copy. For example: the table tells that award 7 is paid, and here award 7 is pending. The
step is kept as a telling. A telling holds its award until a person recalls the award, so that what was paid is not paid
again. Where nobody took the step, because the table believed a forged word, two people dismiss the telling.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from controller.contract.pit_words import AwardStep
from controller.errors import TableError
from controller.pit.books import Books
from controller.pit.clock import highest_number, next_number, number_text
from controller.pit.meters import money, split
from controller.pit.people import name, two_people

SCHEMA = """
CREATE TABLE award (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    table_id TEXT NOT NULL,
    event INTEGER NOT NULL UNIQUE,
    hit TEXT NOT NULL UNIQUE,
    hand INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    tier TEXT NOT NULL,
    meter TEXT,
    lock INTEGER,
    cents INTEGER NOT NULL,
    house_cents INTEGER NOT NULL DEFAULT 0, -- the part of it that the house added when it was recalled
    step TEXT NOT NULL,
    spot TEXT NOT NULL DEFAULT 'royal9' -- that of the only bet there was until form 4
) STRICT;
CREATE INDEX award_table ON award (table_id);
CREATE INDEX award_hand ON award (hand);
CREATE INDEX award_lock ON award (lock);
CREATE TABLE step (
    table_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    award INTEGER NOT NULL REFERENCES award,
    step TEXT NOT NULL,
    cents INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    at TEXT NOT NULL,
    heard INTEGER NOT NULL DEFAULT 0, -- 1 once the table's stream told of it, 2 where it disputes the amount
    PRIMARY KEY (table_id, seq)
) STRICT;
CREATE INDEX step_award ON step (award);
CREATE INDEX step_unheard ON step (table_id, seq) WHERE NOT heard;
CREATE TABLE telling (
    event INTEGER PRIMARY KEY,
    award INTEGER NOT NULL REFERENCES award,
    step TEXT NOT NULL,
    cents INTEGER NOT NULL,
    by_whom TEXT NOT NULL,
    recalled_by TEXT, -- NULL while it holds its award, unless two people dismissed it
    dismissed_by TEXT,
    dismissed_witness TEXT
) STRICT;
CREATE INDEX telling_award ON telling (award);
"""

FROM_FORM_3 = """
ALTER TABLE telling ADD COLUMN dismissed_by TEXT;
ALTER TABLE telling ADD COLUMN dismissed_witness TEXT;
"""
"""What form 3 of the ledger lacks."""

FROM_FORM_4 = "ALTER TABLE award ADD COLUMN spot TEXT NOT NULL DEFAULT 'royal9'"

_HOLDS = "recalled_by IS NULL AND dismissed_by IS NULL"

Step = Literal["verified", "paid", "rejected"]

_AFTER: dict[Step, tuple[str, ...]] = {
    "verified": ("pending",),
    "paid": ("verified",),
    "rejected": ("pending", "verified"),
}


@dataclass(frozen=True, slots=True)
class Telling:
    """A step of an award that a table's event told of, and that this ledger had not taken.

    A telling holds its award: nobody decides on the award until a person recalls it, or two people dismiss the telling.
    """

    award: str
    step: str
    cents: int
    by: str
    event: str
    recalled_by: str | None
    dismissed_by: str | None
    dismissed_witness: str | None

    @property
    def holds(self) -> bool:
        """Whether people have yet to recall the award or to dismiss this telling."""
        return self.recalled_by is None and self.dismissed_by is None

    def __str__(self) -> str:
        return f"{self.step}, {money(self.cents)}, by {self.by} (event {self.event})"


@dataclass(frozen=True, slots=True)
class Award:
    """An award as it stands. `shoe` and `round` name its hand, `spot` its bet; `more` hits of that hand are to come.

    `house_cents` of its amount are what the house added in a recall, so that it is what was told; below 0: kept.
    """

    number: int
    id: str
    table: str
    hit: str
    shoe: int
    round: int
    spot: str
    seat: int
    tier: str
    meter: str | None
    lock: int | None
    cents: int
    house_cents: int
    step: str
    more: int
    alarms: tuple[str, ...] = ()
    tellings: tuple[Telling, ...] = ()

    @property
    def held(self) -> bool:
        """Whether a telling of this award is still to be recalled or dismissed."""
        return any(telling.holds for telling in self.tellings)


class Awards:
    """The awards in a ledger's file. Every method works inside the ledger's transaction."""

    def __init__(self, db: sqlite3.Connection, books: Books) -> None:
        self._db = db
        self._books = books

    def hit(
        self, event: int, hit: str, hand: int, spot: str, seat: int, tier: str, won: tuple[str, Fraction] | int
    ) -> bool:
        """A hit is committed: its award is pending. `won` is a meter and the share of it, or fixed cents.

        False when its level had been settled without it: the award is then of 0 cents, for people to judge.
        """
        meter, lock, cents, settled = None, None, 0, False
        if isinstance(won, tuple):
            meter, share = won
            lock, level = self._books.win(event, hand, meter, share)
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
            "INSERT INTO award (id, table_id, event, hit, hand, spot, seat, tier, meter, lock, cents, step)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')",
            (f"{table}.{before + 1}", table, event, hit, hand, spot, seat, tier, meter, lock, cents),
        ).lastrowid
        assert number is not None
        self._take(number, "pending", "pit")
        return not settled

    def take(self, id_: str, step: Step, by: str) -> Award:
        """A person takes the award's next step; the award as it stands then.

        Raises TableError `award_unknown`, `name_missing`, `step_not_next`; `award_told`: the table told of steps that
        are to be recalled first; `award_disputed`; or `award_incomplete`: hits of its hand are still to come, and may
        share it.
        """
        award, by = self._award(id_), name(by)
        if (first := self._first_to_recall(award)) is not None:
            raise _to_recall(first)
        if award.step not in _AFTER[step]:
            do = "Verify it first." if (step, award.step) == ("paid", "pending") else "What was decided stands."
            raise TableError("step_not_next", f"Award {id_} is {award.step}; it cannot become {step}.", do)
        if step != "rejected" and self._is_disputed(award):
            raise _disputed(award.table, id_, award.cents)
        if award.more:
            raise TableError(
                "award_incomplete",
                f"Award {id_} is of a hand of which {award.more} more winning wagers are still to be told.",
                f"Wait for table {award.table} to send the rest; see to its link.",
            )
        if step == "rejected":
            self._reject(award, by)
        else:
            self._take(award.number, step, by)
        if step == "paid":
            self._books.pay(award.number, award.cents)
        return self._award(id_)

    def recall(self, id_: str, by: str) -> Award:
        """A person lets the ledger take over what the table told of the award; the award as it stands then.

        The award gets the step that was told last, with its name and amount; where "paid" was ever told, the award is
        paid. For example: told are "verified" at $100 and "paid" at $120, and the award here is pending at $100. The
        award becomes paid at $120, and the house adds $20. Awards that share a level are recalled in the order in which
        their steps were told. Raises TableError `award_unknown`, `name_missing`, `nothing_to_recall`, or `award_told`
        where another award is to be recalled first.
        """
        award, by = self._award(id_), name(by)
        first = self._first_to_recall(award)
        if first is None:
            raise TableError("nothing_to_recall", f"Award {id_} is as its table told of it.", "Decide on it as usual.")
        if first.award != id_:
            raise _to_recall(first)
        *before, last = sorted(
            (telling for telling in award.tellings if telling.holds), key=lambda told: told.step == "paid"
        )
        for telling in before:
            self._take(award.number, telling.step, telling.by, telling.cents)
        self._db.execute("UPDATE step SET heard = 1 WHERE award = ?", (award.number,))  # the last says it all
        if last.step == "rejected":
            self._reject(award, last.by)
        else:
            self._amount_to(award, last.cents)
            self._take(award.number, last.step, last.by)
        if last.step == "paid":
            self._books.pay(award.number, last.cents)
        self._db.execute(f"UPDATE telling SET recalled_by = ? WHERE award = ? AND {_HOLDS}", (by, award.number))
        return self._award(id_)

    def dismiss(self, id_: str, by: str, witness: str) -> Award:
        """Two people say that nobody took the steps that the table told of the award. The award stays as it is here.

        The table had believed a forged word, and is told anew how the award stands. Raises TableError
        `award_unknown`, `name_missing`, `witness_missing`, or `nothing_to_dismiss`.
        """
        award = self._award(id_)
        first, second = two_people(by, witness)
        if not award.held:
            what = f"Award {id_} is as its table told of it."
            raise TableError("nothing_to_dismiss", what, "See what was told of each: award list --all.")
        self._db.execute(
            f"UPDATE telling SET dismissed_by = ?, dismissed_witness = ? WHERE award = ? AND {_HOLDS}",
            (first, second, award.number),
        )
        self._take(award.number, award.step, first)
        return self._award(id_)

    def take_back(self, table: str, epoch: str, set_aside_as: str, by: str) -> None:
        """An adoption was wrong: no award of its stream stands, and nobody is told of those awards any more.

        What it told of them is forgotten with it: its events are kept. Raises TableError `award_paid`.
        """
        of_epoch = f"{table}/{epoch}/"
        awards = self.listed("instr(hit, ?) = 1", of_epoch)
        if paid := [award.id for award in awards if award.step == "paid"]:
            raise TableError(
                "award_paid",
                f"Of what table {table} sent in the epoch {epoch}, {', '.join(paid)} was paid: the adoption stands.",
                "Settle by hand what is wrong; stop the machine that should not speak for the table, and give the table"
                " a new journal with a new key, which has a new epoch.",
            )
        for award in awards:
            self._db.execute("DELETE FROM telling WHERE award = ?", (award.number,))
            standing = self._award(award.id)  # its part may be another one since the one before it was rejected
            if standing.step != "rejected":
                self._reject(standing, by)
            self._db.execute("UPDATE step SET heard = 1 WHERE award = ?", (award.number,))
            hit = f"{table}/{set_aside_as}/{award.hit.removeprefix(of_epoch)}"
            self._db.execute("UPDATE award SET hit = ? WHERE number = ?", (hit, award.number))

    def listed(self, wanted: str = "TRUE", *values: object) -> list[Award]:
        """The awards that are wanted, in SQL, oldest first, each with what alarms there were about its hand."""
        rows = self._db.execute(
            "SELECT award.number, id, award.table_id, hit, shoe, round, spot, seat, tier, meter, lock, cents,"
            " house_cents, step,"
            " max(0, coalesce(hits, 0) - (SELECT count(*) FROM award AS beside WHERE beside.hand = award.hand)),"
            f" hand FROM award JOIN hand ON hand.number = award.hand WHERE {wanted} ORDER BY award.number",
            values,
        )
        awards = ((Award(*row), hand) for *row, hand in rows.fetchall())
        return [
            replace(award, alarms=self._alarms_about(hand), tellings=self._tellings("award.number = ?", award.number))
            for award, hand in awards
        ]

    def hand_of(self, table: str, hit: str) -> int | None:
        """The number of the hand that a table's hit, an event's id, is of; None when there is no award for it."""
        row = self._db.execute("SELECT hand FROM award WHERE hit = ? AND table_id = ?", (hit, table)).fetchone()
        return None if row is None else int(row[0])

    def heard(self, event: int, hit: str, step: str, cents: int, by: str) -> TableError | None:
        """The event, committed under this number, tells of a step of a hit's award: it need not be said again.

        Returns the alarm `award_told` when this ledger has not taken that step. A pending one is the pit's own and
        decides nothing, so it is no reason for any.
        """
        number, id_, table, stands = self._db.execute(
            "SELECT number, id, table_id, step FROM award WHERE hit = ?", (hit,)
        ).fetchone()
        unheard, taken = self._db.execute(
            "SELECT min(seq) FILTER (WHERE heard != 1), count(*) FROM step"
            " WHERE award = ? AND step = ? AND cents = ? AND by_whom = ?",
            (number, step, cents, by),
        ).fetchone()
        if unheard is not None:
            self._db.execute("UPDATE step SET heard = 1 WHERE award = ? AND seq <= ?", (number, unheard))
        accepted = "UPDATE step SET heard = 0 WHERE award = ? AND cents = ? AND heard = 2"
        self._db.execute(accepted, (number, cents))
        self.number_anew(table)
        if step == "pending":
            if unheard is None:
                self._withdraw(number)
            return None
        if taken:
            return None
        holds = stands in ("pending", "verified") or (stands, step) == ("rejected", "paid")
        if holds:
            self._db.execute(
                "INSERT INTO telling (event, award, step, cents, by_whom) VALUES (?, ?, ?, ?, ?)",
                (event, number, step, cents, by),
            )
        return TableError(
            "award_told",
            f"Table {table} tells that award {id_} was {step}, {money(cents)}, by {by}; this ledger has not done so.",
            f"It is an older copy: see `award list`, and let it take over what is true: `award recall {id_} --by NAME`."
            f" If nobody did so, two people dismiss it: `award dismiss {id_} --by NAME --witness NAME`."
            if holds
            else f"It is {stands} here, and that stands. Find out what was carried out, and settle by hand.",
        )

    def dispute(self, hit: str, cents: int) -> TableError:
        """The table tells that a hit, of which there is an award, cannot have one of this amount. Returns the alarm."""
        number, id_, table = self._db.execute("SELECT number, id, table_id FROM award WHERE hit = ?", (hit,)).fetchone()
        self._db.execute(
            "UPDATE step SET heard = 2 WHERE award = ? AND cents = ? AND step != 'rejected' AND NOT heard",
            (number, cents),
        )
        return _disputed(table, id_, cents)

    def unheard(self, table: str, after_seq: int) -> list[AwardStep]:
        """The steps of a table's awards, numbered above this, that its stream has not told of; in order.

        Steps of a held award are left out, for the table knows more of that award than this ledger does. For example:
        the table told that award 7 is paid; to tell the table that award 7 is verified would be false.
        """
        return [
            AwardStep(*row)
            for row in self._db.execute(
                "SELECT id, hit, step.table_id, seat, tier, meter, step.cents, step.step, by_whom, at, seq"
                " FROM step JOIN award ON award.number = step.award"
                " WHERE step.table_id = ? AND seq > ? AND NOT heard AND NOT EXISTS"
                f" (SELECT 1 FROM telling WHERE telling.award = award.number AND {_HOLDS}) ORDER BY seq",
                (table, after_seq),
            )
        ]

    def _award(self, id_: str) -> Award:
        found = self.listed("id = ?", id_)
        if not found:
            raise TableError("award_unknown", f"There is no award {id_!r}.", "Take it from `award list --all`.")
        return found[0]

    def _take(self, number: int, step: str, by: str, cents: int | None = None) -> None:
        """Note the award's next step: at `cents`, or at the award's own amount where `cents` is None."""
        self._db.execute("UPDATE award SET step = ? WHERE number = ?", (step, number))
        (table,) = self._db.execute("SELECT table_id FROM award WHERE number = ?", (number,)).fetchone()
        seq = self._next_seq(table)
        self._db.execute(
            "INSERT INTO step (table_id, seq, award, step, cents, by_whom, at)"
            " SELECT table_id, ?, number, step, coalesce(?, cents), ?, ? FROM award WHERE number = ?",
            (seq, cents, by, number_text(seq), number),
        )

    def _next_seq(self, table: str) -> int:
        (last,) = self._db.execute(
            "SELECT coalesce(max(seq), 0) FROM step WHERE table_id = ? AND seq <= ?", (table, highest_number())
        ).fetchone()
        return next_number(last)

    def leaping(self) -> list[str]:
        """The tables for which steps wait with numbers that no table takes: the pit's clock was wrong when it numbered
        them."""
        leaping = "SELECT DISTINCT table_id FROM step WHERE NOT heard AND seq > ?"
        return [table for (table,) in self._db.execute(leaping, (highest_number(),))]

    def number_anew(self, table: str) -> None:
        """A table takes no step that is older than one it has. The one it tells of may have come from a pit with
        another copy of this ledger, under a number higher than those that wait here: they get new ones."""
        waiting = self._db.execute("SELECT seq FROM step WHERE table_id = ? AND NOT heard ORDER BY seq", (table,))
        for (seq,) in waiting.fetchall():
            anew = self._next_seq(table)
            self._db.execute(
                "UPDATE step SET seq = ?, at = ? WHERE table_id = ? AND seq = ?", (anew, number_text(anew), table, seq)
            )

    def _reject(self, award: Award, by: str) -> None:
        """Its amount goes back on its meter, and from there to the hits that share the level, if none of them is paid.

        What the house added in a recall is the house's again.
        """
        own_cents = award.cents - award.house_cents
        self._amount_to(award, own_cents)
        self._take(award.number, "rejected", by)
        self._books.give_back(award.number, own_cents, award.meter)
        if award.meter is None:
            return
        standing = self.listed("lock = ? AND step != 'rejected'", award.lock)
        if standing and all(other.step != "paid" for other in standing):
            self._books.share(award.number, own_cents, award.meter)
            self._share(standing, own_cents + sum(other.cents - other.house_cents for other in standing))
        self._undo_locks(award, award.meter)

    def _share(self, awards: list[Award], cents: int) -> None:
        """Share a level anew among its hits. An award whose part has changed is pending again."""
        for award, part in zip(awards, split(cents, len(awards)), strict=True):
            if part != award.cents or award.house_cents:
                self._books.add(award.number, -award.house_cents)
                self._db.execute("UPDATE award SET cents = ?, house_cents = 0 WHERE number = ?", (part, award.number))
                self._take(award.number, "pending", "pit")

    def _amount_to(self, award: Award, cents: int) -> None:
        """Give the award an amount other than its part of the level: the house adds the rest, or keeps it."""
        owed_cents = 0 if award.step == "rejected" else award.cents
        own_cents = 0 if award.step == "rejected" else award.cents - award.house_cents
        self._books.add(award.number, cents - owed_cents)
        self._db.execute(
            "UPDATE award SET cents = ?, house_cents = ? WHERE number = ?", (cents, cents - own_cents, award.number)
        )

    def _undo_locks(self, award: Award, meter: str) -> None:
        """Undo the meter's last lock when no award of it stands, and the one before that, which is the last then."""
        standing = "SELECT 1 FROM award WHERE lock = ? AND step != 'rejected'"
        while (lock := self._books.last_lock(meter)) is not None:
            if self._db.execute(standing, (lock,)).fetchone() is not None:
                return
            self._books.undo_lock(award.number, lock)

    def _withdraw(self, number: int) -> None:
        """An award that was told as pending again is not verified any more; one that was paid or rejected is."""
        self._db.execute(
            f"DELETE FROM telling WHERE award = ? AND {_HOLDS} AND NOT EXISTS (SELECT 1 FROM telling AS last"
            " WHERE last.award = telling.award AND last.recalled_by IS NULL AND last.dismissed_by IS NULL"
            " AND last.step != 'verified')",
            (number,),
        )

    def _is_disputed(self, award: Award) -> bool:
        row = self._db.execute(
            "SELECT 1 FROM step WHERE award = ? AND heard = 2 AND cents = ?", (award.number, award.cents)
        )
        return row.fetchone() is not None

    def _first_to_recall(self, award: Award) -> Telling | None:
        """The first telling that holds this award, or an award that shares its level."""
        wanted = f"{_HOLDS} AND (award.number = ? OR award.lock = ?)"
        return next(iter(self._tellings(wanted, award.number, award.lock)), None)

    def _tellings(self, wanted: str, *values: int | None) -> tuple[Telling, ...]:
        rows = self._db.execute(
            "SELECT id, telling.step, telling.cents, by_whom, event.table_id || '/' || epoch || '/' || seq,"
            " recalled_by, dismissed_by, dismissed_witness"
            " FROM telling JOIN award ON award.number = telling.award JOIN event ON event.number = telling.event"
            f" WHERE {wanted} ORDER BY telling.event",
            values,
        )
        return tuple(Telling(*row) for row in rows)

    def _alarms_about(self, hand: int) -> tuple[str, ...]:
        return tuple(what for (what,) in self._db.execute("SELECT what FROM alarm WHERE hand = ?", (hand,)))


def _to_recall(telling: Telling) -> TableError:
    return TableError(
        "award_told",
        f"The table told of award {telling.award}: {telling}. This ledger has not done so: it is an older copy.",
        f"Do nothing of it twice. If it is true, let the ledger take it over: award recall {telling.award} --by NAME."
        f" If nobody did so, two people dismiss it: award dismiss {telling.award} --by NAME --witness NAME.",
    )


def _disputed(table: str, award: str, cents: int) -> TableError:
    return TableError(
        "award_disputed",
        f"Table {table} does not believe that award {award} is {money(cents)}: its meter never showed so much there.",
        "Compare the amount with the hit and the meter. If it is true, two people at the table accept it: tablectl"
        f" accept-award {award} {cents} --by NAME. If not, reject it here: award reject {award} --by NAME.",
    )
