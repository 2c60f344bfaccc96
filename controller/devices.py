"""What the table is wired to, as the runtime sees it: one Protocol a device, and the wiring behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Level = Literal["high", "low"]
"""The electrical level at which a lamp is lit, or an input is pressed or covered."""

Pull = Literal["up", "down", "off"]
"""The Pi's own resistor on an input: what the pin reads while nothing drives it."""


@dataclass(frozen=True, slots=True)
class LampWiring:
    """One lamp's pin: its BCM number, and the level that lights it."""

    bcm: int
    active: Level


@dataclass(frozen=True, slots=True)
class InputWiring:
    """One button's, key's or sensor's pin: its BCM number, the level that means pressed or covered, and its pull."""

    bcm: int
    active: Level
    pull: Pull


class Pins(Protocol):
    """The table's lamps and inputs, by the names of the table file.

    Inputs are sampled as they stand this instant; debouncing is the caller's.
    """

    def read(self) -> dict[str, bool]:
        """Every input by name: True is pressed, turned or covered."""

    def write(self, lamp: str, lit: bool) -> None:
        """Light or darken one lamp. Raises KeyError for a lamp the table has not."""

    def close(self) -> None:
        """Darken every lamp and let go of the pins."""
