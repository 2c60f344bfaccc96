"""Computes where the marks of a baccarat road (a score board of results) are drawn. A place is (column, row), both from
0. Every road has six rows."""

from __future__ import annotations

ROWS = 6

Place = tuple[int, int]


def bead_place(number: int) -> Place:
    """Return the place of a round on the bead plate, as column and row. `number` counts the rounds from 0. Each column
    is filled from top to bottom before the next one."""
    return divmod(number, ROWS)


class Grid:
    """The places of the marks on a road (a score board). Each run of equal marks starts a new column and goes down.

    If a run comes to the bottom, or to a place that is taken, it turns right and stays in its row (a dragon's tail).
    The next run starts in the top row, in the first free column to the right of the last run's start.
    """

    def __init__(self) -> None:
        self._taken: set[Place] = set()
        self._head = -1
        self._last: Place = (-1, -1)
        self._turned = False

    def put(self, new_run: bool) -> Place:
        """Add the next mark to the road, and return its place as column and row. If `new_run` is True, the mark begins
        a new run of equal marks. If it is False, the mark continues the last run."""
        if new_run:
            self._head += 1
            while (self._head, 0) in self._taken:
                self._head += 1
            place, self._turned = (self._head, 0), False
        else:
            column, row = self._last
            below = (column, row + 1)
            self._turned = self._turned or row + 1 == ROWS or below in self._taken
            place = (column + 1, row) if self._turned else below
        self._taken.add(place)
        self._last = place
        return place
