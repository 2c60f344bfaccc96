"""The table's file as a setup has it so far: a section keeps the keys that no question asks for."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from drivers import shoe as shoes
from drivers.devices import Level, Pull
from drivers.line.brand import Brand

Section = dict[str, Any]


class SeatDraft(Struct, omit_defaults=True):
    """A seat, and what is printed there."""

    number: int
    k9: str | None = None


class Wired(Struct, omit_defaults=True):
    """A lamp's pin, or an input's, which has a pull."""

    bcm: int
    active: Level
    pull: Pull | None = None

    def text(self) -> str:
        """The wiring as an answer: `11 low up`."""
        return " ".join(str(each) for each in (self.bcm, self.active, self.pull) if each is not None)


class Draft(Struct):
    """The sections of the file, in their order."""

    table: Section = field(default_factory=dict)
    seats: list[SeatDraft] = field(default_factory=list)
    shoe: Section = field(default_factory=dict)
    pins: Section = field(default_factory=dict)
    pit: Section = field(default_factory=dict)
    journal: Section = field(default_factory=dict)
    control: Section = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The table's name at the pit, once that was asked."""
        return str(self.table["id"])

    @property
    def brand(self) -> Brand:
        """The shoe's brand, once that was asked."""
        return shoes.brand(self.shoe["driver"])
