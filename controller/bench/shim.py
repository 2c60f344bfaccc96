"""Compiles the shim, a library that lets the real RPi.GPIO use a file (the pins page) instead of the Pi's GPIO
registers. gpio_shim.c explains how."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("gpio_shim.c")


class ShimUnavailableError(Exception):
    """This machine cannot run the real RPi.GPIO on a file (the pins page) instead of GPIO registers. The error's text
    says what is missing."""


def build_shim(folder: Path) -> Path:
    """Compile the shim into `folder`. Returns the library's path, for LD_PRELOAD.

    Raises ShimUnavailableError without a C compiler or RPi.GPIO, and CalledProcessError if the source is wrong.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        raise ShimUnavailableError("no C compiler: cc is not on the path")
    if not _rpi_gpio_is_installed():
        raise ShimUnavailableError(
            "RPi.GPIO is not installed (rpi-lgpio has the same name, and no hardware layer to replace)"
        )
    shim = folder / "gpio_shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", shim, SOURCE], check=True)
    return shim


def _rpi_gpio_is_installed() -> bool:
    """Tell whether RPi.GPIO's compiled module is installed. The module is not imported, because that would need a
    Pi."""
    return importlib.util.find_spec("RPi") is not None and importlib.util.find_spec("RPi._GPIO") is not None
