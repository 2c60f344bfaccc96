"""Checks that random sequences of steps through each small model world follow the contract's rules of delivery. With a
defect planted in the code, some sequence must break a rule."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.model.defects import DEFECTS, Defect, with_defect
from tests.model.explore import WORLDS
from tests.model.walk import NotAWalkError, Note, Walk, noted
from tests.model.world import Bounds, BrokenError, World

_STEPS = 60
_ALL_AT_ONCE = Bounds(4, 2, 2, 1, 2, 2)
_MISFORTUNES = ("is killed", "ledger is a copy", "clock is set back", "journal is a copy", "refuses")
"""What the steps' names have of each misfortune, in the order of `Bounds`."""
_HOLDS_UP = ("range(first, last)", "self._resend", "self._window = 0", "window=0)")
"""What these defects do is too little, and no step is wrong: `make model` finds the dead end."""


def _walked(defect: Defect | None, walks: int, bounds: Bounds) -> Counter[str]:
    """Make `walks` random sequences of steps through a model world. Returns how often each step was taken. Raises
    NotAWalkError or BrokenError if a rule is broken."""
    of = with_defect(defect)
    notes: dict[int, list[Note]] = {}  # by the table of each way that a step can go
    noted(of.Delivery, lambda table, note: notes.setdefault(id(table), []).append(note))
    luck, taken = random.Random(30), Counter[str]()
    for _ in range(walks):
        world, walk = World(of, bounds), Walk(window=2)
        notes.clear()
        state = world.begin()
        for _ in range(_STEPS):
            for note in notes.get(id(state.delivery), ()):
                walk.take(note)
            notes.clear()
            spent = state.spent
            step, _, state = luck.choice([*world.steps(state)])
            if state.spent.restores > spent.restores:
                walk.restored()
            taken[step] += 1
    return taken


@pytest.mark.parametrize("bounds", [*WORLDS, _ALL_AT_ONCE], ids=str)
def test_walks_through_each_world_follow_the_rules_of_the_contract(bounds: Bounds) -> None:
    taken = _walked(None, 100, bounds)
    assert taken.total() == 100 * _STEPS
    for name, most in zip(_MISFORTUNES, bounds[1:], strict=True):
        assert any(name in step for step in taken) == bool(most), f"{name}: {most}"


def test_a_journal_that_has_less_than_before_is_no_walk_where_nobody_restored_it() -> None:
    walk = Walk()
    walk.take(Note("started", (0, 2), "OFFLINE", 0))
    with pytest.raises(NotAWalkError):
        walk.take(Note("started", (0, 1), "OFFLINE", 0))
    walk.restored()
    walk.take(Note("started", (0, 1), "OFFLINE", 0))


def test_walks_of_a_delivery_with_a_planted_defect_do_not() -> None:
    for defect in DEFECTS:
        if not defect.becomes.endswith(_HOLDS_UP):
            with pytest.raises((NotAWalkError, BrokenError)):
                _walked(defect, 200, _ALL_AT_ONCE)
