"""The types of a round's record. The record tells how a finished round went, step by step, as the table's journal has
it. `controller/daemon/round_record.py` makes the record."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.contract.face.table import PublicHand, PublicWager


class RowTold(msgspec.Struct, frozen=True, kw_only=True):
    """A journal row in a form for people: its time, where its fact came from, the fact in words, and the events that
    the table made from the fact."""

    row: int
    at: str
    """When the fact came: RFC 3339 in UTC, to the millisecond."""

    clock_set: bool
    """Whether the network had set the clock by which that is."""

    via: str
    """Where the fact came from."""

    fact: str
    """The fact in words."""

    events: tuple[dict[str, Any], ...]
    """The events that the fact made, as the contract has them."""


class Step(RowTold, frozen=True, kw_only=True, omit_defaults=True):
    """A row of the journal that belongs to the round, and the state of the table after that row."""

    failed: bool
    """Whether the program failed on this row."""

    frame: str | None
    """The shoe's own bytes in hex; None where the fact came without, or tells a card that nobody saw."""

    again: str | None
    """What those bytes read today."""

    hands: tuple[PublicHand, ...]
    then: str
    """What the table waited for afterwards."""

    lamps: dict[str, str]
    wagers: tuple[PublicWager, ...] | None = None
    """The wagers that lay, at the first step alone."""


class RoundRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one finished round: its journal rows, the events that the table made from them, and the round's
    corrections."""

    round: str
    """The shoe and the round: "3/12"."""

    table: str
    game: str
    epoch: str
    key: str
    """The fingerprint of the key that signed the events."""

    rows: tuple[int, int]
    """The first row and the last."""

    chain: tuple[str, str]
    """The chain's head before each of these rows."""

    events: tuple[int, int]
    """The first event and the last, by number."""

    acked_seq: int
    steps: tuple[Step, ...]
    corrections: tuple[RowTold, ...]
