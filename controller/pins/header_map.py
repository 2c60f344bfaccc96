"""The Raspberry Pi's header before our program runs: what each pin does at power-up, and what else uses it.

From the BCM2835's data sheet (the pulls at reset) and the Raspberry Pi's documentation of its header and overlays. A
lamp or an input does not belong on a pin that something else drives, or that lights the lamp while the Pi boots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from controller.pins.devices import InputWiring, LampWiring

CONFIG_TXT = Path("/boot/firmware/config.txt")
"""The file in which Raspberry Pi OS switches overlays on."""

PHYSICAL = {
    2: 3,
    3: 5,
    4: 7,
    14: 8,
    15: 10,
    17: 11,
    18: 12,
    27: 13,
    22: 15,
    23: 16,
    24: 18,
    10: 19,
    9: 21,
    25: 22,
    11: 23,
    8: 24,
    7: 26,
    5: 29,
    6: 31,
    12: 32,
    13: 33,
    19: 35,
    16: 36,
    26: 37,
    20: 38,
    21: 40,
}
"""The place on the 40-pin header, 1 to 40, of each BCM number."""

GROUNDS = (6, 9, 14, 20, 25, 30, 34, 39)
POWER = {1: "3.3 V", 17: "3.3 V", 2: "5 V", 4: "5 V", 27: "ID EEPROM", 28: "ID EEPROM"}

PULLED_UP_AT_BOOT = frozenset(range(2, 9))
"""BCM numbers that read high from power-up until a program sets them. All others of the header read low."""


_SERIAL = (14, 15)
_OVERLAYS = {
    r"dtparam=i2c(_arm)?=on": ((2, 3), "I2C"),
    r"dtoverlay=w1-gpio": ((4,), "the 1-Wire bus"),
    r"dtparam=spi=on": ((7, 8, 9, 10, 11), "SPI"),
    r"enable_uart=1": (_SERIAL, "the serial console"),
    r"dtparam=i2s=on|dtoverlay=hifiberry": ((18, 19, 20, 21), "digital audio (I2S)"),
    r"dtoverlay=(audremap|pwm)": ((12, 13, 18, 19), "PWM sound"),
}
"""By the begin of a line of config.txt: the BCM numbers that such a line takes, and for what."""


def conflicts(lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]) -> Iterator[str]:
    """A sentence for each lamp or input on a pin that does something else on every Pi before our program runs."""
    for name, lamp in lamps.items():
        high = lamp.bcm in PULLED_UP_AT_BOOT
        if high == (lamp.active == "high"):
            reads = "high" if high else "low"
            yield f"lamp {name}: BCM {lamp.bcm} is {reads} from power-up, so this lamp is lit until the table runs"
    for name, bcm in wired(lamps, inputs):
        if bcm in _SERIAL:
            yield f"{name}: BCM {bcm} is the header's serial port; a boot message or a console on it drives the pin"
    for name, input_ in inputs.items():
        if input_.bcm in (2, 3) and (input_.active, input_.pull) != ("low", "up"):
            yield f'input {name}: BCM {input_.bcm} is pulled up on the board; wire it active = "low", pull = "up"'


def overlaid(lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring], config_txt: Path) -> Iterator[str]:
    """A sentence for each lamp or input on a pin that this Pi's config.txt uses; none where there is no such file."""
    try:
        lines = [line.replace(" ", "") for line in config_txt.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return
    for begins, (bcms, what) in _OVERLAYS.items():
        line = next((line for line in lines if re.match(begins, line)), None)
        if line is not None:
            for name, bcm in wired(lamps, inputs):
                if bcm in bcms:
                    yield f"{name}: the line {line} of {config_txt} gives BCM {bcm} to {what}"


def wired(lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]) -> list[tuple[str, int]]:
    """Every lamp and input with its BCM number, in words for people."""
    return [
        *((f"lamp {name}", lamp.bcm) for name, lamp in lamps.items()),
        *((f"input {name}", input_.bcm) for name, input_ in inputs.items()),
    ]
