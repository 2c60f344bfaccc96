"""`tablectl roads`: the five roads of a shoe, as text."""

from __future__ import annotations

from controller.errors import TableError
from controller.roads.marks import Roads
from controller.roads.text import hands_from, roads_text


def roads(letters: str) -> int:
    """Print the roads of these hands. Raises TableError `no_hands` for a letter that is none."""
    try:
        print(roads_text(Roads(hands_from(letters))))
    except KeyError as unknown:
        do = "Write B for Banker, P for Player and T for a tie, in their order: tablectl roads BBPPPTBPBB"
        raise TableError("no_hands", f"{unknown} in {letters} names no winner of a hand.", do) from None
    return 0
