"""The screen's end of the table's past: its events, as far back as the table tells them."""

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
    """The events with which the past at this path answers a line. Raises OSError or ValueError where there is no proper
    answer."""
    reader, writer = await asyncio.open_unix_connection(path, limit=_MOST_LINE_BYTES)
    try:
        writer.write(asked.encode() + b"\n")
        async with asyncio.timeout(_PATIENCE_S):
            while line := await reader.readline():
                yield json.loads(line)
    finally:
        writer.close()


class Past:
    """The events of the table whose past is at `path`, from the last `MOST_ROUNDS` rounds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._epoch: str | None = None
        self.events: list[dict[str, Any]] = []

    async def catch_up(self, epoch: str) -> None:
        """Ask for the new events of this epoch. Raises OSError or ValueError where there is no proper answer."""
        if epoch != self._epoch:
            self._epoch, self.events = epoch, []
        async for event in told(self._path, str(self.events[-1]["seq"] if self.events else 0)):
            self.events.append(event)
        rounds = [place for place, event in enumerate(self.events) if event["type"] == "round"]
        if len(rounds) > MOST_ROUNDS:
            del self.events[: rounds[-MOST_ROUNDS]]
