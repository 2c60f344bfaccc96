"""The types of the state that a table publishes, and that the MQTT broker retains. `contract/schemas` has the JSON
schema, and `contract/state.py` makes the bytes."""

from __future__ import annotations

import msgspec


class Links(msgspec.Struct, frozen=True):
    """Two facts about a table's own hardware: whether it is connected to its card shoe, and whether it can write its
    journal to the disk."""

    shoe: bool
    journal: bool
    """False where the journal's disk cannot be written."""


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a table's published state that describes the table itself: its program, key, phase, shoe, round and
    fault, its own links, and the meters of its game. Its link to the pit is not in it."""

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
    """The whole state that a connected table publishes, and that the MQTT broker retains."""

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
    """A message that says whether a table is connected, and the number of its program's run (`boot`). For a
    disconnected table, this is all that the broker retains."""

    online: bool
    table: str
    epoch: str
    boot: int
    contract: int
