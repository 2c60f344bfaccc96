"""The browsers on a page: each gets the page's parts as server-sent events, and then only the parts that are new."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator

BEAT_S = 5.0
"""A page that hears nothing for twice this time says so, and connects again."""

_MOST_KIOSKS = 20


class Kiosks:
    """When each attached monitor's page last painted, by the name with which its browser was started."""

    def __init__(self) -> None:
        self._painted_s: dict[str, float] = {}

    def painted(self, name: str) -> None:
        """The page has just painted. Where there are too many names, the name heard longest ago is forgotten."""
        self._painted_s.pop(name, None)
        self._painted_s[name] = time.monotonic()
        if len(self._painted_s) > _MOST_KIOSKS:
            del self._painted_s[next(iter(self._painted_s))]

    def age_s(self, name: str) -> float | None:
        """How long ago the page painted; None for an unknown name."""
        painted_s = self._painted_s.get(name)
        return None if painted_s is None else time.monotonic() - painted_s


class Audience:
    """The browsers on one page. They share each part's text, so many browsers cost little more than one."""

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}
        self._news = asyncio.Event()
        self.browsers = 0

    def show(self, part: str, content: object) -> None:
        """The part has this text from now on."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        if self._parts.get(part) != text:
            self._parts[part] = text
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def events(self) -> AsyncGenerator[str, None]:
        """Every part now, then each new part, and a beat while nothing is new. A slow browser skips what is old."""
        self.browsers += 1
        sent: dict[str, str] = {}
        try:
            while True:
                news = self._news
                for part, text in tuple(self._parts.items()):
                    if sent.get(part) is not text:
                        sent[part] = text
                        yield f"event: {part}\ndata: {text}\n\n"
                try:
                    async with asyncio.timeout(BEAT_S):
                        await news.wait()
                except TimeoutError:
                    yield "event: beat\ndata: {}\n\n"
        finally:
            self.browsers -= 1
