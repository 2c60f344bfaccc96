"""The browsers on a page: each gets the page's parts as server-sent events, and then only the parts that are new."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache

from controller.people.screen.door import OWN_PLACES
from controller.people.screen.wording import spoken
from controller.words.found import SIDE_BY_SIDE

BEAT_S = 1.0
"""A page that hears nothing for three times as long says so."""

MOST_OF_A_PLACE = 64
"""The most streams of a page that one place has at once. A kiosk's own stream is not counted, and always has room."""

_MOST_KIOSKS = 20

_GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""The head of a gzip stream of no time and no name (RFC 1952)."""


class Kiosks:
    """When each attached monitor's page last painted, by the name with which its browser was started.

    The program that starts the browser asks for the page's age all the time, and makes the name known so. A name counts
    only at the place it was asked for from, so nobody elsewhere can speak for a kiosk, nor crowd it out.
    """

    def __init__(self) -> None:
        self._painted_s: dict[bytes, dict[str, float | None]] = {}

    def knows(self, place: bytes, name: str) -> bool:
        """Whether a program at this place has asked for this page."""
        return name in self._painted_s.get(place, {})

    def painted(self, place: bytes, name: str) -> None:
        """Note that the page has just painted, where the name is known."""
        if self.knows(place, name):
            self._painted_s[place][name] = time.monotonic()

    def age_s(self, place: bytes, name: str) -> float | None:
        """How long ago the page painted; None where it has not. Where a place has too many names, the name asked for
        longest ago is forgotten; of too many places, the one that asked longest ago."""
        named = self._painted_s.pop(place, {})
        self._painted_s[place] = named
        named[name] = painted_s = named.pop(name, None)
        if len(named) > _MOST_KIOSKS:
            del named[next(iter(named))]
        if len(self._painted_s) > _MOST_KIOSKS:
            del self._painted_s[next(iter(self._painted_s))]
        return None if painted_s is None else time.monotonic() - painted_s

    def paints(self, within_s: float) -> bool | None:
        """Whether a page on this machine's own monitor has painted within this time. None: no kiosk runs here, as far
        as this program has seen."""
        own = [painted for place, named in self._painted_s.items() if place in OWN_PLACES for painted in named.values()]
        now_s = time.monotonic()
        return any(each is not None and now_s - each < within_s for each in own) if own else None


class _Part:
    """A part of the page, and its text in each choice of languages that a browser has asked for."""

    def __init__(self, content: object) -> None:
        self.content = content
        self._texts: dict[tuple[str, ...], str] = {}

    def text(self, languages: tuple[str, ...]) -> str:
        """The part as JSON, in these languages."""
        if (text := self._texts.get(languages)) is None:
            said = spoken(self.content, languages)
            text = self._texts[languages] = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        return text


class Audience:
    """The browsers on one page. Those of the same languages share each part's text, so many cost little more than
    one."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._news = asyncio.Event()
        self._of_place: Counter[bytes] = Counter()

    @property
    def browsers(self) -> int:
        """How many browsers are on the page."""
        return self._of_place.total()

    def has_room(self, place: bytes) -> bool:
        """Whether one more browser of this place may come."""
        return self._of_place[place] < MOST_OF_A_PLACE

    def show(self, part: str, content: object) -> None:
        """The part has this content from now on, which nobody changes any more."""
        if part not in self._parts or self._parts[part].content != content:
            self._parts[part] = _Part(content)
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def events(self, place: bytes = b"", languages: tuple[str, ...] = SIDE_BY_SIDE) -> AsyncGenerator[str, None]:
        """Every part now, then each new part, and a beat while nothing is new. A slow browser skips what is old."""
        self._of_place[place] += 1
        sent: dict[str, _Part] = {}
        try:
            while True:
                news = self._news
                for name, part in tuple(self._parts.items()):
                    if sent.get(name) is not part:
                        sent[name] = part
                        yield f"event: {name}\ndata: {part.text(languages)}\n\n"
                try:
                    async with asyncio.timeout(BEAT_S):
                        await news.wait()
                except TimeoutError:
                    yield "event: beat\ndata: {}\n\n"
        finally:
            self._of_place[place] -= 1


async def packed(events: AsyncGenerator[str, None]) -> AsyncGenerator[bytes, None]:
    """The events as one gzip stream, in which each message is a piece that can be read as soon as it has come."""
    head = _GZIP_HEAD
    async with aclosing(events):
        async for message in events:
            yield head + _piece(message)
            head = b""


@lru_cache(maxsize=64)
def _piece(message: str) -> bytes:
    """The message as a piece of any gzip stream: it refers to nothing before it, so all browsers share it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(message.encode()) + packer.flush(zlib.Z_FULL_FLUSH)
