"""Every interleaving of a small world around the delivery guarantee. `make model` explores larger ones."""

from __future__ import annotations

import pytest

from tests.model.defects import DEFECTS, KILLED, QUIET, Defect, with_defect
from tests.model.explore import DEAD_END, explore
from tests.model.world import Bounds


def test_all_holds_in_the_smallest_world() -> None:
    found = explore(with_defect(None), Bounds(1, 1, 0))
    assert found.broken is None, found.way
    assert found.states > 100


@pytest.mark.parametrize("defect", [DEFECTS[0], DEFECTS[9], DEFECTS[12]])
def test_a_planted_defect_is_found(defect: Defect) -> None:
    assert explore(with_defect(defect), defect.world).broken is not None


@pytest.mark.proof
@pytest.mark.parametrize("defect", DEFECTS)
def test_every_planted_defect_is_found(defect: Defect) -> None:
    assert explore(with_defect(defect), defect.world).broken is not None


def test_a_journal_that_lost_its_last_event_alone_and_was_started_again_is_not_noticed() -> None:
    """The known limit: an event's chain value covers the events before it, and not the event itself."""
    found = explore(with_defect(None), KILLED._replace(events=1, restores=1))
    assert found.broken == "nothing counts as acknowledged that the pit never committed"
    assert "the table's journal is a copy of event 0" in found.way
    assert QUIET.restores == 0


def test_a_table_that_asks_waits_for_a_pit_whose_clock_went_back() -> None:
    """The other known limit: the contract forbids it, and the table's standing tells people `clock_behind`."""
    found = explore(with_defect(None), Bounds(1, 0, 0, 1))
    assert found.broken == DEAD_END
    assert "the pit's clock is set back" in found.way
