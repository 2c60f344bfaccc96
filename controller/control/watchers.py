"""Those who watch a running table over the control socket.

All of them are sent one and the same status, rendered once at each beat, and only where it differs from what they have.
The beat is a clock's and no commit's. In a hand whose cards lie face down the shoe's result is committed too, and a
push at that moment would tell that the hand is complete: whether a third card was drawn, before anybody has seen it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

BEAT_S = 0.2
"""What is new is told at the next whole multiple of this on the loop's clock."""

_MOST_UNREAD_BYTES = 64 * 1024
"""Whoever leaves more than this unread, beside what the kernel keeps for him, is no longer there."""


class Watchers:
    """The connections that watch. `render` gives the status as the bytes that go out."""

    def __init__(self, render: Callable[[], bytes]) -> None:
        self._render = render
        self._sent: dict[asyncio.StreamWriter, bytes] = {}  # what each was sent last
        self._beating: asyncio.Task[None] | None = None  # while anybody watches

    async def watch(self, writer: asyncio.StreamWriter) -> None:
        """Send the status now and at every beat that brings a new one, until the connection ends."""
        self._send(writer, self._render())
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat())
        try:
            await writer.wait_closed()
        finally:
            del self._sent[writer]
            if not self._sent:
                self._beating.cancel()
                self._beating = None

    def end(self, last: bytes) -> None:
        """The table stops: say why to whoever watches."""
        for writer in self._sent:
            writer.write(last)

    async def _beat(self) -> None:
        now_s = asyncio.get_running_loop().time
        beat = 0
        while True:
            beat = max(beat, int(now_s() / BEAT_S)) + 1
            await asyncio.sleep(beat * BEAT_S - now_s())
            status = self._render()
            for writer, sent in tuple(self._sent.items()):
                if status != sent:
                    self._send(writer, status)

    def _send(self, writer: asyncio.StreamWriter, status: bytes) -> None:
        """Send it without waiting. Whoever does not read is dropped."""
        self._sent[writer] = status
        writer.write(status)
        if writer.transport.get_write_buffer_size() > _MOST_UNREAD_BYTES:
            writer.transport.abort()
