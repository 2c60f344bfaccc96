"""The class `Look`: everything that the pit's page and its metrics know at one moment, read from the ledger and from
the broker. Page and metrics show nothing else."""

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
    """The pit's account (its meters, the awards owed and the awards paid) and the time at which it was computed, in ms
    since 1970."""

    account: Account
    at_ms: int


class Look(Struct, frozen=True):
    """Everything that the pit's page knows of the pit at the moment `now_ms` (ms since 1970).

    `ledger_error` is None if the ledger can be read, and `broker_error` is None if the broker is connected. If one of
    them is not None, the other fields hold what was read last.
    """

    now_ms: int
    standing: Standing | None
    ledger_error: TableError | None
    account: DrawnUp | None
    states: dict[str, HeardState]
    broker_error: str | None
    pit_heard_ms: int | None


def code_in(state: dict[str, Any], key: str) -> str | None:
    """Return the code under `key` in the state that a table published, or None if the value is missing or does not look
    like a code (lower-case letters, digits and underscores, at most 60)."""
    value = state.get(key)
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None


def count_in(state: dict[str, Any], key: str) -> int | None:
    """Return the number under `key` in the state that a table published, or None if the value is missing or is not a
    whole number in the allowed range."""
    value = state.get(key)
    return value if is_count(value, 0, MOST_SEQ) else None


def ms_in(state: dict[str, Any], key: str) -> int | None:
    """Return the time under `key` in the state that a table published, in ms since 1970, or None if the value is
    missing or is no time."""
    value = state.get(key)
    return moment_ms(value) if isinstance(value, str) else None
