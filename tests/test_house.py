"""Checks the project's import rules in every module, and that importing the daemon does not load what it must not."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.people.cli.programs import simulated_table
from controller.rules.game import games
from drivers import shoe as shoes

ROOT = Path(__file__).resolve().parents[1]


TYPES = ("msgspec",)
"""What a pure room's types may be made of."""


class Room(NamedTuple):
    """The import rule of a room (a folder of the project). `may` lists what the room's modules are allowed to import
    besides the standard library. `never` lists what they must not import, even if `may` allows it.

    `third_party` lists the packages of others that they are allowed to import; True means all, and False none.
    """

    may: tuple[str, ...]
    never: tuple[str, ...] = ()
    third_party: bool | tuple[str, ...] = True


# A module belongs to the longest name here that it starts with.
_WIRE = (
    *("controller.contract.keys", "controller.contract.note", "controller.contract.signed_page"),
    "controller.contract.witnessing",
    *("controller.contract.keeping", "controller.contract.wire"),
)
ROOMS = {
    "controller": Room((), third_party=False),
    "controller.basics": Room(("controller.basics",), third_party=False),
    "controller.basics.manual": Room(("controller.basics",)),  # the shells' completion is made by a library
    "controller.rules": Room(("controller.rules",), third_party=False),
    "controller.rules.game": Room(("controller.rules.game",), third_party=TYPES),
    "controller.rules.roads": Room(("controller.rules.roads",), third_party=TYPES),
    "controller.contract": Room(("controller.contract", "controller.rules.game"), never=_WIRE, third_party=TYPES),
    "controller.contract.face": Room(("controller.contract.face", "controller.contract.events"), third_party=TYPES),
    "controller.contract.keys": Room(("controller.contract", "controller.basics")),
    "controller.contract.signed_page": Room(("controller.contract", "controller.basics")),
    "controller.contract.note": Room(("controller.contract.signing",)),
    "controller.contract.witnessing": Room(("controller.contract",)),
    "controller.contract.keeping": Room(
        ("controller.contract", "controller.basics"), never=("controller.contract.wire",)
    ),
    "controller.contract.wire": Room(("controller.contract", "controller.basics")),
    "controller.words": Room(
        (
            "controller.words",
            "controller.basics.money",
            "controller.basics.errors",
            "controller.contract.face",
            "controller.contract.events",
            "controller.contract.event_reading",
        ),
        third_party=False,
    ),
    "controller.table": Room(
        ("controller.table", "controller.rules.game", "controller.contract"), never=_WIRE, third_party=TYPES
    ),
    "controller.daemon": Room(
        ("controller", "drivers.devices", "drivers.header_map"),
        never=(
            *("controller.daemon.app", "controller.daemon.header", "controller.daemon.control"),
            *("controller.pit", "controller.people", "controller.bench"),
        ),
    ),
    "controller.daemon.record": Room(
        (
            *("controller.daemon.record", "controller.daemon.clock"),
            *("controller.table", "controller.rules.game", "controller.contract", "controller.basics"),
        )
    ),
    "controller.daemon.pins": Room(
        (
            *("controller.daemon.pins", "controller.table", "controller.rules.game", "controller.basics.errors"),
            "drivers.devices",
        )
    ),
    "controller.daemon.delivery": Room(
        (
            *("controller.daemon.delivery", "controller.daemon.record", "controller.daemon.clock"),
            *("controller.daemon.answer", "controller.daemon.beat", "drivers.devices"),
            *("controller.table", "controller.rules.game", "controller.contract", "controller.basics.errors"),
        )
    ),
    "controller.daemon.round_record": Room(
        (
            *("controller.daemon.record", "controller.table", "controller.contract", "controller.basics.errors"),
            *("controller.basics.money", "drivers.shoe", "drivers.line.bad_bytes"),
        )
    ),
    "controller.daemon.control": Room(
        ("controller", "drivers.header_map"),
        never=(
            *("controller.daemon.app", "controller.daemon.header"),
            *("controller.pit", "controller.people", "controller.bench"),
        ),
    ),
    "controller.daemon.config": Room(
        (
            *("controller.daemon.config", "controller.table", "controller.rules.game", "controller.contract"),
            *(
                *("controller.basics.errors", "controller.basics.near", "controller.basics.digest"),
                *("controller.daemon.pins.inputs", "controller.words.found", "controller.basics.money"),
                "drivers.devices",
                "drivers.header_map",
                "drivers.shoe",
                "drivers.line.brand",
            ),
        ),
    ),
    "controller.daemon.app": Room(
        ("controller", "drivers"), never=("controller.pit", "controller.people", "controller.bench")
    ),
    "controller.daemon.header": Room(("controller.daemon.header", "controller.basics.errors", "drivers")),
    "controller.pit": Room(()),
    "controller.pit.paper": Room(
        (
            *("controller.pit.paper", "controller.pit.reference", "controller.words", "controller.contract"),
            "controller.basics.money",
        )
    ),
    "controller.pit.reference.commands": Room(
        ("controller.pit.reference", "controller.pit.paper", "controller.contract", "controller.basics")
    ),
    "controller.pit.reference": Room(("controller.pit.reference", "controller.contract", "controller.basics")),
    "controller.pit.head_office": Room(  # it judges a pit by the contract alone
        ("controller.pit.head_office", "controller.contract", "controller.basics"),
        never=("controller.contract.wire",),
        third_party=TYPES,
    ),
    "controller.pit.conformance": Room(  # the kit knows a pit and a table by the contract alone
        ("controller.pit.conformance", "controller.contract", "controller.basics")
    ),
    "controller.people": Room(()),
    "controller.people.exposition": Room(()),
    "controller.people.screen": Room(
        (
            *("controller.people.screen", "controller.people.exposition", "controller.rules.roads"),
            *("controller.contract.face", "controller.contract.events", "controller.contract.event_reading"),
            *("controller.words", "controller.basics"),
        ),
    ),
    "controller.people.pit_page": Room(
        (
            *("controller.people.pit_page", "controller.people.screen", "controller.people.exposition"),
            *("controller.pit.reference", "controller.contract", "controller.words", "controller.basics"),
        )
    ),
    "controller.people.par": Room(
        (
            *("controller.people.par", "controller.daemon.config", "controller.table", "controller.rules.game"),
            *("controller.basics.errors", "controller.basics.money", "controller.pit.reference.meters"),
        ),
        third_party=TYPES,
    ),
    "controller.people.care": Room(
        (
            *("controller.people.care", "controller.daemon.config", "controller.daemon.record"),
            *("controller.daemon.clock", "controller.table", "controller.contract", "controller.basics"),
            *("drivers.devices", "drivers.header_map", "drivers.line.port"),
        )
    ),
    "controller.people.cli": Room(("controller", "drivers"), never=("controller.bench",)),
    "controller.people.cli.setup": Room(
        ("controller", "drivers"), never=("controller.bench", "controller.pit", "drivers.sim")
    ),
    "controller.bench": Room(("controller", "drivers")),
    "drivers.devices": Room(("controller.table.facts",), third_party=TYPES),
    "drivers.header_map": Room(("drivers.devices",), third_party=False),
    "drivers.shoe": Room(
        (
            *("drivers.shoe", "drivers.line", "controller.table.facts"),
            *("controller.rules.game.cards", "controller.rules.game.usual"),
        )
    ),
    "drivers": Room(
        (
            *("drivers", "controller.basics.errors", "controller.contract.wire.mqtt_link"),
            *("controller.table.facts", "controller.rules.game.cards", "controller.rules.game.baccarat"),
        ),
        never=("drivers.sim",),
    ),
    # The far ends of the wires are written from the wire's description, so they can contradict the drivers.
    "drivers.sim": Room(("drivers.sim", "drivers.devices", "controller.basics.errors")),
}
NOT_IN_THE_DAEMON = {
    *("rich", "pytest", "hypothesis", "jsonschema", "drivers.sim"),
    *("controller.pit", "controller.people", "controller.bench"),
}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {_name(path): path for top in ("controller", "drivers") for path in sorted((ROOT / top).rglob("*.py"))}


def _within(name: str, rooms: tuple[str, ...]) -> bool:
    return any(f"{name}.".startswith(f"{room}.") for room in rooms)


_Looked = (
    ast.Import
    | ast.ImportFrom
    | ast.Attribute
    | ast.Constant
    | ast.Subscript
    | ast.arg
    | ast.FunctionDef
    | ast.AsyncFunctionDef
)


@cache
def _nodes(module: str) -> list[_Looked]:
    """Return those nodes of the module's syntax tree that the tests in this file look at."""
    return [node for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))) if isinstance(node, _Looked)]


def _imports(module: str) -> set[str]:
    """Return the full name of every module that `module` imports anywhere in its file."""
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
    package = name.partition(".")[0]
    if package == "dataclasses":
        return False  # types are msgspec's: the code that dataclasses make for themselves was half of a start
    if package in sys.stdlib_module_names or room.third_party is True:
        return True
    return room.third_party is not False and package in room.third_party


WINGS = (
    *("controller.basics", "controller.rules", "controller.contract", "controller.words", "controller.table"),
    *("drivers", "controller.daemon", "controller.pit", "controller.people", "controller.bench"),
)
"""From the ground up: a wing imports from itself and from those before it."""


def test_an_import_never_goes_up_between_the_wings() -> None:
    def wing(module: str) -> int:
        return next((place for place, name in enumerate(WINGS) if _within(module, (name,))), -1)

    up = {(module, name) for module in MODULES for name in _imports(module) if wing(name) > wing(module)}
    assert up == set()


def test_a_module_imports_only_what_its_room_may() -> None:
    rooms = {module: max((name for name in ROOMS if _within(module, (name,))), key=len) for module in MODULES}
    forbidden = {
        module: {name for name in _imports(module) if not _permitted(name, ROOMS[room])}
        for module, room in rooms.items()
    }
    assert {module: names for module, names in forbidden.items() if names} == {}


GAMES = {game.__name__: game.__module__.rpartition(".")[2] for game in games.GAMES}
ITS_OWN = {"controller.people.par.splits": "lucky9"} | {
    f"controller.people.par.{file}": file for file in GAMES.values()
}
"""The modules outside of `controller.rules.game` that are about one game alone, and which."""


def test_no_module_asks_which_game_or_which_brand_of_shoe_it_is() -> None:
    """No module imports the class of one kind of game or the driver of one brand of shoe, or contains the name of such
    a kind or brand as a text. The exceptions are the modules of games, shoes and simulated devices, the par sheet of
    each game, and the reader of older versions' journals."""
    elsewhere = {}
    for module in MODULES:
        if _within(
            module, ("drivers.shoe", "drivers.sim", "controller.rules.game", "controller.daemon.record.old_facts")
        ):
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


def test_every_room_is_lived_in() -> None:
    assert {*ROOMS} - {*MODULES} == set(), "a rule for a room that has moved holds nothing"


def test_importing_the_daemon_loads_neither_the_demo_nor_the_tests_nor_the_pit() -> None:
    program = "import sys, controller.daemon.app; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert NOT_IN_THE_DAEMON.isdisjoint(run.stdout.split())


DARK = {
    *("controller", "controller.people", "controller.people.cli", "controller.basics.colours"),
    *("controller.people.cli.command", "controller.people.cli.commands", "controller.people.cli.files"),
    *(f"controller.people.cli.commands.{part}" for part in ("looking", "record", "table", "wire", "without_hardware")),
    *("controller.people.cli.main", "controller.basics", "controller.basics.errors"),
    *("controller.basics.command", "controller.basics.near"),
    *("controller.daemon", "controller.daemon.header"),
}
"""All of `controller` that `tablectl dark` may load: until it has come so far, lamps may say what is no longer true."""


def test_darkening_the_lamps_loads_the_pins_and_nothing_else(tmp_path: Path) -> None:
    table = simulated_table(tmp_path, 1)
    program = (
        f"import sys; from controller.people.cli.main import main; main(['dark', {str(table)!r}]); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert {name for name in loaded if _within(name, ("controller",))} == DARK
    heavy = {
        "asyncio",
        "sqlite3",
        "ssl",
        "json",
        "logging",
        "msgspec",
        "dataclasses",
        "cryptography",
        "paho",
        "serial",
        "rich",
    }
    assert heavy.isdisjoint(loaded)


def test_every_folder_of_tests_says_what_it_proves() -> None:
    told = (ROOT / "tests" / "README.md").read_text("utf-8")
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert {name for name in folders if f"`{name}`" not in told} == set()


def test_no_two_files_of_tests_have_one_name() -> None:
    """No two test files have the same name. The folders of tests are no Python packages, so pytest would take the
    second file for the first, and would not run."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name for name, count in names.items() if count > 1} == set()


MOST_SUBSCRIPTS = 523
"""A bound that falls: how often the product's text reads a value by a name in quotes, as in `event["seq"]`. No type
checker sees such a name. What the table says of itself is read by its types alone: mypy refuses `status["face"]`."""


def test_few_values_are_read_by_a_name_in_quotes() -> None:
    by_file: Counter[str] = Counter()
    for module in MODULES:
        for node in _nodes(module):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                by_file[module] += isinstance(node.slice.value, str)
    assert MOST_SUBSCRIPTS - 60 < by_file.total() <= MOST_SUBSCRIPTS, by_file.most_common(10)


def test_no_file_is_longer_than_six_hundred_lines() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in MODULES.items()}
    assert {module: count for module, count in lines.items() if count > 600} == {}


MOST_LINES, MOST_LONG_FUNCTIONS = 40, 7
"""A function is long if it has more lines than this, its docstring left out. Long functions are tables that read as
one, and functions that only set something up."""


def test_few_functions_are_long() -> None:
    functions = [
        (_lines(node) - (_lines(node.body[0]) if ast.get_docstring(node) else 0), f"{module}.{node.name}")
        for module in MODULES
        for node in _nodes(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = sorted(each for each in functions if each[0] > MOST_LINES)
    assert len(functions) > 1000
    assert len(long) <= MOST_LONG_FUNCTIONS, long


def _lines(node: ast.stmt) -> int:
    """Return the number of lines that a statement takes."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


NO_NOUNS = {"each", "said", "told"}
"""What a parameter is not called: such a word says how a value came, and not what it is."""


def test_a_parameter_is_called_by_what_it_is() -> None:
    wrong = [
        f"{module}:{node.lineno}: {node.arg}"
        for module in MODULES
        for node in _nodes(module)
        if isinstance(node, ast.arg) and node.arg in NO_NOUNS
    ]
    assert wrong == []


CONSUMER = """\
import msgspec
import pytest
from controller.contract.face.feed import FeedLine
from controller.contract.face.status import Status

def says(status: Status, line: bytes) -> tuple[str, int | None]:
    placard = msgspec.json.decode(line, type=FeedLine).placard
    return status.face.phase, placard.decks if placard is not None else None
"""


@pytest.mark.proof
def test_a_type_checker_reads_a_status_and_a_feed_from_outside(tmp_path: Path) -> None:
    """A type checker in another repository, which has installed this package, sees the types of a table's status and
    feed. A wrong field name gives exactly one error."""
    (tmp_path / "right.py").write_text(CONSUMER, "utf-8")
    (tmp_path / "wrong.py").write_text(CONSUMER.replace("face.phase", "face.phrase"), "utf-8")
    assert all((ROOT / package / "py.typed").exists() for package in ("controller", "drivers"))
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache" / "outside")]
    found = os.environ | {"MYPYPATH": str(ROOT)}
    run = subprocess.run(
        [*mypy, "right.py", "wrong.py"], cwd=tmp_path, env=found, capture_output=True, text=True, check=False
    )
    told = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert [line.partition(":")[0] for line in told] == ["wrong.py"], run.stdout + run.stderr
    assert '"phrase"' in told[0]
