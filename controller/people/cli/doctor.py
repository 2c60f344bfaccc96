"""`tablectl doctor`: check every part of a table's machine, and print a finding for each part."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from controller.basics.colours import painted
from controller.basics.errors import TableError
from controller.basics.waited import waited_for
from controller.contract.face.status import Status
from controller.people.care.doctor import examine
from controller.people.care.machine import Machine
from controller.people.care.row import Row, Verdict
from controller.people.cli.client import status_of
from controller.people.cli.files import default_table

_STYLES = {Verdict.FAULT: "red", Verdict.WARNING: "yellow"}


def doctor(table: Path | None, as_json: bool) -> int:
    """Check every part of this table's machine, and print the findings. Returns 1 if a check found a fault, else 0."""
    with waited_for("Looking at every part"):
        rows = [*examine_here(table)]
    if as_json:
        print(json.dumps([row.as_json() for row in rows], indent=2))
    else:
        print("\n".join(row_lines(rows)))
        many = Counter(row.verdict for row in rows)
        print(f"faults: {many[Verdict.FAULT]}, warnings: {many[Verdict.WARNING]}, well: {many[Verdict.OK]}")
    return int(any(row.verdict is Verdict.FAULT for row in rows))


def examine_here(table: Path | None) -> Iterable[Row]:
    """Check every part of this table's machine, and return one row of findings for each part. `table` is the path of
    the table's file; None means the default table's file."""
    answer: Status | TableError | None = None
    try:
        table = table or default_table("doctor")
        answer = status_of(table)
    except TableError as error:
        answer = None if table is None or error.code == "config_invalid" else error
    return examine(Machine(), table, answer)


def row_lines(rows: Iterable[Row]) -> Iterable[str]:
    """Yield the findings of a machine check as lines for a terminal. If a person must do something about a finding, the
    line after it says what."""
    for row in rows:
        verdict = row.verdict.value
        if row.verdict in _STYLES:
            verdict = painted(verdict.upper(), _STYLES[row.verdict], sys.stdout)
        code = f" ({row.code})" if row.verdict in _STYLES else ""
        pad = " " * (8 - len(row.verdict.value))
        yield f"{verdict}{pad}{row.part}: {row.says}{code}"
        if row.do:
            yield f"        what to do: {row.do}"
