"""Many numbers packed into one big integer, each in a field of its own, so that one addition or multiplication works on
all of them.

A sum may pass through fields below zero, as long as no field is below zero at its end. A number that may be negative is
therefore shifted first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import unpack

FIELD_BYTES = 8


def packed(numbers: Iterable[int]) -> int:
    """Return the numbers packed into one integer, with the first number in the lowest field."""
    return sum(number << 8 * FIELD_BYTES * place for place, number in enumerate(numbers))


def unpacked(of: int, many: int) -> Sequence[int]:
    """Return the `many` numbers that `packed` put into one integer."""
    return unpack(f"<{many}Q", of.to_bytes(many * FIELD_BYTES, "little"))
