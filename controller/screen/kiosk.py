"""`tablectl kiosk`: a browser on the attached monitor, brought back when it died or stays black.

The page itself says that it lives: with `?kiosk=NAME` it asks for `/alive/NAME` after each few seconds' painted frame.
What this program hears of that from the screen's server decides. While the server does not answer, the browser is not
to blame and is left alone: its page says that the screen is away, and comes back by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Sequence
from http.client import HTTPException
from types import FrameType
from urllib.request import urlopen

from controller.errors import TableError
from controller.notify import notify

SILENT_S = 20.0
"""A page that has painted nothing for so long is dead."""

FIRST_S = 60.0
"""A browser may take so long to its first painted page: on a Raspberry Pi 3 that is half a minute."""

_LOOK_S = 1.0
_AGAIN_S = 1.0
_ANSWER_S = 5.0


def keep_showing(url: str, command: Sequence[str], first_s: float = FIRST_S, silent_s: float = SILENT_S) -> None:
    """Run the browser by this command, the page's address behind it, over and over, until SIGTERM or Ctrl-C.

    Raises TableError `kiosk_browser` where there is no such program.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    notify("READY=1")
    try:
        while True:
            why = _shown_once(url.rstrip("/") + "/", command, first_s, silent_s)
            print(f"The browser is started again: {why}.", flush=True)
            time.sleep(_AGAIN_S)
    except KeyboardInterrupt:
        return


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _shown_once(url: str, command: Sequence[str], first_s: float, silent_s: float) -> str:
    """Run the browser until it is to be ended, or has ended, and say why. It leaves no process behind."""
    name = secrets.token_hex(4)
    try:
        browser = subprocess.Popen([*command, f"{url}?kiosk={name}"], start_new_session=True)
    except OSError as error:
        do = "Install the browser (apt-get install cage chromium), or name another one behind `--`."
        raise TableError("kiosk_browser", f"{command[0]} cannot be run: {error.strerror}.", do) from None
    good_until_s = time.monotonic() + first_s
    try:
        while True:
            notify("WATCHDOG=1")
            time.sleep(_LOOK_S)
            if (code := browser.poll()) is not None:
                return f"it ended with {code}"
            painted_s_ago = _painted(f"{url}alive/{name}/age")
            if painted_s_ago is not None:
                good_until_s = time.monotonic() + silent_s - painted_s_ago
            if time.monotonic() > good_until_s:
                return "its page has painted nothing for too long"
    finally:
        _end(browser)


def _painted(url: str) -> float | None:
    """How many seconds ago the page painted last; 0 where the server does not answer, None where it knows of none."""
    try:
        with urlopen(url, timeout=_ANSWER_S) as answer:  # http, as its caller wrote it
            age_s: float | None = json.load(answer)["age_s"]
            return age_s
    except (OSError, HTTPException, ValueError):
        return 0.0


def _end(browser: subprocess.Popen[bytes]) -> None:
    """The browser and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(browser.pid, signal.SIGKILL)
    browser.wait()
