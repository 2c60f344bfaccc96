"""Measures the kiosk (the browser on the table's monitor): how much of a Pi's memory Cage and Chromium need while a
shoe is dealt."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from controller.contract.face.page import PAGE_STANDING
from controller.people.cli import programs
from controller.people.cli.client import status_of
from tests.bench.house import House, until
from tests.bench.report import Section, judged
from tests.screen.attached import LACKING, UNIT, monitor, units_browser

_SPEED = 10
_LOOK_S = 1.0
_TITLE = "Memory of the kiosk"
_COLUMNS = ("rounds", "at the beginning MiB", "the most MiB", "at the end MiB", "the unit's `MemoryHigh`")


def measure(house: House, rounds: int, quiet_s: float) -> Iterator[Section]:
    """Measure the memory that the kiosk's browser needs, by running the command of the kiosk's systemd unit on a
    virtual monitor. If a program is not installed, the section of figures says so."""
    if LACKING:
        lacking = f"not measured: {', '.join(LACKING)} is not installed"
        yield Section(_TITLE, "Nothing was measured.", _COLUMNS, [(lacking, *("-",) * 4)])
        return
    at = f"127.0.0.1:{programs.free_port()}"
    logs = {name: house.folder / f"{name}.log" for name in ("screen", "xvfb", "kiosk")}
    tablectl = programs.python("-m", "controller.people.cli.main")
    with (
        house.daemon(),
        programs.started([*tablectl, "screen", str(house.table), "--listen", at], logs["screen"]),
        tempfile.TemporaryDirectory(prefix="kiosk-", ignore_cleanup_errors=True) as folder,
        monitor(Path(folder), logs["xvfb"]) as display,
    ):
        own = Path(folder)
        own.chmod(0o777)  # the browser is nobody's
        profile = own / "chromium"
        until(lambda: status_of(house.table).pit.meters_fresh, "the pit")
        until(lambda: at in logs["screen"].read_text("utf-8"), "the screen")
        browser = units_browser(own, display)
        with programs.started([*tablectl, "kiosk", f"http://{at}/", "--", *browser], logs["kiosk"]) as kiosk:
            until(lambda: _is_on_monitor(at), "the page on the monitor")
            time.sleep(quiet_s)
            taken = [_pss_mib(kiosk.pid, profile), *_while_dealt(house, lambda: _pss_mib(kiosk.pid, profile), rounds)]
            time.sleep(quiet_s)
            taken.append(_pss_mib(kiosk.pid, profile))
    high_mib = int(re.findall(r"^MemoryHigh=(\d+)M$", UNIT.read_text("utf-8"), re.MULTILINE)[0])
    most = judged(max(taken), high_mib, "MiB")
    yield Section(
        _TITLE,
        "PSS of all processes that the command of `table-kiosk.service` starts: Cage, Xwayland and Chromium with the "
        "players' page at 1024 x 768, drawn without a graphics card. The most is of a look each second while a Royal 9 "
        f"table is dealt {_SPEED} times as fast as by hand.",
        _COLUMNS,
        [(str(rounds), f"{taken[0]:.0f}", f"{max(taken):.0f}", f"{taken[-1]:.0f}", most)],
    )


def _is_on_monitor(at: str) -> bool:
    with urlopen(f"http://{at}{PAGE_STANDING}", timeout=10) as answer:
        told = json.load(answer)
    return told is not None and told["code"] == "page_on_monitor"


def _while_dealt(house: House, look: Callable[[], float], rounds: int) -> Iterator[float]:
    """Call `look` once a second until `rounds` rounds are dealt, and yield what it returns each time."""
    people = ["-m", "drivers.sim", str(house.table), "--account", str(house.folder / "account"), "--seed", "2"]
    with subprocess.Popen(programs.python(*people, "--speed", str(_SPEED), "--rounds", str(rounds))) as dealt:
        while dealt.poll() is None:
            yield look()
            time.sleep(_LOOK_S)
    if dealt.returncode:
        raise subprocess.CalledProcessError(dealt.returncode, dealt.args)


def _pss_mib(kiosk: int, profile: Path) -> float:
    """Return the memory (PSS) of all processes that the kiosk's program has started, in MiB. The kiosk's program itself
    is not counted."""
    kib = 0
    for process in _started_by(kiosk, profile):
        with suppress(ProcessLookupError, FileNotFoundError):  # one that has ended since
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text("utf-8")
            kib += sum(map(int, re.findall(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)))
    return kib / 1024


def _started_by(kiosk: int, profile: Path) -> Iterator[int]:
    """Yield the ids of the processes in the session that the kiosk's program opens for the browser. Processes with the
    browser's profile in their command line are included, because Chromium's crash handler has a session of its own."""
    told = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError, FileNotFoundError):
            stat = (path / "stat").read_text("utf-8").rpartition(")")[2].split()
            told[int(path.name)] = int(stat[1]), int(stat[3]), str(profile).encode() in (path / "cmdline").read_bytes()
    sessions = {process for process, (parent, _, _) in told.items() if parent == kiosk}
    for process, (_, session, is_named) in told.items():
        if process != kiosk and (session in sessions or is_named):
            yield process
