"""Simulates a monitor, with an X server whose picture is a file. Changes the browser command from the kiosk's systemd
unit so that the compositor Cage opens its window on that X server."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.people.cli import programs
from tests.support.waiting import eventually_now

UNIT = Path(__file__).parents[2] / "systemd" / "table-kiosk.service"

LACKING = [program for program in ("Xvfb", "cage", "Xwayland", "chromium") if shutil.which(program) is None]
"""What such a monitor needs and this machine lacks."""


@contextmanager
def monitor(folder: Path, log: Path) -> Iterator[str]:
    """Run a simulated monitor of 1024 x 768 pixels, and yield the name of its X display. The picture is in the file
    `Xvfb_screen0` in the folder."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-fbdir", str(folder), "-ac"]
    with programs.started(command, log):
        eventually_now(lambda: re.search(rb"^\d+\n", log.read_bytes(), re.MULTILINE), "the monitor")
        yield ":" + re.findall(r"^\d+$", log.read_text("utf-8"), re.MULTILINE)[0]


def units_browser(folder: Path, display: str) -> list[str]:
    """Return the browser command from the kiosk's systemd unit. It is changed to use this folder and this display, and
    to need no GPU, no seat of the login manager, and no root."""
    command = UNIT.read_text("utf-8").split("ExecStart=")[1].split(" -- ", 1)[1].split("\nWatchdogSec")[0]
    where = {"DISPLAY": display, "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    where |= {"WLR_BACKENDS": "x11", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"}
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    words = command.replace("\\\n", "").replace("/run/table-kiosk", str(folder)).split()
    return [*nobody, "env", *(f"{name}={said}" for name, said in where.items()), *words]
