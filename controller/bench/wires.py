"""The addresses at which a table daemon in any language reaches the bench's serial port, header and broker."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from controller.bench.daemon import TableFiles


class Wires(Struct, frozen=True):
    """The addresses at which a table daemon reaches the bench's shoe, header and broker. They are for daemons that are
    not this project's.

    The header is a file of 4096 bytes, the pins page, which the bench and the daemon both map or write. Byte N is the
    level that drives BCM pin N from outside (0 or 1; 255: nothing drives it). Byte 64 + N is the level that the daemon
    puts out. Byte 128 + N is the pin's function (1 input, 2 output). A lamp is lit while its pin is an output at the
    level in `active`.
    """

    shoe: str
    """The shoe's port: a serial device, which is a pty where no cable was named."""
    baud: int
    """The speed of the shoe's line, in bits a second."""
    pins_page: str
    """The file of the pins page. With `--gpio real` the header is real, and nobody reads this file."""
    lamps: Mapping[str, int]
    """Each lamp's BCM number, by the lamp's name."""
    inputs: Mapping[str, int]
    """Each button's, key's and sensor's BCM number, by its name."""
    active: Mapping[str, int]
    """The level, 0 or 1, at which a lamp is lit or an input is pressed, by its name."""
    broker: str
    """The broker, as HOST:PORT."""
    table: str
    """The table's name. `bench_pit` hears `pit/v1/TABLE/state` and `pit/v1/TABLE/event`."""
    rpi_gpio: Mapping[str, str]
    """What to add to the environment of a daemon of Python, so that its RPi.GPIO drives the pins page; empty where that
    library or a C compiler is absent."""

    @classmethod
    def of(cls, files: TableFiles, host: str, port: int) -> Wires:
        """Return the wires of a generated table, with the broker at `host` and `port`."""
        pins = files.pins
        return cls(
            shoe=str(files.port),
            baud=files.baud,
            pins_page=str(files.page),
            lamps={name: lamp.bcm for name, lamp in pins.lamps.items()},
            inputs={name: wired.bcm for name, wired in pins.inputs.items()},
            active={name: int(pin.active == "high") for name, pin in (pins.lamps | pins.inputs).items()},
            broker=f"{host}:{port}",
            table=files.table_id,
            rpi_gpio=files.environment,
        )

    @property
    def environment(self) -> dict[str, str]:
        """Return the addresses of the table's wires as environment variables, for a program of any language:
        BENCH_SHOE, BENCH_BAUD, BENCH_PINS_PAGE, BENCH_BROKER, BENCH_TABLE, and a BCM number in each BENCH_LAMP_… and
        BENCH_INPUT_…, such as BENCH_LAMP_PLAYER."""
        pins = {
            f"BENCH_{kind}_{name.upper()}": str(bcm)
            for kind, named in (("LAMP", self.lamps), ("INPUT", self.inputs))
            for name, bcm in named.items()
        }
        return pins | {
            "BENCH_SHOE": self.shoe,
            "BENCH_BAUD": str(self.baud),
            "BENCH_PINS_PAGE": self.pins_page,
            "BENCH_BROKER": self.broker,
            "BENCH_TABLE": self.table,
        }
