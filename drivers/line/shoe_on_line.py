"""A card shoe as one device: its port and its codec together."""

from __future__ import annotations

from controller.pins.devices import ShoeListener
from controller.table.facts import Report
from drivers.line.bad_bytes import BadBytes
from drivers.line.brand import Brand
from drivers.line.port import NETWORK, ShoePort

_KEPT_UNREAD_BYTES = 4095  # the kernel keeps so much of a tty that nobody reads, and more of a socket
_BITS_A_BYTE = 10  # 8N1


class ShoeOnLine:
    """A shoe of this brand on its line: a `controller.pins.devices.Shoe`.

    `url` and `baud` are as in the table file's `[shoe]`; without `baud` the brand's usual speed holds. `last` is the
    last report that was believed before a restart.
    """

    def __init__(self, brand: Brand, url: str, baud: int | None = None, last: Report | None = None) -> None:
        self._codec = brand.codec(last)
        self._bits_until_numbers_repeat = brand.bits_until_numbers_repeat
        self._url = url
        self._baud = baud or brand.bauds[0]

    @property
    def gap_shows_within_ms(self) -> int:
        """See `controller.pins.devices.Shoe`. A network line can be dead for a while before anybody notices."""
        return 0 if self._url.startswith(NETWORK) else self._bits_until_numbers_repeat * 1000 // self._baud

    @property
    def kept_unread_ms(self) -> int:
        """See `controller.pins.devices.Shoe`."""
        return _KEPT_UNREAD_BYTES * _BITS_A_BYTE * 1000 // self._baud

    def forget(self) -> None:
        """See `controller.pins.devices.Shoe`."""
        self._codec.forget()

    async def run(self, listener: ShoeListener) -> None:
        """Keep the line open and call the listener, until cancelled. Raises TableError for a URL that is no port."""

        def hear(data: bytes) -> None:
            for heard in self._codec.feed(data):
                if isinstance(heard, BadBytes):
                    listener.shoe_noise(heard.public_reason, heard.count)
                else:
                    listener.shoe_reported(heard)

        await ShoePort(self._url, self._baud, hear, listener.shoe_link).run()
