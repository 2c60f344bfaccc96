"""The simulated shoes. Each brand has a module in this package, whose name is the value of `[shoe] driver` in a table
file. Each module defines `SHOE`."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from drivers.sim.console import Verbs
from drivers.sim.line import Line


class CardShoe(Protocol):
    """The interface of a simulated shoe of any brand, on its serial `line`. `tells_cut_card` says whether the shoe
    itself reports the cut card. If it does not, the dealer must report the card."""

    line: Line
    tells_cut_card: bool

    def power_up(self) -> None:
        """Switch the simulated shoe on."""

    def new_shoe(self) -> None:
        """Begin a new shoe: the next card that is drawn is its first card."""

    def draw(self, card: str) -> None:
        """Draw the card `card` from the simulated shoe, which then reports it."""

    def cut_card(self) -> None:
        """Draw the cut card from the simulated shoe."""

    def verbs(self) -> Verbs:
        """Return the commands that the simulated shoe has at a prompt. Some of them cause the shoe's faults."""


class ShoeMaker(Protocol):
    """A brand of simulated shoes. A call makes a shoe. `baud` is the usual speed of its serial line, and
    `tells_cut_card` says whether shoes of this brand report the cut card."""

    baud: int
    tells_cut_card: bool

    def __call__(self, line: Line, *, wrap: int = 0, speed: float = 0.0) -> CardShoe:
        """Return a simulated shoe on `line`. If the brand numbers its reports with a digit, `wrap`, which is 0 or 1,
        comes after 9. With `speed` 1, a report takes as long as on a real wire, with 2 half as long, and with 0 no
        time."""


def maker(driver: str) -> ShoeMaker:
    """Return the brand of simulated shoes called `driver`. This is the value of `[shoe] driver` in a table file."""
    named: ShoeMaker = import_module(f"{__name__}.{driver}").SHOE
    return named
