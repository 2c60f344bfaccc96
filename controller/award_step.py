"""A step of an award, as the pit says it on the table's `award` topic (`contract/schemas/award.schema.json`)."""

from __future__ import annotations

import json
from dataclasses import dataclass

STEPS = ("pending", "verified", "paid", "rejected")


@dataclass(frozen=True, slots=True)
class AwardStep:
    """One step: `hit` is the id of the hit's event, whose three parts are `table`, `epoch` and `hit_seq`."""

    seq: int
    award: str
    hit: str
    table: str
    epoch: str
    hit_seq: int
    seat: int
    tier: str
    meter: str | None
    cents: int
    step: str
    by: str


def parse_award(payload: bytes) -> AwardStep | None:
    """The step in a payload; None when it holds none."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    match value:
        case {
            "seq": int(seq),
            "award": str(award),
            "hit": str(hit),
            "table": str(table),
            "seat": int(seat),
            "tier": str(tier),
            "meter": str() | None as meter,
            "cents": int(cents),
            "step": str(step),
            "by": str(by),
        } if (
            type(seq) is type(seat) is type(cents) is int
            and seq >= 1
            and cents >= 0
            and step in STEPS
            and by.isprintable()
            and by.strip()
            and (parts := hit.split("/"))[:1] == [table]
            and len(parts) == 3
            and parts[2].isascii()
            and parts[2].isdecimal()
            and len(parts[2]) <= 18
        ):
            return AwardStep(seq, award, hit, table, parts[1], int(parts[2]), seat, tier, meter, cents, step, by)
        case _:
            return None
