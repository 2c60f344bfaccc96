"""Reads `clauses.toml`: the clauses of public regulations, and for each clause the tests that show that the program
meets it.

Each test that a clause names has the marker `clause`, so `pytest -m "clause(number=61)"` runs the tests of one clause.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import pytest
from msgspec import Struct, convert

TESTS = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("clauses.toml")


class Verdict(Enum):
    """How far the program fulfils a clause of a regulation: fully, in part, or not at all. Two more verdicts say that
    not the program has to fulfil the clause, but the hardware or the house."""

    MET = "met"
    PART = "part"
    LACKING = "lacking"
    HARDWARE = "hardware"
    HOUSE = "house"


class Read(Enum):
    """How well the authors know the wording of a clause of a regulation: they have read its text, they have read only
    its contents or opening, or they know it and have not read it again."""

    TEXT = "text"
    CONTENTS = "contents"
    KNOWN = "known"


class Clause(Struct, frozen=True, forbid_unknown_fields=True):
    """One clause of a regulation. `tests` names the tests that show that it is met: single tests
    (`pit/test_slips.py::test_…`), or whole files below the folder `tests`."""

    number: int
    source: str
    read: Read
    asks: str
    verdict: Verdict
    missing: str = ""
    tests: tuple[str, ...] = ()


def clauses() -> tuple[Clause, ...]:
    """Return all clauses of the regulations, in the order of `clauses.toml`."""
    return convert(tomllib.loads(TABLE.read_text("utf-8"))["clause"], tuple[Clause, ...])


def mark(items: Iterable[pytest.Item]) -> None:
    """Give each pytest test that a clause of a regulation names a marker with the clause's number."""
    of: dict[str, list[int]] = {}
    for clause in clauses():
        for name in clause.tests:
            of.setdefault(name, []).append(clause.number)
    for item in items:
        file, _, test = item.nodeid.removeprefix("tests/").partition("::")
        for number in (*of.get(file, ()), *of.get(f"{file}::{test.partition('[')[0]}", ())):
            item.add_marker(pytest.mark.clause(number=number))
