"""The screen's end of the table's feed: what the table said last, and whether it is still heard."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

_AGAIN_S = 0.5
_SILENT_S = 3.0
"""The table says something every second, if only how long it has been up."""

_MOST_LINE_BYTES = 1_000_000


class Feed:
    """What the table's feed at `path` said last. `changed` is called after each line, and when the table falls silent.

    `live` says that the table is heard. What it said before stays known when it is not.
    """

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        self._path = path
        self._changed = changed
        self.live = False
        self.said: dict[str, Any] = {}

    async def run(self) -> None:
        """Listen, and come back after whatever ends a connection, until cancelled."""
        while True:
            with contextlib.suppress(OSError, ValueError):  # gone or silent, or a line that is no feed's
                await self._listen()
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
                for name, said in json.loads(line).items():
                    self.said[name] = said
                    self.live = self.live or name == "status"
                    self._changed()
        finally:
            writer.close()
