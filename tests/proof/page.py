"""Writes and reads proof/FIGURES.md. That page says which rooms of the proof (folders of tests) passed, and what their
tests measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from tests.proof.parts import PARTS, ROOMS, ROOT, room_of
from tests.proof.versions import Version

PAGE = ROOT / "proof" / "FIGURES.md"

FAILURE = "**failed**"
"""What stands in place of a figure where its test failed."""


class Run(Struct, frozen=True):
    """The result of a complete run of a room (a folder of tests). It holds how many tests passed, failed and were
    skipped on this machine, the reasons for skipping, the state of the code, and how many seconds the run took."""

    passed: int
    failed: int
    skipped: int
    reasons: str
    seconds: int
    when: str
    commit: str
    product: str
    tests: str
    machine: str


class Figure(Struct, frozen=True):
    """A measurement by a test: what was measured, how many seconds the test took, and when and at which commit."""

    measured: str
    seconds: str
    when: str


class Page(Struct, frozen=True):
    """The content of proof/FIGURES.md: the last complete run of each room (a folder of tests), and the measured figures
    by the names of the tests."""

    runs: dict[str, Run]
    figures: dict[str, Figure]


def standing(room: str, run: Run | None, now: Version) -> str:
    """Return "stands" if this run of the room (a folder of tests) still proves the present code, or else the reason why
    it does not."""
    if run is None:
        return "never run whole"
    if run.failed:
        return FAILURE
    if not run.passed:
        return "no test ran"
    if run.product != now.product:
        return "stale: the product has changed"
    return "stands" if run.tests == now.rooms[room] else "stale: its tests have changed"


def whole(page: Page, now: Version) -> str:
    """Say in a sentence whether every room (folder of tests) has passed for the present code, or which have not."""
    said = {room: standing(room, page.runs.get(room), now) for room in ROOMS}
    amiss = {part: [room for room in PARTS[part].rooms if said[room] != "stands"] for part in PARTS}
    if any(amiss.values()):
        names = "; ".join(f"{part}: {', '.join(rooms)}" for part, rooms in amiss.items() if rooms)
        why = "failed, are stale, ran no test, or were never run whole"
        return f"**The whole proof does not stand.** These rooms {why}: {names}."
    commits = list(dict.fromkeys(in_words(run.commit) for run in page.runs.values()))
    skipped = sum(run.skipped for run in page.runs.values())
    at = (
        f"commit {commits[0]}" if len(commits) == 1 else f"commits {', '.join(commits)}, with no product change between"
    )
    missing = f" {skipped} tests did not run, for the reasons below." if skipped else " No test was skipped."
    return f"**The whole proof stands**: each room passed at {at}.{missing}"


def in_words(commit: str) -> str:
    """Return a commit's name for people. A + at its end, which marks a changed working copy, becomes "and changes that
    are in no commit"."""
    return commit.removesuffix("+") + " and changes that are in no commit" * commit.endswith("+")


_HEADING = """\
# Figures

`make proof` writes this page: which rooms of the proof passed, and what their tests measured (times in UTC). `make
proof PART=NAME` runs one part. `make proof-page` says anew which rooms still stand. In the last table the
last column says whether a figure still stands: where it does not, the figure is of an earlier state.

{whole}

The product at that time: commit {commit}; files {product}. *Product* and *tests* are
digests of git's hashes: of the files that the room proves, and of those that its tests are made of.

## The parts
"""
_RUNS = "| part | room | stands | passed | failed | skipped | minutes | when | commit | product | tests | machine |"
_FIGURES = "| test | measured | seconds | when | stands |"


def text(page: Page, now: Version) -> str:
    """Return the text of proof/FIGURES.md for this working copy."""
    lines = [_HEADING.format(whole=whole(page, now), commit=in_words(now.commit), product=now.product)]
    lines += [_RUNS, "|---" * 12 + "|"]
    for name, part in PARTS.items():
        runs = {room: page.runs.get(room) for room in part.rooms}
        stand = sum(standing(room, run, now) == "stands" for room, run in runs.items())
        minutes = f"{sum(run.seconds for run in runs.values() if run) / 60:.0f} of about {part.minutes}"
        lines.append(_row(f"**{name}**", "", f"{stand} of {len(runs)}", "", "", "", minutes, *("",) * 5))
        for room, run in runs.items():
            lines.append(_row(name, room, standing(room, run, now), *(_cells(run) if run else ("",) * 9)))
    lines += ["", "## What was measured", "", _FIGURES, "|---" * 5 + "|"]
    for test, figure in sorted(page.figures.items()):
        still = _still(figure, room_of(test), page.runs.get(room_of(test)), now)
        lines.append(_row(test, figure.measured, figure.seconds, figure.when, still))
    return "\n".join((*lines, ""))


def _still(figure: Figure, room: str, run: Run | None, now: Version) -> str:
    """Return "stands" if the measured figure belongs to the present code: the room's last run still proves the code,
    and measured this figure. Otherwise return the reason why the figure is old."""
    if run is None:
        return "its room was never run whole"
    if run.failed:
        return "its room failed"
    said = standing(room, run, now)
    return "of another commit" if said == "stands" and figure.when.rpartition(", ")[2] != run.commit else said


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(run: Run) -> tuple[str, ...]:
    skipped = f"{run.skipped}: {run.reasons}" if run.skipped else "0"
    minutes = f"{run.seconds / 60:.1f}"
    return (
        str(run.passed),
        str(run.failed),
        skipped,
        minutes,
        run.when,
        run.commit,
        run.product,
        run.tests,
        run.machine,
    )


def read(path: Path = PAGE) -> Page:
    """Read proof/FIGURES.md back. A file that does not exist gives an empty page."""
    runs, figures = dict[str, Run](), dict[str, Figure]()
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        cells = line.strip("| ").split(" | ")
        if len(cells) == 12 and cells[1] in ROOMS:
            runs[cells[1]] = _run(*cells[3:])
        elif cells[0].startswith("tests/"):
            figures[cells[0]] = Figure(*cells[1:4])
    return Page(runs, figures)


def _run(passed: str, failed: str, skipped: str, minutes: str, *rest: str) -> Run:
    count, _, reasons = skipped.partition(": ")
    return Run(int(passed), int(failed), int(count), reasons, round(float(minutes) * 60), *rest)


def write(page: Page, now: Version, path: Path = PAGE) -> None:
    """Write proof/FIGURES.md. Figures of rooms (folders of tests) that no longer exist are left out."""
    kept = {test: figure for test, figure in page.figures.items() if room_of(test) in ROOMS}
    path.parent.mkdir(exist_ok=True)
    path.write_text(text(Page(page.runs, kept), now), "utf-8")


def after(page: Page, passed: Iterable[str], measured: dict[str, Figure]) -> Page:
    """Return the page proof/FIGURES.md as it is after a run. `passed` are the tests that passed, and `measured` maps a
    test to the figure that it measured.

    A test that passed no longer counts as failed. If a test measured nothing this time, its earlier figure stays.
    """
    again = {test for test in passed if test in page.figures and page.figures[test].measured == FAILURE}
    return Page(page.runs, {test: it for test, it in page.figures.items() if test not in again} | measured)


def with_run(page: Page, room: str, run: Run, tests: Iterable[str]) -> Page:
    """Return the page proof/FIGURES.md as it is after a complete run of a room (a folder of tests). `tests` names the
    tests that the room has now. The figures of tests that the room no longer has are dropped."""
    there = set(tests)
    kept = {test: figure for test, figure in page.figures.items() if room_of(test) != room or test in there}
    return Page(page.runs | {room: run}, kept)
