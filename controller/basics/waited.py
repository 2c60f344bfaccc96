"""Shows progress to a person at a terminal: whatever takes longer than a second says what it does, and for how long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

_FIRST_S = 1.0
_AGAIN_S = 1.0
_CLEARED = "\r\x1b[K"


@contextmanager
def waited_for(what: str) -> Iterator[None]:
    """While the block runs, show `what` and the seconds gone on the terminal. This begins after one second.

    The line is cleared at the end. A pipe or a file gets nothing. Example of `what`: "Checking every row".
    """
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    telling = Thread(target=_keep_telling, args=(what, done), daemon=True)
    telling.start()
    try:
        yield
    finally:
        done.set()
        telling.join()


def _keep_telling(what: str, done: Event) -> None:
    seconds, told = _FIRST_S, False
    while not done.wait(_AGAIN_S if told else _FIRST_S):
        print(f"{_CLEARED}{what}: {seconds:.0f} s", end="", file=sys.stderr, flush=True)
        seconds, told = seconds + _AGAIN_S, True
    if told:
        print(_CLEARED, end="", file=sys.stderr, flush=True)
