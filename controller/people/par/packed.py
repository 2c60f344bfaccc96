"""Several numbers in one, a field each: they are added and multiplied in one step.

A sum may pass through fields below zero, as long as it ends with none: so a number that may be negative is shifted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import unpack

FIELD_BYTES = 8


def packed(numbers: Iterable[int]) -> int:
    """The numbers in one, the first in the lowest field."""
    return sum(number << 8 * FIELD_BYTES * place for place, number in enumerate(numbers))


def unpacked(of: int, many: int) -> Sequence[int]:
    """So many numbers of one that `packed` made."""
    return unpack(f"<{many}Q", of.to_bytes(many * FIELD_BYTES, "little"))
