"""Finds the shoe for `tablectl setup`: listens at each serial port, at each speed that a brand of shoe uses, until a
shoe reports something.

The bytes of a port go to the decoder (codec) of every brand. If no decoder can read them, the line runs at another
speed. The cards that were read are shown, so that a person can compare them with the cards that were drawn.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from controller.basics.errors import TableError
from controller.people.cli.setup.draft import Draft
from controller.people.cli.setup.house import choice
from controller.people.cli.setup.questions import Dialogue, Terminal
from controller.table.facts import CardDrawn, ShoeFact
from drivers import shoe as shoes
from drivers.line.bad_bytes import BadBytes
from drivers.line.brand import Answered
from drivers.line.port import ShoePort

_BY_ID = Path("/dev/serial/by-id")
_HEADER_PORT = Path("/dev/ttyAMA0")
_UNREAD_FOR_S = 0.5
"""Bytes without a report for this long mean another speed: a report takes a tenth of this time at the slowest speed."""
_POLL_S = 0.05


class Heard(Struct):
    """A shoe that was found by listening at the serial ports: its port, its brand (`driver`), its speed in baud, and
    the cards that were read."""

    port: str
    driver: str
    baud: int
    cards: list[str] = field(default_factory=list)


def ports() -> list[str]:
    """Return the serial ports of this machine to which a shoe may be connected."""
    adapters = sorted(map(str, _BY_ID.glob("*"))) if _BY_ID.is_dir() else []
    return [*adapters, *([str(_HEADER_PORT)] if _HEADER_PORT.exists() else [])]


def ask_shoe(dialogue: Dialogue, draft: Draft) -> str:
    """Find the shoe by listening or by asking the technician, and put its port, brand and speed into the draft of the
    table's file. Returns in words what was read from the shoe, for the report of the setup."""
    explains = (
        "find: listen at every port of this machine. Or write a port: /dev/serial/by-id/NAME, socket://HOST:PORT."
    )
    where = dialogue.ask("setup.shoe", "Port of the shoe", explains, "find", _port)
    found = ports() if where == "find" else [where]
    heard: Heard | None = None
    is_known = dialogue.known("shoe.port") is not None
    if dialogue.terminal is not None and not is_known and found:
        heard = _listened(dialogue, dialogue.terminal, found)
    if heard:
        for key, text in (("shoe.port", heard.port), ("shoe.driver", heard.driver), ("shoe.baud", str(heard.baud))):
            dialogue.keep(key, text)
        draft.shoe |= {"port": heard.port, "driver": heard.driver, "baud": heard.baud}
        return dialogue.usual("setup.heard", "")
    if dialogue.terminal is None and len(found) != 1 and not is_known:
        there = f"there are {', '.join(found)}" if found else "there is no serial port"
        do = 'Write shoe.port = "/dev/serial/by-id/…" into the file of answers.'
        raise TableError("answer_missing", f"The shoe's port is not known: {there}.", do)
    _ask_line(dialogue, draft, found[0] if found else "/dev/ttyUSB0")
    return dialogue.noted("setup.heard") or "no shoe was heard: as written in the answers"


def _listened(dialogue: Dialogue, terminal: Terminal, found: Sequence[str]) -> Heard | None:
    """Ask the technician to draw cards, and listen for them at the serial ports `found`. Returns the shoe that reported
    something, or None."""
    dialogue.say(
        f"Listening at {', '.join(found)}, at {' and '.join(map(str, _speeds()))} baud.",
        "Switch the shoe on, and draw two or three cards face up. Each card that is read is shown. Enter ends it.",
    )
    heard = asyncio.run(_listen(terminal, found))
    if heard is None:
        dialogue.say(
            "No shoe was heard. Is the shoe switched on, and is its cable in? A lamp on the adapter shows data."
        )
    else:
        dialogue.keep("setup.heard", f"heard at {heard.port}: {' '.join(heard.cards) or 'no card yet'}")
    return heard


def _ask_line(dialogue: Dialogue, draft: Draft, default: str) -> None:
    """Ask the technician for the port, brand and speed of a shoe that was not found by listening, and put them into the
    draft of the table's file. `default` is the port to propose."""
    explains = (
        "A name in /dev/serial/by-id stays the same whatever else is plugged in. A serial server: socket://HOST:PORT."
    )
    port = dialogue.ask("shoe.port", "The shoe's port", explains, default, str)
    explains = "The brand is printed on the shoe."
    driver = dialogue.ask("shoe.driver", "The shoe's brand", explains, shoes.NAMES[0], choice(*shoes.NAMES))
    bauds = shoes.brand(driver).bauds
    explains = f"The speed of the line, set in the shoe: {' or '.join(map(str, bauds))}."
    read = choice(*map(str, bauds))
    baud = int(dialogue.ask("shoe.baud", "The line's speed in baud", explains, str(bauds[0]), read))
    draft.shoe |= {"port": port, "driver": driver, "baud": baud}


def _port(text: str) -> str:
    if text != "find" and not re.fullmatch(r"/.+|socket://[^/\s]+:[0-9]{1,5}", text):
        raise ValueError("Write find, the full path of a device, or socket://HOST:PORT.")
    return text


def _speeds() -> list[int]:
    return sorted({baud for name in shoes.NAMES for baud in shoes.brand(name).bauds})


async def _listen(terminal: Terminal, found: Sequence[str]) -> Heard | None:
    """Listen at the serial ports `found` until the person at the terminal presses Enter. Returns the shoe that reported
    something, or None."""
    logging.getLogger("drivers").addHandler(logging.NullHandler())  # `Ear` prints what a port says
    ear = Ear()
    tasks = [asyncio.create_task(ear.hear(port)) for port in found]
    try:
        while terminal.line_within(0) is None:
            await asyncio.sleep(_POLL_S)
            for task in tasks:
                if task.done():
                    task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return ear.heard


class Ear:
    """Listens for a shoe at several serial ports. The first port at which a shoe reports something is taken as the
    shoe's port."""

    def __init__(self) -> None:
        self.heard: Heard | None = None

    async def hear(self, port: str) -> None:
        """Listen for a shoe at one serial port, at one speed after another, until the task is cancelled or a shoe
        reports something at another port."""
        speeds = _speeds()
        printed: set[str] = set()

        def link(_up: bool, why: str) -> None:
            if why not in printed:
                printed.add(why)
                print(f"  {why}", flush=True)

        while self.heard is None or self.heard.port == port:
            baud = self.heard.baud if self.heard else speeds[0]
            at = _AtSpeed(self, port, baud)
            listening = asyncio.create_task(ShoePort(port, baud, at.bytes, link).run())
            try:
                while not at.is_wrong() and (self.heard is None or self.heard.port == port):
                    await asyncio.sleep(_POLL_S)
                    if listening.done():
                        listening.result()
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening
            if at.is_wrong():
                print(f"  {port}: bytes that no shoe sends at {baud} baud; trying the next speed", flush=True)
                speeds.append(speeds.pop(0))


class _AtSpeed:
    """A serial port at which the setup listens for a shoe at one speed. The bytes go to the decoder (codec) of every
    brand of shoe that can run at that speed."""

    def __init__(self, ear: Ear, port: str, baud: int) -> None:
        brands = [shoes.brand(name) for name in shoes.NAMES]
        self._ear, self._port, self._baud = ear, port, baud
        self._codecs = {brand.name: brand.codec(None) for brand in brands if baud in brand.bauds}
        self._unread_since: float | None = None

    def bytes(self, data: bytes) -> None:
        """Pass the bytes that arrived to the decoder of each brand of shoe, and print what the decoders read."""
        facts: list[tuple[str, ShoeFact]] = [
            (name, fact)
            for name, codec in self._codecs.items()
            for fact in codec.feed(data)
            if not isinstance(fact, BadBytes | Answered)
        ]
        if facts:
            self._unread_since = None
            for name, fact in facts:
                self._tell(name, fact)
        elif self._unread_since is None:
            self._unread_since = asyncio.get_running_loop().time()

    def is_wrong(self) -> bool:
        """Tell whether the shoe cannot be running at this speed. Return True if bytes have come for half a second
        without any readable report, and no shoe has been found yet."""
        since = self._unread_since
        return (
            self._ear.heard is None and since is not None and asyncio.get_running_loop().time() - since > _UNREAD_FOR_S
        )

    def _tell(self, name: str, fact: ShoeFact) -> None:
        if self._ear.heard is None:
            self._ear.heard = Heard(self._port, name, self._baud)
            print(f"  {self._port}: {shoes.brand(name).called} at {self._baud} baud", flush=True)
        report = " ".join(re.findall("[A-Z][a-z]+", type(fact).__name__)).lower()
        if isinstance(fact, CardDrawn):
            report = str(fact.card) if fact.card else "a card that the shoe could not read"
            self._ear.heard.cards.append(report)
        print(f"  the shoe says: {report}", flush=True)
