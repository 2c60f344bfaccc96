"""Checks that the simulation finds each defect that is planted in the program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.__main__ import SEEDS, hunt
from tests.mutants.defects import MUTANTS, Mutant

_ROOT = Path(__file__).parents[2]
_QUICK = "held_cards_dropped"


def test_every_mutant_fits_the_program_as_it_is() -> None:
    for mutant in MUTANTS:
        _fits_the_program(mutant)


def _fits_the_program(mutant: Mutant) -> None:
    for patch in mutant.patches:
        source = (_ROOT / f"{patch.module.replace('.', '/')}.py").read_text("utf-8")
        assert source.count(patch.old) == 1, patch
        ast.parse(source.replace(patch.old, patch.new))


def test_a_mutant_is_found_quickly() -> None:
    assert hunt(_QUICK, seeds=60).seed is not None


@pytest.mark.proof
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_found(mutant: Mutant, figure: Callable[[str], None]) -> None:
    found = hunt(mutant.name)
    assert found.seed is not None
    figure(f"{mutant.what}: found by seed {found.seed} of {SEEDS}: {found.invariant}")
