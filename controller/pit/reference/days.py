"""The house's gaming days: the event after which each day began, and the reading of every meter at that moment.

A gaming day begins at an hour of the house's own clock, and ends when the next begins: after 24 hours, or on days when
the clocks are changed after 23 or 25. A day holds what the pit committed in it, whatever the clocks of tables say. So
nothing belongs to two days or to none, and no clock of a table moves a hit to another day.

The pit records a day's beginning before it books anything of that day. If no pit ran at that hour, the pit records the
beginning when it starts next, because nothing was booked meanwhile. If the clock is put back by more than an hour to an
earlier day, that day begins once more. The day is then in two parts, which is a finding.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from fractions import Fraction
from zoneinfo import ZoneInfo

from msgspec import Struct

from controller.contract.envelope import Stamp
from controller.pit.reference import house_rules
from controller.pit.reference.clock import now_in_ms
from controller.pit.reference.house_rules import HouseRules
from controller.pit.reference.store import Store, of_row

SCHEMA = """
CREATE TABLE day ( -- where each gaming day began
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL, -- the house's date at the hour at which the day begins
    due_ms INTEGER NOT NULL, -- that hour, in ms since 1970
    noted_ms INTEGER NOT NULL, -- when the pit noted it, by its own clock
    rules INTEGER NOT NULL, -- the number of the house's rules by then, 0 before there were any
    event INTEGER NOT NULL, -- the last event before the day
    posting INTEGER NOT NULL -- the last posting before the day
) STRICT;
CREATE TABLE reading ( -- of each meter at the beginning of a gaming day
    day INTEGER NOT NULL REFERENCES day,
    account TEXT NOT NULL, -- meter:NAME, reserve:NAME or overflow:NAME
    cents INTEGER NOT NULL,
    remainder TEXT NOT NULL,
    PRIMARY KEY (day, account)
) STRICT, WITHOUT ROWID;
"""

_BACK_MS = 3_600_000


class Begun(Struct, frozen=True):
    """The beginning of a gaming day, or of a second part of a day. The fields are the columns of the database table
    `day`."""

    number: int
    name: str
    due_ms: int
    noted_ms: int
    rules: int
    event: int
    posting: int


def name_of(rules: HouseRules, at_ms: int) -> str:
    """Return the name of the gaming day to which a moment belongs: the house's local date at the hour when that day
    began. Example: 2026-11-25."""
    local = datetime.fromtimestamp(at_ms / 1000, ZoneInfo(rules.zone)).date()
    return str(local if at_ms >= begins_ms(rules, local) else local - timedelta(days=1))


def begins_ms(rules: HouseRules, day: date) -> int:
    """Return when the gaming day of this date begins, in ms since 1970. On the day when clocks go forward the hour may
    not exist; the day then begins one hour later. When clocks go back the hour may come twice; the day begins at the
    first."""
    hour = time_of_day.fromisoformat(rules.day_begins)
    return int(datetime.combine(day, hour, ZoneInfo(rules.zone)).timestamp() * 1000)


class Days:
    """Records the beginnings of gaming days in a ledger."""

    def __init__(self, db: Store) -> None:
        self._db = db
        self._looked: tuple[int, int] = (0, 0)  # from when until when nothing is to be noted, in ms since 1970

    def due(self) -> bool:
        """Return True if the clock has left the gaming day that was checked last, so that the beginning of another day
        perhaps must be recorded."""
        return not self._looked[0] <= now_in_ms() < self._looked[1]

    def has_begun(self) -> bool:
        """Tell whether the beginning of any gaming day is recorded in the ledger."""
        return self._last() is not None

    def look_again(self) -> None:
        """Let the next call of `keep_up` check anew whether a gaming day begins, because the house's rules have
        changed."""
        self._looked = (0, 0)

    def keep_up(self) -> None:
        """Record the beginning of the present gaming day, unless it is recorded already. Must be called before any
        transaction of that day."""
        if self.due():
            with self._db.transaction():
                looked = self._begin_if_due()
            self._looked = looked

    def _begin_if_due(self) -> tuple[int, int]:
        """Record the beginning of the present gaming day if it is not recorded yet. A clock that was put back by an
        hour at most begins no earlier day. Return a span of time, as its beginning and end in ms since 1970. No other
        day begins within the span."""
        now_ms = now_in_ms()
        rules, number = house_rules.in_force(self._db), house_rules.last_number(self._db)
        name, last = name_of(rules, now_ms), self._last()
        if last is None or name > last.name or (name < last.name and now_ms < last.noted_ms - _BACK_MS):
            self._begin(Begun(0, name, begins_ms(rules, date.fromisoformat(name)), now_ms, number, 0, 0))
        until_ms = begins_ms(rules, date.fromisoformat(name) + timedelta(days=1))
        return now_ms, max(until_ms, now_ms + 1)

    def _begin(self, begun: Begun) -> None:
        (number,) = self._db.execute(
            "INSERT INTO day (name, due_ms, noted_ms, rules, event, posting) SELECT ?, ?, ?, ?,"
            " (SELECT coalesce(max(number), 0) FROM event), (SELECT coalesce(max(number), 0) FROM posting)"
            " RETURNING number",
            (begun.name, begun.due_ms, begun.noted_ms, begun.rules),
        ).fetchone()
        self._db.execute(
            "INSERT INTO reading SELECT ?, account, cents, remainder FROM fund"
            " WHERE substr(account, 1, 6) = 'meter:' OR substr(account, 1, 8) = 'reserve:'"
            " OR substr(account, 1, 9) = 'overflow:'",
            (number,),
        )

    def _last(self) -> Begun | None:
        row = self._db.execute("SELECT * FROM day ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else of_row(Begun, row)


def begun(db: Store) -> list[Begun]:
    """Return the recorded beginnings of all gaming days and parts of days, in the order in which they began."""
    return [of_row(Begun, row) for row in db.execute("SELECT * FROM day ORDER BY number").fetchall()]


def readings(db: Store, day: int) -> dict[str, tuple[int, Fraction]]:
    """Return what each meter, reserve and overflow held when the day with this number began, as whole cents and a
    fraction of a cent."""
    rows = db.execute("SELECT account, cents, remainder FROM reading WHERE day = ? ORDER BY account", (day,))
    return {account: (cents, Fraction(remainder)) for account, cents, remainder in rows.fetchall()}


def text(at_ms: int) -> str:
    """Return the moment `at_ms` (ms since 1970) as UTC text, in the form that events use."""
    return Stamp(at_ms, True).text()
