"""The awards: each hit's way through the pit, from pending to verified to paid, or to rejected.

Every step is kept with its time and with the name of the person who took the step.

**Shared levels.** Several hits of one round can win the same share of a meter. They divide equally what the first of
them won; cents that are left over go to the first hits. For example: three hits share $100.00 as $33.34, $33.33 and
$33.33. The hits come one by one, so an award stays pending while hits of its round are still to come. If a hit is
rejected and no other is paid, the level is shared anew among the hits that are not rejected.

**Steps go to the table.** The pit publishes a step until the table confirms it in its own stream, by an `award` event
with the same hit, step, cents and name. The table may report instead that the hit cannot have that amount. The award is
then disputed: its steps wait, and the steps of other awards go on. Two people at the table accept the amount, or a
person rejects the award here.

**Tellings.** A telling is a step that a table reports and that this ledger does not have. A pit with a newer ledger
took that step, and this ledger is an older copy. For example: the table reports that award 7 is paid, and here award 7
is pending. Nobody decides on the award until two people recall the telling (take it over), so that nothing is paid
twice. If nobody took the step, and the table believed a forged message, two people dismiss the telling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.contract.pit_words import AwardStep
from controller.pit.reference.award import Award, Telling, disputed, to_recall, what_to_do
from controller.pit.reference.books import Books
from controller.pit.reference.clock import highest_number, next_number, number_text
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.doubts import Doubts
from controller.pit.reference.meters import split
from controller.pit.reference.order import Order, award_waits
from controller.pit.reference.people import both, name, not_two_people, two_people
from controller.pit.reference.shown import Shown
from controller.pit.reference.store import Store, of_row
from controller.pit.reference.wins import Wins

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
    house_cents INTEGER NOT NULL DEFAULT 0, -- the part of `cents` that the house added in a recall
    step TEXT NOT NULL,
    spot TEXT NOT NULL DEFAULT 'royal9' -- until form 4 the only progressive bet
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
    heard INTEGER NOT NULL DEFAULT 0, -- 1: the table's stream told of the step, 2: it disputes the amount
    PRIMARY KEY (table_id, seq)
) STRICT;
CREATE INDEX step_award ON step (award);
CREATE INDEX step_unheard ON step (table_id, seq) WHERE heard = 0;
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

_HOLDS = "recalled_by IS NULL AND dismissed_by IS NULL"

Step = Literal["verified", "paid", "rejected"]

_AFTER: dict[Step, tuple[str, ...]] = {
    "verified": ("pending",),
    "paid": ("verified",),
    "rejected": ("pending", "verified"),
}


class Booked(Struct, frozen=True):
    """The result of booking a hit in the ledger.

    `settled_before` means that people had already decided on other awards of the same level. The new award then has 0
    cents, and people settle the hit by hand. `moved` and `decided` are the ids of awards whose wagers were locked after
    this hit's wagers. Those in `moved` got another level. Those in `decided` keep their level, because people had
    decided on them already.
    """

    settled_before: bool
    moved: tuple[str, ...]
    decided: tuple[str, ...]


class Awards:
    """The awards in a ledger. Every method works inside the ledger's transaction."""

    def __init__(self, db: Store, books: Books, decisions: Decisions | None = None) -> None:
        self._db = db
        self._books = books
        self._decisions = decisions or Decisions(db)
        self._doubts = Doubts(db)
        self.shown = Shown(db)
        self.wins = Wins(db, books.level_cents)
        self.order = Order(db, books)

    def hit(
        self,
        event: int,
        hit: str,
        hand: int,
        spot: str,
        seat: int,
        tier: str,
        won: tuple[str, Fraction] | int,
        doubts: Sequence[str] = (),
    ) -> Booked:
        """Make the pending award of a committed hit. `event` is the hit event's number in the ledger, `hit` its id, and
        `hand` the ledger's number of its round.

        `won` is a pair of a meter and the share that the hit wins, or an amount in cents for a fixed award. `doubts`
        are the codes by which the table says why it doubts the round.
        """
        meter, lock, cents = None, None, None
        if isinstance(won, tuple):
            meter, share = won
            least_cents = self.shown.least_cents(hand, meter, share)
            self.order.note_least(hand, meter, str(share), least_cents)
            lock, level = self._books.win(event, hand, meter, share, least_cents)
            cents = self._shared(lock, level)
        else:
            cents = won
            self._books.owe(event, cents)
        table = hit.partition("/")[0]
        (before,) = self._db.execute("SELECT count(*) FROM award WHERE table_id = ?", (table,)).fetchone()
        (number,) = self._db.execute(
            "INSERT INTO award (id, table_id, event, hit, hand, spot, seat, tier, meter, lock, cents, step)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending') RETURNING number",
            (f"{table}.{before + 1}", table, event, hit, hand, spot, seat, tier, meter, lock, cents or 0),
        ).fetchone()
        self._doubts.tell(number, event, doubts)
        self._take(number, "pending", "pit")
        moved, decided = ([], []) if lock is None else (self._put_right(event, lock), self.order.later_decided(lock))
        self.wins.tell(hand)
        return Booked(cents is None, tuple(id_ for id_ in moved if id_ != f"{table}.{before + 1}"), tuple(decided))

    def _put_right(self, event: int, lock: int) -> list[str]:
        """Assign the won levels to the rounds in the order in which the rounds' wagers were locked, because a hit may
        arrive late. Return the ids of the awards that got another level."""
        moved: list[str] = []
        for number, cents in self.order.put_right(event, lock):
            awards = self.listed("lock = ?", number)
            self._share(awards, cents)
            moved += [award.id for award in awards]
        return moved

    def _shared(self, lock: int, level: int) -> int | None:
        """Divide the `level` (in cents) of the lock with this number again, because one more hit shares it. Return the
        new hit's part. Return None if people have already decided on an award of the level."""
        shared = self._db.execute("SELECT number, step FROM award WHERE lock = ? ORDER BY number", (lock,))
        sharers = shared.fetchall()
        if any(step != "pending" for _, step in sharers):
            return None
        *others, cents = split(level, len(sharers) + 1)
        for (number, _), part in zip(sharers, others, strict=True):
            self._db.execute("UPDATE award SET cents = ? WHERE number = ?", (part, number))
            self._take(number, "pending", "pit")
        return cents

    def take(self, id_: str, step: Step, by: str, witness: str | None = None, without_waiting: bool = False) -> Award:
        """Take the award's next step (verified, paid or rejected), by the accounts `by` and `witness`. Return the
        changed award.

        An award in doubt is verified and paid only with a witness, who decides despite the doubts. An award that waits
        for tables is verified only with a witness and `without_waiting`. Raises TableError `award_unknown`,
        `name_missing`, `step_not_next` or `award_disputed`; `not_two_people` if the person who verified the award pays
        it, or if the witness is the same account; `award_doubted` if the award is in doubt and has no witness;
        `award_told` if steps that the table reported must be recalled first; `award_incomplete` if hits of the award's
        round are still to come, which may share the award; or `award_waits`.
        """
        award, by = self.named(id_), name(by)
        if (first := self._first_to_recall(award)) is not None:
            raise to_recall(first)
        if award.step not in _AFTER[step]:
            do = "Verify the award first." if (step, award.step) == ("paid", "pending") else "The decision stands."
            raise TableError("step_not_next", f"Award {id_} is {award.step}; it cannot become {step}.", do)
        if step != "rejected" and self._is_disputed(award):
            raise disputed(award.table, id_, award.cents)
        if award.more:
            raise TableError(
                "award_incomplete",
                f"Table {award.table} has yet to tell of {award.more} more winning wagers of this award's round.",
                f"Wait until table {award.table} has sent them. If they do not come, check the table's link.",
            )
        if witness is not None:
            two_people(by, witness)
        if step == "verified" and award.waits and not (without_waiting and witness):
            raise award_waits(id_, award.waits)
        if step == "paid" and by in self._verifiers(award.number):
            raise not_two_people(by)
        more: Mapping[str, object] = {}
        if step == "rejected":
            more = self._rejected(award, by)
        else:
            self._doubts.decide(award.number, id_, by, witness)
            self._take(award.number, step, by)
        self._note(step, award, by, witness, award.cents, more)
        if step == "paid":
            self._books.pay(award.number, award.cents)
        return self.named(id_)

    def _verifiers(self, award: int) -> set[str]:
        """Return the accounts that verified the award, either at this pit or at the pit whose decision people took over
        from the table's report."""
        row = self._db.execute(
            "SELECT by_whom FROM step WHERE award = ? AND step = 'verified' ORDER BY seq DESC LIMIT 1", (award,)
        ).fetchone()
        return self._decisions.verifiers(award) | (set() if row is None else {str(row[0])})

    def _rejected(self, award: Award, by: str) -> dict[str, object]:
        """Reject the award. Return a dict for the decision's record that names the meter whose level fell, with its
        level before and after. The dict is empty if no level fell."""
        if award.meter is None:
            self._reject(award, by)
            return {}
        before = self._books.level_cents(award.meter)
        self._reject(award, by)
        after = self._books.level_cents(award.meter)
        return {"lowered": {"meter": award.meter, "from_cents": before, "to_cents": after}} if after < before else {}

    def _note(
        self, step: str, award: Award, by: str, witness: str | None, cents: int, more: Mapping[str, object]
    ) -> None:
        """Record the decision that takes this step of the award: the accounts of its people, its cents, and the details
        `more`."""
        cents = 0 if step == "rejected" else cents
        told: dict[str, object] = {"award": award.id, "step": step, "cents": cents, **more}
        if step == "verified" and award.waits:
            told |= {"without": [table for table, _ in award.waits]}
        self._decisions.note(step, award.number, by, witness, told, cents)

    def recall(self, id_: str, by: str, witness: str | None = None) -> Award:
        """Take over into the ledger the steps that the table reported of the award. Return the changed award.

        The award gets the last step that the table reported, with its person and amount. If the table ever reported
        "paid", the award is paid. For example: the award is pending at $100 here, and the table reported "verified" at
        $100 and "paid" at $120. The award becomes paid at $120, and the house adds $20. Awards that share a level are
        recalled in the order in which the table reported their steps. Raises TableError `award_unknown`,
        `name_missing`, `nothing_to_recall`, or `award_told` if another award must be recalled first.
        """
        award, by = self.named(id_), name(by)
        first = self._first_to_recall(award)
        if first is None:
            what = (
                f"No step that the table of award {id_} told of waits to be recalled: this ledger has each, or the"
                " table has told since that the award is pending again."
            )
            raise TableError("nothing_to_recall", what, "Decide on the award as usual: a pending award is verified.")
        if first.award != id_:
            raise to_recall(first)
        *before, last = sorted(
            (telling for telling in award.tellings if telling.holds), key=lambda telling: telling.step == "paid"
        )
        for telling in before:
            self._take(award.number, telling.step, telling.by, telling.cents)
        self._db.execute("UPDATE step SET heard = 1 WHERE award = ?", (award.number,))  # the last step is told alone
        more: dict[str, object] = {"recalled": True}  # they take over what was told, and pay nobody
        if last.step == "rejected":
            more |= self._rejected(award, last.by)
        else:
            self._amount_to(award, last.cents)
            self._take(award.number, last.step, last.by)
        self._note(last.step, award, by, witness, last.cents, more)
        if last.step == "paid":
            self._books.pay(award.number, last.cents)
        self._db.execute(
            f"UPDATE telling SET recalled_by = ? WHERE award = ? AND {_HOLDS}", (both(by, witness), award.number)
        )
        return self.named(id_)

    def dismiss(self, id_: str, by: str, witness: str) -> Award:
        """Record that two people found that nobody took the steps which the table reported of the award. The award
        stays as it is in this ledger.

        The table had believed a forged message. So the award's true step is published to it again. Raises TableError
        `award_unknown`, `name_missing`, `not_two_people`, or `nothing_to_dismiss`.
        """
        award = self.named(id_)
        first, second = two_people(by, witness)
        if not award.held:
            what = f"This ledger has every step of award {id_} that its table told of."
            raise TableError("nothing_to_dismiss", what, "See what the tables told of each award: award list --all.")
        self._db.execute(
            f"UPDATE telling SET dismissed_by = ?, dismissed_witness = ? WHERE award = ? AND {_HOLDS}",
            (first, second, award.number),
        )
        self._take(award.number, award.step, first)
        self._decisions.note("dismissed", award.number, first, second, {"dismissed": id_})
        return self.named(id_)

    def take_back(self, table: str, epoch: str, set_aside_as: str, by: str) -> None:
        """Reject every award of a table's stream that was wrongly adopted, and publish no more steps of these awards.
        The steps that the table reported of these awards are deleted; the events that reported them are kept. Raises
        TableError `award_paid`."""
        of_epoch = f"{table}/{epoch}/"
        awards = self.listed("substr(hit, 1, ?) = ?", len(of_epoch), of_epoch)
        if paid := [award.id for award in awards if award.step == "paid"]:
            raise TableError(
                "award_paid",
                f"Table {table} sent the hits of {', '.join(paid)} in the epoch {epoch}, and these awards are paid."
                " So the adoption cannot be taken back.",
                "Settle by hand what is wrong. Stop the machine that should not speak for the table. Give the table a"
                " new journal with a new key, which has a new epoch.",
            )
        for award in awards:
            self._db.execute("DELETE FROM telling WHERE award = ?", (award.number,))
            standing = self.named(award.id)  # rejecting an award before this one may have changed its part
            if standing.step != "rejected":
                self._reject(standing, by)
            self._db.execute("UPDATE step SET heard = 1 WHERE award = ?", (award.number,))
            hit = f"{table}/{set_aside_as}/{award.hit.removeprefix(of_epoch)}"
            self._db.execute("UPDATE award SET hit = ? WHERE number = ?", (hit, award.number))

    def listed(self, wanted: str = "TRUE", *values: object) -> list[Award]:
        """Return the awards for which the SQL condition `wanted` holds, oldest first. Each has its alarms, its doubts,
        and the steps that its table reported."""
        rows = self._db.execute(
            "SELECT award.number, id, award.table_id, hit, shoe, round, spot, seat, tier, meter, lock, cents,"
            " house_cents, step,"
            " coalesce(hits, 0) - (SELECT count(*) FROM award AS beside WHERE beside.hand = award.hand),"
            f" hand FROM award JOIN hand ON hand.number = award.hand WHERE {wanted} ORDER BY award.number",
            values,
        )
        awards = ((of_row(Award, (*row, max(0, more))), hand) for *row, more, hand in rows.fetchall())
        return [
            replace(
                award,
                alarms=self._alarms_about(hand),
                tellings=self._tellings("award.number = ?", award.number),
                doubts=self._doubts.of(award.number),
                shown_cents=self._books.added_cents(award.lock),
                waits=self.order.waits(award.number, award.table, award.meter, hand) if award.step == "pending" else (),
            )
            for award, hand in awards
        ]

    def doubt_shoe(self, table: str, epoch: str, shoe: int, event: int, code: str) -> None:
        """Record the doubt `code` on each award of the shoe that is not yet paid or rejected, because the table doubts
        the shoe."""
        self._doubts.tell_of_shoe(table, epoch, shoe, event, code)

    def doubt_journal(self, table: str, epoch: str, event: int, code: str) -> None:
        """Record the doubt `code` on each award of the table's journal that is not yet paid or rejected."""
        self._doubts.tell_of_journal(table, epoch, event, code)

    def hand_of(self, table: str, hit: str) -> int | None:
        """Return the number of a hit's round. `hit` is the id of the hit event. Return None if the hit has no award."""
        row = self._db.execute("SELECT hand FROM award WHERE hit = ? AND table_id = ?", (hit, table)).fetchone()
        return None if row is None else int(row[0])

    def heard(self, event: int, hit: str, step: str, cents: int, by: str) -> TableError | None:
        """Record that a committed event of the table reports a step of a hit's award. The pit then stops publishing
        that step.

        Return the alarm `award_told` if this ledger does not have that step. The step "pending" raises no alarm,
        because the pit takes that step by itself, and nobody decides anything by it.
        """
        number, id_, table, stands = self._db.execute(
            "SELECT number, id, table_id, step FROM award WHERE hit = ?", (hit,)
        ).fetchone()
        unheard, taken = self._db.execute(
            "SELECT min(seq) FILTER (WHERE heard != 1), count(*) FROM step"
            " WHERE award = ? AND step = ? AND cents = ? AND by_whom = ?",
            (number, step, cents, by),
        ).fetchone()
        news = step != "pending" and not taken
        holds = news and (stands in ("pending", "verified") or (stands, step) == ("rejected", "paid"))
        if unheard is not None:
            self._db.execute("UPDATE step SET heard = 1 WHERE award = ? AND seq <= ?", (number, unheard))
        elif not holds:
            self._say_again(number, step, cents, by)
        accepted = "UPDATE step SET heard = 0 WHERE award = ? AND cents = ? AND heard = 2"
        again = self._db.execute(accepted, (number, cents)).rowcount
        if unheard is None or again or self._waits_before(table, unheard):
            self.number_anew(table)
        if step == "pending" and unheard is None:
            self._withdraw(number)
        if not news:
            return None
        if holds:
            self._db.execute(
                "INSERT INTO telling (event, award, step, cents, by_whom) VALUES (?, ?, ?, ?, ?)",
                (event, number, step, cents, by),
            )
        told = f"Table {table} tells that award {id_} was {step}, {figures(cents)}, by {by}."
        return TableError("award_told", f"{told} This ledger does not have that step.", what_to_do(id_, stands, holds))

    def _say_again(self, number: int, step: str, cents: int, by: str) -> None:
        """Publish the award's last step again, if that step is another one than the old step that the table has just
        reported."""
        last = "seq = (SELECT max(seq) FROM step WHERE award = ?)"
        other = "NOT (step = ? AND cents = ? AND by_whom = ?)"
        self._db.execute(
            f"UPDATE step SET heard = 0 WHERE award = ? AND {last} AND {other} AND heard = 1",
            (number, number, step, cents, by),
        )

    def _waits_before(self, table: str, seq: int) -> bool:
        """Tell whether the table has still to confirm a step whose number is lower than `seq`."""
        waits = "SELECT 1 FROM step WHERE table_id = ? AND heard = 0 AND seq < ?"
        return self._db.execute(waits, (table, seq)).fetchone() is not None

    def dispute(self, hit: str, cents: int) -> TableError:
        """Record that the table does not believe that a hit's award has this amount. Return the alarm for people."""
        number, id_, table = self._db.execute("SELECT number, id, table_id FROM award WHERE hit = ?", (hit,)).fetchone()
        self._db.execute(
            "UPDATE step SET heard = 2 WHERE award = ? AND cents = ? AND step != 'rejected' AND heard = 0",
            (number, cents),
        )
        return disputed(table, id_, cents)

    def unheard(self, table: str, epoch: str | None = None, most: int | None = None) -> list[AwardStep]:
        """Return in order the steps of the table's awards that the table has not yet confirmed in its stream of events.
        Steps with an amount that the table does not believe are left out.

        If `epoch` is given, return only steps of hits in that epoch. If `most` is given, return at most that many
        steps.

        An award is left out while people must recall or dismiss a step that the table reported of it. For example: if
        the table reported that award 7 is paid, it would be false to publish that award 7 is verified.
        """
        of_epoch = "" if epoch is None else f"{table}/{epoch}/"
        return [
            of_row(AwardStep, row)
            for row in self._db.execute(
                "SELECT id, hit, step.table_id, seat, tier, meter, step.cents, step.step, by_whom, at, seq"
                " FROM step JOIN award ON award.number = step.award"
                " WHERE step.table_id = ? AND heard = 0 AND NOT EXISTS"
                f" (SELECT 1 FROM telling WHERE telling.award = award.number AND {_HOLDS})"
                f" AND substr(hit, 1, ?) = ? ORDER BY seq{'' if most is None else f' LIMIT {most}'}",
                (table, len(of_epoch), of_epoch),
            )
        ]

    def named(self, id_: str) -> Award:
        """Return the award with the name `id_`. Raises TableError `award_unknown`."""
        found = self.listed("id = ?", id_)
        if not found:
            raise TableError("award_unknown", f"There is no award {id_!r}.", "See the awards: `award list --all`.")
        return found[0]

    def _take(self, number: int, step: str, by: str, cents: int | None = None) -> None:
        """Record the next step of the award with this number. The step has the amount `cents`, or the award's own
        amount if `cents` is None."""
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
        """Return the tables to which steps must still be published whose numbers are so high that no table accepts
        them. The pit gave such numbers while its clock was far ahead."""
        leaping = "SELECT DISTINCT table_id FROM step WHERE heard = 0 AND seq > ?"
        return [table for (table,) in self._db.execute(leaping, (highest_number(),))]

    def waited_for(self) -> set[str]:
        """Return the tables that have still to confirm or dispute a step of their awards."""
        return {table for (table,) in self._db.execute("SELECT DISTINCT table_id FROM step WHERE heard = 0")}

    def number_anew(self, table: str) -> None:
        """Give the steps that wait for the table new numbers, higher than all earlier numbers.

        A table accepts no step whose number is below that of a step it has. The table may have a step from a pit with
        another copy of this ledger, and the number of that step may be higher than those that wait here.
        """
        waiting = self._db.execute("SELECT seq FROM step WHERE table_id = ? AND heard = 0 ORDER BY seq", (table,))
        if seqs := [seq for (seq,) in waiting]:
            first = self._next_seq(table)
            self._db.executemany(
                "UPDATE step SET seq = ?, at = ? WHERE table_id = ? AND seq = ?",
                [(anew, number_text(anew), table, seq) for anew, seq in enumerate(seqs, first)],
            )

    def _reject(self, award: Award, by: str) -> None:
        """Reject the award. A fixed award goes back to the house. An award of a meter goes back to its meter.

        If other hits share the level and none of them is paid, the amount goes on from the meter to those hits.
        Otherwise the house takes back from the meter what it had added to the level, because the table had shown more.
        If people had recalled the award at a higher amount, the house gets back what it added. Example: of an award of
        $100 that was recalled at $120, the meter gets $100 and the house $20.
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
        elif award.lock is not None:
            self._books.take_added(award.number, own_cents, award.meter, award.lock)
        self._undo_locks(award, award.meter)

    def _share(self, awards: list[Award], cents: int) -> None:
        """Divide `cents` anew among these awards, which share one level. An award whose part has changed becomes
        pending again."""
        for award, part in zip(awards, split(cents, len(awards)), strict=True):
            if part != award.cents or award.house_cents:
                self._books.add(award.number, -award.house_cents)
                self._db.execute("UPDATE award SET cents = ?, house_cents = 0 WHERE number = ?", (part, award.number))
                self._take(award.number, "pending", "pit")
                self.wins.tell_of(award.number)

    def _amount_to(self, award: Award, cents: int) -> None:
        """Set the award's amount to `cents`. The house adds the difference to the award's part of the level (0 of a
        rejected award), or keeps the difference if the amount is smaller."""
        owed_cents = 0 if award.step == "rejected" else award.cents
        own_cents = 0 if award.step == "rejected" else award.cents - award.house_cents
        self._books.add(award.number, cents - owed_cents)
        self._db.execute(
            "UPDATE award SET cents = ?, house_cents = ? WHERE number = ?", (cents, cents - own_cents, award.number)
        )

    def _undo_locks(self, award: Award, meter: str) -> None:
        """Undo the meter's last win if all its awards are rejected, then the win before it, and so on. Stop at the
        first win with an award that is not rejected."""
        standing = "SELECT 1 FROM award WHERE lock = ? AND step != 'rejected'"
        while (lock := self._books.last_lock(meter)) is not None:
            if self._db.execute(standing, (lock,)).fetchone() is not None:
                return
            self._books.undo_lock(award.number, lock)

    def _withdraw(self, number: int) -> None:
        """Delete the steps that the table reported of an award and that people must still recall or dismiss, because
        the award is pending again at the table. Do nothing if one of them is "paid" or "rejected": such an award does
        not become pending again."""
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
        """Return the first step that the table reported and that people must still recall or dismiss, of this award or
        of one that shares its level. Return None if no such step waits."""
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
        return tuple(of_row(Telling, row) for row in rows)

    def _alarms_about(self, hand: int) -> tuple[str, ...]:
        return tuple(what for (what,) in self._db.execute("SELECT what FROM alarm WHERE hand = ?", (hand,)))
