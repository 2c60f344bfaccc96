"""The clock's beat: work that can wait a moment is done at fixed moments, four times a second.

Waking a resting machine costs more than the little work that a table then does. So the machine wakes once for all of
that work. The beat follows a clock and not the journal's commits. Example: in a round whose cards lie face down, the
shoe's result is committed too. A message at that moment would reveal that the round is complete, and so whether a third
card was drawn, before anybody saw that card.
"""

from __future__ import annotations

import asyncio

BEAT_S = 0.25
"""The beats are the whole multiples of this on the loop's clock."""

_EARLY_S = 0.001  # a timer may come a little before its time: its beat is not beaten twice


def until_beat_s() -> float:
    """Return the seconds until the clock's next beat."""
    now_s = asyncio.get_running_loop().time()
    return (int((now_s + _EARLY_S) / BEAT_S) + 1) * BEAT_S - now_s


async def next_beat() -> None:
    """Wait for the clock's next beat."""
    await asyncio.sleep(until_beat_s())
