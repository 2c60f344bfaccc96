"""`tablectl sim`: a simulated device alone, for the far end of a real or a simulated wire."""

from __future__ import annotations

import sys
from pathlib import Path

from drivers.sim import angel_eye, beetek
from drivers.sim.angel_eye import PtyLine, SerialLine
from drivers.sim.run import run_shoe_alone

_USUAL_BAUD = {"angel_eye": angel_eye.BAUD, "beetek": beetek.BAUD}


def sim_shoe(
    driver: str, pty: Path | None, port: str | None, baud: int | None, seed: int, pace_s: float, rounds: int | None
) -> int:
    """A shoe on a pty or a serial port, dealing until `rounds` are dealt; what it dealt on standard output.

    `driver` as in a table file's `[shoe]`; without a `baud` the port runs at what is usual for that shoe.
    """
    line = PtyLine(pty) if pty is not None else SerialLine(str(port), baud or _USUAL_BAUD[driver])
    try:
        run_shoe_alone(line, seed, pace_s, rounds, sys.stdout, driver)
    finally:
        line.unplug()
    return 0
