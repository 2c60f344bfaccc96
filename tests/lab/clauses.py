"""Reads `clauses.toml`: the clauses of public regulations, and the tests that show that the program meets them.

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
    """The extent to which the program does what a clause asks."""

    MET = "met"
    PART = "part"
    LACKING = "lacking"
    HARDWARE = "hardware"
    HOUSE = "house"


class Read(Enum):
    """The extent to which the authors know the text of a clause."""

    TEXT = "text"
    CONTENTS = "contents"
    KNOWN = "known"


class Clause(Struct, frozen=True, forbid_unknown_fields=True):
    """One clause of a regulation. `tests` are names of tests (`pit/test_slips.py::test_…`), or of files of tests below
    `tests`."""

    number: int
    source: str
    read: Read
    asks: str
    verdict: Verdict
    missing: str = ""
    tests: tuple[str, ...] = ()


def clauses() -> tuple[Clause, ...]:
    """Return all clauses, by number."""
    return convert(tomllib.loads(TABLE.read_text("utf-8"))["clause"], tuple[Clause, ...])


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark each test that a clause names with the clause's number."""
    of: dict[str, list[int]] = {}
    for clause in clauses():
        for name in clause.tests:
            of.setdefault(name, []).append(clause.number)
    for item in items:
        file, _, test = item.nodeid.removeprefix("tests/").partition("::")
        for number in (*of.get(file, ()), *of.get(f"{file}::{test.partition('[')[0]}", ())):
            item.add_marker(pytest.mark.clause(number=number))
