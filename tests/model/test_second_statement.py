"""Checks that the product's delivery to the pit and a second model, for the program SPIN, reach the same states. `make
model` prints how many."""

from __future__ import annotations

import pytest

from tests.model import second
from tests.model.defects import with_defect
from tests.model.explore import explore
from tests.model.world import Bounds

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not second.installed(), reason="nothing explores it: apt-get install -y spin gcc libc6-dev"),
]


def _ours(world: Bounds) -> set[int]:
    states: set[int] = set()
    found = explore(with_defect(None), world, tell=lambda state: states.add(second.projected(state)))
    assert found.broken is None, found.way
    return states


@pytest.mark.parametrize("world", second.WORLDS)
def test_both_statements_reach_the_same_states(world: Bounds) -> None:
    assert second.reached(world) == _ours(world)


def test_each_change_of_the_second_statement_shows() -> None:
    small = (Bounds(2, 0, 0), Bounds(1, 1, 1))
    ours = [_ours(world) for world in small]
    for was, becomes in second.DEFECTS:
        assert second.STATEMENT.count(was) == 1, was
        changed = second.STATEMENT.replace(was, becomes)
        assert any(_differs(world, changed, states) for world, states in zip(small, ours, strict=True)), becomes


def _differs(world: Bounds, changed: str, ours: set[int]) -> bool:
    """Return True if the changed SPIN model reaches other states than `ours`, which the product reaches, or breaks one
    of its own rules. `changed` is that model's source."""
    try:
        return second.reached(world, changed) != ours
    except RuntimeError:
        return True
