"""The clauses (the numbered rules) of the contract between table and pit, with their numbers and texts, read from
`asyncapi.json`."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct, convert

import controller.contract
from controller.contract.envelope import CONTRACT_VERSION

_DOCUMENT = Path(controller.contract.__file__).with_name("asyncapi.json")


class Clause(Struct, frozen=True):
    """One numbered rule of the contract between table and pit.

    `number` begins with P for a rule that a pit must keep, and with T for a rule that a table must keep. A number keeps
    its meaning once the version of the contract that contains it is released. `text` says what the pit or the table
    does. `since` is the first version of the contract that has the clause.
    """

    number: str
    text: str
    since: int


def clauses(of: str = "") -> tuple[Clause, ...]:
    """Return the clauses of the contract, in the contract's order. With `of`, return only the clauses whose number
    begins with `of`: "P" for a pit's clauses, "T" for a table's."""
    listed = json.loads(_DOCUMENT.read_text("utf-8"))["x-clauses"]
    return tuple(each for each in convert(listed, list[Clause]) if each.number.startswith(of))


CONTRACT = f"version {CONTRACT_VERSION}"
"""The version of the contract to which the clauses belong."""
