"""Packs many numbers into one big integer, each in a field of 8 bytes, so that one addition or multiplication works on
all of them.

During a sum a field may become negative, as long as no field is negative at the end. If a number may be negative at the
end, the caller first adds a constant to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import unpack

FIELD_BYTES = 8


def packed(numbers: Iterable[int]) -> int:
    """Return the numbers packed into one integer, with the first number in the lowest field."""
    return sum(number << 8 * FIELD_BYTES * place for place, number in enumerate(numbers))


def unpacked(of: int, many: int) -> Sequence[int]:
    """Return the `many` numbers that `packed` put into the integer `of`."""
    return unpack(f"<{many}Q", of.to_bytes(many * FIELD_BYTES, "little"))
