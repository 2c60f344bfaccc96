"""A table's configuration: its own file and its game's, read into frozen types.

Everything wrong is told at once, each with its file, key, what is wrong and what to write instead; keys nobody knows
are refused. The types are the files' sections, in the files' words.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from types import GenericAlias
from typing import Any, Literal, TypeVar, get_args, get_origin

import cattrs
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.v import transform_error

from controller.contract.canonical import canonical
from controller.devices import InputWiring, LampWiring
from controller.errors import TableError
from controller.game.baccarat import Tableau
from controller.game.dragon_bonus import DragonBonusPays
from controller.game.royal9 import Award, PersonalK9, Royal9, Tier
from controller.table.lamps import LAMPS
from controller.table.rules import LockOn, Seat, ShoeRules, TableRules

HEADER_PINS = range(2, 28)
"""The BCM numbers of the 26 general pins on the Raspberry Pi's header."""

BUTTONS = ("deal", "cut_card", "new_shoe", "void", "key")
"""The inputs that are not seat sensors."""


@dataclass(frozen=True, slots=True)
class TableSection:
    """`[table]`"""

    id: str
    name: str
    game: str
    lock_on: LockOn = "deal"


@dataclass(frozen=True, slots=True)
class ShoeSection:
    """`[shoe]`: the card-reading shoe and its serial port, a device or a URL of pyserial's."""

    driver: Literal["angel_eye"]
    port: str
    baud: Literal[4800, 9600] = 4800


@dataclass(frozen=True, slots=True)
class PinsSection:
    """`[pins]`: the header. `page` stands in for it, with the simulated driver only."""

    driver: Literal["rpi_gpio", "simulated"]
    lamps: dict[str, LampWiring]
    inputs: dict[str, InputWiring]
    page: str | None = None
    sample_ms: int = 10
    debounce_ms: int = 30


@dataclass(frozen=True, slots=True)
class PitSection:
    """`[pit]`: the broker, and when the pit counts as gone."""

    host: str
    port: int = 1883
    root: str = "pit/v1"
    keepalive_s: int = 5
    stale_after_s: int = 10


@dataclass(frozen=True, slots=True)
class JournalSection:
    """`[journal]`"""

    path: str
    signing_key: str


@dataclass(frozen=True, slots=True)
class ControlSection:
    """`[control]`: the socket that `tablectl` speaks to."""

    socket: str


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table's file as it stands."""

    table: TableSection
    seats: tuple[Seat, ...]
    shoe: ShoeSection
    pins: PinsSection
    pit: PitSection
    journal: JournalSection
    control: ControlSection


@dataclass(frozen=True, slots=True)
class GameFile:
    """A game's file as it stands: one rule sheet as data."""

    name: str
    sheet: str
    kind: Literal["baccarat"]
    shoe: ShoeRules
    tableau: Tableau
    dragon_bonus: DragonBonusPays
    royal9: Royal9


@dataclass(frozen=True, slots=True)
class Config:
    """A table's whole configuration. `digest` is SHA-256 over both files' values; `warnings` are for people."""

    file: TableFile
    rules: TableRules
    digest: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: where it stands, what is wrong, what to write."""

    file: str
    key: str
    what: str
    do: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.what}\n  what to do: {self.do}"


class ConfigError(TableError):
    """The configuration cannot be used; `problems` holds everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        what = f"the configuration has {count} {'mistake' if count == 1 else 'mistakes'}"
        super().__init__("config_invalid", what, "Correct each, then run `tablectl check` again.")

    def __str__(self) -> str:
        return "\n".join([f"{self.code}: {self.what}", *map(str, self.problems)])


def load(path: Path) -> Config:
    """Read the table's file at `path` and the game file it names. Raises ConfigError with everything wrong."""
    table_values, problems = _read(path)
    table_file = _structure(table_values, TableFile, path, problems)
    game_name = table_values.get("table", {}).get("game") if isinstance(table_values.get("table"), dict) else None
    if not isinstance(game_name, str):
        raise ConfigError(problems)
    game_path = path.parent / game_name
    game_values, game_problems = _read(game_path)
    game_file = _structure(game_values, GameFile, game_path, game_problems)
    problems += game_problems
    if table_file is not None:
        problems += _check_table(table_file, path.name)
    if game_file is not None:
        problems += _check_game(game_file, game_path.name)
    if problems or table_file is None or game_file is None:
        raise ConfigError(problems)
    digest = hashlib.sha256(canonical({"table": table_values, "game": game_values})).hexdigest()
    return Config(table_file, _rules(table_file, game_file), digest, tuple(_warnings(table_file)))


def _rules(table: TableFile, game: GameFile) -> TableRules:
    return TableRules(
        table=table.table.id,
        game=game.name,
        lock_on=table.table.lock_on,
        seats=tuple(sorted(table.seats, key=lambda seat: seat.number)),
        shoe=game.shoe,
        tableau=game.tableau,
        dragon_bonus=game.dragon_bonus,
        royal9=game.royal9,
    )


# Reading.


def _read(path: Path) -> tuple[dict[str, Any], list[Problem]]:
    try:
        return tomllib.loads(path.read_text("utf-8")), []
    except OSError as error:
        do = "Name a file that exists and can be read; a table's `game` is looked for from the table file's folder."
        return {}, [Problem(str(path), "(the file)", f"cannot be read: {error.strerror}", do)]
    except UnicodeDecodeError:
        return {}, [Problem(path.name, "(the file)", "is not UTF-8 text", "Save it as UTF-8.")]
    except tomllib.TOMLDecodeError as error:
        return {}, [Problem(path.name, "(the file)", f"is not TOML: {error}", "Correct the line it names.")]


_T = TypeVar("_T")


def _structure(values: dict[str, Any], type_: type[_T], path: Path, problems: list[Problem]) -> _T | None:
    """The values as the type, or None with the problems added to `problems`."""
    if problems:
        return None
    try:
        return _CONVERTER.structure(values, type_)
    except cattrs.BaseValidationError as error:
        for line in transform_error(error, path="", format_exception=_describe):
            told, _, key = line.rpartition(" @ ")
            what, _, do = told.partition("|")
            problems.append(Problem(path.name, _toml_key(key), what, do))
        return None


def _toml_key(path: str) -> str:
    """A cattrs path as a TOML key: `.pins.lamps['deal'].bcm` is `pins.lamps.deal.bcm`."""
    return re.sub(r"\['?([^'\]]+)'?\]", r".\1", path).lstrip(".") or "(the file)"


def _describe(error: BaseException, type_: type | None) -> str:
    """What is wrong and what to do, parted by `|`."""
    match error:
        case ForbiddenExtraKeysError():
            known = [field.name for field in fields(error.cl)]
            return (
                "; ".join(_unknown(key, known) for key in sorted(error.extra_fields))
                + "|"
                + ("The keys here are: " + ", ".join(known) + ".")
            )
        case KeyError():
            return f"{error.args[0]} is missing|Add it: the example table and the game files show its form."
        case _ if _choices(type_):
            given = str(error).partition(" not in literal")[0]
            return f"{given} is not a choice here|Write one of: {', '.join(_choices(type_))}."
        case _:
            return f"{error}|Write a value of the kind the example table and the game files show."


def _unknown(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, 1)
    return f"nobody knows the key {key}" + (f", is {close[0]} meant?" if close else "")


def _choices(type_: object) -> list[str]:
    """The texts or numbers a value may be, where it is a choice."""
    if isinstance(type_, type) and issubclass(type_, Tier):
        return [tier.value for tier in Tier]
    return [str(choice) for choice in get_args(type_) if isinstance(choice, str | int)]


def _plain(kind: type, word: str) -> Any:
    """A value of exactly this kind: TOML is typed, so a number in quotes is a mistake, not a number."""

    def structure(value: object, _: type) -> object:
        if type(value) is not kind:
            raise ValueError(f"{value!r} is not {word}")
        return value

    return structure


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind, word in ((bool, "true or false"), (int, "a whole number"), (str, "a text")):
        converter.register_structure_hook(kind, _plain(kind, word))
    converter.register_structure_hook_func(_is_by_points, _by_points)
    converter.register_structure_hook(PersonalK9, lambda text, _: PersonalK9.parse(str(text)))
    converter.register_structure_hook(Award, _award)
    return converter


def _is_by_points(type_: Any) -> bool:
    return get_origin(type_) is dict and get_args(type_)[0] is int


def _by_points(value: object, type_: Any) -> dict[int, Any]:
    """A TOML table whose keys are points; TOML knows keys as text only."""
    by_text: Any = GenericAlias(dict, (str, get_args(type_)[1]))
    rows: dict[str, Any] = _CONVERTER.structure(value, by_text)
    if wrong := [key for key in rows if not key.isdecimal()]:
        raise ValueError(f"{', '.join(wrong)} is no number of points")
    return {int(key): row for key, row in rows.items()}


def _award(value: dict[str, Any], _: type) -> Award:
    """An award names a meter or an amount; the one it does not name is None."""
    unknown = value.keys() - {"tier", "meter", "cents"}
    if unknown:
        raise ForbiddenExtraKeysError("", Award, unknown)
    return Award(Tier(value["tier"]), value.get("meter"), value.get("cents"))


# What types cannot say.


def _check_table(table: TableFile, file: str) -> list[Problem]:
    return [
        Problem(file, key, what, do)
        for key, what, do in (*_check_names(table), *_check_seats(table), *_check_pins(table))
    ]


_Told = tuple[str, str, str]


def _check_names(table: TableFile) -> Iterable[_Told]:
    if not re.fullmatch(r"[a-z0-9-]+", table.table.id):
        yield "table.id", f"{table.table.id!r} cannot stand in a topic", "Use only a-z, 0-9 and -."
    if not re.fullmatch(r"[a-z0-9-]+(/[a-z0-9-]+)*", table.pit.root):
        yield "pit.root", f"{table.pit.root!r} cannot be a topic's root", "Use words of a-z, 0-9 and -, parted by /."
    if "://" in table.shoe.port and not table.shoe.port.startswith("socket://"):
        do = "Write a device, best from /dev/serial/by-id, or socket://HOST:PORT."
        yield "shoe.port", f"{table.shoe.port!r} is neither a device nor a serial server", do
    for key, value, low, high in (
        ("pit.port", table.pit.port, 1, 65535),
        ("pit.keepalive_s", table.pit.keepalive_s, 1, 60),
        ("pit.stale_after_s", table.pit.stale_after_s, 1, 600),
        ("pins.sample_ms", table.pins.sample_ms, 5, 50),
        ("pins.debounce_ms", table.pins.debounce_ms, 5, 500),
    ):
        if not low <= value <= high:
            yield key, f"{value} is out of range", f"Write a number from {low} to {high}."


def _check_seats(table: TableFile) -> Iterable[_Told]:
    if not table.seats:
        yield "seats", "the table has no seats", "Add a [[seats]] for each, with its number and its k9."
    at: dict[int, int] = {}
    printed: dict[PersonalK9, int] = {}
    for place, seat in enumerate(table.seats):
        if seat.number < 1:
            yield f"seats.{place}.number", f"{seat.number} is no seat number", "Number the seats from 1."
        if seat.number in at:
            yield f"seats.{place}.number", f"seat {seat.number} stands twice", "Give each seat its own number."
        if seat.k9 in printed:
            other = printed[seat.k9]
            yield f"seats.{place}.k9", f"{seat.k9} is printed at seat {other} already", "No two seats share a K9."
        at.setdefault(seat.number, place)
        printed.setdefault(seat.k9, seat.number)


def _check_pins(table: TableFile) -> Iterable[_Told]:
    pins = table.pins
    seats = [f"seat_{seat.number}" for seat in table.seats]
    yield from _check_wiring_names("pins.lamps", pins.lamps, [*seats, *LAMPS])
    yield from _check_wiring_names("pins.inputs", pins.inputs, [*seats, *BUTTONS])
    taken: dict[int, str] = {}
    for key, bcm in [
        *((f"pins.lamps.{name}.bcm", lamp.bcm) for name, lamp in pins.lamps.items()),
        *((f"pins.inputs.{name}.bcm", input_.bcm) for name, input_ in pins.inputs.items()),
    ]:
        if bcm not in HEADER_PINS:
            yield key, f"BCM {bcm} is not on the header", "Use one of the header's 26 pins, BCM 2 to 27."
        elif bcm in taken:
            yield key, f"BCM {bcm} is taken by {taken[bcm]}", "Give each lamp and input a pin of its own."
        taken.setdefault(bcm, key.removesuffix(".bcm"))
    if table.table.lock_on == "deal" and "deal" not in pins.inputs:
        do = 'Wire the dealer\'s `deal` button, or set table.lock_on = "first_card".'
        yield "pins.inputs.deal", "is missing, and wagers are locked by it", do
    if pins.driver == "simulated" and pins.page is None:
        yield "pins.page", "is missing", "Name the file that stands in for the header."
    if pins.driver == "rpi_gpio" and pins.page is not None:
        yield "pins.page", "is only for the simulated driver", 'Remove it, or set pins.driver = "simulated".'


def _check_wiring_names(section: str, wired: Iterable[str], known: list[str]) -> Iterable[_Told]:
    for name in wired:
        if name not in known:
            yield f"{section}.{name}", _unknown(name, known), "The names here are: " + ", ".join(known) + "."


def _check_game(game: GameFile, file: str) -> list[Problem]:
    return [Problem(file, key, what, do) for key, what, do in _check_game_values(game)]


def _check_game_values(game: GameFile) -> Iterable[_Told]:
    shoe, tableau = game.shoe, game.tableau
    if not 1 <= shoe.decks <= 12:
        yield "shoe.decks", f"{shoe.decks} is out of range", "Write a number from 1 to 12."
    if not 0 <= shoe.cut_card_from_end <= 52 * shoe.decks:
        yield "shoe.cut_card_from_end", "is not in the shoe", "Write how many cards lie behind the cutting card."
    if shoe.fewest_cards_to_open < 6:
        yield "shoe.fewest_cards_to_open", "is less than a hand can take", "Write 6 or more."
    for key, totals in (
        ("natural", tableau.natural),
        ("player_draws_on", tableau.player_draws_on),
        ("banker_draws_on_when_player_stands", tableau.banker_draws_on_when_player_stands),
        *((f"banker_draws_on_third_card.{row}", v) for row, v in tableau.banker_draws_on_third_card.items()),
    ):
        if not all(0 <= total <= 9 for total in totals):
            yield f"tableau.{key}", "holds something that is no number of points", "Write points from 0 to 9."
    if not all(1 <= margin <= 9 for margin in game.dragon_bonus.margin_pays):
        yield "dragon_bonus.margin_pays", "holds a margin no hand wins by", "Write margins from 1 to 9."
    tiers = [award.tier for award in game.royal9.awards]
    if len(set(tiers)) != len(tiers):
        yield "royal9.awards", "holds a tier twice", "Write each tier once, in the sheet's order."
    if game.royal9.price_cents < 1:
        yield "royal9.price_cents", "is no price", "Write the price of the wager in cents."


def _warnings(table: TableFile) -> Iterable[str]:
    for seat in table.seats:
        if f"seat_{seat.number}" not in table.pins.inputs:
            yield f"seat {seat.number} has no sensor: no Royal 9 wager can be placed there"
    for name in [*(f"seat_{seat.number}" for seat in table.seats), *LAMPS]:
        if name not in table.pins.lamps:
            yield f"there is no lamp {name}"
    for name in ("void", "key", "new_shoe"):
        if name not in table.pins.inputs:
            yield f"there is no input {name}: only `tablectl` can do that"


_CONVERTER = _converter()
