"""Checks every order of steps in a small model of a table's delivery to its pit. `make model` explores larger
worlds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.model import award_defects, leadership
from tests.model.defects import DEFECTS, Defect, with_defect
from tests.model.explore import DEAD_END, WORLDS, explore
from tests.model.world import Bounds


def test_all_holds_in_the_smallest_world() -> None:
    found = explore(with_defect(None), Bounds(1, 1, 0))
    assert found.broken is None, found.way
    assert found.states > 100


@pytest.mark.parametrize("defect", [DEFECTS[0], DEFECTS[12]])
def test_a_planted_defect_is_found(defect: Defect) -> None:
    assert explore(with_defect(defect), defect.world).broken is not None


@pytest.mark.proof
@pytest.mark.parametrize("world", WORLDS)
def test_all_holds_in_larger_worlds(world: Bounds, figure: Callable[[str], None]) -> None:
    found = explore(with_defect(None), world)
    assert found.broken is None, found.way
    figure(f"{world}: {found.states:,} states, {found.depth} deep")


@pytest.mark.proof
@pytest.mark.parametrize("defect", DEFECTS)
def test_every_planted_defect_is_found(defect: Defect) -> None:
    assert explore(with_defect(defect), defect.world).broken is not None


def test_the_documents_count_the_planted_defects() -> None:
    root, of_awards = Path(__file__).resolve().parents[2], len(award_defects.DEFECTS)
    promises = (root / "docs/promises.md").read_text("utf-8")
    assert f"finds each of {len(DEFECTS)} planted defects" in promises
    assert f"with {of_awards} planted defects" in promises
    every = len(DEFECTS) + of_awards + len(leadership.DEFECTS)
    assert f"and {every} planted defects" in (root / "Makefile").read_text("utf-8")


ONE_RESTORED = Bounds(1, 1, 0, 0, 1)


@pytest.mark.proof
def test_a_journal_that_lost_its_last_event_alone_is_noticed() -> None:
    assert explore(with_defect(None), ONE_RESTORED).broken is None


def test_without_a_row_for_each_start_the_loss_of_the_last_event_alone_is_not_noticed() -> None:
    """If each start of a table did not write a row to its journal, the pit could not notice that the journal lost its
    last event. An event's chain value covers only the rows before it. So a new event in the place of the lost one would
    have the same value."""
    found = explore(with_defect(None), ONE_RESTORED, starts_noted=False)
    assert found.broken == "nothing counts as acknowledged that the pit never committed"
    assert "the table's journal is a copy of event 0" in found.way


@pytest.mark.proof
def test_a_pit_whose_clock_went_back_holds_up_nobody() -> None:
    assert explore(with_defect(None), Bounds(1, 0, 0, 1)).broken is None


@pytest.mark.proof
def test_a_pit_that_lost_its_ledger_and_its_time_is_heard_again_once_its_clock_has_caught_up() -> None:
    """If a pit has lost events and its clock was set back, a table does not believe the pit until the clock has caught
    up. This limit is known: the contract forbids that the times of a pit's messages go back. Meanwhile the table's
    status says `clock_behind`."""
    found = explore(with_defect(None), Bounds(1, 0, 1, 1))
    assert found.broken == DEAD_END
    assert {"the pit's clock is set back", "the pit's ledger is a copy of event 0"} <= {*found.way}
