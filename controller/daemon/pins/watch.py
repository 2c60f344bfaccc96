"""Calls a function often from a thread of its own, while the event loop rests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Watch = Callable[[Callable[[], bool], Callable[[], None], float], Coroutine[Any, Any, None]]
"""`keep_watching`, or what stands in for it where time is simulated."""


async def keep_watching(look: Callable[[], bool], noticed: Callable[[], None], every_s: float) -> None:
    """Call `look` every `every_s` seconds, until cancelled. When `look` returns True, call `noticed` in the event loop.

    A separate thread calls `look`, because a thread that sleeps and looks needs less than half of the CPU time of a
    timer in the event loop. At the end the event loop waits for that thread, at most `every_s` seconds. If `look`
    raises, the same exception is raised here.
    """
    loop = asyncio.get_running_loop()
    ended = False

    def watch() -> None:
        while not ended:
            if look():
                loop.call_soon_threadsafe(noticed)
            time.sleep(every_s)

    with ThreadPoolExecutor(1, "watch") as thread:
        try:
            await loop.run_in_executor(thread, watch)
        finally:
            ended = True
