"""Takes the pins of the Raspberry Pi's GPIO header for a table, and darkens the table's lamps while the daemon does not
run.

Darkening needs only the wiring of the lamps. So this module imports next to nothing, and no mistake elsewhere in the
table's file keeps a lamp lit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from controller.basics.errors import TableError
from drivers.devices import InputWiring, LampWiring
from drivers.gpio import GpioPins, load_rpi_gpio


def take_pins(
    driver: str, page: str | None, lamps: Mapping[str, LampWiring], inputs: Mapping[str, InputWiring]
) -> GpioPins:
    """Take the pins of the Raspberry Pi's GPIO header, and darken all lamps. With the simulated driver, the file `page`
    stands in for the header.

    Raises TableError if the pins cannot be taken.
    """
    if driver == "rpi_gpio":
        return GpioPins(load_rpi_gpio(), lamps, inputs)
    # A simulator is never part of a table's program: it is loaded only where the table's file names it.
    from drivers.sim.gpio import SimulatedGpio

    assert page is not None, "the configuration was checked"
    return GpioPins(SimulatedGpio(Path(page)), lamps, inputs)


def darken(path: Path, light_fault: bool) -> None:
    """Darken every lamp of the table whose configuration file is at `path`. With `light_fault`, light the fault lamp
    alone, without blinking.

    Raises TableError `config_invalid` if the file does not say how the lamps are wired.
    """
    driver, page, lamps = _wiring(path)
    pins = take_pins(driver, page, lamps, {})
    if light_fault and "fault" in lamps:
        pins.write("fault", True)


def _wiring(path: Path) -> tuple[str, str | None, dict[str, LampWiring]]:
    """Read the section `[pins]` of the table's file. Return the driver's name, the file that stands in for a simulated
    header (or None), and the wiring of each lamp by its name."""
    try:
        pins = tomllib.loads(path.read_text("utf-8"))["pins"]
        lamps = {str(name): LampWiring(int(lamp["bcm"]), lamp["active"]) for name, lamp in pins["lamps"].items()}
        driver, page = str(pins["driver"]), pins.get("page")
        if driver != "rpi_gpio" and not isinstance(page, str):
            raise ValueError("no page stands in for the header")
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise TableError(
            "config_invalid",
            f"{path} does not say how the lamps are wired ({type(error).__name__}: {error}).",
            "Run `tablectl check` on the file and correct what the check names.",
        ) from error
    return driver, page, lamps
