"""The simulated shoes. Each brand has a file here, with the name that `[shoe] driver` gives. Each file defines
`SHOE`."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from drivers.sim.console import Verbs
from drivers.sim.line import Line


class CardShoe(Protocol):
    """A simulated shoe of any brand on its serial `line`. `tells_cut_card` says whether the shoe itself reports the cut
    card; where it does not, the dealer must."""

    line: Line
    tells_cut_card: bool

    def power_up(self) -> None:
        """Switch the shoe on."""

    def new_shoe(self) -> None:
        """Make the next card the first of a new shoe."""

    def draw(self, card: str) -> None:
        """Draw a card."""

    def cut_card(self) -> None:
        """Draw the cut card."""

    def verbs(self) -> Verbs:
        """Return the commands that the shoe knows at a prompt, its faults included."""


class ShoeMaker(Protocol):
    """A brand of shoe, which makes simulated shoes when it is called. `baud` is the usual speed of its line."""

    baud: int
    tells_cut_card: bool

    def __call__(self, line: Line, *, wrap: int = 0, speed: float = 0.0) -> CardShoe:
        """Return a shoe on `line`. `wrap` is the number that follows 9 in its reports, 0 or 1. With `speed` 1 its
        reports take the time that they take on the wire, with 2 half of that time, with 0 no time."""


def maker(driver: str) -> ShoeMaker:
    """Return the brand whose shoes `[shoe] driver` of a table file names."""
    named: ShoeMaker = import_module(f"{__name__}.{driver}").SHOE
    return named
