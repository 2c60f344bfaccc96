"""Polls something often from a thread, while the event loop rests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Watch = Callable[[Callable[[], bool], Callable[[], None], float], Coroutine[Any, Any, None]]
"""`keep_watching`, or what stands in for it where time is simulated."""


async def keep_watching(look: Callable[[], bool], noticed: Callable[[], None], every_s: float) -> None:
    """Call `look` every `every_s` seconds, until cancelled. Where it returns True, the event loop calls `noticed`.

    A thread of its own calls `look`, because a thread that sleeps and looks takes less than half of the CPU that a
    timer of the event loop takes. The event loop waits for the end of that thread, `every_s` seconds at most. Raises
    what `look` raises.
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
