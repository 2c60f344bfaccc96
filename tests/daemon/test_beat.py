"""Checks the beat: the moments at which the table does work that can wait. They are the multiples of a quarter of a
second on the loop's clock.

Neither the task that waits nor the moment at which it begins to wait changes these moments.
"""

from __future__ import annotations

import pytest

from controller.daemon.beat import BEAT_S, next_beat
from tests.simulation.loop import VirtualLoop


@pytest.mark.parametrize(
    ("from_s", "beats_s"),
    [
        (1000.0, [1000.25, 1000.5]),
        (1000.01, [1000.25, 1000.5]),
        (1000.2, [1000.25, 1000.5]),
        (1000.2495, [1000.5, 1000.75]),  # the timer of the beat at 1000.25 came early: that beat is over
    ],
)
def test_a_beat_comes_at_the_clocks_time_whenever_the_wait_began(from_s: float, beats_s: list[float]) -> None:
    loop, heard_s = VirtualLoop(), list[float]()
    loop.now_s = from_s

    async def listen() -> None:
        for _ in beats_s:
            await next_beat()
            heard_s.append(loop.time())

    listening = loop.create_task(listen())
    loop.run_for(4 * BEAT_S)
    assert listening.done()
    loop.close()
    assert heard_s == pytest.approx(beats_s, abs=1e-6)
