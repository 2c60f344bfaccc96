"""The rules of a house for its papers: when its gaming day begins, and how high a win must be so that a tax form is
due.

The ledger keeps every set of rules that was ever in force, each with the moment from which it was in force.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from msgspec import Struct, json, to_builtins

from controller.basics.money import figures
from controller.pit.reference.clock import now_text
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.people import PIT
from controller.pit.reference.store import Store

SCHEMA = """
CREATE TABLE house_rules ( -- every set of rules that the house ever had
    number INTEGER PRIMARY KEY,
    since TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
"""


class TaxRule(Struct, frozen=True):
    """A rule that says how high a win must be so that a tax form is due. The win must reach both `times_the_wager` and
    `at_least_cents`."""

    form: str
    """The form's name, which the slip bears. Example: W-2G."""

    since: date
    """The day of payment from which this rule holds, until the next rule of this form."""

    times_the_wager: int
    """How many times its wager a win must be. Example: 300."""

    at_least_cents: int
    """How high a win must be. Example: $2,000."""

    def asks(self, cents: int, wager_cents: int) -> bool:
        """Tell whether this rule asks for a tax form on a win of `cents` on a wager of `wager_cents`."""
        return cents >= self.at_least_cents and cents >= self.times_the_wager * wager_cents

    def __str__(self) -> str:
        return (
            f"{self.form} from {self.since}: {self.times_the_wager} times the wager and {figures(self.at_least_cents)}"
        )


class HouseRules(Struct, frozen=True):
    """The rules of a house for its papers: time zone, beginning of the day, shifts and tax forms."""

    zone: str = "UTC"
    """The house's time zone. Example: America/Los_Angeles."""

    tax: tuple[TaxRule, ...] = ()

    day_begins: str = "06:00"
    """The time of the house's clock at which a gaming day begins."""

    shifts: tuple[str, ...] = ()
    """When each shift begins, in the order of the clock; empty where the day is one shift."""

    def shift(self, at: str) -> str:
        """Find the shift in which the moment `at` lies. Return the time of day at which that shift begins. If the house
        has no shifts, return the time at which its day begins. Example: 14:00."""
        time = f"{self.local(at):%H:%M}"
        begun = [begins for begins in sorted(self.shifts) if begins <= time]
        return begun[-1] if begun else max(self.shifts, default=self.day_begins)

    def local(self, at: str) -> datetime:
        """Convert the time of an event or a decision to the house's own time zone."""
        return datetime.fromisoformat(at).astimezone(ZoneInfo(self.zone))

    def tax_form(self, cents: int, wager_cents: int, paid_at: str) -> str | None:
        """Return the names of the tax forms that are due for a win of `cents` if it is paid at `paid_at`, joined by
        commas. Return None if no form is due."""
        day = self.local(paid_at).date()
        begun = [rule for rule in sorted(self.tax, key=lambda rule: rule.since) if rule.since <= day]
        last = {rule.form: rule for rule in begun}
        due = [form for form, rule in last.items() if rule.asks(cents, wager_cents)]
        return ", ".join(due) or None

    def __str__(self) -> str:
        shifts = [f"shifts {', '.join(self.shifts)}"] if self.shifts else []
        day = f"time zone {self.zone}, day begins {self.day_begins}"
        return "; ".join([day, *shifts, *map(str, self.tax)])


def in_force(db: Store) -> HouseRules:
    """Return the house's rules that are in force now."""
    return ever(db)[-1][1]


def last_number(db: Store) -> int:
    """Return the number of the set of house rules that is in force now, or 0 if the house never set any rules."""
    (number,) = db.execute("SELECT coalesce(max(number), 0) FROM house_rules").fetchone()
    return int(number)


def ever(db: Store) -> Sequence[tuple[str, HouseRules]]:
    """Return every set of house rules that was ever in force, each with the moment from which it was in force. The
    first is the default set, which was in force from the beginning of the ledger."""
    rows = db.execute("SELECT since, body FROM house_rules ORDER BY number").fetchall()
    return [("", HouseRules()), *((since, json.decode(body, type=HouseRules)) for since, body in rows)]


def set_rules(db: Store, rules: HouseRules, decisions: Decisions) -> str | None:
    """Put these house rules in force from now on. Return a line of text that tells people the change, or None if these
    rules are in force already."""
    before = in_force(db)
    if before == rules:
        return None
    since = now_text()
    (number,) = db.execute(
        "INSERT INTO house_rules (since, body) VALUES (?, ?) RETURNING number",
        (since, json.encode(rules).decode()),
    ).fetchone()
    told = {"since": since, "house_rules": to_builtins(rules)}
    decisions.note("house_rules", number, PIT, None, told)
    return f"house rules: {before} -> {rules}"
