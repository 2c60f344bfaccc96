"""The table's file as far as a setup has filled it in. Keys that no question asks for keep their values."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from drivers import shoe as shoes
from drivers.devices import Level, Pull
from drivers.line.brand import Brand

Section = dict[str, Any]


class SeatDraft(Struct, omit_defaults=True):
    """A seat of the table, and the King and 9 that are printed there, if any."""

    number: int
    k9: str | None = None


class Wired(Struct, omit_defaults=True):
    """The header pin of a lamp or of an input. Only an input has a `pull`."""

    bcm: int
    active: Level
    pull: Pull | None = None

    def text(self) -> str:
        """Return the wiring in the form in which a person answers: `11 low up`."""
        return " ".join(str(each) for each in (self.bcm, self.active, self.pull) if each is not None)


class Draft(Struct):
    """The sections of a table's file, in the order in which they are written."""

    table: Section = field(default_factory=dict)
    seats: list[SeatDraft] = field(default_factory=list)
    shoe: Section = field(default_factory=dict)
    pins: Section = field(default_factory=dict)
    pit: Section = field(default_factory=dict)
    journal: Section = field(default_factory=dict)
    control: Section = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The table's name at the pit, once a person has been asked for it."""
        return str(self.table["id"])

    @property
    def brand(self) -> Brand:
        """The brand of the shoe, once a person has been asked for it."""
        return shoes.brand(self.shoe["driver"])
