"""Sends new lines to the connections that watch a running table, over the control socket or the feed.

The lines are rendered once at each beat (four times a second), the same for all connections. Each connection is sent
only the lines that differ from those it was sent last. `controller/daemon/beat.py` says why lines are not sent at the
moment of a commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from controller.daemon.beat import next_beat

_MOST_UNREAD_BYTES = 64 * 1024
"""A watcher that leaves more than this unread, beside what the kernel keeps for it, counts as gone."""


class Watchers:
    """The connections that watch a table, and get a line again whenever it has changed.

    `render` returns the lines to send as bytes, always the same number of lines.
    """

    def __init__(self, render: Callable[[], Sequence[bytes]]) -> None:
        self._render = render
        self._sent: dict[asyncio.StreamWriter, Sequence[bytes]] = {}  # the lines that each was sent last
        self._beating: asyncio.Task[None] | None = None  # while anybody watches

    async def watch(self, writer: asyncio.StreamWriter) -> None:
        """Send this connection every line now. Then send, at each beat (four times a second), the lines that have
        changed, until the connection ends."""
        lines = self._render()
        self._send(writer, lines, b"".join(lines))
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
        """Send every watching connection a last line, which says why the table stops."""
        for writer in self._sent:
            writer.write(last)

    async def _beat(self) -> None:
        while True:
            await next_beat()
            lines = self._render()
            for writer, sent in tuple(self._sent.items()):
                if new := b"".join(line for line, before in zip(lines, sent, strict=True) if line != before):
                    self._send(writer, lines, new)

    def _send(self, writer: asyncio.StreamWriter, lines: Sequence[bytes], new: bytes) -> None:
        """Send the new lines to one connection without waiting. A connection that leaves too much unread is cut."""
        self._sent[writer] = lines
        writer.write(new)
        if writer.transport.get_write_buffer_size() > _MOST_UNREAD_BYTES:
            writer.transport.abort()
