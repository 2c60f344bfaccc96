"""The draft of a table's file, which `tablectl setup` fills in question by question. Keys that no question asks for
keep their values."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from drivers import shoe as shoes
from drivers.devices import Level, Pull
from drivers.line.brand import Brand

Section = dict[str, Any]


class SeatDraft(Struct, omit_defaults=True):
    """A seat in the draft of a table's file. It holds the King and the nine that are printed at the seat, or None if
    nothing is printed there."""

    number: int
    k9: str | None = None


class Wired(Struct, omit_defaults=True):
    """The pin of the Raspberry Pi's header to which a lamp or an input is wired. Only an input has a `pull`."""

    bcm: int
    active: Level
    pull: Pull | None = None

    def text(self) -> str:
        """Return the wiring of a lamp or an input as a person would type it. Example: `11 low up` means BCM number 11,
        active when low, pulled up."""
        return " ".join(str(each) for each in (self.bcm, self.active, self.pull) if each is not None)


class Draft(Struct):
    """The draft of a table's file: its sections, in the order in which they are written."""

    table: Section = field(default_factory=dict)
    seats: list[SeatDraft] = field(default_factory=list)
    shoe: Section = field(default_factory=dict)
    pins: Section = field(default_factory=dict)
    pit: Section = field(default_factory=dict)
    journal: Section = field(default_factory=dict)
    control: Section = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The table's name at the pit. Available only once a person has been asked for it."""
        return str(self.table["id"])

    @property
    def brand(self) -> Brand:
        """The brand of the table's shoe. Available only once a person has been asked for it."""
        return shoes.brand(self.shoe["driver"])
