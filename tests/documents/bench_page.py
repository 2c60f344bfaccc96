"""Makes the page `docs/bench-api.md` from the code of the test bench: its fixtures and their methods, the verbs of each
simulated shoe, and the values of the lamps."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controller.bench import plugin
from controller.bench.daemon import Broker, Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import EVENT_TYPES, FarPit
from controller.bench.far_shoe import FarBeeTek, FarShoe
from controller.bench.header import SEAT_SIGNS, Pins
from controller.bench.waiting import Eventually, Wait
from controller.bench.wires import Wires
from controller.people.cli.sim import verbs_of
from drivers.shoe import NAMES
from drivers.sim.console import Verbs
from drivers.sim.shoe.angel_eye import Result, Target
from tests.documents.configuration_page import field_texts

_INTRODUCTION = """\
# What a test at the bench may rely on

Made by `make pages` from the code: fixtures, methods and verbs below are those of this version. A name that is here
keeps its meaning; where one goes or changes, `CHANGELOG.md` says so. A name that begins with `_`, and what this page
does not have, may change at any time.

The package is typed (`py.typed`): `mypy --strict` and an editor see these types in a test of yours. Each fixture
has a short name too, without `bench_`, except `bench_wires` and `bench_wait`. A fixture of yours with that short
name goes before ours, and breaks nothing: our own fixtures ask for the long names alone. The marker is
`@pytest.mark.bench_table(…)`, or `@pytest.mark.table(…)` where your tests have no use of their own for that word.
"""

_AFTER_A_PLUG = """\
## After `unplug()` and `plug()`

`plug()` first waits until the numbers of the shoe's reports may have come round, as they do while a person walks to
the cable. So a table cannot know whether a card was drawn meanwhile.

- With no shoe open, `status().shoe.up` is false until the line is back, and the table goes on by itself.
- Between rounds, and after the lock before the first card, `status().shoe.up` is false, without a fault. Once the
  line is back, the fault is `shoe_unheard`: `table.count()` waits for it, and a supervisor counts the cards.
- With cards of a round out, the fault is `shoe_unplugged` at once, and stands when the line is back. After
  `table.supervisor("clear")` comes `shoe_unheard`. `table.clear_and_count()` does both.

`table.kill()` and `table.start()` are the same to an open shoe: `shoe_unheard` comes, in each phase, and
`table.restart()` counts. `tests/hil/test_hil_both_shoes.py` holds this.
"""

_CLASSES: dict[type, str] = {
    Table: "bench_table, bench_unstarted_table",
    FarShoe: "bench_shoe, an Angel Eye",
    FarBeeTek: 'bench_shoe with shoe={"driver": "beetek"}',
    Pins: "bench_pins",
    Dealer: "bench_dealer",
    FarPit: "bench_pit",
    Broker: "bench_broker",
    Eventually: "bench_eventually",
    Wait: "bench_wait",
    Wires: "bench_wires",
}


def bench_page() -> Iterator[str]:
    """Yield the lines of the page `docs/bench-api.md`."""
    yield _INTRODUCTION
    yield from ("## Fixtures", "", "| fixture | type | what it is |", "|---|---|---|")
    for name, type_, says in _fixtures():
        yield f"| `{name}` | `{_in_cell(type_)}` | {_in_cell(says)} |"
    yield from ("", "## Lamps", "")
    yield "`pins.lamp(name)` is one of these values, or None while the pattern is not certain yet (at most 4 s):"
    yield from ("", "| `pins.lamp(…)` | `pins.seat(…)`: what a seat's lamp tells |", "|---|---|")
    yield from (f"| `{lamp!r}` | `{sign!r}` |" for lamp, sign in SEAT_SIGNS.items())
    yield from ("", "## Events", "", "`pit.told(…)` takes one of these types:", "")
    yield ", ".join(f"`{type_}`" for type_ in sorted(EVENT_TYPES)) + "."
    yield from ("", _AFTER_A_PLUG)
    yield from ("## The verbs of each shoe", "")
    yield "`tablectl sim shoe --verbs` prints them, and follows them on a line that `--pty` or `--port` names."
    yield "In a test they are the methods of `bench_shoe`. Each verb is also `bench_shoe.verbs()[verb].do(…)`."
    for driver in NAMES:
        yield from ("", f"### `{driver}`", "", *_verbs(verbs_of(driver)))
    for made, fixture in _CLASSES.items():
        imported = f"`from {made.__module__} import {made.__name__}`"
        yield from ("", f"## {made.__name__}", "", f"`{fixture}`; {imported}", "", _told(made), "", *_members(made))
    yield from ("", "## How a card's report lies", "")
    yield "`from drivers.sim.shoe.angel_eye import Result, Target`, for `draw(card, target=…, result=…)` and `deal`:"
    yield ""
    yield from (f"- `{each.__class__.__name__}.{each.name}`" for each in (*Target, *Result))
    yield ""


def _fixtures() -> Iterator[tuple[str, str, str]]:
    for node in ast.parse(Path(plugin.__file__).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("bench_") and node.decorator_list:
            returns = ast.unparse(node.returns) if node.returns else ""
            type_ = returns.removeprefix("Iterator[").removesuffix("]") if "Iterator[" in returns else returns
            yield node.name, type_, " ".join((ast.get_docstring(node) or "").split())


def _verbs(verbs: Verbs) -> Iterator[str]:
    yield from ("| verb | what it does |", "|---|---|")
    for name, verb in verbs.items():
        yield f"| `{f'{name} {verb.arguments}'.strip()}` | {_in_cell(verb.help)} |"


def _members(type_: type) -> Iterator[str]:
    texts = field_texts(type_) if type_ is Wires else {}
    yield from (f"- `{name}`: {text}" for name, text in texts.items())
    for name, member in _public(type_):
        if isinstance(member, property):
            assert member.fget is not None
            yield f"- `{name}`: {_told(member.fget)}"
        elif callable(member) or hasattr(member, "func"):
            made = getattr(member, "func", member)  # a cached property
            form = "" if hasattr(member, "func") else _form(made)
            yield f"- `{name}{form}`: {_told(made)}"


def _public(type_: type) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each public member of a type, in the order of the source. Members of its base classes
    come last."""
    seen: set[str] = set()
    for each in type_.__mro__:
        if each.__module__.startswith(("controller.", "drivers.")):
            for name, member in vars(each).items():
                inner = member.__func__ if isinstance(member, classmethod) else member
                told = inspect.isfunction(inner) or isinstance(member, property) or hasattr(member, "func")
                if not name.startswith("_") and name not in seen and told and not isinstance(member, classmethod):
                    seen.add(name)
                    yield name, member


def _form(function: Any) -> str:
    given = inspect.signature(function)
    own = [each for each in given.parameters.values() if each.name != "self"]
    return str(given.replace(parameters=own)).replace("'", "")


def _told(of: Any) -> str:
    return " ".join((inspect.getdoc(of) or "").split())


def _in_cell(text: str) -> str:
    # A bar inside code ends the cell in one reader, and shows its backslash in another.
    return text.replace(" | ", " or ")
