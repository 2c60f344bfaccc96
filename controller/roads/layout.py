"""Where the marks of a road are drawn. A place is (column, row), both from 0; every road has six rows."""

from __future__ import annotations

ROWS = 6

Place = tuple[int, int]


def bead_place(number: int) -> Place:
    """The bead plate's place of a hand, counted from 0: top to bottom, then the next column."""
    return divmod(number, ROWS)


class Grid:
    """Runs drawn downwards, each in a column of its own.

    A run that comes to the bottom, or to a place that is taken, turns right and keeps its row from there on (a dragon's
    tail). The next run starts in the top row, in the first free column right of where the run before it started.
    """

    def __init__(self) -> None:
        self._taken: set[Place] = set()
        self._head = -1
        self._last: Place = (-1, -1)
        self._turned = False

    def put(self, new_run: bool) -> Place:
        """The place of the next mark, which begins a run or goes on with the last one."""
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
