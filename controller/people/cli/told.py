"""What the commands that report share: one JSON object for programs, and a word for whoever waits at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import msgspec


def print_report(report: msgspec.Struct) -> None:
    """Print a report as one JSON object. Its type says what the fields mean."""
    print(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())


@contextmanager
def waited_for(what: str) -> Iterator[None]:
    """Tells a person at a terminal after a second that this takes a while. A pipe is told nothing."""
    said = Timer(1.0, lambda: print(f"{what} That can take a while.", file=sys.stderr, flush=True))
    if sys.stderr.isatty():
        said.start()
    try:
        yield
    finally:
        said.cancel()
