"""Cuts a shoe's stream of bytes into pieces of random size, because a serial port delivers bytes in such pieces."""

from __future__ import annotations

import random
from collections.abc import Iterator


def chunked(stream: bytes, rng: random.Random) -> Iterator[bytes]:
    """Yield the stream in pieces of random size, many of them about as long as a report."""
    start = 0
    while start < len(stream):
        end = start + rng.choice((1, 1, 2, 3, 7, 8, 9, 10, 40, 4096))
        yield stream[start:end]
        start = end
