"""The screen's end of the table's feed: the last lines, and whether the table is still heard."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

_AGAIN_S = 0.5
_SILENT_S = 3.0
"""The table sends something every second, since its status counts how long it has been up."""

_MOST_LINE_BYTES = 1_000_000


class Feed:
    """The last lines of the table's feed at `path`. `changed` is called after each line, and when the table goes
    silent.

    `live` says whether the table is heard. The last lines stay in `said` while the table is not heard.
    """

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        self._path = path
        self._changed = changed
        self.live = False
        self.said: dict[str, Any] = {}

    async def run(self) -> None:
        """Listen, and connect again after whatever ends a connection, until cancelled."""
        while True:
            with contextlib.suppress(OSError, ValueError):  # the table is gone or silent, or the line is not a feed's
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
