"""Checks every way of one award through the reference pit's ledger. `make model` also explores a ledger that is
replaced by an older copy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.model.award_defects import DEFECTS, Defect, with_defect
from tests.model.awards import DEAD_END, PAID_TWICE, RULES, Found, World, explore, fresh


def _found(folder: Path, defect: Defect | None, restores: bool) -> Found:
    folder.mkdir(exist_ok=True)
    with closing(fresh(folder / "ledger")) as ledger:
        return explore(World(ledger, restores, with_defect(defect)))


def test_all_holds_of_one_award_without_an_older_copy(tmp_path: Path) -> None:
    found = _found(tmp_path, None, restores=False)
    assert found.broken is None, found.way
    assert found.states > 100


def test_planted_defects_break_each_rule_that_needs_no_older_copy(tmp_path: Path) -> None:
    defects = [defect for defect in DEFECTS if not defect.restores]
    broken = {_found(tmp_path / str(number), defect, False).broken for number, defect in enumerate(defects)}
    assert broken == {*RULES, DEAD_END} - {PAID_TWICE}


@pytest.mark.proof
def test_all_holds_of_one_award_with_an_older_copy(tmp_path: Path, figure: Callable[[str], None]) -> None:
    found = _found(tmp_path, None, restores=True)
    assert found.broken is None, found.way
    figure(f"one award, and a ledger that is restored: {found.states:,} states, {found.depth} deep")


@pytest.mark.proof
@pytest.mark.parametrize("defect", DEFECTS)
def test_every_planted_defect_of_an_award_is_found(tmp_path: Path, defect: Defect) -> None:
    assert _found(tmp_path, defect, defect.restores).broken is not None
