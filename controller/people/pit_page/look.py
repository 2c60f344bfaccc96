"""What one look at the pit finds, from the ledger and from the broker. Page and metrics show nothing else."""

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
    """The account, and when it was drawn up, in ms since 1970."""

    account: Account
    at_ms: int


class Look(Struct, frozen=True):
    """What is known of the pit at `now_ms` (ms since 1970).

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
    """A code in a table's state; None where there is none. A text that is no code is never shown: see _CODE."""
    value = state.get(key)
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None


def count_in(state: dict[str, Any], key: str) -> int | None:
    """A number in a table's state; None where there is none."""
    value = state.get(key)
    return value if is_count(value, 0, MOST_SEQ) else None


def ms_in(state: dict[str, Any], key: str) -> int | None:
    """A time in a table's state, in ms since 1970; None where there is none."""
    value = state.get(key)
    return moment_ms(value) if isinstance(value, str) else None
