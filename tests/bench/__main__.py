"""`make bench`: measures how much time, memory and disk a table uses on this machine. The figures are compared with the
floor (the least that any table must do), and go into bench/FIGURES.md.

`python -m tests.bench --quick` takes small samples, and `--only latency,scale` measures only a part. With either option
the figures are only printed. Temporary files such as the journals lie in TMPDIR: set that variable to measure another
disk.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from controller.basics.errors import TableError
from tests.bench import backlog, core, frames, kiosk, latency, odds, outage, running, scale, screen, syncs
from tests.bench.house import house
from tests.bench.report import Report, Section

_SLOW_SYNC_MS = 5.0
"""What an SD card's sync takes, at the least."""


@dataclass(frozen=True)
class Samples:
    """How many samples `make bench` takes of each thing that it measures."""

    rounds: int
    starts: int
    quiet_s: float
    waiting: int
    folds: int
    tables: tuple[int, ...]
    spell_s: float
    paced_rounds: int
    cell_tables: tuple[int, ...]
    cell_s: float
    outage_s: float
    shoe_rounds: int


FULL = Samples(120, 9, 8.0, 100_000, 500, (1, 5, 20, 50, 100, 200), 7.0, 20, (1, 10, 100, 1000), 600.0, 45.0, 80)
QUICK = Samples(15, 3, 3.0, 3_000, 100, (1, 20, 100), 3.0, 4, (1, 10), 5.0, 3.0, 4)

_Measure = Callable[[Path, Samples], Iterator[Section]]


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line names, and report the figures. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="What a table costs.")
    parser.add_argument("--quick", action="store_true", help="small samples, within two minutes")
    parser.add_argument("--seconds", type=float, help="how long the last step of `cell` lasts, with 1,000 tables")
    parser.add_argument("--only", default=",".join(_MEASURES), help="of %(default)s")
    options = parser.parse_args(arguments)
    samples = QUICK if options.quick else FULL
    if options.seconds is not None:
        samples = replace(samples, cell_tables=FULL.cell_tables, cell_s=options.seconds)
    try:
        measures = [_MEASURES[name] for name in options.only.split(",")]
    except KeyError as unknown:
        parser.error(f"there is no {unknown}: it is of {', '.join(_MEASURES)}")
    with tempfile.TemporaryDirectory(prefix="table-bench-") as name:
        folder = Path(name)
        whole = samples == FULL and set(measures) == set(_MEASURES.values())
        report = Report(whole, _disk(folder))
        try:
            for measure in measures:
                for section in measure(folder, samples):
                    report.add(section)
        except TableError as error:
            print(error, file=sys.stderr)
            return 1
        if whole:
            report.keep()
    return 0


def _latency(folder: Path, samples: Samples) -> Iterator[Section]:
    library = syncs.build(folder)
    for added_ms in (0.0, _SLOW_SYNC_MS):
        with house(folder / f"latency-{added_ms:g}") as one:
            yield from latency.measure(one, library, samples.rounds, added_ms)


def _running(folder: Path, samples: Samples) -> Iterator[Section]:
    with house(folder / "running") as one:
        yield from running.measure(one, samples.starts, samples.quiet_s)


def _backlog(folder: Path, samples: Samples) -> Iterator[Section]:
    with house(folder / "backlog") as one:
        yield from backlog.measure(one, samples.waiting)


def _core(_folder: Path, samples: Samples) -> Iterator[Section]:
    yield from core.measure(samples.folds)


def _odds(_folder: Path, samples: Samples) -> Iterator[Section]:
    yield from odds.measure(samples.starts)
    yield from odds.measure_worst()


def _scale(folder: Path, samples: Samples) -> Iterator[Section]:
    yield from scale.measure(folder, samples.tables, samples.spell_s, samples.paced_rounds)


def _cell(folder: Path, samples: Samples) -> Iterator[Section]:
    yield from scale.measure_cell(folder, samples.cell_tables, min(30.0, samples.cell_s), samples.cell_s)


def _outage(folder: Path, samples: Samples) -> Iterator[Section]:
    yield from outage.measure(folder, max(samples.cell_tables), samples.outage_s)


def _screen(folder: Path, samples: Samples) -> Iterator[Section]:
    with house(folder / "screen") as one:
        yield from screen.measure(one, samples.rounds // 3, samples.quiet_s)
    yield from frames.measure(folder, min(8.0, samples.quiet_s))


def _kiosk(folder: Path, samples: Samples) -> Iterator[Section]:
    with house(folder / "kiosk") as one:
        yield from kiosk.measure(one, samples.shoe_rounds, samples.quiet_s)


_MEASURES: dict[str, _Measure] = {
    "latency": _latency,
    "running": _running,
    "backlog": _backlog,
    "core": _core,
    "odds": _odds,
    "screen": _screen,
    "kiosk": _kiosk,
    "scale": _scale,
    "cell": _cell,
    "outage": _outage,
}


def _disk(folder: Path) -> str:
    """Return a text that names the type of the file system on which `folder` lies, and its device."""
    told = subprocess.run(["df", "--output=fstype,source", str(folder)], capture_output=True, text=True, check=False)
    kind, _, source = told.stdout.strip().rpartition("\n")[2].partition(" ")
    return f"{kind or 'unknown'} on {source.strip() or 'unknown'}"


if __name__ == "__main__":
    sys.exit(main())
