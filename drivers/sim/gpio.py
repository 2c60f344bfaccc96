"""A stand-in for the module RPi.GPIO, for machines other than a Raspberry Pi. It has the functions that the
controller's pins driver uses, and keeps the levels of the pins in a file.

Constants, argument checks and error texts are those of RPi.GPIO 0.7.1, so that a mistake in the driver fails with the
stand-in as it does on the Pi.
"""

from __future__ import annotations

from pathlib import Path

from drivers.sim.pins import INPUT, OUTPUT, PULL_OFF, PinsPage


class SimulatedGpio:
    """A stand-in for the module RPi.GPIO. `page` is the file with the levels of the pins (`[pins] page` of a table
    file). The file is made if it does not exist.

    As in RPi.GPIO, a channel (a pin) can be used only after a setup by the same object. Raises TableError `pins_page`
    if the file cannot be used.
    """

    BCM = 11
    IN = 1
    OUT = 0
    LOW = 0
    HIGH = 1
    PUD_OFF = 20
    PUD_DOWN = 21
    PUD_UP = 22

    def __init__(self, page: Path) -> None:
        self._page = PinsPage(page)
        self._mode_set = False
        self._directions: dict[int, int] = {}

    def setwarnings(self, state: bool, /) -> None:
        """Ignore the setting, because this stand-in for RPi.GPIO gives no warnings."""

    def setmode(self, mode: int, /) -> None:
        """Select how pins are numbered. BCM is the only mode that this stand-in for RPi.GPIO has. Raises ValueError for
        another mode."""
        if mode != self.BCM:
            raise ValueError(
                "A different mode has already been set!"
                if self._mode_set
                else "An invalid mode was passed to setmode()"
            )
        self._mode_set = True

    def setup(self, channel: int, direction: int, pull_up_down: int = PUD_OFF, initial: int = -1) -> None:
        """Make a channel (a pin) an input with the given pull, or an output. `initial` is the first level of an output;
        -1 sets no level.

        Raises ValueError if the arguments do not fit together, and RuntimeError if setmode() was not called before.
        """
        if direction not in (self.IN, self.OUT):
            raise ValueError("An invalid direction was passed to setup()")
        if direction == self.OUT and pull_up_down != self.PUD_OFF:
            raise ValueError("pull_up_down parameter is not valid for outputs")
        if direction == self.IN and initial != -1:
            raise ValueError("initial parameter is not valid for inputs")
        if pull_up_down not in (self.PUD_OFF, self.PUD_DOWN, self.PUD_UP):
            raise ValueError(
                "Invalid value for pull_up_down - should be either PUD_OFF, PUD_UP or PUD_DOWN",
            )
        self._check_channel(channel)
        if initial in (self.LOW, self.HIGH):
            self._page.write(channel, initial)
        self._page.set_up(channel, INPUT if direction == self.IN else OUTPUT, pull_up_down - self.PUD_OFF)
        self._directions[channel] = direction

    def output(self, channel: int, value: int, /) -> None:
        """Set the level of an output: 0 is low, any other value is high. Raises RuntimeError if the channel (the pin)
        is no output."""
        self._check_channel(channel)
        if self._directions.get(channel) != self.OUT:
            raise RuntimeError("The GPIO channel has not been set up as an OUTPUT")
        self._page.write(channel, int(bool(value)))

    def input(self, channel: int, /) -> int:
        """Return the level of a channel (a pin). For an output, this is the level that was written to it. Raises
        RuntimeError if the channel was not set up."""
        if channel not in self._directions:
            self._check_channel(channel)
            raise RuntimeError("You must setup() the GPIO channel first")
        return self._page.level(channel)

    def cleanup(self, channel: int) -> None:
        """Undo the setup of a channel (a pin): make it an input without a pull. A channel that this object has not set
        up is left unchanged."""
        self._check_channel(channel)
        if self._directions.pop(channel, None) is not None:
            self._page.set_up(channel, INPUT, PULL_OFF)

    def _check_channel(self, channel: int) -> None:
        if not self._mode_set:
            raise RuntimeError(
                "Please set pin numbering mode using GPIO.setmode(GPIO.BOARD) or GPIO.setmode(GPIO.BCM)",
            )
        if not 0 <= channel <= 53:
            raise ValueError("The channel sent is invalid on a Raspberry Pi")
