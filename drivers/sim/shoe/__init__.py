"""The simulated shoes: a file a brand, named as `[shoe] driver` names it, which ends in its `SHOE`."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from drivers.sim.console import Verbs
from drivers.sim.line import Line


class CardShoe(Protocol):
    """A simulated shoe on its `line`, whatever it says there. Whether it reports the cutting card itself is
    `tells_cut_card`; otherwise the dealer has to."""

    line: Line
    tells_cut_card: bool

    def power_up(self) -> None:
        """Switch the shoe on."""

    def new_shoe(self) -> None:
        """Make the next card the first of a new shoe."""

    def draw(self, card: str) -> None:
        """Draw a card."""

    def cut_card(self) -> None:
        """Draw the cutting card."""

    def verbs(self) -> Verbs:
        """What it can be told to do at a prompt, good and bad."""


class ShoeMaker(Protocol):
    """A brand: what makes its shoes. `baud` is what its line usually runs at."""

    baud: int
    tells_cut_card: bool

    def __call__(self, line: Line, *, wrap: int = 0, speed: float = 0.0) -> CardShoe:
        """A shoe on `line`. `wrap` is the number after 9, 0 or 1, for one that numbers its reports; `speed` 1 takes the
        time its reports take on the wire, 2 half of it, 0 none."""


def maker(driver: str) -> ShoeMaker:
    """The maker of the shoes that a table file's `[shoe] driver` names."""
    named: ShoeMaker = import_module(f"{__name__}.{driver}").SHOE
    return named
