"""Sends a web page's contents to the browsers that have the page open. Each browser gets all parts of the page as
server-sent events, and after that only the parts that change."""

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
    """Notes when the page on each attached monitor (a kiosk) was last painted. Each kiosk has a name, which it gets
    when its browser is started.

    The program that starts the browser asks for the page's age again and again, and thereby registers the kiosk's name.
    A name is registered only for the machine from which the question came. So no other machine can speak for a kiosk,
    or push it out of the list.
    """

    def __init__(self) -> None:
        self._painted_s: dict[bytes, dict[str, float | None]] = {}

    def knows(self, place: bytes, name: str) -> bool:
        """Tell whether some program at the network address `place` has asked for the age of the kiosk page called
        `name`."""
        return name in self._painted_s.get(place, {})

    def painted(self, place: bytes, name: str) -> None:
        """Note that the kiosk page called `name` has just painted. Do nothing if no program at the network address
        `place` has asked for a page of that name."""
        if self.knows(place, name):
            self._painted_s[place][name] = time.monotonic()

    def age_s(self, place: bytes, name: str) -> float | None:
        """Return how many seconds ago the kiosk page called `name` painted; None if it has not painted. This call also
        registers the name for the network address `place`.

        At most 20 names are registered for each address, and at most 20 addresses. If there are more, the one that was
        asked for longest ago is forgotten.
        """
        named = self._painted_s.pop(place, {})
        self._painted_s[place] = named
        named[name] = painted_s = named.pop(name, None)
        if len(named) > _MOST_KIOSKS:
            del named[next(iter(named))]
        if len(self._painted_s) > _MOST_KIOSKS:
            del self._painted_s[next(iter(self._painted_s))]
        return None if painted_s is None else time.monotonic() - painted_s

    def paints(self, within_s: float) -> bool | None:
        """Tell whether a page on this machine's own monitor has painted within the last `within_s` seconds. Return None
        if no kiosk program on this machine has asked for a page yet."""
        own = [painted for place, named in self._painted_s.items() if place in OWN_PLACES for painted in named.values()]
        now_s = time.monotonic()
        return any(each is not None and now_s - each < within_s for each in own) if own else None


class _Part:
    """One part of a web page. Its JSON text is made only once for each choice of languages, and is then reused."""

    def __init__(self, content: object) -> None:
        self.content = content
        self._texts: dict[tuple[str, ...], str] = {}

    def text(self, languages: tuple[str, ...]) -> str:
        """Return the JSON text of this part of the page, with its words in these languages."""
        if (text := self._texts.get(languages)) is None:
            said = spoken(self.content, languages)
            text = self._texts[languages] = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        return text


class Audience:
    """The browsers that have one web page open. Browsers with the same languages share the text of each part of the
    page, so a hundred browsers cost little more than one."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._news = asyncio.Event()
        self._of_place: Counter[bytes] = Counter()

    @property
    def browsers(self) -> int:
        """Return how many browsers have the page open."""
        return self._of_place.total()

    def has_room(self, place: bytes) -> bool:
        """Tell whether one more browser at the network address `place` may open the page's stream of events."""
        return self._of_place[place] < MOST_OF_A_PLACE

    def show(self, part: str, content: object) -> None:
        """Replace the content of one part of the page, and send it to all browsers. Nothing is sent if the content is
        the same as before. The caller must not change `content` afterwards."""
        if part not in self._parts or self._parts[part].content != content:
            self._parts[part] = _Part(content)
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def events(self, place: bytes = b"", languages: tuple[str, ...] = SIDE_BY_SIDE) -> AsyncGenerator[str, None]:
        """Yield the server-sent events for one browser: first every part of the page, and after that each part that
        changes. In a second in which nothing changes, yield an event named `beat`, without content. A slow browser gets
        only the newest content of a part."""
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
    """Yield the events compressed, as one gzip stream. A browser can unpack each event as soon as it arrives."""
    head = _GZIP_HEAD
    async with aclosing(events):
        async for message in events:
            yield head + _piece(message)
            head = b""


@lru_cache(maxsize=64)
def _piece(message: str) -> bytes:
    """Return the message compressed as a piece of a gzip stream. The piece does not depend on what the stream holds
    before it, so all browsers can get the same piece."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(message.encode()) + packer.flush(zlib.Z_FULL_FLUSH)
