"""The five roads: score boards on which baccarat players follow the results of a shoe. Pure. Adding a round costs the
same, however long the shoe is.

The bead plate shows every round. The big road has one column for each run of rounds with the same winner, as deep as
the run is long: a *logical* column, however `layout.py` draws it. The three derived roads compare such columns. The
reach of a derived road is how many columns it looks back: big eye boy 1, small road 2, cockroach pig 3. Its marks are
red (the shoe repeats itself) or blue (the shoe does not), and say nothing about Banker or Player.

Simulated rounds and rounds without a result are on no road.
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
    """A finished round as the bead plate shows it: the winner, and whether either hand was a pair."""

    winner: Winner
    player_pair: bool = False
    banker_pair: bool = False


class Finished(Protocol):
    """A finished round as the table's feed reports it. `outcome` is None in games in which the round as a whole has no
    winner."""

    @property
    def simulated(self) -> bool: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def player_pair(self) -> bool: ...
    @property
    def banker_pair(self) -> bool: ...


def rounds_of(rounds: Iterable[Finished]) -> list[Round]:
    """Return those of a shoe's finished rounds that belong on the roads: rounds with an outcome that were not
    simulated."""
    return [
        Round(cast(Winner, each.outcome), each.player_pair, each.banker_pair)
        for each in rounds
        if each.outcome is not None and not each.simulated
    ]


class Bead(Struct, frozen=True):
    """A round and its place on the bead plate."""

    place: Place
    round: Round


class Circle(Struct, frozen=True):
    """A circle on the big road: one round with a winner, and the number of ties that followed it.

    `winner` is None for ties before the first round with a winner.
    """

    place: Place
    winner: Side | None
    ties: int = 0


class Mark(Struct, frozen=True):
    """A mark on one of the three derived roads: its place and its colour."""

    place: Place
    color: Color


class DerivedRoad:
    """One of the three derived roads, with the marks on it so far."""

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._grid = Grid()
        self.marks: list[Mark] = []

    def add(self, depths: Sequence[int]) -> None:
        """Add the mark for the last round to this road. Some rounds give no mark on this road. `depths` are the depths
        of the big road's columns after that round."""
        if (color := mark(depths, self._reach)) is not None:
            new_run = not self.marks or self.marks[-1].color != color
            self.marks.append(Mark(self._grid.put(new_run), color))

    def ask(self, depths: Sequence[int]) -> Color | None:
        """Return the colour of the mark that a possible next round would give on this road, or None if it would give no
        mark. `depths` are the depths that the big road's columns would have after that round."""
        return mark(depths, self._reach)


class Roads:
    """The five roads (score boards) of one shoe. Each finished round is added to them in turn."""

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self._grid = Grid()
        self._depths: list[int] = []
        self.beads: list[Bead] = []
        self.circles: list[Circle] = []
        self.derived = {name: DerivedRoad(reach) for name, reach in DERIVED.items()}
        for finished in rounds:
            self.add(finished)

    def add(self, finished: Round) -> None:
        """Add the next finished round of the shoe to the roads. A tie adds no mark to the three derived roads."""
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
        """Return for each derived road, by its name, the colour of the mark that it would get if `winner` won the next
        round. The value is None if the road would get no mark."""
        return {name: road.ask(self._with(winner)) for name, road in self.derived.items()}

    def _with(self, winner: Side) -> list[int]:
        """Return the depths that the big road's columns would have if `winner` won the next round.

        Only the last columns are returned, as many as a derived road can look back to.
        """
        goes_on = bool(self.circles) and self.circles[-1].winner == winner
        depths = [*self._depths[:-1], self._depths[-1] + 1] if goes_on else [*self._depths, 1]
        return depths[-2 - max(DERIVED.values()) :]


def mark(depths: Sequence[int], reach: int) -> Color | None:
    """Return the colour of a derived road's mark for the last cell of the big road, or None if too few columns come
    before that cell's column.

    `depths` are the depths of the big road's columns; the last column may still grow. `reach` is how many columns the
    derived road looks back. There are two cases:

    - The cell is the first of its column. The column before it is compared with the column `reach` further back. The
      mark is red if the two are equally deep, else blue.
    - The cell is the m-th of its column. It is compared with the column `reach` before its own, which has depth p. The
      mark is blue if m = p + 1, else red.

    Example: 2, 3, 1, 1, 2 (`BBPPPBPBB`) ends with blue on the big eye boy, because the second cell stands beside a
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
