"""Shows progress at a terminal: work that takes longer than a second shows what is being done, and for how many
seconds."""

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
    """Show a progress line on the terminal while the `with` block runs: `what`, and the seconds passed. The line
    appears after one second and is cleared at the end.

    If standard error is a pipe or a file, nothing is shown. Example of `what`: "Checking every row".
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
