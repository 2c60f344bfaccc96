"""Tells how the pins of the Raspberry Pi's GPIO header behave before this program runs: their level at power-up, and
the devices that use them.

The sources are the BCM2835's data sheet (the pulls at reset) and the Raspberry Pi's documentation of its header and
overlays. A lamp or an input should not be wired to a pin that something else drives, or that lights the lamp while the
Pi boots.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from drivers.devices import InputWiring, LampWiring

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
_I2C, _SPI, _I2S, _SPI_1 = (2, 3), (7, 8, 9, 10, 11), (18, 19, 20, 21), (16, 17, 18, 19, 20, 21)
_PARAMETERS = {
    r"i2c|i2c1|i2c_arm": (_I2C, "I2C"),
    r"spi": (_SPI, "SPI"),
    r"i2s": (_I2S, "digital audio (I2S)"),
    r"uart0": (_SERIAL, "the serial console"),
}
"""By a parameter of a dtparam line that is on: the BCM numbers that it takes, and for what."""
_OVERLAYS: dict[str, tuple[Mapping[str, int] | tuple[int, ...], str]] = {
    r"w1-gpio-pullup": ({"gpiopin": 4, "extpullup": 5}, "the 1-Wire bus"),
    r"w1-gpio": ({"gpiopin": 4}, "the 1-Wire bus"),
    r"dht11": ({"gpiopin": 4}, "a thermometer"),
    r"i2c-rtc|i2c-sensor|i2c-fan": (_I2C, "I2C"),
    r"i2c-gpio": ({"i2c_gpio_sda": 23, "i2c_gpio_scl": 24}, "I2C"),
    r"i2c3": ((4, 5), "I2C"),
    r"i2c4": ((8, 9), "I2C"),
    r"i2c5": ((12, 13), "I2C"),
    r"i2c6": ((22, 23), "I2C"),
    r"spi0-.*": (_SPI, "SPI"),
    r"spi1-.*": (_SPI_1, "SPI"),
    r"mcp251.*": ({"interrupt": 25}, "a CAN bus"),
    r"uart3": ((4, 5), "a serial port"),
    r"uart4": ((8, 9), "a serial port"),
    r"uart5": ((12, 13), "a serial port"),
    r"hifiberry.*|iqaudio.*|allo-.*|i2s-.*|googlevoicehat.*|max98357a": (_I2S, "digital audio (I2S)"),
    r"audremap|pwm-2chan": ((12, 13, 18, 19), "PWM sound"),
    r"pwm": ({"pin": 18}, "PWM sound"),
    r"gpio-ir(-tx)?": ({"gpio_pin": 18}, "a remote control"),
    r"pps-gpio": ({"gpiopin": 18}, "a clock's pulse"),
    r"gpio-fan": ({"gpiopin": 12}, "a fan"),
    r"gpio-shutdown": ({"gpio_pin": 3}, "a button of the system's"),
    r"gpio-key": ({"gpio": 3}, "a button of the system's"),
    r"gpio-poweroff": ({"gpiopin": 26}, "the power's switch"),
    r"gpio-led": ({"gpio": 4}, "a lamp of the system's"),
    r"sdio": ((22, 23, 24, 25, 26, 27), "a second SD card"),
    r"dpi.*|vc4-kms-dpi.*": (tuple(range(28)), "a display (DPI)"),
}
"""By an overlay's name, the first that fits: the BCM numbers that it takes, and for what. A number that a parameter of
the line can change stands under that parameter's name. For all other overlays the doctor asks the kernel."""

_DIGITS = re.compile("[0-9]{1,12}")


def conflicts(lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]) -> Iterator[str]:
    """Yield a warning for each lamp or input whose pin does something else on every Pi before this program runs.
    Example: a pin that is high from power-up lights its lamp."""
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
    """Yield a warning for each lamp or input whose pin the file `config_txt` of this Pi assigns to something else, or
    drives wrongly before this program runs. Yield nothing if the file cannot be read."""
    try:
        lines = [line.replace(" ", "") for line in config_txt.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return
    named = wired(lamps, inputs)
    for line in lines:
        key, _, value = line.partition("=")
        for bcms, what in _taken(key, value):
            for name, bcm in named:
                if bcm in bcms:
                    yield f"{name}: the line {line} of {config_txt} gives BCM {bcm} to {what}"
        if key == "gpio":
            bcms, does = _set(value)
            for name, lamp in lamps.items():
                if lamp.bcm in bcms and {"op", f"d{lamp.active[0]}"} <= does:
                    yield f"lamp {name}: the line {line} of {config_txt} lights this lamp until the table runs"
            for name, input_ in inputs.items():
                if input_.bcm in bcms and "op" in does:
                    yield f"input {name}: the line {line} of {config_txt} drives BCM {input_.bcm} against its contact"


def _taken(key: str, value: str) -> Iterator[tuple[Collection[int], str]]:
    """Yield the pins (BCM numbers) that the line `key=value` of config.txt takes, each group with a text that says what
    takes them."""
    words = value.split(",")
    parameters = {name: setting for name, _, setting in (word.partition("=") for word in words)}
    match key:
        case "dtparam":
            for name, setting in parameters.items():
                if setting in ("on", "yes", "true", "1", ""):
                    yield from (taken for known, taken in _PARAMETERS.items() if re.fullmatch(known, name))
        case "dtoverlay":
            known = next((taken for name, taken in _OVERLAYS.items() if re.fullmatch(name, words[0])), None)
            if known is not None:
                usual, what = known
                if isinstance(usual, Mapping):
                    yield [_number(parameters.get(name, ""), bcm) for name, bcm in usual.items()], what
                else:
                    yield usual, what
        case "enable_uart" if value == "1":
            yield _SERIAL, "the serial console"
        case "enable_jtag_gpio" if value == "1":
            yield tuple(range(22, 28)), "a debugger (JTAG)"


def _set(value: str) -> tuple[set[int], set[str]]:
    """Parse the value of a `gpio` line of config.txt, such as "16-18,20=op,dl". Return the BCM numbers, and the set of
    words that say what the line does to those pins."""
    which, _, does = value.partition("=")
    ends = (each.partition("-") for each in which.split(","))
    ranges = [range(_number(first, 0), _number(last or first, -1) + 1) for first, _, last in ends]
    return {bcm for bcm in PHYSICAL if any(bcm in each for each in ranges)}, set(does.split(","))


def _number(digits: str, otherwise: int) -> int:
    """Return the number that the text `digits` holds, or `otherwise` if the text is no number of at most 12 digits.
    Python refuses to read thousands of digits."""
    return int(digits) if _DIGITS.fullmatch(digits) else otherwise


def wired(lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]) -> list[tuple[str, int]]:
    """Return every lamp and input with its BCM number (the number of its pin), named for people, such as "lamp
    fault"."""
    return [
        *((f"lamp {name}", lamp.bcm) for name, lamp in lamps.items()),
        *((f"input {name}", input_.bcm) for name, input_ in inputs.items()),
    ]
