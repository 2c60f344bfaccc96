"""Guesses what the frames (messages) of an unknown shoe look like, from the bytes that it sent: how a frame begins, how
it ends, and how its checksum is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import xor
from types import MappingProxyType

from msgspec import Struct

_LONGEST, _LONGEST_END, _TRIED = 64, 3, 40
_ENOUGH = 0.8
_FEWEST = 4
"""A check must hold in four of five of this many different frames: by chance, once in 256 ** 3 times."""

SUMS: Mapping[str, Callable[[bytes], int]] = MappingProxyType(
    {
        "XOR": lambda covered: reduce(xor, covered, 0),
        "sum": lambda covered: sum(covered) % 256,
        "negative sum": lambda covered: -sum(covered) % 256,
    }
)
"""The checks that are tried, by their names."""


class Check(Struct, frozen=True):
    """How the checksum of a shoe's frame (message) is computed. The function called `name` in `SUMS` is applied to the
    bytes from index `begin` up to the checksum. The checksum is one byte, or two hexadecimal characters with `in_hex`.
    After the checksum come `end` more bytes."""

    name: str
    begin: int
    in_hex: bool
    end: int

    def holds(self, frame: bytes) -> bool:
        """Tell whether this frame has the right checksum."""
        size = 2 if self.in_hex else 1
        place = len(frame) - self.end - size
        if place <= self.begin:
            return False
        value = SUMS[self.name](frame[self.begin : place])
        return frame[place : place + size] == (b"%02X" % value if self.in_hex else bytes([value]))


class Frames(Struct, frozen=True):
    """The frames (messages) that were found in a shoe's bytes, and how often each occurs. Every frame begins with the
    byte `begin`. `check` is None if no kind of checksum fits."""

    begin: int
    counts: Counter[bytes]
    check: Check | None
    right: int
    """In how many of the different frames the check is right."""


def guessed(stream: bytes) -> Frames | None:
    """Guess the frames (messages) in the bytes that a shoe sent. Returns None if there are too few frames to guess
    from."""
    ways = [_with_check(begin, frames) for begin in sorted(set(stream)) if (frames := _split(stream, begin))]
    if not ways:
        return None
    return max(ways, key=lambda way: (way.check is not None, way.right / len(way.counts), way.counts.total()))


def frames_told(stream: bytes) -> Iterator[str]:
    """Guess the frames (messages) in the bytes that a shoe sent, and yield the guess as lines for people."""
    found = guessed(stream)
    if found is None:
        yield "Too few frames that differ: record more of the shoe, at the right speed."
        return
    lengths = ", ".join(f"{length} ({count})" for length, count in sorted(_lengths(found.counts).items()))
    yield f"{found.counts.total()} frames begin with {found.begin:02X}; by length in bytes: {lengths}"
    if found.check is None:
        yield "No check was found: XOR, sum and negative sum were tried, as a byte and as two hex characters."
    else:
        check = found.check
        form = "two hex characters" if check.in_hex else "one byte"
        after = f", and {check.end} bytes follow" if check.end else ""
        yield f"The check is the {check.name} of the bytes from number {check.begin}, as {form}{after}."
        yield f"It is right in {found.right} of {len(found.counts)} different frames."
    for frame, count in sorted(found.counts.items()):
        wrong = "" if found.check is None or found.check.holds(frame) else "   wrong check"
        seen = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in frame)
        yield f"{count:6} x {frame.hex(' ').upper()}  | {seen}{wrong}"


def _split(stream: bytes, begin: int) -> Counter[bytes] | None:
    """Split a shoe's bytes into frames that begin with the byte `begin`, and count how often each frame occurs. Returns
    None if the frames are too few, too long or too alike to be real."""
    mark = bytes([begin])
    frames = Counter(mark + rest for rest in stream.split(mark)[1:])
    usual = [frame for frame in frames if 3 <= len(frame) <= _LONGEST]
    return frames if len(usual) >= _FEWEST and len(usual) > len(frames) / 2 else None


def _with_check(begin: int, counts: Counter[bytes]) -> Frames:
    tried = sorted(counts)[:: max(1, len(counts) // _TRIED)]
    ends = [0, *(end for end in range(1, _LONGEST_END + 1) if _ends_alike(tried, end))]
    checks = [
        Check(name, start, in_hex, end) for end in ends for in_hex in (False, True) for start in (0, 1) for name in SUMS
    ]
    best = max(checks, key=lambda check: sum(map(check.holds, tried)))
    right = sum(map(best.holds, counts))
    return Frames(begin, counts, best, right) if right >= _ENOUGH * len(counts) else Frames(begin, counts, None, 0)


def _ends_alike(frames: Sequence[bytes], end: int) -> bool:
    (_, count), *_ = Counter(frame[-end:] for frame in frames).most_common(1)
    return count >= _ENOUGH * len(frames)


def _lengths(counts: Counter[bytes]) -> Counter[int]:
    lengths: Counter[int] = Counter()
    for frame, count in counts.items():
        lengths[len(frame)] += count
    return lengths
