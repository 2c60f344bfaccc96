"""Checks which of two pits leads the ledger in PostgreSQL, for every order of their statements. `make model` explores
larger worlds."""

from __future__ import annotations

import pytest

from tests.model.awards import explore
from tests.model.leadership import DEAD_END, DEFECTS, WORLDS, Spent, World, with_defect


def _broken(defect: int | None, most: Spent) -> str | None:
    of = with_defect(None if defect is None else DEFECTS[defect])
    return explore(World(of, most), 100_000, DEAD_END).broken


def test_a_frozen_leader_that_wakes_writes_nothing() -> None:
    assert _broken(None, Spent(over=1)) is None


@pytest.mark.parametrize("defect", [0, 3])
def test_a_planted_defect_of_who_leads_is_found(defect: int) -> None:
    assert _broken(defect, Spent(over=1)) is not None


@pytest.mark.proof
@pytest.mark.parametrize("most", WORLDS)
def test_all_holds_of_who_leads(most: Spent) -> None:
    assert _broken(None, most) is None


@pytest.mark.proof
@pytest.mark.parametrize("defect", range(len(DEFECTS)))
def test_every_planted_defect_of_who_leads_is_found(defect: int) -> None:
    assert any(_broken(defect, most) is not None for most in WORLDS)
