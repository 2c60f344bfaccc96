"""Checks the thread that looks at the inputs and wakes the event loop when one has changed."""

from __future__ import annotations

import asyncio
import threading

import pytest

from controller.daemon.pins.watch import keep_watching
from tests.support.waiting import eventually

_EVERY_S = 0.001


async def test_the_loop_hears_of_what_the_watch_sees_and_of_nothing_else() -> None:
    looks, seen, heard_in = 0, False, list[threading.Thread]()

    def look() -> bool:
        nonlocal looks
        looks += 1
        assert threading.current_thread() is not threading.main_thread()
        return seen

    watching = asyncio.create_task(keep_watching(look, lambda: heard_in.append(threading.current_thread()), _EVERY_S))
    await eventually(lambda: looks >= 3)
    assert heard_in == []
    seen = True
    await eventually(lambda: len(heard_in) >= 2)
    assert {*heard_in} == {threading.main_thread()}
    watching.cancel()
    await asyncio.wait([watching])
    assert watching.cancelled()
    assert "watch" not in {thread.name.split("_")[0] for thread in threading.enumerate()}, "its thread has ended"


async def test_what_a_look_raises_ends_the_watch() -> None:
    def look() -> bool:
        raise RuntimeError("the header is gone")

    with pytest.raises(RuntimeError, match="the header is gone"):
        await keep_watching(look, lambda: None, _EVERY_S)
