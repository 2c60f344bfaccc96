"""Receives the table's feed (the lines in which the table describes its state) for the screen's server. This module
keeps the last lines, and tells whether the table can still be heard."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from controller.basics.journald import Kind, Priority, tell
from controller.contract.face.feed import FeedLine

_AGAIN_S = 0.5
_SILENT_S = 3.0
"""The table sends something every second, since its status counts how long it has been up."""

_MOST_LINE_BYTES = 1_000_000

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What a line of another form raises, here or in a page made of that line."""

_OTHER_VERSION = (
    "The screen cannot read what the table tells. The two are probably of different versions: "
    "restart the one that was not restarted after the update."
)


class Feed:
    """Listens to the table's feed (lines about its state) on the socket at `path`. `changed` is called after each line,
    and when the table falls silent.

    `live` says whether the table is heard now. `said` holds the last lines, even while the table is not heard.
    """

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        self._path = path
        self._changed = changed
        self.live = False
        self.said = FeedLine()
        self._told = ""

    async def run(self) -> None:
        """Listen to the feed until cancelled. Connect again whenever a connection ends."""
        while True:
            try:
                await self._listen()
            except OSError:
                pass  # the table is gone, or silent
            except _UNREADABLE as error:
                self.said = FeedLine()
                if (told := f"{_OTHER_VERSION} ({type(error).__name__}: {error})") != self._told:
                    tell(told, Kind.PAGE_BLIND, sys.stderr, "tablectl", Priority.WARNING)
                    self._told = told
            if self.live:
                self.live = False
                self._changed()
            await asyncio.sleep(_AGAIN_S)

    async def _listen(self) -> None:
        reader, writer = await asyncio.open_unix_connection(self._path, limit=_MOST_LINE_BYTES)
        try:
            while True:
                async with asyncio.timeout(_SILENT_S):
                    line = await reader.readline()
                if not line.endswith(b"\n"):
                    return
                said = msgspec.json.decode(line, type=FeedLine)
                self.said = FeedLine(
                    placard=said.placard or self.said.placard,
                    rounds=said.rounds or self.said.rounds,
                    wiring=said.wiring or self.said.wiring,
                    status=said.status or self.said.status,
                    checkpoint=said.checkpoint or self.said.checkpoint,
                )
                self._changed()
                if said.status is not None and not self.live:
                    self.live = True
                    self._changed()
        finally:
            writer.close()
