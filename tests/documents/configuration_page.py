"""Makes the page `docs/configuration.md` from the types into which a table's file, a game's file and the pit's settings
are read.

The meaning of a key is the text below its field in the type. The examples are the values in the files in `config`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from controller.daemon.config.game_file import GameFile
from controller.daemon.config.screen_section import ScreenSection
from controller.daemon.config.table_file import (
    ControlSection,
    JournalSection,
    PinsSection,
    PitSection,
    ProgramSection,
    ShoeSection,
    TableSection,
)
from controller.daemon.pins.inputs import INPUTS
from controller.people.cli.programs import example_game, example_table
from controller.pit.reference.meters import Terms
from controller.rules.game.baccarat import Section, Tableau
from controller.rules.game.baccarat_royal import BaccaratRoyal, BankerRow
from controller.rules.game.cards import PersonalK9
from controller.rules.game.games import KINDS
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.settlement import Rounding
from controller.rules.game.wagers import WagerRules
from controller.table.lamps import LAMPS
from controller.table.rules import Seat, ShoeRules
from drivers.devices import PRESENT_INPUT, InputWiring, LampWiring
from drivers.line.brand import Brand
from drivers.shoe import NAMES

_INTRODUCTION = """\
# Every key of every file

Made by `make pages` from the types that the files are read into.

A house is two files. The *table's file* says what is wired where, and names the game's file. The *game's file* holds
the rules of one printed sheet. Several tables can name one game file. `tablectl check` reads both and tells every
mistake at once. A key that is not on this page is refused, with the key that was probably meant.

Money is in whole minor units of the house's currency, which keys call `cents`: cents of a dollar, avos of a pataca,
and whole dong or won, which have none. The file `/etc/table-controller/house.toml` of a table's or a pit's machine says
the currency, for example `currency = "VND"`: `USD`, `HKD`, `MOP`, `PHP`, `VND` or `KRW`. Without the file it is `USD`.
Screen, slips, terminals and rules write each amount so. Table and pit must agree. At the pit the file may also say one
language, or two side by side, for the pit's page, slips and gaming days: `languages = ["zh-Hant", "en"]`. Without that
they are in English and Vietnamese. They are whole in English, Spanish, Vietnamese and Chinese. In Khmer, Korean,
Portuguese and Tagalog they say most in English, which `tablectl check` and `pitctl slip` tell. A machine that shows or
prints these pages in Chinese needs a font with Chinese letters, on Debian the package `fonts-noto-cjk`.

Odds and parts are ratios in quotes: `"8:1"` pays eight to one, and `"1:20"` is a twentieth, which is 5%. A file's
name is written as a whole path, but for `game`."""

_LIMITS = "The house's limits, and what back bettors may bet."

_PIT_LEFT_OUT = {"reserve": "no reserve", "reseed_at_most_cents": "the seed", "limit_cents": "no limit"}
"""Where a table's and a game's types have a default, the pit's settings say it in the reading (`settings.py`)."""


def configuration_page() -> Iterable[str]:
    """Return the lines of the page `docs/configuration.md`."""
    table = tomllib.loads(example_table("royal9").read_text("utf-8"))
    game = tomllib.loads(example_game("royal9").read_text("utf-8"))
    royal = tomllib.loads(example_game("baccarat_royal").read_text("utf-8"))["baccarat_royal"]
    lucky9 = tomllib.loads(example_game("lucky9").read_text("utf-8"))["lucky9"]
    pit = tomllib.loads((example_table("royal9").parents[1] / "pit.toml").read_text("utf-8"))["meters"]
    wiring, buttons = table["pins"]["inputs"], ", ".join(f"`{name}`" for name in INPUTS if name != PRESENT_INPUT)
    yield from (_INTRODUCTION, "", "## A table's file", "", "`config/tables` holds an example for every game.", "")
    yield from _section("[table]", TableSection, table["table"])
    yield from _section("[[seats]]", Seat, table["seats"][0], "A section for each seat.")
    yield from _section("[shoe]", ShoeSection, table["shoe"])
    yield from _section("[pins]", PinsSection, table["pins"])
    lamps = ", ".join(f"`{name}`" for name in LAMPS)
    told = f"A line for each lamp: {lamps}, and `seat_1`, `seat_2` and so on for the seats."
    yield from _section("[pins.lamps]", LampWiring, table["pins"]["lamps"]["fault"], told)
    told = f"A line for each input: {buttons}, and `seat_1`, `seat_2` and so on for the sensors."
    yield from _section("[pins.inputs]", InputWiring, wiring["deal"], told)
    yield from _section("[pit]", PitSection, table["pit"])
    yield from _section("[journal]", JournalSection, table["journal"])
    yield from _section("[control]", ControlSection, table["control"])
    yield from _section("[screen]", ScreenSection, {"languages": ["zh-Hant", "en"]})
    yield from _section("[program]", ProgramSection, {})
    yield from ("## A game's file", "", "`config/games` has an example for each house. These keys stand first:", "")
    yield from _keys(GameFile, game, but=("shoe", "wagers", "rounding", "bets"))
    yield from _section("[shoe]", ShoeRules, game["shoe"], "The burn, the cut card, and cards in error.")
    yield from _section("[punto_banco]", Section, game["punto_banco"])
    yield from _section("[punto_banco.tableau]", Tableau, game["punto_banco"]["tableau"], "The rules of drawing.")
    yield from _section("[baccarat_royal]", BaccaratRoyal, royal, "Two active seats play each other.")
    yield from _section("[[baccarat_royal.banker]]", BankerRow, royal["banker"][1])
    yield from _section("[lucky9]", Lucky9, lucky9, "Every seat plays a hand against the dealer's.")
    yield from _section("[wagers]", WagerRules, game["wagers"], _LIMITS)
    yield from _section("[rounding]", Rounding, game.get("rounding", {}), "What becomes of a part of a cent.")
    yield from ("### `[[bets]]`", "", "A section for each bet. [How a bet is written](bets.md) has every word.", "")
    yield from ("## The pit's settings", "", "`config/pit.toml` is the example of the reference pit's file.", "")
    told = "A section for each meter, by the meter's name in the game files."
    yield from _section("[meters.NAME]", Terms, pit["personal_vs_personal"], told, _PIT_LEFT_OUT)


def _section(
    name: str, type_: type, example: Mapping[str, Any], told: str = "", left_out: Mapping[str, str] | None = None
) -> Iterable[str]:
    yield f"### `{name}`"
    yield ""
    yield told or _said(type_)
    yield ""
    yield from _keys(type_, example, left_out=left_out or {})


def _said(type_: type) -> str:
    """Return the first sentence of the type's docstring, without the name of the file's section at its beginning."""
    sentence = " ".join((inspect.getdoc(type_) or "").partition("\n\n")[0].split())
    _, _, rest = sentence.partition(": ") if sentence.startswith("`[") else ("", "", sentence)
    return f"{rest[0].upper()}{rest[1:]}"


def _keys(
    type_: type, example: Mapping[str, Any], but: Iterable[str] = (), left_out: Mapping[str, str] | None = None
) -> Iterable[str]:
    meanings, kinds = field_texts(type_), get_type_hints(type_)
    yield "| key | what to write | where left out | what it says |"
    yield "|---|---|---|---|"
    of_tuple = (FieldInfo(name, name, kind) for name, kind in kinds.items())  # the wiring of a pin
    for field in fields(type_) if issubclass(type_, Struct) else of_tuple:
        if field.name not in but:
            if (meaning := meanings.get(field.name)) is None:
                raise ValueError(f"{type_.__name__}.{field.name}: say below the field what the key means")
            where_not = (left_out or {}).get(field.name) or _left_out(field)
            written = _written(kinds[field.name], example.get(field.name))
            yield f"| `{field.name}` | {written} | {where_not} | {meaning} |"
    yield ""


def _left_out(field: FieldInfo) -> str:
    if field.required:
        return "must be there"
    return "-" if field.default in (None, ()) else f"`{_toml(field.default)}`"


def _written(kind: Any, example: Any) -> str:
    """Return in words which values a key of a configuration file may have. Unless the key is a choice among words, name
    the value `example` too."""
    if NoneType in get_args(kind):
        (kind,) = set(get_args(kind)) - {NoneType}
    such_as = "" if example is None or isinstance(example, (dict, list)) else f", such as `{_toml(example)}`"
    if kind is Brand:
        return " or ".join(f"`{_toml(name)}`" for name in NAMES)
    if kind is str and example in KINDS:
        return " or ".join(f"`{_toml(name)}`" for name in KINDS)
    if kind is bool:
        return "`true` or `false`"
    if get_origin(kind) is Literal and isinstance(get_args(kind)[0], str):
        return " or ".join(f"`{_toml(choice)}`" for choice in get_args(kind))
    if get_origin(kind) is tuple:
        listed = "a list" if example is None else f"a list, such as `{_toml(example)}`"
        return "sections" if get_args(kind)[0] is BankerRow else listed
    if get_origin(kind) is dict or kind is Tableau:
        return "a section"
    named = {str: "a text", int: "a whole number", Fraction: "a ratio", PersonalK9: "a King and a 9"}
    return f"{named[kind]}{such_as}"


def _toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


@cache
def field_texts(type_: type) -> dict[str, str]:
    """Return the text that stands below each field in the source of a type, by the field's name."""
    (told,) = ast.parse(textwrap.dedent(inspect.getsource(type_))).body
    assert isinstance(told, ast.ClassDef)
    texts: dict[str, str] = {}
    for before, after in zip(told.body, told.body[1:], strict=False):
        match before, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.replace("`<path>.archive`", "`PATH.archive`").split())
    return texts
