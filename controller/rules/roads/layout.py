"""Computes where the marks of a road are drawn. A place is (column, row), both from 0. Every road has six rows."""

from __future__ import annotations

ROWS = 6

Place = tuple[int, int]


def bead_place(number: int) -> Place:
    """Return the place of a round on the bead plate. Rounds count from 0, from top to bottom, then on to the next
    column."""
    return divmod(number, ROWS)


class Grid:
    """The places of marks on a road. Each run of equal marks starts a new column, and is drawn downwards.

    A run that reaches the bottom, or a place that is taken, turns right and stays in its row (a dragon's tail). The
    next run starts in the top row, in the first free column to the right of the last run's start.
    """

    def __init__(self) -> None:
        self._taken: set[Place] = set()
        self._head = -1
        self._last: Place = (-1, -1)
        self._turned = False

    def put(self, new_run: bool) -> Place:
        """Return the place of the next mark. With `new_run` the mark begins a run, otherwise it continues the
        last run."""
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
