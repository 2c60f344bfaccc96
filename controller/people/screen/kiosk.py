"""`tablectl kiosk`: runs a browser on the attached monitor, and starts it again if it ends or paints nothing.

The page reports that it works: with `?kiosk=NAME` in its address it asks for `/alive/NAME` every few seconds after a
painted frame. This program asks the screen's server how long ago the last report came, and restarts a browser whose
page is silent. If the server itself does not answer, the browser is left alone. The page then says that the screen is
away, and recovers without a restart.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from http.client import HTTPException
from types import FrameType
from urllib.request import urlopen

from controller.basics.errors import TableError
from controller.basics.journald import Kind, Priority, tell
from controller.basics.notify import notify

SILENT_S = 20.0
"""A page that has painted nothing for so long counts as dead."""

FIRST_S = 60.0
"""The time that a browser may need until its first painted page. On a Raspberry Pi 3 that is half a minute."""

_LOOK_S = 1.0
_AGAIN_S = 1.0
_ANSWER_S = 5.0


def keep_showing(url: str, command: Sequence[str], first_s: float = FIRST_S, silent_s: float = SILENT_S) -> None:
    """Run a browser that shows the page at `url`, and start it again whenever it ends, until SIGTERM or Ctrl-C.
    `command` is the browser's command line without the address.

    The browser is ended and started again if its page has not painted within `first_s` seconds of its start, or if the
    page later paints nothing for `silent_s` seconds. Raises TableError `kiosk_browser` if the program cannot be run.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    notify("READY=1")
    try:
        while True:
            why = _shown_once(url.rstrip("/") + "/", command, first_s, silent_s)
            told = f"The browser is started again: {why}."
            tell(told, Kind.KIOSK_AGAIN, sys.stdout, "tablectl", Priority.WARNING)
            time.sleep(_AGAIN_S)
    except KeyboardInterrupt:
        return


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _shown_once(url: str, command: Sequence[str], first_s: float, silent_s: float) -> str:
    """Run the browser until it ends or has to be ended, and return the reason as text. No process of the browser is
    left behind."""
    name = secrets.token_hex(4)
    _painted(f"{url}alive/{name}/age")  # the server believes no page of which nobody has asked
    try:
        browser = subprocess.Popen([*command, f"{url}?kiosk={name}"], start_new_session=True)
    except OSError as error:
        do = "Install the browser (apt-get install cage chromium xwayland), or name another browser after `--`."
        raise TableError("kiosk_browser", f"{command[0]} cannot be run: {error.strerror}.", do) from None
    good_until_s = time.monotonic() + first_s
    try:
        while True:
            notify("WATCHDOG=1")
            time.sleep(_LOOK_S)
            if (code := browser.poll()) is not None:
                return f"the browser ended with {code}"
            painted_s_ago = _painted(f"{url}alive/{name}/age")
            if painted_s_ago is not None:
                good_until_s = time.monotonic() + silent_s - painted_s_ago
            if time.monotonic() > good_until_s:
                return "its page has painted nothing for too long"
    finally:
        _end(browser)


def _painted(url: str) -> float | None:
    """Ask the screen's server how many seconds ago the page last painted, and return the number. Return 0 if the server
    does not answer, and None if the page has not painted."""
    try:
        with urlopen(url, timeout=_ANSWER_S) as answer:  # http, as its caller wrote it
            age_s: float | None = json.load(answer)["age_s"]
            return age_s
    except (OSError, HTTPException, ValueError):
        return 0.0


def _end(browser: subprocess.Popen[bytes]) -> None:
    """End the browser and every process that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(browser.pid, signal.SIGKILL)
    browser.wait()
