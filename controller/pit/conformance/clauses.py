"""The clauses of the contract: number and text, as `asyncapi.json` has them, in its order."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct, convert

import controller.contract
from controller.contract.envelope import CONTRACT_VERSION

_DOCUMENT = Path(controller.contract.__file__).with_name("asyncapi.json")


class Clause(Struct, frozen=True):
    """One promise. `number` keeps its meaning from the first release of its version on: P… is a pit's, T… a table's.
    `text` says what that side does.

    `since` is the version of the contract that first asks it.
    """

    number: str
    text: str
    since: int


def clauses(of: str = "") -> tuple[Clause, ...]:
    """Every clause in the contract's order; with `of`, those whose number begins so: P of a pit, T of a table."""
    listed = json.loads(_DOCUMENT.read_text("utf-8"))["x-clauses"]
    return tuple(each for each in convert(listed, list[Clause]) if each.number.startswith(of))


CONTRACT = f"version {CONTRACT_VERSION}"
"""The version of the contract to which the clauses belong."""
