"""What one look at the pit finds, from the ledger and from the broker. Page and metrics show nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from controller.contract.bounds import MOST_SEQ, is_count
from controller.contract.pit_words import moment_ms
from controller.errors import TableError
from controller.pit.account import Account
from controller.pit.standing import Standing
from controller.pit_page.hearing import HeardState

_CODE = re.compile(r"[a-z0-9_]{1,60}")


@dataclass(frozen=True, slots=True)
class DrawnUp:
    """The account as it was drawn up then, in ms since 1970."""

    account: Account
    at_ms: int


@dataclass(frozen=True, slots=True)
class Look:
    """All of it. `ledger_error` and `broker_error` are None while each is read; what was read last stays known."""

    now_ms: int
    standing: Standing | None
    ledger_error: TableError | None
    account: DrawnUp | None
    states: dict[str, HeardState]
    broker_error: str | None
    pit_heard_ms: int | None


def code_in(state: dict[str, Any], key: str) -> str | None:
    """A code that a table's state tells; None where it tells none. What is no code could be anybody's invention."""
    said = state.get(key)
    return said if isinstance(said, str) and _CODE.fullmatch(said) else None


def count_in(state: dict[str, Any], key: str) -> int | None:
    """A number that a table's state tells."""
    said = state.get(key)
    return said if is_count(said, 0, MOST_SEQ) else None


def ms_in(state: dict[str, Any], key: str) -> int | None:
    """A time that a table's state tells, in ms since 1970."""
    said = state.get(key)
    return moment_ms(said) if isinstance(said, str) else None
