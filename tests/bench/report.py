"""Prints the figures of `make bench` as tables. Each table is printed when it is ready; all are written to a page."""

from __future__ import annotations

import math
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "bench" / "FIGURES.md"


@dataclass(frozen=True)
class Section:
    """One table of measured figures. `note` says how they were measured."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def printed(self) -> str:
        """Return this table of figures as text for a terminal."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.columns, *self.rows)
        ]
        return "\n".join((f"\n{self.title}", *(f"  {line}" for line in lines)))

    def page(self) -> str:
        """Return this table of figures in Markdown, for the page bench/FIGURES.md."""
        rows = (self.columns, ("---",) * len(self.columns), *self.rows)
        return "\n".join((f"## {self.title}", "", self.note, "", *(f"| {' | '.join(row)} |" for row in rows), ""))


class Report:
    """The tables of figures measured so far. Each table is printed as soon as it is added. The page is written at the
    end of a complete run."""

    def __init__(self, whole: bool, disk: str) -> None:
        self._sections: list[Section] = []
        size = "the whole run" if whole else "some of it, or small samples: not kept"
        machine = (
            f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        )
        self._head = "\n".join(
            (
                "# What a table costs",
                "",
                "Written by `make bench`: the real daemon, Mosquitto and the reference pit; shoe and pins simulated.",
                "",
                f"- {datetime.now(UTC):%Y-%m-%d %H:%M UTC}, commit {_commit()}, {size}",
                f"- {machine}, the disk is {disk}",
            )
        )
        self._load = _load("at the beginning")
        print(f"{self._head}\n{self._load}", flush=True)

    def add(self, section: Section) -> None:
        """Add a table of figures to the report, and print it."""
        self._sections.append(section)
        print(section.printed(), flush=True)

    def keep(self) -> None:
        """Write all tables of figures to the page bench/FIGURES.md."""
        PAGE.parent.mkdir(exist_ok=True)
        loads = f"{self._load}\n{_load('at the end, the bench itself included')}"
        PAGE.write_text("\n".join((self._head, loads, "", *(one.page() for one in self._sections))), "utf-8")


def spread(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile of the times."""
    return statistics.median(times), sorted(times)[math.ceil(0.99 * len(times)) - 1]


def judged(figure: float, aim: float, unit: str = "") -> str:
    """Return a text that names the aim and says whether the figure meets it."""
    return f"{aim:g} {unit}".rstrip() + (": met" if figure <= aim else ": missed")


def _load(when: str) -> str:
    return f"- load average {when}: {os.getloadavg()[0]:.1f}"


def _commit() -> str:
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"],
        cwd=PAGE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "unknown"
