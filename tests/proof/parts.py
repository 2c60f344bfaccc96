"""The list of what `make proof` runs: its parts, each of which takes at most an hour on two cores, and the rooms of
each part.

A room is a folder of tests, or a single file beside the folders. Each test is in one room, and each room in one part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[2]


class Part(Struct, frozen=True):
    """A part of `make proof`: rooms (folders of tests) that run one after another, in about `minutes` minutes.
    `workers` is the number of processes for pytest-xdist. An emulated or booted machine needs both cores for itself, a
    browser needs about one, and only few fault-injecting tests can run at the same time."""

    rooms: tuple[str, ...]
    minutes: int
    workers: str = "auto"


PARTS: Mapping[str, Part] = {
    "rules": Part(("game", "roads", "sheets", "scripts", "table", "contract", "words", "documents"), 15),
    "core": Part(
        (
            *("drivers", "daemon", "journals", "link", "care", "setup", "lab", "proof"),
            *("test_house.py", "test_forks.py", "test_remembered.py", "test_systemd.py"),
        ),
        25,
    ),
    "odds": Part(("par",), 12),
    "pit": Part(("pit", "pit_page", "head_office", "collusion"), 20),
    "tables": Part(("hil", "sim"), 15),
    "screens": Part(("screen",), 25, workers="2"),
    "kit": Part(("conformance", "mutants", "model"), 55, workers="3"),
    "years": Part(("simulation", "power_loss"), 20),
    "fuzz": Part(("fuzz",), 20),
    "fire": Part(("fire",), 15, workers="2"),
    "packages": Part(("deploy",), 35, workers="0"),
    "board": Part(("pi",), 55, workers="0"),
}
"""In the order in which `make proof` runs them. The minutes are estimates: the page of figures has what a run took."""

ROOMS: Mapping[str, str] = {room: name for name, part in PARTS.items() for room in part.rooms}
"""The part of each room."""

PRODUCT = (
    "controller",
    "drivers",
    "config",
    "debian",
    "systemd",
    "tools",
    "requirements",
    "pyproject.toml",
    "Makefile",
)
"""What every room proves something of."""

READS: Mapping[str, tuple[str, ...]] = {
    "care": ("docs/care.md",),
    "conformance": ("docs/conformance.md", "tests/sheets"),
    "daemon": ("docs/evidence.md", "docs/faces", "docs/logs.md", "docs/screen.md"),
    "deploy": ("docs", "README.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY.md"),
    "documents": (
        *("docs", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "mkdocs.yml"),
        *("THIRD_PARTY.md", "bench", "tests/README.md", "tests/lab"),
    ),
    "hil": ("docs/bench.md", "docs/care.md"),
    "lab": ("tests",),
    "screen": ("docs/faces", "docs/screen.md"),
    "setup": ("docs/commission.md",),
    "test_house.py": ("tests",),
}
"""What the tests of a room read besides, which their imports do not tell."""

_IMPORT = re.compile(r"^\s*(?:from|import) tests\.([\w.]+)", re.MULTILINE)


def room_of(test: str) -> str:
    """Return the room (the folder below tests/) of a test, from the test's name in a run, such as
    `tests/hil/test_kills.py::test_a_kill`."""
    return test.removeprefix("tests/").partition("::")[0].partition("/")[0]


def own_paths(room: str) -> tuple[str, ...]:
    """Return the files on which the tests of this room (a folder of tests) depend: the room itself, what all rooms
    share, and the modules of other rooms that they import, directly or not. The code that only writes the results of
    the proof down is not included."""
    shared = {f"tests/{room}", "tests/support", "tests/conftest.py"}
    due = {module for path in shared for module in _modules(ROOT / path)}
    found: set[Path] = set()
    while due:
        found |= due
        due = {other for module in due for other in _imported(module)} - found
    paths = {str(module.relative_to(ROOT)) for module in found}
    wholes = tuple(f"{whole}/" for whole in (*shared, "tests/proof"))
    apart = {path for path in paths if not path.startswith(wholes)}
    return (*sorted(shared | apart), *READS.get(room, ()))


@cache
def _imported(module: Path) -> frozenset[Path]:
    """Return the test modules that this module imports. If it imports from a folder, all modules in the folder are
    returned."""
    names = (ROOT / "tests" / name.replace(".", "/") for name in _IMPORT.findall(module.read_text("utf-8")))
    return frozenset(each for name in names for path in (name, name.with_suffix(".py")) for each in _modules(path))


def _modules(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    yield from path.rglob("*.py")
