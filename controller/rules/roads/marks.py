"""The five roads, by which baccarat players read a shoe. Pure. A round's cost does not grow with the shoe.

The bead plate shows every round. The big road has one column for each run of one winner, as deep as the run is long: a
*logical* column, however `layout.py` draws it. The three derived roads compare such columns. The reach of a derived
road is how many columns it looks back: big eye boy 1, small road 2, cockroach pig 3. Its marks are red (the shoe
repeats itself) or blue (the shoe does not), and tell nothing of Banker or Player.

Simulated and void rounds are on no road.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol, cast

from msgspec import Struct

from controller.rules.roads.layout import Grid, Place, bead_place

Winner = Literal["player", "banker", "tie"]
Side = Literal["player", "banker"]
Color = Literal["red", "blue"]

DERIVED = {"big_eye_boy": 1, "small_road": 2, "cockroach_pig": 3}
"""The derived roads and their reach in columns."""


class Round(Struct, frozen=True):
    """A finished round as the bead plate shows it."""

    winner: Winner
    player_pair: bool = False
    banker_pair: bool = False


class Finished(Protocol):
    """A shoe's finished round as the table's feed tells it. `outcome` is None in games without one."""

    @property
    def simulated(self) -> bool: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def player_pair(self) -> bool: ...
    @property
    def banker_pair(self) -> bool: ...


def rounds_of(rounds: Iterable[Finished]) -> list[Round]:
    """The rounds for the roads, from a shoe's finished rounds as the table's feed tells them."""
    return [
        Round(cast(Winner, each.outcome), each.player_pair, each.banker_pair)
        for each in rounds
        if each.outcome is not None and not each.simulated
    ]


class Bead(Struct, frozen=True):
    """A round's place on the bead plate."""

    place: Place
    round: Round


class Circle(Struct, frozen=True):
    """A round with a winner on the big road, and the number of ties after that round.

    `winner` is None for ties before the first winner.
    """

    place: Place
    winner: Side | None
    ties: int = 0


class Mark(Struct, frozen=True):
    """A mark of a derived road."""

    place: Place
    color: Color


class DerivedRoad:
    """One derived road: its marks so far."""

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._grid = Grid()
        self.marks: list[Mark] = []

    def add(self, depths: Sequence[int]) -> None:
        """Add the mark for a round after which the big road's columns are this deep, if the road has such a mark."""
        if (color := mark(depths, self._reach)) is not None:
            new_run = not self.marks or self.marks[-1].color != color
            self.marks.append(Mark(self._grid.put(new_run), color))

    def ask(self, depths: Sequence[int]) -> Color | None:
        """The mark for a round after which the big road's columns would be this deep; None for no mark."""
        return mark(depths, self._reach)


class Roads:
    """The roads of a shoe, round by round."""

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self._grid = Grid()
        self._depths: list[int] = []
        self.beads: list[Bead] = []
        self.circles: list[Circle] = []
        self.derived = {name: DerivedRoad(reach) for name, reach in DERIVED.items()}
        for finished in rounds:
            self.add(finished)

    def add(self, finished: Round) -> None:
        """Add the shoe's next finished round."""
        self.beads.append(Bead(bead_place(len(self.beads)), finished))
        last = self.circles[-1] if self.circles else None
        if finished.winner == "tie":
            if last is None:
                self.circles.append(Circle((0, 0), None, 1))  # waits for the first winner
            else:
                self.circles[-1] = Circle(last.place, last.winner, last.ties + 1)
            return
        self._depths = self._with(finished.winner)
        if last is not None and last.winner is None:
            self.circles[-1] = Circle(self._grid.put(True), finished.winner, last.ties)
        else:
            new_run = last is None or last.winner != finished.winner
            self.circles.append(Circle(self._grid.put(new_run), finished.winner))
        for road in self.derived.values():
            road.add(self._depths)

    def ask(self, winner: Side) -> dict[str, Color | None]:
        """The mark that each derived road gets if this side wins the next round; None where a road gets no mark."""
        return {name: road.ask(self._with(winner)) for name, road in self.derived.items()}

    def _with(self, winner: Side) -> list[int]:
        """The depths of the big road's columns after a round that this side wins.

        Only the columns that a derived road can look back to are kept.
        """
        goes_on = bool(self.circles) and self.circles[-1].winner == winner
        depths = [*self._depths[:-1], self._depths[-1] + 1] if goes_on else [*self._depths, 1]
        return depths[-2 - max(DERIVED.values()) :]


def mark(depths: Sequence[int], reach: int) -> Color | None:
    """The mark for the last cell of the last column; None where too few columns come before it.

    `depths` are the depths of the big road's columns; the last column may still grow. For a column's first cell, the
    column before it is compared with the column `reach` further back: red where the two are equally deep, else blue.
    For every other cell, the m-th, the column `reach` before its own counts, with depth p: blue where m = p + 1, else
    red. Example: 2, 3, 1, 1, 2 (`BBPPPBPBB`) ends with blue on the big eye boy, since the second cell stands beside a
    column of depth 1.
    """
    *before, m = depths
    if m == 1:
        if len(before) < reach + 1:
            return None
        return "red" if before[-1] == before[-1 - reach] else "blue"
    if len(before) < reach:
        return None
    return "blue" if m == before[-reach] + 1 else "red"
