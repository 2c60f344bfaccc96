"""A file that stands in for the pins of a Raspberry Pi, and simulated people who press inputs and look at lamps through
this file.

The file (the page) has 4096 bytes that both programs map into memory, with these bytes for each BCM number N:

    N          level driven from outside: 0, 1, or 255 = nothing drives it, and the pull decides
    64 + N     level last written to the output: 0 or 1
    128 + N    function: 0 not used yet, 1 input, 2 output
    192 + N    pull: 0 off, 1 down, 2 up
    256..263   how many times an output has been written, little-endian

As with real pins, levels and functions stay when the process that set them has ended.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
import time
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError

PAGE_BYTES = 4096
_LEVEL, _OUTPUT, _FUNCTION, _PULL, _WRITES = 0, 64, 128, 192, 256
_UNDRIVEN = 255
_TAP_S = 0.08
_ACT_SEEN_S, _HELD_S = 0.5, 2.5  # a second person sees that an act waits, and holds its button
_PATTERN_S, _LOOKS = 2.0, 100
_CHATTER_MS = (12, 8, 15, 5, 10, 10)  # pressed, released, pressed ... before a bouncing contact stays pressed

INPUT, OUTPUT = 1, 2
"""A pin's function."""
PULL_OFF, PULL_DOWN, PULL_UP = 0, 1, 2
"""A pin's pull."""


class PinsPage:
    """The file (the page) that stands in for the pins of a Raspberry Pi. A pin is named by its BCM number. If the file
    does not exist, it is made.

    Raises TableError `pins_page` if the file cannot be made, or is not of this format.
    """

    def __init__(self, path: Path) -> None:
        try:
            _make_fresh(path)
            with path.open("r+b") as file:
                self._bytes = mmap.mmap(file.fileno(), PAGE_BYTES)
        except (OSError, ValueError) as error:
            raise TableError(
                "pins_page",
                f"{path} cannot stand in for the header: {error}",
                "set [pins] page to a file in a folder that you may write to, or remove the file there",
            ) from error

    def drive(self, bcm: int, level: int | None) -> None:
        """Drive the pin from outside with level 0 or 1, as a button does. With None, nothing drives the pin."""
        self._bytes[_LEVEL + bcm] = _UNDRIVEN if level is None else level

    def level(self, bcm: int) -> int:
        """Return the present level of the pin, 0 or 1. For an output this is the level that was written. For an input
        it is the level that drives the pin from outside, or, if nothing drives it, the level that its pull gives."""
        page = self._bytes
        if page[_FUNCTION + bcm] == OUTPUT:
            return page[_OUTPUT + bcm]
        driven = page[_LEVEL + bcm]
        return int(page[_PULL + bcm] == PULL_UP) if driven == _UNDRIVEN else driven

    def output(self, bcm: int) -> int:
        """Return the level that was last written to the pin. This level has an effect outside only while the pin's
        function is OUTPUT."""
        return self._bytes[_OUTPUT + bcm]

    def function(self, bcm: int) -> int:
        """Return the pin's function: INPUT, OUTPUT, or 0 if the pin has never been set up."""
        return self._bytes[_FUNCTION + bcm]

    def pull(self, bcm: int) -> int:
        """Return the pin's pull: PULL_OFF, PULL_DOWN or PULL_UP."""
        return self._bytes[_PULL + bcm]

    @property
    def writes(self) -> int:
        """The number of times that any output has been written since the file was made."""
        count: int = struct.unpack_from("<Q", self._bytes, _WRITES)[0]
        return count

    def set_up(self, bcm: int, function: int, pull: int) -> None:
        """Set the pin's function and pull. Only the controller's side does this."""
        self._bytes[_PULL + bcm] = pull
        self._bytes[_FUNCTION + bcm] = function

    def write(self, bcm: int, level: int) -> None:
        """Set the level of an output pin to 0 or 1, and count the write. Only the controller's side does this."""
        self._bytes[_OUTPUT + bcm] = level
        struct.pack_into("<Q", self._bytes, _WRITES, self.writes + 1)


def _make_fresh(path: Path) -> None:
    """Make the file that stands in for the pins, unless the file exists. It appears complete and in one step, because
    the other program may be about to open it."""
    fresh = bytes([_UNDRIVEN]) * _OUTPUT + bytes(PAGE_BYTES - _OUTPUT)
    with tempfile.NamedTemporaryFile(dir=path.parent) as file:
        file.write(fresh)
        file.flush()
        try:
            os.link(file.name, path)
        except FileExistsError:
            return


class SimulatedPins:
    """The inputs and lamps of a simulated table, as people use them: they press inputs and look at lamps, by the names
    of the table file.

    `page` is the file that stands in for the pins (`[pins] page` of a table file). `lamps` and `inputs` are the tables
    `[pins.lamps]` and `[pins.inputs]` as tomllib reads them (`{"bcm": 22, "active": "low", "pull": "up"}`). `sleep` is
    called with the seconds of each wait. Raises TableError `pins_page` if the file cannot be used.
    """

    def __init__(
        self,
        page: Path,
        lamps: Mapping[str, Mapping[str, Any]],
        inputs: Mapping[str, Mapping[str, Any]],
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._page = PinsPage(page)
        self._sleep = sleep
        self._lamps = {name: (lamp["bcm"], _active_level(lamp)) for name, lamp in lamps.items()}
        self._inputs = {name: (wiring["bcm"], _active_level(wiring)) for name, wiring in inputs.items()}

    def press(self, name: str) -> None:
        """Press a button, turn the key, or cover a sensor, and leave it so until it is released."""
        self.set(name, True)

    def release(self, name: str) -> None:
        """Let go of a button, turn the key back, or uncover a sensor."""
        self.set(name, False)

    def set(self, name: str, pressed: bool) -> None:
        """Press or release an input. Raises KeyError for an input that the table does not have."""
        bcm, active = self._input(name)
        self._page.drive(bcm, active if pressed else 1 - active)

    def tap(self, name: str) -> None:
        """Press an input for 80 ms, as a quick person does, and release it. Raises KeyError for an input that the table
        does not have."""
        self.press(name)
        self._sleep(_TAP_S)
        self.release(name)

    def confirm(self, name: str) -> None:
        """Turn the key and hold the button `name`, as a second person does to confirm an act, and then release both.
        Raises KeyError for an input that the table does not have."""
        self._sleep(_ACT_SEEN_S)
        self.press("key")
        self._sleep(_TAP_S)
        self.press(name)
        self._sleep(_HELD_S)
        self.release(name)
        self.release("key")

    def bounce(self, name: str) -> None:
        """Press an input whose contact chatters for 60 ms before it stays pressed. The chatter is the same each time.
        Raises KeyError for an input that the table does not have."""
        for at, chatter_ms in enumerate(_CHATTER_MS):
            self.set(name, at % 2 == 0)
            self._sleep(chatter_ms / 1000)
        self.press(name)

    def cut(self, name: str) -> None:
        """Cut the input's wire, so that the pin's pull decides its level, until the input is next pressed or released.
        Raises KeyError for an input that the table does not have."""
        bcm, _ = self._input(name)
        self._page.drive(bcm, None)

    def _input(self, name: str) -> tuple[int, int]:
        if name not in self._inputs:
            likely = get_close_matches(name, self._inputs, 1)
            raise KeyError(f"{name}: is {likely[0]} meant?" if likely else name)
        return self._inputs[name]

    def lit(self, name: str) -> bool:
        """Tell whether a lamp is lit now. A lamp whose pin is not an output is dark. Raises KeyError for a lamp that
        the table does not have."""
        bcm, active = self._lamps[name]
        return self._page.function(bcm) == OUTPUT and self._page.output(bcm) == active

    def lamps(self) -> dict[str, bool]:
        """Return for every lamp, by name, whether it is lit now."""
        return {name: self.lit(name) for name in self._lamps}

    def burning(self) -> dict[str, str]:
        """Watch the lamps for 2 s, the length of the longest blink pattern. Returns a text for each lamp that is not
        dark: `steady`, or for example `blinks 4 times in 2 s, lit half of the time`."""
        looks = []
        for _ in range(_LOOKS):
            looks.append(self.lamps())
            self._sleep(_PATTERN_S / _LOOKS)
        return {name: _how([look[name] for look in looks]) for name in looks[0] if any(look[name] for look in looks)}


def _how(lit: list[bool]) -> str:
    if all(lit):
        return "steady"
    comes_on = sum(now and not before for before, now in pairwise(lit))
    return f"blinks {comes_on} times in {_PATTERN_S:g} s, lit {sum(lit) / len(lit):.0%} of the time"


def _active_level(wiring: Mapping[str, Any]) -> int:
    return 1 if wiring["active"] == "high" else 0
