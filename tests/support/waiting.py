"""Functions with which the tests wait for a process, a connection or a thread."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from typing import IO, Any, TypeVar

import pytest

PATIENCE_S = 60.0
"""A test that waits so long has failed."""

_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a test's coroutine on an event loop of its own, with a time limit."""

    async def in_time() -> _T:
        async with asyncio.timeout(3 * PATIENCE_S):
            return await work

    return asyncio.run(in_time())


async def eventually(holds: Callable[[], object], what: str = "") -> None:
    """Call `holds` again and again until it returns true. Raises AssertionError, with the text `what`, if that takes
    longer than the tests' usual patience."""
    began_s = time.monotonic()
    while not holds():
        waited_s = time.monotonic() - began_s
        assert waited_s < PATIENCE_S, f"waited {PATIENCE_S} s in vain {what}"
        await asyncio.sleep(min(0.02, max(0.005, waited_s / 10)))


def eventually_now(holds: Callable[[], object], what: str = "", within_s: float = PATIENCE_S) -> None:
    """Call `holds` again and again until it returns true. This is for code without an event loop. Raises AssertionError
    after `within_s` seconds."""
    began_s = time.monotonic()
    while not holds():
        waited_s = time.monotonic() - began_s
        assert waited_s < within_s, f"waited {within_s} s in vain {what}"
        time.sleep(min(0.05, max(0.01, waited_s / 10)))  # a look may ask a browser or a daemon, which is not quick


def lines_of(stream: IO[str]) -> queue.Queue[str]:
    """Return a queue into which a thread puts the stream's lines as they come."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))

    threading.Thread(target=read, daemon=True).start()
    return lines


def until(lines: queue.Queue[str], wanted: str) -> list[str]:
    """Wait for a line that contains the wanted text, and return the lines up to and including it. Fails the test if no
    such line comes in time."""
    seen: list[str] = []
    while not seen or wanted not in seen[-1]:
        try:
            seen.append(lines.get(timeout=PATIENCE_S))
        except queue.Empty:
            pytest.fail(f"waited in vain for {wanted!r}; came: {seen}")
    return seen
