"""Plays a whole simulated house with many seeds, and checks that its promises hold, whatever people, machines and links
do."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from tests.simulation.people import People
from tests.simulation.run import Failure, Record, play_again, play_seed, smallest
from tests.simulation.world import Action, Happening, World
from tests.support import samples

FEW, MANY, AT_ONCE = 1, 301, 75

_CRASHES = {"kill", "lose_power", "cut_at_commit", "cut_at_publish", "crash_in_copies"}  # of a table
_BREAKS = {"weather", "broker", "drop", "cable"}  # of the links


def _first_failure(seeds: range, record: Record | None = None) -> Failure | None:
    return next(filter(None, (play_seed(seed, record=record) for seed in seeds)), None)


@pytest.mark.long
def test_whatever_happens_what_is_promised_holds() -> None:
    failure = _first_failure(range(FEW))
    assert failure is None, f"\n{smallest(failure)}"


@pytest.mark.proof
@pytest.mark.parametrize("first", range(FEW, MANY, AT_ONCE))
def test_many_seeds(first: int, figure: Callable[[str], None]) -> None:
    seeds, record = range(first, first + AT_ONCE), Record()
    failure = _first_failure(seeds, record)
    assert failure is None, f"\n{smallest(failure)}"
    actions, happened = record.actions, record.happened
    crashes = sum(action.name in _CRASHES for action in actions)
    pit_crashes = sum(action.name == "pit" and action.args == ("crash",) for action in actions)
    breaks = sum(action.name in _BREAKS for action in actions)
    disks = sum(action.name == "disk" for action in actions)
    assert crashes
    assert pit_crashes
    assert breaks
    assert disks
    assert happened.keys() >= set(get_args(Happening)), happened
    figure(
        f"{len(seeds)} seeds, {len(actions):,} actions, among them {crashes} crashes of a table and {pit_crashes} of "
        f"the pit, {breaks} troubles of the links and {disks} of the disks; "
        f"times each: {', '.join(f'{what} {happened[what]}' for what in sorted(happened))}; "
        "every promise held after each action"
    )


def test_the_same_seed_takes_the_same_course() -> None:
    def course(seed: int) -> list[bytes]:
        with World(seed) as world:
            people = People(seed)
            for _ in range(150 if samples.at_length else 60):
                world.do(people.next(world))
            bodies = [body for table in world.tables for body in table.auditor.bodies]
            return [body[: body.index(b'"chain"')] for body in bodies]  # what follows is salted

    assert course(3) == course(3)


def test_an_untrue_pit_is_found_and_made_small() -> None:
    """The simulation finds the defect if a pit's ledger has an event that no table sent. Its report of the failure is
    shortened to the actions that cause it."""
    actions = [Action("wait"), Action("wagers", (1, 2)), Action("untrue_pit"), Action("wait")]
    failure = play_again(1, actions)
    assert failure is not None
    assert failure.invariant == "the pit knows nothing the journal does not"
    small = smallest(failure)
    assert [action.name for action in small.actions] == ["untrue_pit"]
    assert "python -m tests.simulation --seed 1" in str(small)
