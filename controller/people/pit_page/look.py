"""A look at the pit: everything that the page and the metrics know at one moment, from the ledger and from the broker.
Page and metrics show nothing else."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.bounds import MOST_SEQ, is_count
from controller.contract.pit_words import moment_ms
from controller.people.pit_page.subscriber import HeardState
from controller.pit.reference.account import Account
from controller.pit.reference.standing import Standing

_CODE = re.compile(r"[a-z0-9_]{1,60}")


class DrawnUp(Struct, frozen=True):
    """The pit's account (meters, awards owed and paid), with the time at which it was drawn up, in ms since 1970."""

    account: Account
    at_ms: int


class Look(Struct, frozen=True):
    """Everything that is known of the pit at `now_ms` (ms since 1970).

    `ledger_error` is None while the ledger can be read, and `broker_error` while the broker is connected. Otherwise the
    other fields have what was read last.
    """

    now_ms: int
    standing: Standing | None
    ledger_error: TableError | None
    account: DrawnUp | None
    states: dict[str, HeardState]
    broker_error: str | None
    pit_heard_ms: int | None


def code_in(state: dict[str, Any], key: str) -> str | None:
    """Return the code that a table's state has under `key`; None where there is none. A text that does not look like a
    code (see _CODE) is never shown."""
    value = state.get(key)
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None


def count_in(state: dict[str, Any], key: str) -> int | None:
    """Return the number that a table's state has under `key`; None where there is none."""
    value = state.get(key)
    return value if is_count(value, 0, MOST_SEQ) else None


def ms_in(state: dict[str, Any], key: str) -> int | None:
    """Return the time that a table's state has under `key`, in ms since 1970; None where there is none."""
    value = state.get(key)
    return moment_ms(value) if isinstance(value, str) else None
