"""The Angel Eye as one device: its codec on its port, counting what the line damages."""

from __future__ import annotations

import logging

from controller.devices import ShoeListener
from controller.table.facts import Report
from drivers.shoe.angel_eye import NAK_MEANINGS, AngelEyeCodec, BadBytes, Reply
from drivers.shoe.port import ShoePort

_log = logging.getLogger(__name__)


class AngelEyeShoe:
    """`url` and `baud` as in the table file's `[shoe]`; `last` is the last report the journal believed."""

    def __init__(self, url: str, baud: int, last: Report | None) -> None:
        self._codec = AngelEyeCodec(last=last)
        self._url = url
        self._baud = baud

    async def run(self, listener: ShoeListener) -> None:
        """Keep the line open and tell the listener, until cancelled. Raises TableError for a URL that is no port."""

        def hear(data: bytes) -> None:
            for heard in self._codec.feed(data):
                match heard:
                    case BadBytes(reason, count):
                        listener.shoe_noise(reason, count)
                    case Reply(ok, code):
                        _log.info("the shoe answered: %s", "taken" if ok else NAK_MEANINGS.get(code or "", code))
                    case fact:
                        listener.shoe_reported(fact)

        await ShoePort(self._url, self._baud, hear, listener.shoe_link).run()
