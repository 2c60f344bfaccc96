"""Checks the kiosk, which keeps a browser running on a monitor. A browser that died or paints nothing is started again.
A browser whose server is away is left alone."""

from __future__ import annotations

import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from controller.people.cli import programs
from controller.people.cli.main import main
from controller.people.screen import kiosk as kiosk_
from tests.screen import attached
from tests.screen.attached import LACKING, UNIT, units_browser
from tests.screen.browser import PROGRAM, needs_a_browser
from tests.support import forks
from tests.support.waiting import PATIENCE_S, eventually_now

_KIOSK = f"""{forks.ALIKE}import sys
from controller.people.screen import kiosk
kiosk._LOOK_S = kiosk._AGAIN_S = 0.1
kiosk.keep_showing(sys.argv[1], sys.argv[4:], float(sys.argv[2]), float(sys.argv[3]))
"""

_PAINTS = """
import pathlib, sys, time, urllib.request
folder, how, url = sys.argv[1:]
started = pathlib.Path(folder, "started")
started.write_text(started.read_text() + "1" if started.exists() else "1")
alive = url.replace("?kiosk=", "alive/")
for painted in range(3 if how == "freezes" else 10**9):
    if how == "dies" and painted == 2:
        sys.exit(3)
    try:
        urllib.request.urlopen(alive)
    except OSError:
        pass
    time.sleep(0.2)
time.sleep(1000)
"""
"""What stands in for a browser: it says that its page paints, until it dies or freezes."""


class Monitor:
    """A screen's web server without a table, and a kiosk program that keeps a browser with its page running."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self._at = f"127.0.0.1:{programs.free_port()}"
        self._table = programs.simulated_table(folder, 1)
        self.server = self.serve()

    def serve(self) -> subprocess.Popen[bytes]:
        """Start the screen's web server, and wait until it listens for connections."""
        log = self.folder / "screen.log"
        log.unlink(missing_ok=True)
        command = programs.python("-m", "controller.people.cli.main", "screen", str(self._table), "--listen", self._at)
        server = self._stack.enter_context(programs.started(command, log))
        eventually_now(lambda: self._at in log.read_text("utf-8"), "the server")
        return server

    def kiosk(self, *browser: str, first_s: float = 30, silent_s: float = 3) -> subprocess.Popen[bytes]:
        """Start the kiosk program with this browser command. The kiosk starts the browser again if the page paints
        nothing for too long: for `first_s` seconds after the start, and for `silent_s` seconds later."""
        command = [sys.executable, "-c", _KIOSK, f"http://{self._at}", str(first_s), str(silent_s), *browser]
        return self._stack.enter_context(programs.started(command, self.folder / "kiosk.log"))

    def stand_in(self, how: str, silent_s: float = 3) -> subprocess.Popen[bytes]:
        """Start the kiosk program with a small program in place of a browser. `how` says whether that program dies,
        freezes or goes on."""
        return self.kiosk(sys.executable, "-c", _PAINTS, str(self.folder), how, silent_s=silent_s)

    @property
    def starts(self) -> int:
        """Return how often the kiosk has started the small program in place of a browser."""
        started = self.folder / "started"
        return len(started.read_text("utf-8")) if started.exists() else 0

    def was_heard(self, browser: int) -> bool:
        """Tell whether the page in the browser with this process number has told the server that it painted."""
        name = Path(f"/proc/{browser}/cmdline").read_text("utf-8").split("?kiosk=")[1].rstrip("\0")
        with urlopen(f"http://{self._at}/alive/{name}/age", timeout=10) as answer:
            return json.load(answer)["age_s"] is not None

    def said(self) -> str:
        """Return what the kiosk program has printed so far."""
        return (self.folder / "kiosk.log").read_text("utf-8")


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[Monitor]:
    with ExitStack() as stack:
        yield Monitor(tmp_path, stack)


@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "silent_s", "why"),
    [("dies", 60, "the browser ended with 3"), ("freezes", 0.5, "its page has painted nothing")],
)
def test_a_browser_that_is_gone_is_started_again(monitor: Monitor, how: str, silent_s: float, why: str) -> None:
    kiosk = monitor.stand_in(how, silent_s)
    eventually_now(lambda: monitor.starts >= 2, "another browser")
    assert f"The browser is started again: {why}" in monitor.said()
    programs.stop(kiosk)
    assert kiosk.returncode == 0
    assert _children_of(monitor.folder) == []


@pytest.mark.proof
def test_while_the_server_is_away_the_browser_is_left_alone(monitor: Monitor) -> None:
    monitor.stand_in("goes on")
    eventually_now(lambda: monitor.starts == 1, "the browser")
    monitor.server.kill()
    monitor.server.wait()
    time.sleep(4)  # longer than a page may paint nothing
    monitor.serve()
    time.sleep(4)
    assert (monitor.starts, monitor.said()) == (1, "")


def test_the_units_command_reaches_the_browser_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kiosk runs the browser command of its systemd unit unchanged, including the `--` for Cage. Without that `--`,
    Cage takes Chromium's options for its own, and ends."""
    shown: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(kiosk_, "keep_showing", lambda url, command: shown.append((url, command)))
    _, *words = shlex.split(
        UNIT.read_text("utf-8").split("ExecStart=")[1].split("\nWatchdogSec")[0].replace("\\\n", "")
    )
    assert main(words) == 0
    assert words[:3] == ["kiosk", "http://127.0.0.1:8080/", "--"]
    assert shown == [(words[1], words[3:])]
    assert words[3:7] == ["cage", "-s", "--", "chromium"]


def test_a_browser_that_is_not_installed_is_told(monitor: Monitor) -> None:
    kiosk = monitor.kiosk("no-such-browser")
    assert kiosk.wait(PATIENCE_S) == 1
    assert "no-such-browser cannot be run" in monitor.said()


@pytest.mark.proof
@needs_a_browser
def test_a_killed_chromium_comes_back(monitor: Monitor) -> None:
    profile = str(monitor.folder / "profile")
    headless = ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}")
    monitor.kiosk(str(PROGRAM), *headless, first_s=15, silent_s=6)
    eventually_now(lambda: _children_of(monitor.folder), "chromium")
    for stopped in (signal.SIGKILL, signal.SIGSTOP):  # dead, and black
        before = _children_of(monitor.folder)
        _signal(before, stopped)
        eventually_now(partial(_others, monitor.folder, before), "another browser")


@pytest.mark.proof
@pytest.mark.skipif(bool(LACKING), reason="no monitor: apt-get install -y xvfb cage xwayland chromium")
def test_the_units_own_command_shows_the_page_and_a_frozen_one_comes_back(monitor: Monitor) -> None:
    log = monitor.folder / "xvfb.log"
    with (
        tempfile.TemporaryDirectory(prefix="kiosk-", ignore_cleanup_errors=True) as folder,
        attached.monitor(Path(folder), log) as display,
    ):
        own = Path(folder)
        own.chmod(0o777)
        shown = own / "Xvfb_screen0"
        kiosk = monitor.kiosk(*units_browser(own, display), first_s=60, silent_s=8)
        eventually_now(lambda: lit_share(shown) > 0.95, "the page on the monitor")
        eventually_now(lambda: _heard(monitor, own / "chromium"), "the page's word that it painted")
        before = _children_of(own / "chromium")
        _signal(before, signal.SIGSTOP)
        eventually_now(partial(_others, own / "chromium", before), "another browser")
        eventually_now(lambda: lit_share(shown) > 0.95, "the page again")
        assert "The browser is started again: its page has painted nothing for too long." in monitor.said()
        programs.stop(kiosk)
        eventually_now(lambda: _children_of(own / "chromium") == [], "no browser is left")


def lit_share(screen: Path) -> float:
    """Return what share of the pixels in a window dump of the X server is not black. Even the darkest part of the page
    is not black."""
    dump = screen.read_bytes()
    header_bytes, colors = struct.unpack(">I72xI", dump[:80])
    pixels = memoryview(dump)[header_bytes + 12 * colors :].cast("I")
    return sum(pixel & 0xFFFFFF != 0 for pixel in pixels[::101]) / len(pixels[::101])


def _heard(monitor: Monitor, folder: Path) -> bool:
    with suppress(OSError, IndexError):  # a process of a browser comes and goes
        return monitor.was_heard(_children_of(folder)[0])
    return False


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _others(folder: Path, before: list[int]) -> bool:
    now = _children_of(folder)
    return bool(now) and not set(before) & set(now)


def _children_of(folder: Path) -> list[int]:
    """Return the process numbers of the running browsers that have this folder in their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            said = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        mine = str(folder).encode()
        ours = any(b"keep_showing" in word or b"controller.people.cli" in word for word in said)
        if not ours and any(mine in word for word in said):
            found.append(int(process.name))
    return found
