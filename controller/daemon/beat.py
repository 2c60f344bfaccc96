"""The beat: four fixed moments in each second, at which the table does the work that can wait a moment.

Waking a resting machine costs more than the little work that a table has to do. So the machine wakes once for all of
that work. The beat follows a clock, and not the moments at which rows are committed to the journal, because such a
moment can reveal a secret. Example: the cards of a round lie face down, and the shoe's result is committed. A message
at that moment would reveal that the round is complete, and so whether a third card was drawn, before anybody saw that
card.
"""

from __future__ import annotations

import asyncio

BEAT_S = 0.25
"""The beats are the whole multiples of this on the loop's clock."""

_EARLY_S = 0.001  # a timer may come a little before its time: its beat is not beaten twice


def until_beat_s() -> float:
    """Return how many seconds from now the next beat comes. Beats come four times a second."""
    now_s = asyncio.get_running_loop().time()
    return (int((now_s + _EARLY_S) / BEAT_S) + 1) * BEAT_S - now_s


async def next_beat() -> None:
    """Wait for the next beat. Beats come four times a second, at fixed moments of the event loop's clock."""
    await asyncio.sleep(until_beat_s())
