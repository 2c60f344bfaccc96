"""The table's retained state at the broker. The contract has its schema: `contract/schemas`, and `contract/state.py`
makes its bytes."""

from __future__ import annotations

import msgspec


class Links(msgspec.Struct, frozen=True):
    """Which links work."""

    shoe: bool
    journal: bool
    """False where the journal's disk cannot be written."""


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """What the table itself says in its state."""

    version: str
    program_digest: str
    config_digest: str
    digest: str
    public_key: str
    phase: str
    shoe: int | None
    round: int | None
    next_round: int | None
    fault: str | None
    links: Links
    meters: tuple[str, ...]
    """The meters that the game's bets feed."""


class State(TableState, frozen=True, kw_only=True):
    """The retained state of a connected table."""

    online: bool
    table: str
    epoch: str
    boot: int
    contract: int
    pit: str
    head_seq: int
    unacknowledged: int
    oldest_unacknowledged_at: str | None
    broker: str


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a table is connected, and with which run of its program. A table that is gone has no other state."""

    online: bool
    table: str
    epoch: str
    boot: int
    contract: int
