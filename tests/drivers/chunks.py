"""Cuts a shoe's stream of bytes into pieces of any size, as a serial port reads it."""

from __future__ import annotations

import random
from collections.abc import Iterator


def chunked(stream: bytes, rng: random.Random) -> Iterator[bytes]:
    """Yield the stream in pieces, many of about the length of a report."""
    start = 0
    while start < len(stream):
        end = start + rng.choice((1, 1, 2, 3, 7, 8, 9, 10, 40, 4096))
        yield stream[start:end]
        start = end
