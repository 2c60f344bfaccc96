"""The types of the state that a table has retained at the broker. `contract/schemas` has its JSON schema, and
`contract/state.py` makes its bytes."""

from __future__ import annotations

import msgspec


class Links(msgspec.Struct, frozen=True):
    """Which of the table's links work: to the shoe, and to the journal on the disk."""

    shoe: bool
    journal: bool
    """False where the journal's disk cannot be written."""


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the retained state that describes the table itself, and not its link to the pit."""

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
    """The state that the broker retains for a connected table."""

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
    """Whether a table is connected, and the number of its program's run. This is the whole state of a disconnected
    table."""

    online: bool
    table: str
    epoch: str
    boot: int
    contract: int
