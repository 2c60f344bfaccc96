"""The house's import rules, held over every module; and what importing the daemon must not load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.cli.surroundings import simulated_table
from controller.game import games
from drivers import shoe as shoes

ROOT = Path(__file__).resolve().parents[1]


class Room(NamedTuple):
    """What a room's modules may import besides the standard library; ``never`` is stronger than ``may``."""

    may: tuple[str, ...]
    never: tuple[str, ...] = ()
    third_party: bool = True


# A module belongs to the longest name here that it starts with.
ROOMS = {
    "controller.game": Room(("controller.game",), third_party=False),
    "controller.roads": Room(("controller.roads",), third_party=False),
    "controller.contract": Room(("controller.contract", "controller.game"), third_party=False),
    "controller.table": Room(("controller.table", "controller.game", "controller.contract"), third_party=False),
    "controller.words": Room(("controller.words",), third_party=False),
    "controller.record": Room(
        (
            *("controller.record", "controller.table", "controller.game", "controller.contract"),
            *("controller.keys", "controller.clock", "controller.disk", "controller.errors"),
        )
    ),
    "controller.pins": Room(("controller.pins", "controller.table", "controller.game", "controller.errors")),
    "controller.delivery": Room(
        (
            *("controller.delivery", "controller.record", "controller.table", "controller.game", "controller.contract"),
            *("controller.pins.devices", "controller.keys", "controller.clock"),
            *("controller.answer", "controller.beat", "controller.errors"),
        )
    ),
    "controller": Room(
        ("controller",),
        never=(
            *("controller.app", "controller.header", "controller.control"),
            *("controller.cli", "controller.bench", "controller.pit"),
        ),
    ),
    "controller.hand_record": Room(
        (
            *("controller.record", "controller.table", "controller.contract", "controller.errors"),
            *("drivers.shoe", "drivers.line.bad_bytes"),
        )
    ),
    "controller.control": Room(
        ("controller",),
        never=("controller.app", "controller.header", "controller.cli", "controller.bench", "controller.pit"),
    ),
    "controller.config": Room(
        (
            *("controller.config", "controller.table", "controller.game", "controller.contract", "controller.pins"),
            *("controller.delivery.mqtt_tls", "controller.errors", "drivers.shoe", "drivers.line.brand"),
        ),
    ),
    "controller.screen": Room(
        (
            *("controller.screen", "controller.roads", "controller.words", "controller.notify"),
            *("controller.exposition", "controller.errors"),
        ),
    ),
    "controller.app": Room(("controller", "drivers"), never=("controller.cli", "controller.bench", "controller.pit")),
    "controller.header": Room(("controller.header", "controller.pins.devices", "controller.errors", "drivers")),
    "controller.pit": Room(
        (
            "controller.pit",
            "controller.contract",
            "controller.keys",
            "controller.delivery.mqtt_link",
            "controller.delivery.mqtt_tls",
            "controller.delivery.broker_options",
            "controller.notify",
            "controller.errors",
        )
    ),
    "controller.pit_page": Room(
        (
            *("controller.pit_page", "controller.pit", "controller.screen", "controller.words", "controller.contract"),
            *("controller.delivery.mqtt_link", "controller.delivery.mqtt_tls", "controller.delivery.broker_options"),
            *("controller.exposition", "controller.errors"),
        )
    ),
    "controller.head_office": Room(  # it judges a pit by the contract alone
        ("controller.head_office", "controller.contract", "controller.keys", "controller.errors"),
        third_party=False,
    ),
    "controller.par": Room(
        ("controller.par", "controller.game", "controller.table", "controller.config", "controller.errors"),
        third_party=False,
    ),
    "controller.care": Room(
        (
            *("controller.care", "controller.config", "controller.record", "controller.pins", "controller.table"),
            *("controller.contract", "controller.delivery.mqtt_tls", "controller.digest", "controller.keys"),
            *("controller.clock", "controller.errors", "drivers.line.port"),
        )
    ),
    "controller.conformance": Room(  # the kit knows a pit and a table by the contract alone
        (
            *("controller.conformance", "controller.contract", "controller.keys", "controller.delivery.mqtt_link"),
            *("controller.delivery.mqtt_tls", "controller.delivery.broker_options", "controller.errors"),
        )
    ),
    "controller.cli": Room(("controller", "drivers"), never=("controller.bench",)),
    "controller.cli.setup": Room(
        ("controller", "drivers"), never=("controller.bench", "controller.pit", "drivers.sim")
    ),
    "controller.bench": Room(("controller", "drivers")),
    "drivers.shoe": Room(("drivers.shoe", "drivers.line", "controller.table.facts", "controller.game.cards")),
    "drivers": Room(
        (
            "drivers",
            "controller.pins.devices",
            "controller.errors",
            "controller.delivery.mqtt_link",
            "controller.table.facts",
            "controller.game.cards",
        ),
        never=("drivers.sim",),
    ),
    # The far ends of the wires are written from the wire's description, so they can contradict the drivers.
    "drivers.sim": Room(("drivers.sim", "controller.pins.devices", "controller.errors")),
}
NOT_IN_THE_DAEMON = {
    "rich",
    "pytest",
    "hypothesis",
    "jsonschema",
    "controller.pit",
    "controller.pit_page",
    "controller.head_office",
    "controller.conformance",
    "controller.par",
    "controller.care",
    "controller.cli",
    "drivers.sim",
}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {_name(path): path for top in ("controller", "drivers") for path in sorted((ROOT / top).rglob("*.py"))}


def _within(name: str, rooms: tuple[str, ...]) -> bool:
    return any(f"{name}.".startswith(f"{room}.") for room in rooms)


@cache
def _nodes(module: str) -> list[ast.Import | ast.ImportFrom | ast.Attribute | ast.Constant]:
    """Every import, every name after a dot and every constant in the module's text."""
    nodes = ast.walk(ast.parse(MODULES[module].read_text("utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute | ast.Constant)]


def _imports(module: str) -> set[str]:
    """Every module that is imported anywhere in the file, by its full name."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in _nodes(module):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            inside = (f"{source}.{alias.name}" for alias in node.names)
            found.update(name if name in MODULES else source for name in inside)
    return found


def _permitted(name: str, room: Room) -> bool:
    if name == "controller":
        return True  # the package itself holds the version and nothing else
    if _within(name, ("controller", "drivers")):
        return _within(name, room.may) and not _within(name, room.never)
    return room.third_party or name.partition(".")[0] in sys.stdlib_module_names


def test_a_module_imports_only_what_its_room_may() -> None:
    rooms = {module: max((name for name in ROOMS if _within(module, (name,))), key=len) for module in MODULES}
    forbidden = {
        module: {name for name in _imports(module) if not _permitted(name, ROOMS[room])}
        for module, room in rooms.items()
    }
    assert {module: names for module, names in forbidden.items() if names} == {}


GAMES = {game.__name__: game.__module__.rpartition(".")[2] for game in games.GAMES}
ITS_OWN = {"controller.par.splits": "lucky9"} | {f"controller.par.{file}": file for file in GAMES.values()}
"""The modules outside of `controller.game` that are about one game alone, and which."""


def test_no_module_asks_which_game_or_which_brand_of_shoe_it_is() -> None:
    """Neither by the type of a game or the file of a brand, nor by the name of a kind or a brand. A journal of an older
    version has both, and the far ends of the wires are those of one game and of one brand."""
    elsewhere = {}
    for module in MODULES:
        if _within(module, ("drivers.shoe", "drivers.sim", "controller.game", "controller.record.old_facts")):
            continue
        said = {name for name in shoes.NAMES if f"drivers.shoe.{name}" in _imports(module)}
        for node in _nodes(module):
            if isinstance(node, ast.ImportFrom):
                said |= {GAMES[alias.name] for alias in node.names if alias.name in GAMES}
            elif isinstance(node, ast.Attribute):
                said |= {GAMES[node.attr]} if node.attr in GAMES else set()
            elif isinstance(node, ast.Constant) and node.value in (*games.KINDS, *shoes.NAMES):
                said.add(node.value)
        elsewhere[module] = said - {ITS_OWN.get(module)}
    assert {module: said for module, said in elsewhere.items() if said} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_lived_in(room: str) -> None:
    assert room in MODULES, "a rule for a room that has moved holds nothing"


def test_importing_the_daemon_loads_neither_the_demo_nor_the_tests_nor_the_pit() -> None:
    program = "import sys, controller.app; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert NOT_IN_THE_DAEMON.isdisjoint(run.stdout.split())


DARK = {
    *("", ".cli", ".cli.colours", ".cli.command", ".cli.commands", ".cli.files", ".cli.main"),
    *(".errors", ".header", ".pins", ".pins.devices"),
}
"""All of `controller` that `tablectl dark` may load: until it has come so far, lamps may say what is no longer true."""


def test_darkening_the_lamps_loads_the_pins_and_nothing_else(tmp_path: Path) -> None:
    table = simulated_table(tmp_path, 1)
    program = f"import sys; from controller.cli.main import main; main(['dark', {str(table)!r}]); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert {name for name in loaded if _within(name, ("controller",))} == {f"controller{name}" for name in DARK}
    heavy = {"asyncio", "sqlite3", "ssl", "json", "logging", "cattrs", "cryptography", "paho", "serial", "rich"}
    assert heavy.isdisjoint(loaded)


def test_every_folder_of_tests_says_what_it_proves() -> None:
    told = (ROOT / "tests" / "README.md").read_text("utf-8")
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert {name for name in folders if f"`{name}`" not in told} == set()


def test_no_two_files_of_tests_have_one_name() -> None:
    """The folders are no packages: pytest would take the second file for the first, and stop."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name for name, count in names.items() if count > 1} == set()
