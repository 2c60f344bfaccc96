"""Compute the figures of a gaming day: wagers, wins, hits and hold by table, shift and dealer, and what moved each
meter between the beginning of the day and the beginning of the next day.

Everything is read from what the pit committed in the day, so a day that is over gives the same figures at any time. The
money of the game is what the tables' settlements say. A win of a meter is 0 cents in a settlement, because the pit pays
it out of the meter, and the day lists such wins apart.

**Theoretical.** A table's par sheet, as `tablectl par TABLE.toml --json` prints it, says what each bet keeps on
average, with each meter at 0, and its standard deviation. A par sheet is used for a shoe if the shoe was opened with
the table file whose digest the par sheet names. The interval is two standard deviations on either side. All wagers of a
round are assumed to deviate together, so that the interval is never too narrow.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor, isqrt
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, convert, field, json

from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.events import TotalsShown
from controller.contract.old_events import as_now
from controller.pit.reference import days, house_rules
from controller.pit.reference.days import Begun
from controller.pit.reference.house_rules import HouseRules
from controller.pit.reference.store import Store

_LATE_MS = 600_000
_COUNTED = ("wagers_locked", "round", "correction", "void", "hit")
_REASONS = {
    "moved",
    "seed",
    "contribution",
    "void",
    "corrected",
    "hit",
    "reseed",
    "unseed",
    "rejected",
    "shared",
    "overflow",
    "shown",
}
_MOST_LOOKED_BACK = 5_000  # events of a table: more than any shoe has


class ParBet(Struct, frozen=True):
    """A bet of a par sheet: the part of a wager that the house keeps on average, and the standard deviation. Both can
    be None, if the par sheet has no figures for the bet."""

    spot: str
    seats: tuple[str, ...] = ()
    """Such as "seat 3"; empty: every seat. A seat that a role names is not counted."""

    edge: str | None = None
    standard_deviation: float | None = None


class ParSheet(Struct, frozen=True):
    """A par sheet: the house's edge on each bet of the game. `digest` is the digest of the table file for which the par
    sheet was computed."""

    game: str
    digest: str
    bets: tuple[ParBet, ...]

    def of(self, spot: str, seat: int) -> tuple[Fraction, Fraction] | None:
        """Return the house's edge on the bet `spot` at this seat, and the standard deviation, both as parts of the
        wager. Return None if the par sheet has no figures for the bet."""
        for bet in self.bets:
            here = bet.spot == spot and (not bet.seats or f"seat {seat}" in bet.seats)
            if here and bet.edge and bet.standard_deviation:
                return Fraction(bet.edge), Fraction(str(bet.standard_deviation))
        return None


class Sums(Struct):
    """The figures of a gaming day, or of one table, shift or dealer on that day. `theoretical` and `variance` are
    exact, in cents.

    `wagered_cents`, `returned_cents` and `house_cents` count settled rounds only. A table counts no cash, so
    `drop_cents` comes from the count room; it is None if the count room has given no number. `unsettled` is the number
    of rounds whose wagers the table does not know. `progressive_cents` are locked progressive wagers less those that
    were voided. `uncounted_cents` were wagered on bets for which no par sheet of the shoe has the house's edge.
    """

    rounds: int = 0
    voids: int = 0
    unsettled: int = 0
    wagered_cents: int = 0
    returned_cents: int = 0
    house_cents: int = 0
    commission_taken_cents: int = 0
    commission_owed_cents: int = 0
    drop_cents: int | None = None
    progressive_cents: int = 0
    hits: int = 0
    awards_cents: int = 0
    theoretical: Fraction = field(default_factory=Fraction)
    variance: Fraction = field(default_factory=Fraction)
    uncounted_cents: int = 0

    @property
    def interval(self) -> tuple[int, int]:
        """Return the lowest and the highest amount in cents between which the house's hold lies on 19 days of 20.
        Wagers on a bet count only if a par sheet has the house's edge on that bet."""
        radius = isqrt(floor(4 * self.variance)) + bool(self.variance)
        return floor(self.theoretical) - radius, floor(self.theoretical) + 1 + radius

    def add(self, other: Sums) -> None:
        """Add the figures of `other`, another part of the day, to these figures. The drop is not added."""
        for name in self.__struct_fields__:
            if name != "drop_cents":
                setattr(self, name, getattr(self, name) + getattr(other, name))


class Line(Struct, frozen=True):
    """The figures of one table in one shift under one dealer. The dealer of a round is the person who locked its
    wagers."""

    table: str
    shift: str
    dealer: str
    sums: Sums


class Drop(Struct, frozen=True):
    """The cents that the count room found in one table's drop box for one shift."""

    table: str
    shift: str
    drop_cents: int


class MeterDay(Struct, frozen=True):
    """What happened to a meter or a reserve in a part of a gaming day: its reading at the beginning, the cents that
    moved it, by reason, and its reading at the end."""

    account: str
    opening_cents: int
    moved_cents: dict[str, int]
    closing_cents: int


class Part(Struct, frozen=True):
    """A part of a gaming day: its beginning, its end, the first and last event that the pit committed in it, and what
    happened to each meter. A day has only one part, unless the pit's clock was put back."""

    due_at: str
    noted_at: str
    ended_at: str
    first_event: int
    last_event: int
    meters: tuple[MeterDay, ...]


class Day(Struct, frozen=True):
    """The figures of a finished gaming day. `paid_cents` maps each table to the amount of its awards that were paid on
    that day.

    Tables sometimes show more than a meter holds, and the house then adds the difference to the award. `shown_cents` is
    the sum of these differences on that day. Below 0, it is what the house took back.
    """

    day: str
    rules: HouseRules
    parts: tuple[Part, ...]
    lines: tuple[Line, ...]
    paid_cents: dict[str, int]
    par_sheets: tuple[str, ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    drops: tuple[Drop, ...] = ()
    shown_cents: int = 0
    voids_cents: int = 0
    """What the house bore of voided wagers."""

    corrected_cents: int = 0
    """What corrections of voids gave the house back."""

    void_entries: dict[str, dict[str, int]] = field(default_factory=dict)
    """The double entries of both, by reason and account, in cents. Those of one reason sum to 0."""

    def by(self, what: str) -> dict[str, Sums]:
        """Return the figures of each table, each shift or each dealer, by name. `what` is `table`, `shift` or `dealer`.
        Under the name "" are the totals of all."""
        sums: dict[str, Sums] = {}
        for line in self.lines:
            for name in (getattr(line, what), ""):
                sums.setdefault(name, Sums()).add(line.sums)
        for drop in self.drops:  # nobody knows under which dealer
            for name in ("",) if what == "dealer" else (getattr(drop, what), ""):
                of = sums.setdefault(name, Sums())
                of.drop_cents = (of.drop_cents or 0) + drop.drop_cents
        return dict(sorted(sums.items()))


def read_sheet(path: Path) -> ParSheet:
    """Read a par sheet from a file. Raises TableError `par_sheet_invalid`."""
    try:
        return json.decode(path.read_bytes(), type=ParSheet)
    except (OSError, DecodeError, ValidationError) as error:
        do = "Write it anew: tablectl par TABLE.toml --json > FILE"
        raise TableError("par_sheet_invalid", f"{path} is no par sheet: {error}.", do) from error


_DROP = ["table", "shift", "drop_cents"]
_MOST_DROP_CENTS = 10**12


def read_drops(path: Path) -> tuple[Drop, ...]:
    """Read from a file what the count room found in the drop boxes. The file has a heading, and a line for each table
    and shift, for example `royal9-01,06:00,125000` (table, shift, cents).

    Raises TableError `drop_invalid`, which names the line.
    """
    line, drops = 0, dict[tuple[str, str], Drop]()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for line, cells in enumerate(csv.reader(file), 1):
                if line == 1:
                    if cells != _DROP:
                        raise ValueError(f"the first line must be {','.join(_DROP)}")
                    continue
                drop = convert(dict(zip(_DROP, cells, strict=True)), Drop, strict=False)
                if not 0 <= drop.drop_cents <= _MOST_DROP_CENTS:
                    raise ValueError("a drop is 0 cents or more")
                if drops.setdefault((drop.table, drop.shift), drop) is not drop:
                    raise ValueError(f"table {drop.table} has a drop of shift {drop.shift} in an earlier line")
            if not line:
                raise ValueError("the file is empty")
    except (OSError, ValueError, csv.Error) as error:
        do = "Write a line for each table and shift below the heading table,shift,drop_cents: royal9-01,06:00,125000"
        raise TableError("drop_invalid", f"{path}, line {line}: {error}.", do) from error
    return tuple(drops[key] for key in sorted(drops))


def draw_up(db: Store, name: str, sheets: Sequence[ParSheet] = (), drops: tuple[Drop, ...] = ()) -> Day:
    """Compute the figures of the gaming day with this name, for example 2026-11-25. The caller must hold a transaction.
    Raises TableError `day_unknown` or `day_not_over`."""
    begun = days.begun(db)
    parts = [(one, after) for one, after in pairwise(begun) if one.name == name]
    if begun and begun[-1].name == name:
        what = f"The gaming day {name} is not over: its file would not stay the same."
        raise TableError("day_not_over", what, "Wait until the pit has begun the next day.")
    if not parts:
        known = f"the first is {begun[0].name}, the last that is over {begun[-2].name}" if len(begun) > 1 else "none"
        what = f"The ledger has no gaming day {name!r}; of its days {known}."
        raise TableError("day_unknown", what, "Write the day as YYYY-MM-DD. On a day without a pit nothing was booked.")
    rules = [rules for _, rules in house_rules.ever(db)]
    reading = _Reading(db, rules[parts[0][0].rules], {sheet.digest: sheet for sheet in sheets})
    for one, after in parts:
        reading.read(one, after)
    lines = [Line(*key, sums) for key, sums in sorted(reading.sums.items())]
    meters = [tuple(_meters(db, one, after)) for one, after in parts]
    voids = {why: _entries(db, parts, why) for why in ("void", "corrected")}
    borne, back = (of.get("house", 0) for of in voids.values())
    return Day(
        name,
        rules[parts[0][0].rules],
        tuple(_part(*ends, moved) for ends, moved in zip(parts, meters, strict=True)),
        tuple(lines),
        _paid(db, parts),
        tuple(sorted(sheet.digest for sheet in sheets)),
        (
            *_amiss(parts, rules),
            *(what for ends in parts for what in _unexplained(db, *ends)),
            *reading.findings,
            *_drops_amiss(drops, lines),
        ),
        tuple(_notes(parts, reading)),
        drops,
        sum(_shown(db, *ends) for ends in parts),
        -borne,
        back,
        voids,
    )


def _drops_amiss(drops: Sequence[Drop], lines: Sequence[Line]) -> Iterator[str]:
    """Yield a finding for each table and shift that has a drop from the count room but no rounds, or rounds but no
    drop. Yield nothing if the count room gave no drops at all."""
    if drops:
        dealt, dropped = {(line.table, line.shift) for line in lines}, {(drop.table, drop.shift) for drop in drops}
        for table, shift in sorted(dropped - dealt):
            yield f"the count room has a drop of table {table} in shift {shift}, in which that table told no round"
        for table, shift in sorted(dealt - dropped):
            yield f"the count room has no drop of table {table} in shift {shift}"


class _Wager(Struct, frozen=True):
    spot: str
    seat: int
    cents: int


class _Settlement(Struct, frozen=True):
    wagers: tuple[_Wager, ...]
    totals: TotalsShown


class _Bet(Struct, frozen=True):
    spot: str
    seats: tuple[int, ...]
    price_cents: int = 0


class _Told(Struct, frozen=True):
    """Those fields of a table's event from which the figures of a gaming day are computed."""

    type: str
    at: str
    epoch: str
    shoe: int | None = None
    round: int | None = None
    by: str = ""
    simulated: bool = False
    config_digest: str = ""
    progressive: tuple[_Bet, ...] = ()
    settlement: _Settlement | None = None
    settlement_before: _Settlement | None = None


class _Round(Struct, frozen=True):
    """The data that are stored when a round's wagers are locked: the dealer, the shift, and the prices of the
    progressive bets."""

    shift: str
    dealer: str
    prices: dict[str, int]


class _Reading:
    """The state of a program that reads a gaming day's events in order: the sums and findings so far."""

    def __init__(self, db: Store, rules: HouseRules, sheets: Mapping[str, ParSheet]) -> None:
        self.sums: dict[tuple[str, str, str], Sums] = {}
        self.findings: list[str] = []
        self.before = 0  # events that happened before their day, by their tables' clocks
        self._db = db
        self._rules = rules
        self._sheets = sheets
        self._rounds: dict[tuple[object, ...], _Round] = {}
        self._digests: dict[tuple[str, str], str] = {}
        self._looked: set[str] = set()

    def read(self, one: Begun, after: Begun) -> None:
        """Read the events that the pit committed between two beginnings of days, `one` and `after`, and add them to the
        sums."""
        since = days.text(one.due_ms)
        awarded = dict(
            self._db.execute(
                "SELECT event, sum(cents) FROM posting JOIN entry ON posting = number WHERE account = 'awards'"
                " AND why IN ('hit', 'fixed') AND number > ? AND number <= ? GROUP BY event",
                (one.posting, after.posting),
            ).fetchall()
        )
        for number, table, body in self._db.stream(
            "SELECT number, table_id, body FROM event WHERE number > ? AND number <= ? ORDER BY number",
            (one.event, after.event),
        ):
            told = _read(bytes(body))
            if told is None:
                self.findings.append(f"event {number} of table {table} cannot be read")
                continue
            if table not in self._looked:
                self._look_back(table, number)
            self.before += told.at < since
            self._take(table, told, awarded.get(number, 0))

    def _look_back(self, table: str, before: int) -> None:
        """Find the table's open shoe and open round in events before the event number `before`, because both may have
        begun on the day before."""
        self._looked.add(table)
        rows = self._db.execute(
            "SELECT body FROM event WHERE table_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
            (table, before, _MOST_LOOKED_BACK),
        )
        wanted = {"wagers_locked", "shoe_opened"}
        for (body,) in rows:
            told = _read(bytes(body))
            if told is not None and told.type in wanted:
                wanted.remove(told.type)
                self._note(table, told)
            if not wanted:
                return

    def _note(self, table: str, event: _Told) -> None:
        if event.type == "shoe_opened":
            self._digests[table, event.epoch] = event.config_digest
        else:
            prices = {bet.spot: bet.price_cents for bet in event.progressive}
            self._rounds[table, event.epoch, event.shoe, event.round] = _Round(
                self._rules.shift(event.at), event.by, prices
            )

    def _take(self, table: str, event: _Told, awarded_cents: int) -> None:
        if event.type in ("shoe_opened", "wagers_locked"):
            self._note(table, event)
        if event.type not in _COUNTED:
            return
        key = (table, event.epoch, event.shoe, event.round)
        of = self._rounds.get(key) or _Round(self._rules.shift(event.at), "", {})
        sums = self.sums.setdefault((table, of.shift, of.dealer), Sums())
        match event.type:
            case "wagers_locked":
                sums.progressive_cents += sum(bet.price_cents * len(bet.seats) for bet in event.progressive)
            case "round" if not event.simulated:
                sums.rounds += 1
                sums.unsettled += event.settlement is None
                self._settle(sums, table, event, event.settlement, 1)
            case "correction":
                self._settle(sums, table, event, event.settlement_before, -1)
                self._settle(sums, table, event, event.settlement, 1)
            case "void" if not event.simulated:
                sums.voids += 1
                sums.progressive_cents -= sum(of.prices.get(bet.spot, 0) * len(bet.seats) for bet in event.progressive)
            case "hit":
                sums.hits += 1
                sums.awards_cents += awarded_cents

    def _settle(self, sums: Sums, table: str, event: _Told, settled: _Settlement | None, times: int) -> None:
        """Add the settlement of a round to the sums if `times` is 1. Subtract it if `times` is -1, because a correction
        replaces it."""
        if settled is None:
            return
        totals = settled.totals
        sums.wagered_cents += times * totals.staked_cents
        sums.returned_cents += times * totals.returned_cents
        sums.house_cents += times * totals.house_cents
        sums.commission_taken_cents += times * totals.commission_taken_cents
        sums.commission_owed_cents += times * totals.commission_owed_cents
        sheet, strays = self._sheets.get(self._digests.get((table, event.epoch), "")), Fraction(0)
        for wager in settled.wagers:
            counted = None if sheet is None else sheet.of(wager.spot, wager.seat)
            if counted is None:
                sums.uncounted_cents += times * wager.cents
            else:
                sums.theoretical += times * wager.cents * counted[0]
                strays += wager.cents * counted[1]
        sums.variance += times * strays**2


def _read(body: bytes) -> _Told | None:
    told = as_now(parse_object(body))
    if told.get("type") == "hit":
        told.pop("progressive", None)  # of a hit it is what was won
    try:
        return convert(told, _Told)
    except ValidationError:
        return None


def _part(one: Begun, after: Begun, meters: tuple[MeterDay, ...]) -> Part:
    due_at, noted_at, ended_at = (days.text(each) for each in (one.due_ms, one.noted_ms, after.noted_ms))
    return Part(due_at, noted_at, ended_at, one.event + 1, after.event, meters)


def _meters(db: Store, one: Begun, after: Begun) -> Iterator[MeterDay]:
    moved: dict[str, dict[str, int]] = {}
    for account, why, cents in db.execute(
        "SELECT account, why, sum(cents) FROM entry JOIN posting ON number = posting"
        " WHERE number > ? AND number <= ? GROUP BY account, why ORDER BY account, why",
        (one.posting, after.posting),
    ).fetchall():
        moved.setdefault(account, {})[why] = cents
    opening, closing = days.readings(db, one.number), days.readings(db, after.number)
    for account in sorted(opening.keys() | closing.keys()):
        opened, closed = (of.get(account, (0, Fraction(0)))[0] for of in (opening, closing))
        yield MeterDay(account, opened, moved.get(account, {}), closed)


def _unexplained(db: Store, one: Begun, after: Begun) -> Iterator[str]:
    """Yield a finding for each meter reading that the books do not explain. The reading must equal the reading before
    plus what was booked since. It must also equal the sum of everything that was ever booked until then."""
    for meter in _meters(db, one, after):
        explained = meter.opening_cents + sum(meter.moved_cents.values())
        if explained != meter.closing_cents:
            yield (
                f"{meter.account} was read as {meter.closing_cents} cents, and its reading before with what was booked"
                f" since makes {explained}"
            )
        if strange := sorted(meter.moved_cents.keys() - _REASONS):
            yield f"{meter.account} was moved for the reason {strange[0]!r}, which the books do not have"
    for reading in (one, after):
        ever = dict(
            db.execute("SELECT account, sum(cents) FROM entry WHERE posting <= ? GROUP BY account", (reading.posting,))
        )
        for account, (cents, _) in days.readings(db, reading.number).items():
            if cents != ever.get(account, 0):
                yield (
                    f"{account} was read as {cents} cents at {days.text(reading.noted_ms)}, and all that was booked"
                    f" until then makes {ever.get(account, 0)}"
                )


def _paid(db: Store, parts: Sequence[tuple[Begun, Begun]]) -> dict[str, int]:
    paid: dict[str, int] = {}
    for one, after in parts:
        for table, cents in db.execute(
            "SELECT table_id, sum(entry.cents) FROM posting JOIN entry ON posting = posting.number"
            " JOIN award ON award.number = posting.award WHERE why = 'paid' AND account = 'paid'"
            " AND posting.number > ? AND posting.number <= ? GROUP BY table_id ORDER BY table_id",
            (one.posting, after.posting),
        ).fetchall():
            paid[table] = paid.get(table, 0) + cents
    return paid


def _shown(db: Store, one: Begun, after: Begun) -> int:
    (cents,) = db.execute(
        "SELECT coalesce(-sum(entry.cents), 0) FROM posting JOIN entry ON posting = posting.number"
        " WHERE account = 'shown' AND posting.number > ? AND posting.number <= ?",
        (one.posting, after.posting),
    ).fetchone()
    return int(cents)


def _entries(db: Store, parts: Sequence[tuple[Begun, Begun]], why: str) -> dict[str, int]:
    """Return by account the cents that were booked for the reason `why` in these parts of a day."""
    booked: dict[str, int] = {}
    for one, after in parts:
        for account, cents in db.execute(
            "SELECT account, sum(cents) FROM entry JOIN posting ON number = posting"
            " WHERE why = ? AND number > ? AND number <= ? GROUP BY account ORDER BY account",
            (why, one.posting, after.posting),
        ).fetchall():
            booked[account] = booked.get(account, 0) + cents
    return booked


def _amiss(parts: Sequence[tuple[Begun, Begun]], rules: Sequence[HouseRules]) -> Iterator[str]:
    """Yield a finding if the pit's clock was put back on this day, or if the house changed its rules on this day."""
    if len(parts) > 1:
        yield f"the day has {len(parts)} parts: the pit's clock was put back"
    for one, after in parts:
        if after.name < one.name:
            yield f"the pit's clock was put back to the day {after.name}"
        for changed in range(one.rules, after.rules):
            yield f"the rules of the house were changed: {rules[changed]} -> {rules[changed + 1]}"


def _notes(parts: Sequence[tuple[Begun, Begun]], reading: _Reading) -> Iterator[str]:
    for one, _ in parts:
        if one.noted_ms - one.due_ms > _LATE_MS:
            yield f"the meters were read at {days.text(one.noted_ms)}: at the day's hour no pit ran"
    if reading.before:
        yield f"{reading.before} events happened before the day by their tables' clocks, and were committed in it"
