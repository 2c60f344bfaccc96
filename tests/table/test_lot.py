"""The lot that draws Baccarat Royal's two active seats prefers no pair of seats: exactly, and in a large sample."""

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
    """A pair has one lot of each run of n(n-1) successive lots, and all lots are whole runs."""
    pairs = seats * (seats - 1)
    assert LOTS % pairs == 0
    occupied = range(1, seats + 1)
    for run in (0, LOTS - pairs):
        drawn = Counter(drawn_actives(occupied, lot) for lot in range(run, run + pairs))
        assert len(drawn) == pairs
        assert set(drawn.values()) == {1}


def _chi_square(draw: Callable[[], int], seats: int = 7) -> float:
    """How far the pairs of that many draws are from equal: in the mean n(n-1) - 1, here 41."""
    pairs = seats * (seats - 1)
    counts = Counter(drawn_actives(range(1, seats + 1), draw()) for _ in range(_DRAWS))
    mean = _DRAWS / pairs
    return sum((count - mean) ** 2 for count in counts.values()) / mean + (pairs - len(counts)) * mean


_ONE_IN_A_BILLION = 122.0
"""Above this lies the chi-square of 41 degrees of freedom once in 10**9 samples."""


def test_a_large_sample_of_the_operating_systems_chance_prefers_no_pair() -> None:
    """The table draws as this test does: `random.SystemRandom().randrange(LOTS)`."""
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
