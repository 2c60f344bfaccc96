"""The timer of the main loop. At each of its beats the loop samples the pins, looks at the shoe's line and writes the
lamps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Beats:
    """A timer that calls the function `beat` again and again. The first call comes `sample_s` seconds after the start.

    Each call of `beat` returns two values: the seconds until the next call, and a flag. The flag is passed to the next
    call as its argument. A timer makes the calls, because a task that sleeps between the calls would cost twice as
    much.
    """

    def __init__(self, beat: Callable[[bool], tuple[float, bool]], sample_s: float) -> None:
        self._beat_once = beat
        self._sample_s = sample_s

    async def keep_beating(self) -> None:
        """Keep calling `beat` until a call raises an exception. Raises that same exception."""
        self._failed = asyncio.get_running_loop().create_future()
        self._beat_in(self._sample_s, False)
        try:
            await self._failed
        finally:
            self._next.cancel()

    def soon(self, in_s: float = 0.0) -> None:
        """Call `beat` in `in_s` seconds, for example because a lamp must change soon. If a call is due at about that
        time anyway, keep that call.

        With `in_s` of 0 the call does not come at once, but in the event loop's next turn, because the loop must look
        at the shoe's line first. After the timer has ended, do nothing, because other tasks may still ask for a call
        while the program ends.
        """
        is_far = self._next.when() - asyncio.get_running_loop().time() > in_s + self._sample_s
        if is_far and not self._next.cancelled():
            self._next.cancel()
            self._beat_in(in_s, False)

    def _beat_in(self, after_s: float, again: bool) -> None:
        self._next = asyncio.get_running_loop().call_later(after_s, self._beat, again)

    def _beat(self, again: bool) -> None:
        try:
            self._beat_in(*self._beat_once(again))
        except BaseException as error:  # noqa: BLE001  # asyncio would only log it: `keep_beating` raises it again
            if not self._failed.done():
                self._failed.set_exception(error)
