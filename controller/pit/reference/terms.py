"""The terms of the meters (seed, shares, limit, prices): those in force, those that wait, and who approved them.

The terms of a new meter are in force at once, and so are changed terms of a meter for which nobody has ever played. For
any other meter, changed terms wait, because players feed the meter on the terms in force, and no change may touch what
they play for. The changed terms come into force with the hit that wins the whole meter. A hit that wins a part of the
meter does not bring them into force. A change of prices alone is in force at once, because it changes nothing of what
players play for, and a table with the new price may be waiting for it.

If every award of the hit that won the whole meter is rejected, the meter was never won. Then the former terms are in
force again, and the changed terms wait again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.contract.canonical import parse_object
from controller.pit.reference.clock import now_text
from controller.pit.reference.decisions import Decisions, terms_told
from controller.pit.reference.meters import Terms, digest_of
from controller.pit.reference.store import Store

_IN_FORCE = """
CREATE TABLE in_force ( -- terms that had waited, and run since their meter was won
    number INTEGER PRIMARY KEY,
    terms INTEGER NOT NULL REFERENCES terms,
    former INTEGER NOT NULL REFERENCES terms,
    event INTEGER NOT NULL, -- the hit
    lock INTEGER NOT NULL,
    at TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0 -- 1: the hit was rejected, and the former terms run again
) STRICT;
"""

SCHEMA = f"""
CREATE TABLE terms ( -- every set of terms that people approved for a meter, also while it waits
    number INTEGER PRIMARY KEY,
    meter TEXT NOT NULL,
    since TEXT NOT NULL, -- when it was approved
    seed_cents INTEGER NOT NULL,
    contribution TEXT NOT NULL,
    reserve TEXT NOT NULL,
    reseed_at_most_cents INTEGER NOT NULL,
    limit_cents INTEGER, -- NULL: no limit
    withdrawn INTEGER NOT NULL DEFAULT 0, -- 1: people took it back before it ran
    prices_cents TEXT -- a JSON list of the prices at which a wager may feed the meter
) STRICT;
CREATE TABLE meter (
    name TEXT PRIMARY KEY,
    terms INTEGER NOT NULL REFERENCES terms,
    generation INTEGER NOT NULL DEFAULT 0,
    closed INTEGER NOT NULL DEFAULT 0
) STRICT;
{_IN_FORCE}"""

FROM_FORM_10 = "ALTER TABLE terms ADD COLUMN limit_cents INTEGER"
FROM_FORM_11 = f"ALTER TABLE terms ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0; {_IN_FORCE}"

FROM_FORM_13 = "ALTER TABLE meter ADD COLUMN closed INTEGER NOT NULL DEFAULT 0"

FROM_FORM_17 = "ALTER TABLE terms ADD COLUMN prices_cents TEXT"

_COLUMNS = "seed_cents, contribution, reserve, reseed_at_most_cents, limit_cents, prices_cents"


class Running(Struct, frozen=True):
    """The terms in force of an open meter, the number of these terms, and the meter's generation (the count of its wins
    so far). The next locked wager is booked by these terms."""

    terms_number: int
    generation: int
    terms: Terms


class Approved(Struct, frozen=True):
    """Terms of a meter that people approved: who, when and why. `waits` is True if they come into force only after the
    meter is won.

    `by` and `witness` are None for terms that an earlier version approved. `witness` is also None if one approval was
    enough. `runs_since` is the id of the hit that brought waiting terms into force; None if no hit did.
    """

    meter: str
    terms: Terms
    digest: str
    waits: bool
    approved_at: str
    by: str | None
    witness: str | None
    why: str | None
    runs_since: str | None

    def __str__(self) -> str:
        how = "waits until the meter is won" if self.waits else "runs"
        since = f" since the hit {self.runs_since}" if self.runs_since else ""
        people = " and ".join(each for each in (self.by, self.witness) if each) or "nobody named"
        why = f": {self.why}" if self.why else ""
        return (
            f"{self.meter}  {how}{since}\n    {self.terms}\n    digest {self.digest}\n"
            f"    approved {self.approved_at} by {people}{why}"
        )


class TermsShown(Struct, frozen=True):
    """The terms in force and the waiting terms of each meter, and the digest of all terms in force."""

    terms: tuple[Approved, ...]
    digest: str


class Change(Struct, frozen=True):
    """A change of a meter's terms: the new terms, and the terms before, which are None for a new meter. `waits` is True
    if the new terms come into force only after the meter is won."""

    meter: str
    terms: Terms
    before: Terms | None
    waits: bool

    def __str__(self) -> str:
        line = f"meter {self.meter}: {self.terms.changes_from(self.before)}"
        return f"{line}; this waits until the meter is won" if self.waits else line


class MeterTerms:
    """The terms of the meters in a ledger. Every method must be called inside the ledger's transaction."""

    def __init__(self, db: Store, decisions: Decisions) -> None:
        self._db = db
        self._decisions = decisions

    def running(self) -> dict[str, Running]:
        """Return the terms in force of each open meter, by the meter's name."""
        rows = self._db.execute(
            f"SELECT name, terms, generation, {_COLUMNS} FROM meter JOIN terms ON terms.number = meter.terms"
            " WHERE closed = 0 ORDER BY name"
        )
        return {
            name: Running(number, generation, _terms(*columns))
            for name, number, generation, *columns in rows.fetchall()
        }

    def waiting(self) -> dict[str, tuple[int, Terms]]:
        """Return each meter's waiting terms by the meter's name, as pairs: the terms' number, and the terms."""
        rows = self._db.execute(
            f"SELECT terms.meter, terms.number, {_COLUMNS} FROM terms JOIN meter ON meter.name = terms.meter"
            " WHERE terms.number > meter.terms AND withdrawn = 0 AND closed = 0 ORDER BY terms.number"
        )
        return {name: (number, _terms(*columns)) for name, number, *columns in rows.fetchall()}

    def approved(self) -> TermsShown:
        """Return the meters' terms in force and the terms that wait, with who approved them."""
        waits = {number for number, _ in self.waiting().values()}
        numbers = {running.terms_number for running in self.running().values()} | waits
        rows = self._db.execute(
            f"SELECT terms.number, terms.meter, terms.since, by_account, witness_account, body, {_COLUMNS} FROM terms"
            " LEFT JOIN decision ON subject = terms.number AND what = 'terms'"
            " LEFT JOIN decided ON decided.number = decision.number ORDER BY terms.meter, terms.number"
        )
        shown = [self._shown(row, row[0] in waits) for row in rows.fetchall() if row[0] in numbers]
        return TermsShown(tuple(shown), self.digest())

    def _shown(self, row: Sequence[Any], waits: bool) -> Approved:
        number, name, since, by, witness, body, *columns = row
        terms, why = _terms(*columns), None if body is None else parse_object(bytes(body)).get("reason")
        hit = self._db.execute(
            "SELECT table_id, epoch, seq FROM in_force JOIN event ON event.number = in_force.event"
            " WHERE terms = ? AND undone = 0",
            (number,),
        ).fetchone()
        runs_since = None if hit is None else "/".join(map(str, hit))
        reason = why if isinstance(why, str) else None
        return Approved(name, terms, digest_of({name: terms}), waits, since, by, witness, reason, runs_since)

    def digest(self) -> str:
        """Return the SHA-256 digest of the meters' terms that are in force now, in hexadecimal."""
        return digest_of({name: running.terms for name, running in self.running().items()})

    def closed(self) -> set[str]:
        """Return the names of the closed meters."""
        return {name for (name,) in self._db.execute("SELECT name FROM meter WHERE closed = 1").fetchall()}

    def differing(self, meters: Mapping[str, Terms], open_again: Collection[str] = ()) -> list[Change]:
        """Return the changes that these terms would make to the meters, in the order of `meters`. Terms that are in
        force or wait already are no change.

        A closed meter changes only if `open_again` names it.

        Raises TableError `meter_left_out` if the terms of an open meter are missing: the meter holds money, which must
        not vanish because a file does not name the meter.
        """
        running, waiting = self.running(), self.waiting()
        if left_out := sorted(running.keys() - meters.keys()):
            raise TableError(
                "meter_left_out",
                f"The ledger has the meter {', '.join(left_out)}, and the settings do not name that meter.",
                "Write the meter's terms into the settings again. With the contribution 0:1 a meter grows no more. To"
                " move its money, two people close it (`pitctl meter close`).",
            )
        changes, closed = [], self.closed() - {*open_again}
        for name, terms in meters.items():
            known = running.get(name)
            if name in closed:
                continue
            if known is None:
                changes.append(Change(name, terms, None, waits=False))
            elif terms not in (known.terms, waiting[name][1] if name in waiting else None):
                waits = self._was_played_for(name) and not terms.is_priced_otherwise(known.terms)
                changes.append(Change(name, terms, known.terms, waits))
        return changes

    def changes(self, meters: Mapping[str, Terms], open_again: Collection[str] = ()) -> list[Change]:
        """Return the changes that these terms would make to the meters, after a check that each may be approved.

        Raises TableError `meter_left_out` if the terms of an open meter are missing, `terms_wait` if other terms of the
        meter wait already, and `limit_below_level` if terms that come into force at once would lower what the meter
        shows.
        """
        changes = self.differing(meters, open_again)
        for change in changes:
            if change.before is not None:
                self._refuse_second(change.meter)
            if change.before is not None and not change.waits:
                self._refuse_lower(change)
        return changes

    def approve(self, changes: Collection[Change], by: str, witness: str | None, why: str) -> None:
        """Record that people approved these changes of meters' terms. A change that need not wait comes into force at
        once."""
        for change in changes:
            terms = change.terms
            (number,) = self._db.execute(
                f"INSERT INTO terms (meter, since, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
                (change.meter, now_text(), terms.seed_cents, str(terms.contribution), str(terms.reserve),
                 terms.reseed_at_most_cents, terms.limit_cents,
                 json.dumps(terms.prices_cents) if terms.prices_cents else None),
            ).fetchone()  # fmt: skip
            if not change.waits:
                self._db.execute(
                    "INSERT INTO meter (name, terms) VALUES (?, ?)"
                    " ON CONFLICT (name) DO UPDATE SET terms = excluded.terms, closed = 0",
                    (change.meter, number),
                )
            told = terms_told(self._db, number) | {"digest": digest_of({change.meter: terms})}
            told |= {"reason": why} if why else {}
            told |= {"waits": True} if change.waits else {}
            self._decisions.note("terms", number, by, witness, told)

    def withdraw(self, meter: str, by: str, witness: str, why: str) -> Terms:
        """Take back a meter's waiting terms, as two people decided. Returns the terms that were taken back.

        Raises TableError `no_terms_wait`. Raises `terms_have_run` if these terms were in force once, and wait again
        because the hit that won the meter was rejected.
        """
        number, terms = self.refuse_unwithdrawable(meter)
        self._db.execute("UPDATE terms SET withdrawn = 1 WHERE number = ?", (number,))
        told = {"withdrawn": meter, "digest": digest_of({meter: terms}), "reason": why}
        self._decisions.note("terms_withdrawn", number, by, witness, told)
        return terms

    def refuse_unwithdrawable(self, meter: str) -> tuple[int, Terms]:
        """Return the number of the meter's waiting terms, and the terms. Raises TableError `no_terms_wait`, or
        `terms_have_run` if they were in force once: such terms cannot be taken back."""
        if meter not in (waiting := self.waiting()):
            what = f"No terms of a meter {meter!r} wait."
            raise TableError("no_terms_wait", what, "See what runs and what waits: `pitctl terms show`.")
        number, terms = waiting[meter]
        if self._have_run(number):
            raise TableError(
                "terms_have_run",
                f"These terms of the meter {meter} have run: they wait since the hit that won the meter was rejected.",
                "Propose other terms, which take their place (`pitctl terms propose`).",
            )
        return number, terms

    def begin_waiting(self, meter: str, event: int, lock: int) -> None:
        """If terms of the meter wait, put them into force, because the hit of the event `event` won the whole meter.
        `lock` is the number of the win."""
        if meter not in (waiting := self.waiting()):
            return
        self._db.execute(
            "INSERT INTO in_force (terms, former, event, lock, at) SELECT ?, terms, ?, ?, ? FROM meter WHERE name = ?",
            (waiting[meter][0], event, lock, now_text(), meter),
        )
        self._db.execute("UPDATE meter SET terms = ? WHERE name = ?", (waiting[meter][0], meter))

    def undo(self, meter: str, lock: int) -> None:
        """Put a meter's former terms into force again, because the win `lock` was rejected, and so the meter was never
        won."""
        row = self._db.execute("SELECT number, former FROM in_force WHERE lock = ? AND undone = 0", (lock,)).fetchone()
        if row is not None:
            self._db.execute("UPDATE meter SET terms = ? WHERE name = ?", (row[1], meter))
            self._db.execute("UPDATE in_force SET undone = 1 WHERE number = ?", (row[0],))

    def begun_by(self, event: int) -> Iterator[TableError]:
        """Yield an alarm for each meter whose waiting terms came into force with this event, a hit."""
        rows = self._db.execute(
            "SELECT meter, terms.number, former FROM in_force JOIN terms ON terms.number = in_force.terms"
            " WHERE in_force.event = ? ORDER BY in_force.number",
            (event,),
        )
        for meter, *numbers in rows.fetchall():
            now, before = (self._numbered(number) for number in numbers)
            yield TableError(
                "terms_in_force",
                f"The meter {meter} was won, and the terms that waited run: {now.changes_from(before)}."
                f" Their digest is {digest_of({meter: now})}.",
                "Tell accounting. If the hit is rejected, the former terms run again.",
            )

    def _numbered(self, number: int) -> Terms:
        row = self._db.execute(f"SELECT {_COLUMNS} FROM terms WHERE number = ?", (number,))
        return _terms(*row.fetchone())

    def _have_run(self, number: int) -> bool:
        return self._db.execute("SELECT 1 FROM in_force WHERE terms = ?", (number,)).fetchone() is not None

    def _was_played_for(self, meter: str) -> bool:
        """Tell whether any locked wager has ever fed the meter."""
        return self._db.execute("SELECT 1 FROM feeding WHERE meter = ? LIMIT 1", (meter,)).fetchone() is not None

    def _refuse_second(self, meter: str) -> None:
        """Raise TableError `terms_wait` if terms of the meter wait already. Terms that were in force once and wait
        again do not count: other terms may take their place."""
        number, terms = self.waiting().get(meter, (0, None))
        if terms is not None and not self._have_run(number):
            raise TableError(
                "terms_wait",
                f"Other terms of the meter {meter} wait already, until it is won: {terms}.",
                f"Take those back first, by two people: `pitctl terms withdraw {meter} --reason WHY`.",
            )

    def _refuse_lower(self, change: Change) -> None:
        (level,) = self._db.execute("SELECT cents FROM fund WHERE account = ?", (f"meter:{change.meter}",)).fetchone()
        if level > change.terms.level(level):
            raise TableError(
                "limit_below_level",
                f"The meter {change.meter} shows {figures(level)}, and its new limit is"
                f" {figures(change.terms.level(level))}.",
                "No meter is lowered but by a win: write a higher limit.",
            )


def _terms(
    seed_cents: int, contribution: str, reserve: str, most_cents: int, limit_cents: int | None, prices: str | None
) -> Terms:
    prices_cents = tuple(json.loads(prices or "[]"))
    return Terms(seed_cents, Fraction(contribution), Fraction(reserve), most_cents, limit_cents, prices_cents)
