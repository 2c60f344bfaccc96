"""The clauses of the contract between table and pit: number and text, in the order and words of `asyncapi.json`."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct, convert

import controller.contract
from controller.contract.envelope import CONTRACT_VERSION

_DOCUMENT = Path(controller.contract.__file__).with_name("asyncapi.json")


class Clause(Struct, frozen=True):
    """One promise of the contract. `number` begins with P for a pit and with T for a table, and keeps its meaning from
    the first release of its version on. `text` says what the pit or the table does.

    `since` is the version of the contract that was the first to ask for the clause.
    """

    number: str
    text: str
    since: int


def clauses(of: str = "") -> tuple[Clause, ...]:
    """Return the clauses in the contract's order: all of them, or those whose number begins with `of` (P for a pit's
    clauses, T for a table's)."""
    listed = json.loads(_DOCUMENT.read_text("utf-8"))["x-clauses"]
    return tuple(each for each in convert(listed, list[Clause]) if each.number.startswith(of))


CONTRACT = f"version {CONTRACT_VERSION}"
"""The version of the contract to which the clauses belong."""
