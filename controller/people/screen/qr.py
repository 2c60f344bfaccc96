"""Makes a QR code (ISO/IEC 18004) from a text of up to 287 bytes. The result is an SVG path that any browser draws. The
code uses byte mode and correction level M.

In the tests, another project's program (`zbarimg`) reads the codes. One mask and versions 1 to 12 are enough for each
checkpoint that the contract allows, because a checkpoint has 278 bytes at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

_CORRECTION = (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22)
"""By version, from 1: how many bytes of correction a block has, at level M."""

_BLOCKS = (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8)
_BYTES = (26, 44, 70, 100, 134, 172, 196, 242, 292, 346, 404, 466)
_ALIGNED = (
    *((), (18,), (22,), (26,), (30,), (34,)),
    *((22, 38), (24, 42), (26, 46), (28, 50), (30, 54), (32, 58)),
)
_FORMAT = 0b101010000010010
"""Level M and mask 0, as its 15 bits stand in the code."""

_QUIET = 4  # light modules around the code


class Code(Struct, frozen=True):
    """A QR code as an SVG path. The path draws the dark modules (the small squares), each one unit wide, in a square of
    `size` units."""

    size: int
    path: str


def qr_code(text: str) -> Code | None:
    """Return the QR code of this text; None if the text is longer than 287 bytes."""
    data = text.encode()
    version = next((each for each in range(1, 13) if len(data) <= _room(each)), None)
    if version is None:
        return None
    size = 17 + 4 * version
    dark = _drawn(version, size)
    bits = _bits(_with_correction(version, data))
    for row, column in _places(size, dark):  # the last few places have no bit
        dark[row, column] = bool(next(bits, 0)) != ((row + column) % 2 == 0)
    rows = ("".join("01"[dark[y, x]] for x in range(size)) for y in range(size))
    runs = ((y, *run.span()) for y, row in enumerate(rows) for run in re.finditer("1+", row))
    path = "".join(f"M{_QUIET + x} {_QUIET + y}h{end - x}v1h{x - end}z" for y, x, end in runs)
    return Code(size + 2 * _QUIET, path)


def _room(version: int) -> int:
    """Return how many bytes of text fit into a QR code of this version. A header before the text takes up room too:
    four bits for the kind of content, and one or two bytes for the length of the text."""
    held = _BYTES[version - 1] - _BLOCKS[version - 1] * _CORRECTION[version - 1]
    return held - (2 if version < 10 else 3)


def _with_correction(version: int, data: bytes) -> list[int]:
    """Return the bytes in the order in which they are written into the QR code. First comes the data: the first byte of
    every block, the second byte of every block, and so on. The correction bytes follow in the same way."""
    count, more = _BLOCKS[version - 1], _CORRECTION[version - 1]
    length = len(data).to_bytes(1 if version < 10 else 2, "big")
    spelt = f"4{length.hex()}{data.hex()}0"
    held = _BYTES[version - 1] - count * more
    whole = bytes.fromhex(spelt) + bytes([0xEC, 0x11] * held)
    short, longer = divmod(held, count)
    sizes = [short] * (count - longer) + [short + 1] * longer
    blocks = [whole[sum(sizes[:at]) : sum(sizes[: at + 1])] for at in range(count)]
    return [
        byte
        for part in (blocks, [_remainder(block, more) for block in blocks])
        for bytes_ in zip_longest(*part)
        for byte in bytes_
        if byte is not None
    ]


def _remainder(block: Sequence[int], more: int) -> list[int]:
    """Return the `more` bytes of Reed-Solomon correction for a block. They are the remainder of its division by (x -
    1)(x - 2)(x - 4)... over GF(256)."""
    divisor, root = [0] * (more - 1) + [1], 1
    for _ in range(more):
        divisor = [_times(each, root) ^ after for each, after in zip(divisor, [*divisor[1:], 0], strict=True)]
        root = _times(root, 2)
    rest = [0] * more
    for byte in block:
        factor = byte ^ rest[0]
        rest = [each ^ _times(by, factor) for each, by in zip([*rest[1:], 0], divisor, strict=True)]
    return rest


def _times(one: int, other: int) -> int:
    product = 0
    for bit in range(7, -1, -1):
        product = product << 1 ^ (product >> 7) * 0x11D
        product ^= (other >> bit & 1) * one
    return product


def _bits(values: Sequence[int]) -> Iterator[int]:
    return (value >> bit & 1 for value in values for bit in range(7, -1, -1))


def _drawn(version: int, size: int) -> dict[tuple[int, int], bool]:
    """Return the modules (small squares) that are the same in every code of this version, by row and column: the
    patterns that show the code's position and size, the format with the mask, and the version. True stands for dark."""
    dark = {(6, at): at % 2 == 0 for at in range(size)} | {(at, 6): at % 2 == 0 for at in range(size)}
    for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
        for y in range(max(0, row - 4), min(size, row + 5)):
            for x in range(max(0, column - 4), min(size, column + 5)):
                dark[y, x] = max(abs(y - row), abs(x - column)) not in (2, 4)
    aligned = (6, *_ALIGNED[version - 1])
    corners = {(6, 6), (6, aligned[-1]), (aligned[-1], 6)}
    for row, column in ((y, x) for y in aligned for x in aligned if (y, x) not in corners and version > 1):
        for y in range(row - 2, row + 3):
            for x in range(column - 2, column + 3):
                dark[y, x] = max(abs(y - row), abs(x - column)) != 1
    _draw_format(dark, size)
    if version >= 7:
        rest = version
        for _ in range(12):
            rest = rest << 1 ^ (rest >> 11) * 0x1F25
        for bit in range(18):
            is_dark, place = bool((version << 12 | rest) >> bit & 1), (bit // 3, size - 11 + bit % 3)
            dark[place] = dark[place[::-1]] = is_dark
    return dark


def _draw_format(dark: dict[tuple[int, int], bool], size: int) -> None:
    beside = [(row, 8) for row in (*range(6), 7, 8)] + [(8, column) for column in (7, *range(5, -1, -1))]
    apart = [(8, size - 1 - bit) for bit in range(8)] + [(size - 15 + bit, 8) for bit in range(8, 15)]
    for places in (beside, apart):
        for bit, place in enumerate(places):
            dark[place] = bool(_FORMAT >> bit & 1)
    dark[size - 8, 8] = True


def _places(size: int, drawn: dict[tuple[int, int], bool]) -> list[tuple[int, int]]:
    """Return, in order, the row and column of each module (small square) that holds a bit of data. The order goes
    through pairs of columns from the right, upwards and downwards in turn. `drawn` holds the modules that are already
    used for patterns."""
    columns = [right for right in range(size - 1, 0, -2) if right > 6] + [5, 3, 1]
    places = []
    for turn, right in enumerate(columns):
        rows = range(size) if turn % 2 else range(size - 1, -1, -1)
        places += [(row, right - at) for row in rows for at in (0, 1) if (row, right - at) not in drawn]
    return places
