"""Checks that head office computes the closing of a meter anew, and finds a house that moved the closed meter's money
to a wrong place."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.pit.head_office.audit import House, audit
from tests.head_office.evenings import Lines, pits_ledger
from tests.head_office.test_lying_houses import lied, lines_of
from tests.pit.evening import TableEvening
from tests.pit.test_meters import give


def house(path: Path, into: str | None) -> Lines:
    """Return the log of a house in which three things happened in turn: the meter "big" was closed, a wager from before
    the closing was voided, and the meter "small" was won. The money of "big" went to the meter `into`, or to the
    house's reserve if `into` is None."""
    with closing(pits_ledger(path)) as ledger:
        table = TableEvening("t-0")
        give(ledger, table, table.lock(1, 2), table.finish(), table.lock(3), table.finish())
        with ledger.closing_meters() as closings:
            closings.close("big", into, "ann", "bob", "F-17", "the game ends")
        table.meters, table.round = ["small"], 1
        ledger.watch_voids(100)
        give(ledger, table, table.void(2))
        table.round = 2
        give(ledger, table, table.lock(1), table.finish((1, "x")), table.hit(1, "x", "small"))
        if into is None:
            with ledger.closing_meters() as closings:
                closings.move_reserve("small", "ann", "bob", "F-18", "to the players")
    return lines_of(path)


def audited(lines: Lines, folder: Path) -> House:
    (folder / "log").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return audit("north", [folder / "log"], None)


@pytest.mark.parametrize("into", ["small", None])
def test_a_true_closing_has_no_finding_and_head_office_is_told(tmp_path: Path, into: str | None) -> None:
    told = audited(house(tmp_path / "house", into), tmp_path)
    assert told.findings == []
    assert told.alarms[0] == (
        f"big was closed: 17.14 moved to {into or 'the house reserve'} (ann and bob: the game ends, document F-17)"
    )
    assert len(told.alarms) == (1 if into else 2)


LIES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "less moved": (lambda said: _closing(said).update(cents=1_000), "big was closed with 17.14, played again; the pit"),
    "moved to nowhere": (lambda said: _closing(said).update(into="mine"), "mine was not open by then"),
    "kept by the house": (lambda said: _closing(said).update(into=None), "the house's reserve is 17.14, played again"),
    "one person alone": (lambda said: _closing(said).update(witness=None), "was one person's, and takes two"),
    "never closed": (lambda said: said["decisions"].remove(_closing(said)), "big: the level is"),
    "a smaller meter": (lambda said: said["meters"][1].update(level_cents=0), "small: the level is"),
}


def _closing(said: dict[str, Any]) -> dict[str, Any]:
    (found,) = [each for each in said["decisions"] if "closed" in each]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", LIES)
def test_a_house_that_lies_of_a_closing_is_found(tmp_path: Path, name: str) -> None:
    lie, finding = LIES[name]
    findings = audited(lied(house(tmp_path / "house", "small"), lie), tmp_path).findings
    assert any(finding in each for each in findings), findings
