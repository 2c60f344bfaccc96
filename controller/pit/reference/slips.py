"""The numbered paper slips by which awards are paid: which slips there are, and how often each was printed.

A slip belongs to one award at one amount. If the amount or the tax form of an award changes, the award gets a new slip
with a new number, and its previous slip is void. Numbers begin at 1 in each house and have no gaps. Every print is kept
with the name of who printed it. The first print is the original, and each later one is a copy that says so.

**Tax.** An award that must be reported cannot be paid before its slip says so (`refuse_unmarked`).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, convert

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.contract.canonical import parse_object
from controller.contract.old_events import as_now
from controller.pit.reference import house_rules
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Awards
from controller.pit.reference.clock import now_text
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.people import name
from controller.pit.reference.store import Store, of_row

SCHEMA = f"""{house_rules.SCHEMA}
CREATE TABLE slip (
    number INTEGER PRIMARY KEY, -- of the house, from 1 and without gaps
    award INTEGER NOT NULL REFERENCES award,
    cents INTEGER NOT NULL,
    wager_cents INTEGER NOT NULL,
    tax_form TEXT -- NULL where no form was due when the slip was printed first
) STRICT;
CREATE INDEX slip_award ON slip (award);
CREATE TABLE slip_print (
    slip INTEGER NOT NULL REFERENCES slip,
    copy INTEGER NOT NULL, -- 1 is the original
    by_whom TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (slip, copy)
) STRICT, WITHOUT ROWID;
"""

_NEXT_NUMBER = """(SELECT coalesce(max(number), 0) + 1 FROM (SELECT subject AS number FROM decision WHERE what = 'slip'
    UNION ALL SELECT number FROM slip) AS given)"""
"""Also where somebody deleted a slip, its number is not given again."""


class Print(Struct, frozen=True):
    """One print of a slip: who printed it, and when. Copy 1 is the original."""

    copy: int
    by: str
    at: str


class Slip(Struct, frozen=True):
    """A numbered paper slip of an award, with its prints, the original first. `void` is True if the award has a newer
    slip or another amount now, or if the award is pending or rejected now."""

    number: int
    award: str
    cents: int
    wager_cents: int
    tax_form: str | None
    void: bool
    prints: tuple[Print, ...]


class Taken(Struct, frozen=True):
    """A step that people took of an award (verified or paid): who took it, and when."""

    step: str
    by: str
    at: str


class HandTold(Struct, frozen=True):
    """One side's hand in the round, as the table told it: its cards in the order in which they came, and its total."""

    cards: tuple[str, ...]
    total: int


class HitTold(Struct, frozen=True):
    """What the table reported of a hit: when it happened by the table's clock, and Player's and Banker's hands."""

    at: str
    player: HandTold | None = None
    banker: HandTold | None = None


class ToPrint(Struct, frozen=True):
    """Everything that is printed on an award's slip. `share` is the part of the meter that the hit won, and `won_cents`
    the amount of that part. `replaces` is the number of the void slip before this one."""

    slip: Slip
    award: Award
    hit: HitTold
    steps: tuple[Taken, ...]
    rules: house_rules.HouseRules
    replaces: int | None
    share: str | None
    won_cents: int | None


class Slips:
    """The paper slips in a ledger. Every method must be called inside the ledger's transaction."""

    def __init__(self, db: Store, awards: Awards, decisions: Decisions) -> None:
        self._db = db
        self._awards = awards
        self._decisions = decisions

    def print_one(self, id_: str, by: str) -> ToPrint:
        """Record that `by` prints the slip of an award, or one more copy of it. Returns everything to print.

        Raises TableError `name_missing`, `award_unknown`, or `slip_not_due` if the award is neither verified nor paid,
        because its amount may still change.
        """
        by = name(by)
        found = self._awards.listed("id = ?", id_)
        if not found:
            raise TableError("award_unknown", f"There is no award {id_!r}.", "See the awards: `award list --all`.")
        (award,) = found
        if award.step not in ("verified", "paid"):
            raise TableError(
                "slip_not_due",
                f"Award {id_} is {award.step}, and a slip is of an award that is verified or paid.",
                "Verify the award first. A rejected award is paid by nobody.",
            )
        at = now_text()
        number, before = self._number(award, at)
        self._db.execute(
            "INSERT INTO slip_print (slip, copy, by_whom, at)"
            " SELECT ?, (SELECT count(*) + 1 FROM slip_print WHERE slip = ?), ?, ?",
            (number, number, by, at),
        )
        told = {"slip": number, "of_award": award.id, "cents": award.cents}
        self._decisions.note("slip", number, by, None, told, award.cents)
        return self._to_print(number, award, before)

    def _number(self, award: Award, at: str) -> tuple[int, int | None]:
        """Return the number of the award's slip, and the number of the void slip that it replaces (None if it replaces
        none). If the award needs a new slip, the slip gets the next free number."""
        wager_cents, form = due(self._db, award.number, award.cents, at)
        if award.step == "paid":  # what was due was decided when the award was paid
            form = _last_form(self._db, award.number, form)
        known = self._db.execute(
            "SELECT number, cents, tax_form FROM slip WHERE award = ? ORDER BY number DESC LIMIT 2", (award.number,)
        ).fetchall()
        if known and known[0][1:] == (award.cents, form):
            return int(known[0][0]), int(known[1][0]) if len(known) > 1 else None
        (number,) = self._db.execute(
            "INSERT INTO slip (number, award, cents, wager_cents, tax_form)"
            f" SELECT {_NEXT_NUMBER}, ?, ?, ?, ? RETURNING number",
            (award.number, award.cents, wager_cents, form),
        ).fetchone()
        return int(number), int(known[0][0]) if known else None

    def _to_print(self, number: int, award: Award, before: int | None) -> ToPrint:
        (slip,) = (each for each in listed(self._db) if each.number == number)
        (body,) = self._db.execute(
            "SELECT body FROM event JOIN award ON event = event.number WHERE award.number = ?", (award.number,)
        ).fetchone()
        steps = self._db.execute(
            "SELECT step, by_whom, at FROM step WHERE award = ? AND step IN ('verified', 'paid') ORDER BY seq",
            (award.number,),
        ).fetchall()
        locked = self._db.execute("SELECT share, cents FROM lock WHERE number = ?", (award.lock,)).fetchone()
        share, won_cents = locked or (None, None)
        return ToPrint(
            slip,
            award,
            convert(as_now(parse_object(bytes(body))), HitTold),
            tuple(of_row(Taken, row) for row in steps),
            house_rules.in_force(self._db),
            before,
            share,
            won_cents,
        )


def due(db: Store, award: int, cents: int, at: str) -> tuple[int, str | None]:
    """Return two values: the award's wager in cents, and the tax form that is required if the award of `cents` is paid
    at the time `at` (None if no form is required).

    If the hit had no locked wager, the wager is 0, and the award is reported by its amount alone.
    """
    row = db.execute(
        "SELECT price_cents FROM award JOIN stake ON stake.hand = award.hand AND stake.spot = award.spot"
        " WHERE award.number = ?",
        (award,),
    ).fetchone()
    wager_cents = 0 if row is None else int(row[0])
    return wager_cents, house_rules.in_force(db).tax_form(cents, wager_cents, at)


def refuse_unmarked(db: Store, id_: str) -> None:
    """Raise TableError `award_reportable` if a verified award must be reported for tax and its slip does not name the
    tax form."""
    row = db.execute("SELECT number, cents FROM award WHERE id = ? AND step = 'verified'", (id_,)).fetchone()
    if row is None:
        return
    number, cents = row
    wager_cents, form = due(db, number, cents, now_text())
    marked = db.execute(
        "SELECT 1 FROM slip WHERE award = ? AND cents = ? AND tax_form = ?", (number, cents, form)
    ).fetchone()
    if form is not None and marked is None:
        raise TableError(
            "award_reportable",
            f"Award {id_} of {figures(cents)} on a wager of {figures(wager_cents)} is to be reported: {form}."
            " Its slip does not say so yet.",
            f"Print its slip: pitctl slip {id_} -o FILE. Fill in the form with the winner. Then pay.",
        )


def listed(db: Store) -> list[Slip]:
    """Return every slip with its prints, in the order of the slips' numbers."""
    prints: dict[int, list[Print]] = {}
    for slip, *printed in db.execute("SELECT slip, copy, by_whom, at FROM slip_print ORDER BY slip, copy"):
        prints.setdefault(slip, []).append(Print(*printed))
    rows = db.execute(
        "SELECT slip.number, award.id, slip.cents, wager_cents, tax_form,"
        " slip.cents != award.cents OR award.step IN ('pending', 'rejected')"
        " OR slip.number != (SELECT max(number) FROM slip AS other WHERE other.award = slip.award)"
        " FROM slip JOIN award ON award.number = slip.award ORDER BY slip.number"
    )
    return [
        Slip(number, award, cents, wager_cents, tax_form, bool(void), tuple(prints.get(number, ())))
        for number, award, cents, wager_cents, tax_form, void in rows.fetchall()
    ]


def amiss(db: Store) -> Iterator[str]:
    """Yield what is wrong with the slips, one line each: missing numbers, and prints or amounts that differ from those
    that the ledger's decisions record."""
    noted = dict(db.execute("SELECT subject, count(*) FROM decision WHERE what = 'slip' GROUP BY subject"))
    copies: dict[int, list[int]] = {}
    for slip, copy in db.execute("SELECT slip, copy FROM slip_print ORDER BY slip, copy"):
        copies.setdefault(slip, []).append(copy)
    cents = dict(db.execute("SELECT number, cents FROM slip"))
    for number in range(1, max((0, *noted, *copies, *cents)) + 1):
        printed = copies.get(number, [])
        if number not in cents:
            yield f"slip {number} is missing"
        elif printed != [*range(1, noted.get(number, 0) + 1)] or not printed:
            yield f"slip {number} was printed {noted.get(number, 0)} times, and the prints {printed} are kept"
    for number, was in db.execute("SELECT subject, min(cents) FROM decision WHERE what = 'slip' GROUP BY subject"):
        if number in cents and cents[number] != was:
            yield f"slip {number} is of {figures(cents[number])}, and was printed with {figures(was)}"


def _last_form(db: Store, award: int, otherwise: str | None) -> str | None:
    """Return the tax form on the award's last slip. Return `otherwise` if the award has no slip."""
    row = db.execute("SELECT tax_form FROM slip WHERE award = ? ORDER BY number DESC LIMIT 1", (award,)).fetchone()
    return otherwise if row is None else row[0]
