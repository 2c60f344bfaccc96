"""A card shoe as one device: its codec on its port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from controller.devices import ShoeListener
from controller.table.facts import ShoeFact
from drivers.shoe.angel_eye import Reply
from drivers.shoe.bad_bytes import BadBytes
from drivers.shoe.port import ShoePort


class Codec(Protocol):
    """One kind of shoe's bytes to facts.

    `numbered`: whether its reports carry sequence digits, so that a missed one shows. `baud`: what its line runs at
    unless the table's file says otherwise.
    """

    numbered: ClassVar[bool]
    baud: ClassVar[int]

    def feed(self, data: bytes) -> Sequence[ShoeFact | BadBytes | Reply]:
        """What `data` completes, in the order it came."""


class ShoeOnLine:
    """`url` and `baud` as in the table file's `[shoe]`; without a `baud` the codec's own."""

    def __init__(self, codec: Codec, url: str, baud: int | None = None) -> None:
        self._codec = codec
        self._url = url
        self._baud = baud or codec.baud

    @property
    def numbered(self) -> bool:
        """Whether a missed report would show as a gap in the shoe's numbers."""
        return self._codec.numbered

    async def run(self, listener: ShoeListener) -> None:
        """Keep the line open and tell the listener, until cancelled. Raises TableError for a URL that is no port."""

        def hear(data: bytes) -> None:
            for heard in self._codec.feed(data):
                match heard:
                    case BadBytes(count=count):
                        listener.shoe_noise(heard.told, count)
                    case Reply():  # this program sends no commands: what looks like an answer is damage
                        listener.shoe_noise("noise", heard.length)
                    case fact:
                        listener.shoe_reported(fact)

        await ShoePort(self._url, self._baud, hear, listener.shoe_link).run()
