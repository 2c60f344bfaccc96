"""The clock's beat: what can wait a moment happens at the same moments.

Each time a resting machine wakes costs it more than the little that a table then does. So the machine wakes once for
all of that. The beat follows a clock and not the commits. Example: in a round whose cards lie face down, the shoe's
result is committed too. A message at that moment would tell that the round is complete, and so whether a third card was
drawn, before anybody saw that card.
"""

from __future__ import annotations

import asyncio

BEAT_S = 0.25
"""The beats are the whole multiples of this on the loop's clock."""

_EARLY_S = 0.001  # a timer may come a little before its time: its beat is not beaten twice


def until_beat_s() -> float:
    """The seconds until the next beat."""
    now_s = asyncio.get_running_loop().time()
    return (int((now_s + _EARLY_S) / BEAT_S) + 1) * BEAT_S - now_s


async def next_beat() -> None:
    """Wait for the next beat."""
    await asyncio.sleep(until_beat_s())
