"""Checks that the lot is fair: the random number that decides which two seats are active at Baccarat Royal prefers no
pair of seats. The checks count all lots, and draw a large sample."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from controller.rules.game.seating import drawn_actives
from controller.table.acts.entry import LOTS

_DRAWS = 8_400


@pytest.mark.parametrize("seats", range(2, 15))
def test_of_all_lots_each_pair_of_seats_has_exactly_as_many(seats: int) -> None:
    """A lot is a number that stands for a pair of seats. Each ordered pair of n seats has the same number of lots. The
    number of all lots is a multiple of n(n-1), and any n(n-1) successive lots contain every pair once."""
    pairs = seats * (seats - 1)
    assert LOTS % pairs == 0
    occupied = range(1, seats + 1)
    for run in (0, LOTS - pairs):
        drawn = Counter(drawn_actives(occupied, lot) for lot in range(run, run + pairs))
        assert len(drawn) == pairs
        assert set(drawn.values()) == {1}


def _chi_square(draw: Callable[[], int], seats: int = 7) -> float:
    """Draw many pairs of seats, and return the chi-square of their counts, which says how far the counts are from
    equal. Its mean for a fair lot is n(n-1) - 1, which is 41 for 7 seats."""
    pairs = seats * (seats - 1)
    counts = Counter(drawn_actives(range(1, seats + 1), draw()) for _ in range(_DRAWS))
    mean = _DRAWS / pairs
    return sum((count - mean) ** 2 for count in counts.values()) / mean + (pairs - len(counts)) * mean


_ONE_IN_A_BILLION = 122.0
"""Above this lies the chi-square of 41 degrees of freedom once in 10**9 samples."""


def test_a_large_sample_of_the_operating_systems_chance_prefers_no_pair() -> None:
    """Lots drawn with the operating system's random numbers choose every pair of seats about equally often, in a large
    sample. The table draws its lots in the same way: `random.SystemRandom().randrange(LOTS)`."""
    assert _chi_square(lambda: random.SystemRandom().randrange(LOTS)) < _ONE_IN_A_BILLION


@pytest.mark.parametrize(
    "draw",
    [
        lambda: random.Random().randrange(64),  # one byte of chance, cut to size
        lambda: random.SystemRandom().randrange(LOTS) & ~3,
        lambda: min(random.SystemRandom().randrange(LOTS), LOTS // 2),
    ],
    ids=["too few lots", "even lots", "half of the lots"],
)
def test_a_lot_that_prefers_some_pairs_is_found(draw: Callable[[], int]) -> None:
    assert _chi_square(draw) > _ONE_IN_A_BILLION
