"""What a message from the pit may hold at most: its schemas' bounds, held by whoever stores or adds what it says."""

from __future__ import annotations

import re

MOST_SEQ = 2**63 - 1
"""No stream is longer: SQLite counts no further."""

MOST_CENTS = 10**12
"""No amount of money is larger."""

MOST_METERS = 100
"""No house runs more."""

NAME = re.compile(r"[a-z0-9_]{1,60}")
"""A tier's or a meter's name."""


def is_count(value: object, least: int, most: int) -> bool:
    """Whether it is a whole number in these bounds; true and false are none."""
    return type(value) is int and least <= value <= most
