"""Asks the table for its past events, for the screen's pages. The table decides how far back its answer goes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

MOST_ROUNDS = 500
_PATIENCE_S = 20.0
_MOST_LINE_BYTES = 1_000_000


async def told(path: Path, asked: str) -> AsyncIterator[dict[str, Any]]:
    """Send the line `asked` to the socket on which the table tells its past, and yield the events of the answer. Raises
    OSError or ValueError if there is no proper answer."""
    reader, writer = await asyncio.open_unix_connection(path, limit=_MOST_LINE_BYTES)
    try:
        writer.write(asked.encode() + b"\n")
        async with asyncio.timeout(_PATIENCE_S):
            while line := await reader.readline():
                yield json.loads(line)
    finally:
        writer.close()


class Past:
    """Keeps the table's events of the last `MOST_ROUNDS` rounds. `path` is the socket on which the table tells its
    past."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._epoch: str | None = None
        self.events: list[dict[str, Any]] = []

    async def catch_up(self, epoch: str) -> None:
        """Ask the table for its new events, and keep them. `epoch` is the name of the table's journal. Raises OSError
        or ValueError if there is no proper answer."""
        if epoch != self._epoch:
            self._epoch, self.events = epoch, []
        async for event in told(self._path, str(self.events[-1]["seq"] if self.events else 0)):
            self.events.append(event)
        rounds = [place for place, event in enumerate(self.events) if event["type"] == "round"]
        if len(rounds) > MOST_ROUNDS:
            del self.events[: rounds[-MOST_ROUNDS]]
