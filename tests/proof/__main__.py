"""`make proof`: run the rooms of the proof (folders of tests) that failed, were never run completely or are stale, in
the order of the parts. Each result is written to proof/FIGURES.md as the room ends. After an interruption the next run
goes on where this one stopped."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
from datetime import UTC, datetime
from time import monotonic
from xml.etree import ElementTree

from tests.proof.page import Page, Run, read, standing, whole, with_run, write
from tests.proof.parts import PARTS, ROOMS, ROOT
from tests.proof.versions import Version, version

MACHINE = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def main() -> int:
    """Run the rooms of the proof (folders of tests) that are not proved for the present code. Returns 1 if a room does
    not pass."""
    parser = argparse.ArgumentParser(prog="make proof", description=__doc__)
    parser.add_argument("part", nargs="?", choices=[*PARTS], help="run this part alone; if it stands, once more")
    parser.add_argument("--page", action="store_true", help="run nothing: say in the page what stands now")
    asked = parser.parse_args()
    # A shell's job in the background ignores Ctrl-C, and so would all that the tests start and end by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    now = version()
    page = read()
    rooms = [] if asked.page else due(page, now, asked.part)
    for place, room in enumerate(rooms, 1):
        print(f"{ROOMS[room]}: {room}, room {place} of {len(rooms)} that are due", flush=True)
        print(ended(room, run_room(room, now)), flush=True)
        if version() != now:
            print("Files changed while this room ran. Its run is not noted: start again.", file=sys.stderr)
            return 1
    page = read()
    write(page, now)
    print(whole(page, now))
    asked_for = PARTS[asked.part].rooms if asked.part else ROOMS
    return 0 if asked.page or all(standing(room, page.runs.get(room), now) == "stands" for room in asked_for) else 1


def due(page: Page, now: Version, part: str | None) -> list[str]:
    """Return the rooms (folders of tests) whose last run proves nothing about the present code. With `part`, look only
    at the rooms of that part. If all of them are proved, return all of them, so that they are run once more."""
    rooms = [*(PARTS[part].rooms if part else ROOMS)]
    return [room for room in rooms if standing(room, page.runs.get(room), now) != "stands"] or (rooms if part else [])


def ended(room: str, run: Run | None) -> str:
    """Say in a sentence how the run of a room (a folder of tests) ended. `run` is None if it was broken off."""
    if run is None:
        return f"{room}: the run was broken off, and is not noted"
    why = f" ({run.reasons})" if run.reasons else ""
    counts = f"{run.passed} passed, {run.failed} failed, {run.skipped} skipped{why}"
    return f"{room}: {counts}, in {run.seconds / 60:.1f} minutes"


def run_room(room: str, now: Version) -> Run | None:
    """Run all tests of a room (a folder of tests) with `--proof`, write the result into proof/FIGURES.md, and return
    it. If the run was broken off, returns None and writes nothing."""
    report = ROOT / "build" / "proof" / f"{room}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    words = [sys.executable, "-m", "pytest", "--proof", "-q", f"--numprocesses={PARTS[ROOMS[room]].workers}"]
    began = monotonic()
    words += ["--dist=worksteal", f"--junitxml={report}", f"tests/{room}"]
    done = subprocess.run(words, cwd=ROOT, check=False)
    if done.returncode not in (0, 1) or not report.is_file() or version() != now:
        return None
    run, tests = judged(ElementTree.parse(report).getroot(), monotonic() - began, now, room)
    write(with_run(read(), room, run, tests), now)
    return run


def judged(report: ElementTree.Element, seconds: float, now: Version, room: str) -> tuple[Run, list[str]]:
    """Read pytest's XML report of the run of a room (a folder of tests). Returns the result of the run, and the names
    of its tests."""
    cases = [*report.iter("testcase")]
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [found for case in cases if (found := case.find("skipped")) is not None]
    reasons = "; ".join(sorted({found.get("message", "").replace("|", "/") for found in skipped}))
    counts = (len(cases) - len(failed) - len(skipped), len(failed), len(skipped))
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    run = Run(*counts, reasons, round(seconds), when, now.commit, now.product, now.rooms[room], MACHINE)
    return run, [f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}" for case in cases]


if __name__ == "__main__":
    sys.exit(main())
