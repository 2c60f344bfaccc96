"""Walks through the small world are walks of the contract's rules, and those of a planted defect are not."""

from __future__ import annotations

import random

import pytest

from tests.model.defects import DEFECTS, Defect, with_defect
from tests.model.walk import NotAWalkError, Note, Walk, noted
from tests.model.world import Bounds, BrokenError, World

_STEPS = 60
_BOUNDS = Bounds(events=4, kills=1, goes_back=1, refusals=1)
_HOLDS_UP = ("range(first, last)", "self._resend", "self._window = 0", "window=0)")
"""What these defects do is too little, and no step is wrong: `make model` finds the dead end."""


def _walked(defect: Defect | None, walks: int) -> int:
    """Walk at random so often. Returns how many steps were taken. Raises NotAWalkError or BrokenError."""
    of = with_defect(defect)
    notes: dict[int, list[Note]] = {}  # by the table of each way that a step can go
    noted(of.Delivery, lambda table, note: notes.setdefault(id(table), []).append(note))
    luck, taken = random.Random(30), 0
    for _ in range(walks):
        world, walk = World(of, _BOUNDS), Walk(window=2)
        notes.clear()
        state = world.begin()
        for _ in range(_STEPS):
            for note in notes.get(id(state.delivery), ()):
                walk.take(note)
            notes.clear()
            state = luck.choice([after for _, _, after in world.steps(state)])
            taken += 1
    return taken


def test_walks_through_the_small_world_follow_the_rules_of_the_contract() -> None:
    assert _walked(None, 20) == 20 * _STEPS


def test_walks_of_a_delivery_with_a_planted_defect_do_not() -> None:
    for defect in DEFECTS:
        if not defect.becomes.endswith(_HOLDS_UP):
            with pytest.raises((NotAWalkError, BrokenError)):
                _walked(defect, 40)
