"""`tablectl sim`: a simulated device alone, for the far end of a real or a simulated wire."""

from __future__ import annotations

import sys
from pathlib import Path

from drivers.sim.angel_eye import PtyLine, SerialLine
from drivers.sim.run import run_shoe_alone


def sim_shoe(pty: Path | None, port: str | None, baud: int, seed: int, pace_s: float, rounds: int | None) -> int:
    """An Angel Eye on a pty or a serial port, dealing until `rounds` are dealt; what it dealt on standard output."""
    line = PtyLine(pty) if pty is not None else SerialLine(str(port), baud)
    try:
        run_shoe_alone(line, seed, pace_s, rounds, sys.stdout)
    finally:
        line.unplug()
    return 0
