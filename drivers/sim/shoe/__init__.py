"""The simulated shoes. Each brand has a file here, named as `[shoe] driver` names it, which ends in its `SHOE`."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from drivers.sim.console import Verbs
from drivers.sim.line import Line


class CardShoe(Protocol):
    """A simulated shoe on its `line`, of any brand. `tells_cut_card`: the shoe itself reports the cut card; where
    it does not, the dealer must."""

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
        """What the shoe can be told to do at a prompt, its faults included."""


class ShoeMaker(Protocol):
    """One brand: makes its shoes. `baud` is the usual speed of its line."""

    baud: int
    tells_cut_card: bool

    def __call__(self, line: Line, *, wrap: int = 0, speed: float = 0.0) -> CardShoe:
        """A shoe on `line`. `wrap` is the number that follows 9 in its reports, 0 or 1. `speed` 1 takes the time that
        its reports take on the wire, 2 half of that time, 0 no time."""


def maker(driver: str) -> ShoeMaker:
    """The maker of the shoes that `[shoe] driver` of a table file names."""
    named: ShoeMaker = import_module(f"{__name__}.{driver}").SHOE
    return named
