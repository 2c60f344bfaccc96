"""A card shoe as one device: its codec on its port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from controller.pins.devices import ShoeListener
from controller.table.facts import ShoeFact
from drivers.shoe.angel_eye import Reply
from drivers.shoe.bad_bytes import BadBytes
from drivers.shoe.port import NETWORK, ShoePort

_KEPT_UNREAD_BYTES = 4095  # by the kernel, of a tty that nobody reads; more of a socket
_BITS_A_BYTE = 10  # 8N1


class Codec(Protocol):
    """One kind of shoe's bytes to facts.

    `baud`: what its line runs at unless the table's file says otherwise. `bits_until_numbers_repeat`: how many bits the
    wire carries at least, at any speed, while so many reports are missed that the next one's number shows no gap; 0
    where reports carry no number.
    """

    baud: ClassVar[int]

    @property
    def bits_until_numbers_repeat(self) -> int:
        """As above."""

    def feed(self, data: bytes) -> Sequence[ShoeFact | BadBytes | Reply]:
        """What `data` completes, in the order it came."""

    def forget(self) -> None:
        """Nothing was heard for so long that what comes next is new, also where it looks like the last report."""


class ShoeOnLine:
    """`url` and `baud` as in the table file's `[shoe]`; without a `baud` the codec's own."""

    def __init__(self, codec: Codec, url: str, baud: int | None = None) -> None:
        self._codec = codec
        self._url = url
        self._baud = baud or codec.baud

    @property
    def gap_shows_within_ms(self) -> int:
        """As `controller.pins.devices.Shoe` has it. A network line can be dead for a while before that is noticed."""
        return 0 if self._url.startswith(NETWORK) else self._codec.bits_until_numbers_repeat * 1000 // self._baud

    @property
    def kept_unread_ms(self) -> int:
        """As `controller.pins.devices.Shoe` has it."""
        return _KEPT_UNREAD_BYTES * _BITS_A_BYTE * 1000 // self._baud

    def forget(self) -> None:
        """As `controller.pins.devices.Shoe` has it."""
        self._codec.forget()

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
