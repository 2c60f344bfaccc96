"""An award as people see it, the steps that its table reported, and the errors for decisions that an award does not
allow now."""

from __future__ import annotations

from msgspec import Struct

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.pit.reference.doubts import Doubt


class Telling(Struct, frozen=True):
    """A table's report of a step of an award that this ledger does not have. Example: the table reports "paid", and in
    this ledger the award is pending."""

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
        """Return True if the reported step still blocks decisions on its award, because people have neither recalled
        nor dismissed the step."""
        return self.recalled_by is None and self.dismissed_by is None

    @property
    def became(self) -> str:
        """Return in words what people decided about the reported step: dismissed, recalled, or still to be decided."""
        if self.dismissed_by is not None:
            return f"dismissed as false by {self.dismissed_by}, witness {self.dismissed_witness}"
        return "to be recalled or dismissed" if self.recalled_by is None else f"recalled by {self.recalled_by}"

    def __str__(self) -> str:
        return f"{self.step}, {figures(self.cents)}, by {self.by} (event {self.event})"


class Award(Struct, frozen=True):
    """An award with its present step and amount. `id` is the award's name for people, and `hit` is the id of the event
    that reported the hit.

    `shoe` and `round` name the award's round, and `spot` its bet. `more` is the number of further hits that the table
    has yet to report of that round.

    `house_cents` is what the house added to the amount, or below 0 what the house kept. `house_cents` is 0 unless
    people recalled the award: at another amount, or after the award was rejected here (then the house adds all of it).
    Example: the hit won $100, people took over $120, and the house adds $20.
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
    """The award's name in the bet, such as "royal9_suited"."""

    meter: str | None
    """Null of a fixed award, which the house pays."""

    lock: int | None
    """The number of the level that was hit; hits with one number share it."""

    cents: int
    house_cents: int
    step: str
    """"pending", "verified", "paid" or "rejected"."""

    more: int
    alarms: tuple[str, ...] = ()
    """The codes of the alarms that its hit raised at the pit."""

    tellings: tuple[Telling, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    shown_cents: int = 0
    """What the house added to the level, since the table had shown more at the lock than the meter held at the hit."""
    waits: tuple[tuple[str, str], ...] = ()
    """While it is pending, the tables that may have locked before it, each with what is yet to be heard of it."""

    @property
    def held(self) -> bool:
        """Return True if the table reported a step of this award that people must still recall or dismiss."""
        return any(telling.holds for telling in self.tellings)

    @property
    def open(self) -> bool:
        """Return True if people must still decide something about the award."""
        return self.held or self.step in ("pending", "verified")

    @property
    def doubted(self) -> bool:
        """Return True if the award is not yet paid or rejected, its table doubts the round, and no two people have
        decided despite the doubt."""
        return self.step in ("pending", "verified") and any(doubt.stands for doubt in self.doubts)


def to_recall(telling: Telling) -> TableError:
    """Return the error for a decision on an award that must wait, because people must first recall or dismiss a step
    that the table reported."""
    return TableError(
        "award_told",
        f"The table told of award {telling.award}: {telling}. This ledger, an older copy, does not have that step.",
        "Pay nothing twice. If the step is true, two people let the ledger take the step over: award recall"
        f" {telling.award}. If nobody took the step, two people dismiss what the table told: award dismiss"
        f" {telling.award}.",
    )


def disputed(table: str, award: str, cents: int) -> TableError:
    """Return the error for an award that must wait, because its table does not believe that its amount is `cents`."""
    return TableError(
        "award_disputed",
        f"Table {table} does not believe that award {award} is {figures(cents)}: its meter never showed so much there.",
        "Compare the amount with the hit and the meter. If the amount is true, two people at the table accept it:"
        f" tablectl accept-award {award} {cents} --by NAME. If not, two people reject the award: award reject {award}.",
    )


def what_to_do(id_: str, stands: str, holds: bool) -> str:
    """Return the advice for people when a table reports a step of the award `id_` that this ledger does not have.
    `stands` is the award's step in this ledger. `holds` means that the award can still take the reported step."""
    if not holds:
        return f"The award is {stands} in this ledger, and stays so. Find out what was paid, and settle by hand."
    return (
        "The ledger is an older copy. Look at `award list`. Where it shows the step no more, the table has told since"
        " that the award is pending again: decide on it as usual. If the step is true, two people let the ledger take"
        f" the step over: `award recall {id_}`. If nobody took the step, two people dismiss what the table told:"
        f" `award dismiss {id_}`."
    )
