"""The bench on a real Raspberry Pi header: jumper wires connect each pin of the table to a pin of the bench, on the
same header."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from drivers.gpio import GpioModule

BCM_NUMBERS = range(2, 28)


class Jumper(Struct, frozen=True):
    """The BCM numbers of the two pins that a jumper connects: the table's and the bench's."""

    table: int
    bench: int


class Jumpers(Struct, frozen=True):
    """The jumper wires that a file like `jumpers.toml` names, by the lamps' and inputs' names in the table file."""

    lamps: Mapping[str, Jumper]
    inputs: Mapping[str, Jumper]

    @classmethod
    def read(cls, path: Path) -> Jumpers:
        """Read the jumper wires from a file. Raises ValueError, with a message for people, if the file is wrong."""
        try:
            file = tomllib.loads(path.read_text("utf-8"))
            sections = {name: {pin: Jumper(**ends) for pin, ends in file[name].items()} for name in ("lamps", "inputs")}
        except (OSError, tomllib.TOMLDecodeError, KeyError, AttributeError, TypeError) as error:
            raise ValueError(f"{path} does not name jumpers: {error!r}; see controller/bench/jumpers.toml") from error
        jumpers = cls(**sections)
        ends = [end for jumper in jumpers.all() for end in (jumper.table, jumper.bench)]
        if wrong := [end for end in ends if end not in BCM_NUMBERS or ends.count(end) > 1]:
            raise ValueError(f"{path}: BCM {wrong[0]} is not on the header, or is used twice")
        return jumpers

    def all(self) -> list[Jumper]:
        """Return every jumper, of lamps and inputs."""
        return [*self.lamps.values(), *self.inputs.values()]

    def wiring(self, pins: Mapping[str, Any]) -> dict[str, Any]:
        """Return those lamps and inputs of a table's section `[pins]` that have a jumper wire. Raises KeyError if a
        wire's name is not in `[pins]`."""
        return {
            name: {pin: pins[name][pin] | {"bcm": jumper.table} for pin, jumper in jumpers.items()}
            for name, jumpers in (("lamps", self.lamps), ("inputs", self.inputs))
        }


class JumperedFront:
    """The buttons, sensors and lamps of a table, which the bench reaches by jumper wires on a real header.

    The bench's output pins drive the table's inputs. The bench's input pins read the table's lamps. If nobody drives
    the pin of a lamp, the lamp reads as dark.
    """

    def __init__(self, gpio: GpioModule, jumpers: Jumpers, lamps: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        self._gpio = gpio
        self._lamps = {name: (jumpers.lamps[name].bench, wiring["active"] == "high") for name, wiring in lamps.items()}
        self._inputs = {
            name: (jumpers.inputs[name].bench, wiring["active"] == "high") for name, wiring in inputs.items()
        }
        gpio.setwarnings(False)
        gpio.setmode(gpio.BCM)
        for bcm, high in self._lamps.values():
            gpio.setup(bcm, gpio.IN, pull_up_down=gpio.PUD_DOWN if high else gpio.PUD_UP)
        for bcm, high in self._inputs.values():
            gpio.setup(bcm, gpio.OUT, initial=not high)

    def press(self, name: str) -> None:
        """Press a button, turn the key or cover a sensor, by its name."""
        bcm, high = self._inputs[name]
        self._gpio.output(bcm, high)

    def release(self, name: str) -> None:
        """Let go of a button, turn the key back or uncover a sensor, by its name."""
        bcm, high = self._inputs[name]
        self._gpio.output(bcm, not high)

    def lamps(self) -> dict[str, bool]:
        """Return every lamp that has a jumper wire, by its name: True if the lamp is lit at this moment."""
        return {name: bool(self._gpio.input(bcm)) == high for name, (bcm, high) in self._lamps.items()}

    def close(self) -> None:
        """Stop driving the table's inputs."""
        for bcm, _ in (*self._lamps.values(), *self._inputs.values()):
            self._gpio.cleanup(bcm)
