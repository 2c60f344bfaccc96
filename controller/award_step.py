"""A step of an award, as the pit says it on the table's `award` topic (`contract/schemas/award.schema.json`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from controller.contract.bounds import MOST_CENTS, MOST_SEQ, NAME, is_count

STEPS = ("pending", "verified", "paid", "rejected")

_AWARD = re.compile(r"[a-z0-9-]{1,100}[.][1-9][0-9]{0,17}")
_HIT = re.compile(r"([a-z0-9-]+)/([a-z0-9]+)/([1-9][0-9]{0,17})")
_LONGEST_NAME_OF_A_PERSON = 200


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
            "seq": seq,
            "award": str(award),
            "hit": str(hit),
            "table": str(table),
            "seat": seat,
            "tier": str(tier),
            "meter": str() | None as meter,
            "cents": cents,
            "step": str(step),
            "by": str(by),
        } if (
            is_count(seq, 1, MOST_SEQ)
            and is_count(seat, 1, 99)
            and is_count(cents, 0, MOST_CENTS)
            and step in STEPS
            and _AWARD.fullmatch(award)
            and NAME.fullmatch(tier)
            and (meter is None or NAME.fullmatch(meter))
            and by.isprintable()
            and by.strip()
            and len(by) <= _LONGEST_NAME_OF_A_PERSON
            and (parts := _HIT.fullmatch(hit)) is not None
            and parts[1] == table
        ):
            return AwardStep(seq, award, hit, table, parts[2], int(parts[3]), seat, tier, meter, cents, step, by)
        case _:
            return None
