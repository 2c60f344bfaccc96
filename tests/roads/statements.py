"""Second implementations of the baccarat roads (score boards), for comparison with the product. They share nothing with
the product but the letters B, P and T for Banker, Player and tie.

The first, `by_columns`, follows the words of the rule: columns of unlimited depth, and cell m of column n. The second,
`by_lookback`, uses no depths: it draws the big road's columns cell by cell, and asks, as players do, whether the cell
to the left is filled. `drawn` computes the places of a road's marks.
"""

from __future__ import annotations

from itertools import groupby

ROWS = 6


def by_columns(letters: str, k: int) -> str:
    """Return the marks of a derived road, as letters R (red) and B (blue). They are computed by the rule as it is
    written, from the finished columns of the whole shoe. `k` is how many columns the road looks back."""
    depth = [0, *(len(list(run)) for _, run in groupby(letter for letter in letters if letter != "T"))]  # from 1
    marks = ""
    for n in range(1, len(depth)):
        for m in range(1, depth[n] + 1):
            if m == 1 and n - 1 - k >= 1:
                marks += "R" if depth[n - 1] == depth[n - 1 - k] else "B"
            elif m >= 2 and n - k >= 1:
                p = depth[n - k]
                if m <= p:
                    marks += "R"
                elif m == p + 1:
                    marks += "B"
                else:
                    marks += "R"
    return marks


def by_lookback(letters: str, k: int) -> str:
    """Return the marks of a derived road, as letters R (red) and B (blue), by the method that players use. `k` is how
    many columns the road looks back.

    For a cell below the top of its column, look at two cells `k` columns to the left: the one in the same row, and the
    one above it. If both are filled or both are empty, the mark is red, else blue. At the top of a column, the mark is
    the opposite of the mark that the previous column would have got if it had gone on.
    """
    decided = letters.replace("T", "")
    filled: set[tuple[int, int]] = set()
    marks, column, row = "", 0, 0

    def beside(at_column: int, at_row: int) -> str:
        if at_column - k < 0:
            return ""
        alike = ((at_column - k, at_row) in filled) == ((at_column - k, at_row - 1) in filled)
        return "R" if alike else "B"

    for place, letter in enumerate(decided):
        if place and letter == decided[place - 1]:
            row += 1
            marks += beside(column, row)
        elif place:
            marks += {"R": "B", "B": "R", "": ""}[beside(column, row + 1)]
            column, row = column + 1, 0
        filled.add((column, row))
    return marks


def drawn(run_of: list[str]) -> list[tuple[int, int]]:
    """Return the column and row of each mark of a road by the rule as it is written. `run_of` has a letter for each
    mark; equal letters in a row form a run. The function draws the road mark by mark, and looks in that drawing for
    free places."""
    picture: dict[tuple[int, int], int] = {}
    places: list[tuple[int, int]] = []
    heads: list[int] = []
    runs = [len(list(run)) for _, run in groupby(run_of)]
    for number, length in enumerate(runs):
        start = (heads[-1] + 1) if heads else 0
        head = next(column for column in range(start, start + 200) if (column, 0) not in picture)
        heads.append(head)
        down = next((row for row in range(ROWS) if (head, row) in picture), ROWS)
        cells = [(head, row) for row in range(min(length, down))]
        cells += [(head + 1 + beyond, cells[-1][1]) for beyond in range(length - len(cells))]
        for cell in cells:
            assert cell not in picture, "two marks on one place"
            picture[cell] = number
        places += cells
    return places
