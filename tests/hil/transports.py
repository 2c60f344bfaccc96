"""The serial lines between the simulated shoe and the pty of the host: a good line, and lines that split, lose or delay
bytes."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from queue import Queue

from controller.bench.far_shoe import FarLine

LOSS = 0.2  # of the copies or lines sent, those that lose a byte
_LATE_S, _MOST_LATE = 0.03, 8
_ANSWERS = (b"\x06", b"\x15")


class Perfect:
    """A serial line that delivers everything as it was sent."""

    def __init__(self, line: FarLine) -> None:
        self._line = line

    def write(self, data: bytes) -> None:
        """Send bytes from the shoe over the line."""
        self._line.write(data)

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Register `heard`, which is then called with all bytes that the host sends to the shoe."""
        self._line.listen(heard)

    def unplug_at_shoe(self) -> None:
        """Pull the plug at the shoe's end of the cable, so that no byte passes."""
        self._line.unplug_at_shoe()

    def plug_at_shoe(self) -> None:
        """Put the plug back at the shoe's end of the cable, so that bytes pass again."""
        self._line.plug_at_shoe()

    def plug(self) -> None:
        """Let the serial device appear at the host, as when its adapter is plugged in."""
        self._line.plug()

    def unplug(self) -> None:
        """Let the serial device vanish from the host, as when its adapter is pulled out."""
        self._line.unplug()


class ByteByByte(Perfect):
    """A serial line that delivers each byte by itself."""

    def write(self, data: bytes) -> None:
        """Send the bytes over the line one by one."""
        for place in range(len(data)):
            super().write(data[place : place + 1])
            time.sleep(0)  # let the reader run between two of them


class Lossy(Perfect):
    """A serial line that loses bytes: on average one byte in every fifth frame or line that the shoe sends. The bytes
    are chosen by a seed. `lost` counts the losses."""

    def __init__(self, line: FarLine) -> None:
        super().__init__(line)
        self._rng, self._of_answers = random.Random(20), random.Random(20)
        self.lost = 0

    def write(self, data: bytes) -> None:
        """Send the bytes over the line, and sometimes lose one of them."""
        rng = self._of_answers if data[:1] in _ANSWERS else self._rng  # answers come by the clock
        if rng.random() < LOSS:
            lost = rng.randrange(len(data))
            data = data[:lost] + data[lost + 1 :]
            self.lost += 1
        super().write(data)


class Delayed(Perfect):
    """A serial line that delivers everything late, one write at a time, while the shoe goes on.

    A queue holds the writes. If the queue is full, the shoe has to wait. Otherwise the shoe's answer would come seconds
    after the table's question.
    """

    def __init__(self, line: FarLine) -> None:
        super().__init__(line)
        self._late: Queue[bytes] = Queue(_MOST_LATE)
        threading.Thread(target=self._bring, name="late", daemon=True).start()

    def write(self, data: bytes) -> None:
        """Put the bytes into the queue of the delayed line. If the queue is full, wait."""
        self._late.put(data)

    def _bring(self) -> None:
        while True:
            data = self._late.get()
            time.sleep(_LATE_S)
            super().write(data)


TRANSPORTS: dict[str, Callable[[FarLine], Perfect]] = {
    "perfect": Perfect,
    "byte by byte": ByteByByte,
    "lossy": Lossy,
    "delayed": Delayed,
}
