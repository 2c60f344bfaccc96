"""Every way of one award through the reference pit's ledger. `make model` explores a restored ledger as well."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.model.award_defects import DEFECTS, Defect, with_defect
from tests.model.awards import Found, World, explore, fresh


def _found(folder: Path, defect: Defect | None, restores: bool) -> Found:
    with closing(fresh(folder / "ledger")) as ledger:
        return explore(World(ledger, restores, with_defect(defect)))


def test_an_award_that_can_be_paid_again_is_found(tmp_path: Path) -> None:
    assert _found(tmp_path, DEFECTS[2], restores=False).broken is not None


@pytest.mark.proof
@pytest.mark.parametrize("restores", [False, True])
def test_all_holds_of_one_award(tmp_path: Path, restores: bool) -> None:
    found = _found(tmp_path, None, restores)
    assert found.broken is None, found.way


@pytest.mark.proof
@pytest.mark.parametrize("defect", DEFECTS)
def test_every_planted_defect_of_an_award_is_found(tmp_path: Path, defect: Defect) -> None:
    assert _found(tmp_path, defect, defect.restores).broken is not None
