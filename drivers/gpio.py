"""Drives the lamps and inputs on the Raspberry Pi's GPIO header, through the Python API of RPi.GPIO.

`RPi.GPIO` (Pi 4 and earlier), `rpi-lgpio` (Pi 5, under the same name) and the simulated header offer the same API, so
one driver serves all three. The pins are read again and again, and never watched for edges: RPi.GPIO's edge detection
fails on kernels from 6.6, and `rpi-lgpio` debounces differently.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from controller.basics.errors import TableError
from drivers.devices import InputWiring, LampWiring


class GpioModule(Protocol):
    """The part of the RPi.GPIO module that the driver uses, as a Protocol. Channels are BCM numbers."""

    BCM: int
    IN: int
    OUT: int
    LOW: int
    HIGH: int
    PUD_OFF: int
    PUD_DOWN: int
    PUD_UP: int

    def setwarnings(self, state: bool, /) -> None: ...
    def setmode(self, mode: int, /) -> None: ...
    def setup(self, channel: int, direction: int, pull_up_down: int = ..., initial: int = ...) -> None: ...
    def output(self, channel: int, value: int, /) -> None: ...
    def input(self, channel: int, /) -> int: ...
    def cleanup(self, channel: int) -> None: ...


class GpioPins:
    """The lamps and inputs of a table on the Raspberry Pi's GPIO header, as the Protocol `Pins` describes them.

    The constructor takes the pins and darkens every lamp. It raises TableError `gpio_refused` if the pins cannot be
    taken.
    """

    def __init__(self, gpio: GpioModule, lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]) -> None:
        self._gpio = gpio
        self._lamps = dict(lamps)
        self._inputs: list[tuple[str, int, int]] = []  # name, BCM number and the level that is True: read many times
        try:
            self._take_pins(inputs)
        except Exception as error:  # rpi-lgpio raises a class of its own, which cannot be imported here
            raise TableError(
                "gpio_refused",
                f"the pins of the header cannot be used: {error}",
                "put the daemon's user into the group gpio (root is not needed), stop any other program that uses "
                "these pins, and on a Pi 5 install rpi-lgpio in place of RPi.GPIO",
            ) from error

    def read(self) -> dict[str, bool]:
        """Return the present level of every input by name: True means pressed, turned or covered."""
        level = self._gpio.input
        return {name: level(bcm) == active for name, bcm, active in self._inputs}

    def write(self, lamp: str, lit: bool) -> None:
        """Light or darken one lamp. Raises KeyError for a lamp that the table does not have."""
        wiring = self._lamps[lamp]
        self._gpio.output(wiring.bcm, self._active(wiring) if lit else self._dark(wiring))

    def close(self) -> None:
        """Darken every lamp and release the inputs. A second call does no harm."""
        for lamp in self._lamps:
            self.write(lamp, False)
        # Only the inputs are cleaned up: cleanup() makes a pin an input without a pull, and a floating pin may light
        # its lamp. A lamp's pin stays an output at its dark level.
        for _, bcm, _ in self._inputs:
            self._gpio.cleanup(bcm)

    def _take_pins(self, inputs: Mapping[str, InputWiring]) -> None:
        gpio = self._gpio
        pulls = {"off": gpio.PUD_OFF, "down": gpio.PUD_DOWN, "up": gpio.PUD_UP}
        gpio.setwarnings(False)  # RPi.GPIO warns of pins that are set up, and every run leaves its lamps' pins so
        gpio.setmode(gpio.BCM)
        for lamp in self._lamps.values():
            gpio.setup(lamp.bcm, gpio.OUT, initial=self._dark(lamp))  # the level first, so that no lamp flashes
        for name, wiring in inputs.items():
            gpio.setup(wiring.bcm, gpio.IN, pull_up_down=pulls[wiring.pull])
            self._inputs.append((name, wiring.bcm, self._active(wiring)))

    def _active(self, wiring: LampWiring | InputWiring) -> int:
        return self._gpio.HIGH if wiring.active == "high" else self._gpio.LOW

    def _dark(self, wiring: LampWiring) -> int:
        return self._gpio.LOW if wiring.active == "high" else self._gpio.HIGH


def load_rpi_gpio() -> GpioModule:
    """Import and return the `RPi.GPIO` module of this Raspberry Pi.

    Raises TableError: `gpio_missing` if no such package is installed, `gpio_not_a_pi` if the package finds no Raspberry
    Pi, `gpio_folder` if the Pi 5's package may not write to the folder in which the daemon was started.
    """
    choose_library(Path(sys.prefix, "pins"))
    try:
        import RPi.GPIO
    except ImportError as error:
        raise TableError(
            "gpio_missing",
            f"the RPi.GPIO package cannot be imported: {error}",
            "install the controller with its extra `pi` (Pi 4 and earlier) or `pi5` (Pi 5)",
        ) from error
    except RuntimeError as error:  # from both libraries: the machine is no Pi, or a Pi that the library does not know
        raise TableError(
            "gpio_not_a_pi",
            f"RPi.GPIO refuses this machine: {error}",
            'run the daemon on the table\'s Pi, or set driver = "simulated" and a page under [pins]',
        ) from error
    except OSError as error:
        raise TableError(
            "gpio_folder",
            f"the Pi 5's RPi.GPIO cannot make its pipe in the current folder: {error}",
            "start the daemon in a folder that its user may write to (WorkingDirectory= in the systemd unit)",
        ) from error
    return cast(GpioModule, RPi.GPIO)


BOARD = Path("/proc/device-tree/compatible")
_GPIOMEM = Path("/dev/gpiomem")


def choose_library(folder: Path, board: Path = BOARD, gpiomem: Path = _GPIOMEM) -> None:
    """Put the GPIO library that fits this board on Python's path. `folder` holds both libraries in subfolders; if there
    is no such folder, do nothing.

    RPi.GPIO drives the Pi 4 and earlier through /dev/gpiomem. The Pi 5, and kernels without that device, need
    rpi-lgpio. Each start looks at the board again, because the memory card may be moved to another Pi.
    """
    if not folder.is_dir():
        return
    is_pi_5 = board.is_file() and b"brcm,bcm2712" in board.read_bytes()
    library = str(folder / ("rpi_gpio" if gpiomem.exists() and not is_pi_5 else "rpi_lgpio"))
    if library not in sys.path:
        sys.path.append(library)
