"""A table's configuration: its own file and its game's, read into frozen types.

Everything wrong is told at once, each with its file, key, what is wrong and what to write instead; keys nobody knows
are refused. The types are the files' sections, in the files' words.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, make_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import GenericAlias, SimpleNamespace
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import cattrs
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn
from cattrs.v import transform_error

from controller.config_examples import GAME_SECTIONS, TABLE_SECTIONS, how_to_add
from controller.contract.bounds import NAME
from controller.contract.canonical import canonical
from controller.delivery.mqtt_tls import TlsFiles
from controller.errors import TableError
from controller.game.bets import DRAGON_BONUS, Bet, CardsAre, HandIs, Has, When, ratio, ratio_text
from controller.game.cards import PersonalK9
from controller.game.games import KINDS, Game, Section
from controller.game.reach import unreachable
from controller.game.settlement import Rounding
from controller.game.wagers import WagerRules
from controller.pins.devices import InputWiring, LampWiring
from controller.pins.header_map import PHYSICAL, conflicts
from controller.table.lamps import LAMPS
from controller.table.rules import LockOn, Seat, ShoeRules, TableRules
from drivers import shoe as shoes
from drivers.line.brand import Brand

HEADER_PINS = tuple(sorted(PHYSICAL))
"""The BCM numbers of the 26 general pins on the Raspberry Pi's header."""

BUTTONS = ("deal", "cut_card", "new_shoe", "void", "hit", "stand", "split", "reveal", "key")
"""The inputs that are not seat sensors."""


@dataclass(frozen=True, slots=True)
class TableSection:
    """`[table]`"""

    id: str
    name: str
    game: str
    lock_on: LockOn = "deal"
    dealt: Literal["mini", "midi"] = "mini"
    bet_recognition: bool = False


@dataclass(frozen=True, slots=True)
class ShoeSection:
    """`[shoe]`: the card-reading shoe and its serial port, a device or a URL of pyserial's.

    Without a `baud` the line runs at what is usual for the brand.
    """

    driver: Brand
    port: str
    baud: int | None = None


@dataclass(frozen=True, slots=True)
class PinsSection:
    """`[pins]`: the header. `page` stands in for it, with the simulated driver only.

    `sensed` names the spot whose chips the seats' inputs see; left out, it is that of the game's one progressive bet.

    The inputs are sampled every `sample_ms` while one of them changes, and every three times that while none does. A
    change counts once it has stood for `debounce_ms`: with 10 and 30, a button that is held for 65 ms is never missed.
    """

    driver: Literal["rpi_gpio", "simulated"]
    lamps: dict[str, LampWiring]
    inputs: dict[str, InputWiring]
    page: str | None = None
    sensed: str | None = None
    sample_ms: int = 10
    debounce_ms: int = 30


@dataclass(frozen=True, slots=True)
class PitSection:
    """`[pit]`: the broker, when the pit counts as gone, and how many events may wait for it. With `ca`, `certificate`
    and `private_key`, PEM files, the connection is mutual TLS and never anything less; by `crl`, the CA's list of
    revoked certificates, the broker's is judged too. `trust_first_key` pins the first key that is offered as the pit's,
    with nobody comparing it: for a demo."""

    host: str
    port: int = 1883
    root: str = "pit/v1"
    keepalive_s: int = 5
    stale_after_s: int = 10
    most_unacknowledged: int = 100_000
    trust_first_key: bool = False
    ca: str | None = None
    certificate: str | None = None
    private_key: str | None = None
    crl: str | None = None

    @property
    def tls(self) -> TlsFiles | None:
        """The files of mutual TLS, None without it. Whether they can be used is `mqtt_tls`'s to say: whoever only asks
        a running table must not need them."""
        if self.ca is None or self.certificate is None or self.private_key is None:
            return None
        crl = None if self.crl is None else Path(self.crl)
        return TlsFiles(Path(self.ca), Path(self.certificate), Path(self.private_key), crl)


@dataclass(frozen=True, slots=True)
class JournalSection:
    """`[journal]`: its file, and the key that signs. Closed shoes that the pit has go to archives in the folder
    `archive` (left out: beside the journal, `<path>.archive`), all but the last `keep_shoes`; earlier where the file
    would pass `most_bytes`."""

    path: str
    signing_key: str
    archive: str | None = None
    keep_shoes: int = 30
    most_bytes: int = 256_000_000


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
    """A game's file as it stands: one rule sheet as data. The section of its kind's name says how it is dealt."""

    name: str
    sheet: str
    kind: str
    most_seats: int
    shoe: ShoeRules
    wagers: WagerRules
    rounding: Rounding
    bets: tuple[Bet, ...]

    @property
    def section(self) -> Section:
        """The section of its kind."""
        section: Section = getattr(self, self.kind)
        return section


def _of_kind(values: dict[str, Any]) -> type[GameFile]:
    """What a game file of this kind holds; of no known kind, the sections that it has."""
    said = [kind for kind in KINDS if kind == values.get("kind")]
    kinds = said or [kind for kind in KINDS if kind in values]
    kind_type = Literal[tuple(KINDS)]  # type: ignore[valid-type]  # the games that there are say what it may be
    sections = [("kind", kind_type), *((kind, KINDS[kind]) for kind in kinds)]
    return make_dataclass("GameFile", sections, bases=(GameFile,), frozen=True)


MOST_BETS = 12
"""No game has more: with 28 seats, back bettors and chips on every spot, a round's correction is the longest event."""


@dataclass(frozen=True, slots=True)
class Config:
    """A table's whole configuration. `digest` is SHA-256 over both files' values; `warnings` are for people."""

    file: TableFile
    game: GameFile
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


def load(path: Path, *, reaching: bool = False) -> Config:
    """Read the table's file at `path` and the game file it names. Raises ConfigError with everything wrong.

    `reaching`: every row of a bet must be able to decide a hand, which takes a second to find out.
    """
    table_values, problems = _read(path, "table")
    table_file = _structure(table_values, TableFile, path, problems)
    game_name = table_values.get("table", {}).get("game") if isinstance(table_values.get("table"), dict) else None
    if not isinstance(game_name, str):
        raise ConfigError(problems)
    game_path = Path(os.path.normpath(path.parent / game_name))
    game_values, game_file, game_problems = _read_game(game_path)
    problems += _check(_TABLE_CHECKS, table_values, TableFile, str(path))
    problems += game_problems
    problems += _check(_TOGETHER_CHECKS, table_values | {"rules": game_values}, _Together, str(path))
    if reaching and not problems and game_file is not None:
        problems += [Problem(str(game_path), *told) for told in _check_reach(game_file)]
    if problems or table_file is None or game_file is None:
        raise ConfigError(problems)
    digest = hashlib.sha256(canonical({"table": table_values, "game": game_values})).hexdigest()
    rules = _rules(table_file, game_file)
    return Config(table_file, game_file, rules, digest, tuple(_warnings(table_file, game_file)))


def load_game(path: Path) -> tuple[GameFile, str]:
    """A game file without a table, and SHA-256 over its values. Raises ConfigError with everything wrong."""
    values, game, problems = _read_game(path)
    if problems or game is None:
        raise ConfigError(problems)
    return game, hashlib.sha256(canonical(values)).hexdigest()


def is_game_file(path: Path) -> bool:
    """Whether the file is a game's. Any other is read as a table's, which tells what is wrong with it."""
    values, _ = _read(path, "game")
    return "kind" in values


def _read_game(path: Path) -> tuple[dict[str, Any], GameFile | None, list[Problem]]:
    """A game file's values, the file as it stands where that can be read, and everything wrong with it."""
    values, problems = _read(path, "game")
    problems += _old_form(values, str(path))
    game = _structure(values, GameFile, path, problems)
    return values, game, problems + _check(_GAME_CHECKS, values, GameFile, str(path))


def play_of(game: GameFile, dealt: Literal["mini", "midi"] = "mini") -> Game:
    """The game as it is dealt."""
    play = game.section.dealt(dealt)
    assert play is not None, "that it is dealt so has been checked"
    return play


def _rules(table: TableFile, game: GameFile) -> TableRules:
    return TableRules(
        table=table.table.id,
        game=game.name,
        lock_on=table.table.lock_on,
        seats=tuple(sorted(table.seats, key=lambda seat: seat.number)),
        sensors=tuple(sorted(seat.number for seat in table.seats if f"seat_{seat.number}" in table.pins.inputs)),
        sensed=_sensed(table.pins, game),
        bet_recognition=table.table.bet_recognition,
        shoe=game.shoe,
        play=play_of(game, table.table.dealt),
        wagers=game.wagers,
        rounding=game.rounding,
        bets=game.bets,
    )


def _sensed(pins: PinsSection, game: GameFile) -> str | None:
    """The spot whose chips the seats' sensors see; None where no progressive bet, or more than one, could be meant."""
    progressives = [bet.spot for bet in game.bets if bet.progressive]
    return pins.sensed or (progressives[0] if len(progressives) == 1 else None)


# Reading.


def _read(path: Path, kind: Literal["table", "game"]) -> tuple[dict[str, Any], list[Problem]]:
    """The values of a table's file or of a game's; without them, the one problem that hides all others."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        do = "Name a file that exists and can be read; a table's `game` is looked for from the table file's folder."
        return {}, [Problem(str(path), "(the file)", f"cannot be read: {error.strerror}", do)]
    except UnicodeDecodeError:
        return {}, [Problem(str(path), "(the file)", "is not UTF-8 text", "Save it as UTF-8.")]
    except ValueError as error:  # a NUL in its name
        return {}, [Problem(repr(str(path)), "(the file)", f"cannot be a file: {error}", "Name a file that exists.")]
    if text.startswith("\ufeff"):
        do = "Save it as UTF-8 without a byte order mark. The editor's list of encodings names both."
        return {}, [Problem(str(path), "(the file)", "begins with a byte order mark, which TOML does not know", do)]
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        do = "Correct that line. A text stands in quotes, and each key stands once."
        return {}, [Problem(str(path), "(the file)", f"is not TOML: {error}", do)]
    return (values, []) if not (wrong := _another_kind(values, kind)) else ({}, [Problem(str(path), *wrong)])


_ITS_OWN = {"table": ("table", "seats", "pins", "pit", "journal", "control"), "game": ("kind", "sheet", "bets")}
"""Keys that a table's file has and a game's has not, and the other way round."""


def _another_kind(values: dict[str, Any], kind: Literal["table", "game"]) -> _Told | None:
    """What is wrong with a file that is no table's file, or no game's, at all."""
    example = "tables/royal9.toml" if kind == "table" else "games/royal9.toml"
    do = f"Name a {kind}'s file. config/{example} is an example to copy."
    if not values:
        return "(the file)", "is empty", do
    if values.keys() & {*_ITS_OWN[kind], *(_OLD_KEYS if kind == "game" else ())}:
        return None
    for other, keys in _ITS_OWN.items():
        if other != kind and values.keys() & set(keys):
            return "(the file)", f"is a {other}'s file, and a {kind}'s file is needed here", do
    return None


_T = TypeVar("_T")


def _structure(values: dict[str, Any], type_: type[_T], path: Path, problems: list[Problem]) -> _T | None:
    """The values as the type, or None with the problems added to `problems`."""
    if problems:
        return None
    sections = TABLE_SECTIONS if type_ is TableFile else GAME_SECTIONS
    try:
        return _CONVERTER.structure(values, type_)
    except cattrs.BaseValidationError as error:
        for line in transform_error(error, path="", format_exception=_describe):
            told, _, key = line.rpartition(" @ ")
            what, _, do = told.rpartition("|")
            at = _toml_key(key)
            problems.append(Problem(str(path), at, what, how_to_add(at, sections) if do == _MISSING else do))
        _tell_a_typo_once(problems)
        return None


_MISSING = "missing"


def _tell_a_typo_once(problems: list[Problem]) -> None:
    """A section whose name is misspelt is told as unknown: that it is missing as well is the same mistake."""
    meant = {name for problem in problems for name in re.findall(r"is (\w+) meant\?", problem.what)}
    problems[:] = [problem for problem in problems if problem.what not in {f"{name} is missing" for name in meant}]


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
            return f"{error.args[0]} is missing|{_MISSING}"
        case AttributeError() | TypeError():
            return "is not a table|Write its keys and values, as the example table and the game files show."
        case _ if choices := _choices(type_):
            return f"{error}|Write one of: {', '.join(map(str, choices))}."
        case _:
            kinds = (type_, *get_args(type_))  # what may be left out is a kind or None
            return f"{error}|{next((_INSTEAD[kind] for kind in kinds if kind in _INSTEAD), 'Correct it.')}"


_INSTEAD: dict[Any, str] = {
    PersonalK9: 'Write the King and the 9 as they are printed, rank then suit: "KS 9H".',
    WagerRules: "Write each minimum at least 1 cent, and each maximum at least its minimum.",
    Fraction: 'Write two whole numbers in quotes: "8:1" pays eight to one, "1:2" pays half, and "1:20" is 5%.',
    int: "Write digits alone, without quotes and without a point: 8.",
    str: 'Write a text in quotes: "royal9-01".',
    bool: "Write true or false, without quotes.",
}


def _unknown(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, 1)
    return f"nobody knows the key {key}" + (f", is {close[0]} meant?" if close else "")


def _choices(type_: object) -> list[str | int]:
    """The texts or numbers a value may be, where it is a choice."""
    if type_ is Brand:
        return list(shoes.NAMES)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return [choice.value for choice in type_]
    if get_origin(type_) is Union:  # TOML has no null: what may be left out is a choice where it is written
        return [choice for kind in get_args(type_) for choice in _choices(kind)]
    return list(get_args(type_)) if get_origin(type_) is Literal else []


def _is_choice(type_: object) -> bool:
    return bool(_choices(type_))


def _choice(value: object, type_: Any) -> object:
    """One of the choices, and of its kind: 4800.0 is not 4800."""
    if not any(type(value) is type(choice) and value == choice for choice in _choices(type_)):
        close = difflib.get_close_matches(str(value), [str(choice) for choice in _choices(type_)], 1)
        raise ValueError(f"{value!r} is not a choice here" + (f", is {close[0]} meant?" if close else ""))
    if type_ is Brand:
        return shoes.brand(str(value))
    return type_(value) if isinstance(type_, type) else value


def _plain(kind: type, word: str) -> Any:
    """A value of exactly this kind: TOML is typed, so a number in quotes is a mistake, not a number."""

    def structure(value: object, _: type) -> object:
        if type(value) is not kind:
            raise ValueError(f"{value!r} is not {word}")
        if isinstance(value, int) and value.bit_length() > 63:  # TOML's; Python itself would not even print some
            raise ValueError("the number is too large")
        return value

    return structure


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind, word in ((bool, "true or false"), (int, "a whole number"), (str, "a text")):
        converter.register_structure_hook(kind, _plain(kind, word))
    converter.register_structure_hook_func(_is_choice, _choice)
    converter.register_structure_hook(Fraction, _ratio)
    converter.register_structure_hook_func(_is_list, _list)
    converter.register_structure_hook_func(_is_by_points, _by_points)
    converter.register_structure_hook(PersonalK9, lambda text, _: PersonalK9.parse(str(text)))
    converter.register_structure_hook_func(
        lambda type_: type_ is GameFile, lambda values, _: converter.structure(values, _of_kind(values))
    )
    converter.register_structure_hook_factory(
        lambda type_: type_ in (When, HandIs, CardsAre, Has), lambda type_: _one_or_several(converter, type_)
    )
    return converter


def _ratio(text: object, _: type) -> Fraction:
    """Odds: "3:2" pays three for two."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,4}:[1-9][0-9]{0,3}", text):
        raise ValueError(f'{text!r} is not a ratio such as "3:2"' + _meant(text))
    return ratio(text)


def _meant(text: object) -> str:
    """The ratio that somebody meant with `5%`, `0.05`, 8 or `8 to 1`."""
    told = str(text).strip()
    try:
        if told.endswith("%"):
            meant = Fraction(told.removesuffix("%")) / 100
        elif parts := re.fullmatch(r"(\d+)\s*(?:to|:|/|-)\s*(\d+)", told):
            meant = Fraction(int(parts[1]), int(parts[2]))
        else:
            meant = Fraction(told)
    except (ValueError, ZeroDivisionError):
        return ""
    return f', is "{ratio_text(meant)}" meant?' if meant >= 0 else ""


def _is_list(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _list(value: object, type_: Any) -> tuple[Any, ...]:
    """A list: a text or a table would otherwise count as the list of its letters or keys."""
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list")
    of_one_kind: Any = GenericAlias(list, get_args(type_)[:1])
    return tuple(_CONVERTER.structure(value, of_one_kind))


def _one_or_several(converter: cattrs.Converter, type_: type[Any]) -> Callable[[Any, object], Any]:
    """A condition: what may be any of several values may be written as one of them by itself."""
    structure = make_dict_structure_fn(type_, converter, _cattrs_forbid_extra_keys=True)
    several = {name for name, hint in get_type_hints(type_).items() if any(map(_is_list, (hint, *get_args(hint))))}

    def hook(value: Any, _: object) -> Any:
        listed = {key: each if isinstance(each, list) or key not in several else [each] for key, each in value.items()}
        if isinstance(two := listed.get("first_two"), list):
            listed["first_two"] = [ranks if isinstance(ranks, list) else [ranks] for ranks in two]
        return structure(listed, type_)

    return hook


def _is_by_points(type_: Any) -> bool:
    return get_origin(type_) is dict and get_args(type_)[0] is int


def _by_points(value: object, type_: Any) -> dict[int, Any]:
    """A TOML table whose keys are points; TOML knows keys as text only."""
    by_text: Any = GenericAlias(dict, (str, get_args(type_)[1]))
    rows: dict[str, Any] = _CONVERTER.structure(value, by_text)
    if wrong := [key for key in rows if not re.fullmatch("0|[1-9][0-9]?", key)]:
        raise ValueError(f"{', '.join(wrong)} is no number of points")
    return {int(key): row for key, row in rows.items()}


# What types cannot say.


def _check(checks: tuple[_Check, ...], values: dict[str, Any], type_: type[Any], file: str) -> list[Problem]:
    """What the checks find in the sections that are sound in themselves; the others have been told of already."""
    sound = _sound_sections(values, _of_kind(values) if type_ is GameFile else type_)
    return [
        Problem(file, key, what, do)
        for check, sections in checks
        if sections <= sound.keys()
        for key, what, do in check(SimpleNamespace(**sound))
    ]


def _sound_sections(values: dict[str, Any], type_: type[Any]) -> dict[str, Any]:
    sound: dict[str, Any] = {}
    for name, section in get_type_hints(type_).items():
        try:
            sound[name] = _CONVERTER.structure(values[name], section) if name in values else _default(type_, name)
        except Exception:  # noqa: BLE001  # whatever is wrong with it has been told when the file was read
            continue
    return sound


def _default(type_: type[Any], name: str) -> Any:
    """What a section left out is; a KeyError where it may not be."""
    return {field.name: field.default for field in fields(type_) if field.default is not MISSING}[name]


_Told = tuple[str, str, str]

_NOT_TABLES = {"pit": "the pit's program", "bets": "bet recognition"}
"""The other names in the broker's access list, `config/mosquitto/acl`."""


def _check_id(table: TableFile) -> Iterable[_Told]:
    if not re.fullmatch(r"[a-z0-9-]{1,60}", table.table.id):
        yield "table.id", f"{table.table.id!r} cannot stand in a topic", "Use only a-z, 0-9 and -, at most 60."
    elif table.table.id in _NOT_TABLES:
        do = "Choose another, royal9-01 for instance: the broker's access list would give this table its rights."
        yield "table.id", f"{table.table.id!r} is the name of {_NOT_TABLES[table.table.id]} at the broker", do


def _check_pit(table: TableFile) -> Iterable[_Told]:
    if not re.fullmatch(r"(?=.{1,200}$)[a-z0-9-]+(/[a-z0-9-]+)*", table.pit.root):
        yield "pit.root", f"{table.pit.root!r} cannot be a topic's root", "Use words of a-z, 0-9 and -, parted by /."
    if not re.fullmatch(r"[A-Za-z0-9._:-]+", table.pit.host):
        yield "pit.host", f"{table.pit.host!r} is no host", "Write the broker's host name or its address."
    yield from _check_range("pit.port", table.pit.port, 1, 65535)
    yield from _check_range("pit.keepalive_s", table.pit.keepalive_s, 1, 60)
    yield from _check_range("pit.stale_after_s", table.pit.stale_after_s, 1, 600)
    yield from _check_range("pit.most_unacknowledged", table.pit.most_unacknowledged, 100, 10_000_000)
    tls = {"ca": table.pit.ca, "certificate": table.pit.certificate, "private_key": table.pit.private_key}
    if any((*tls.values(), table.pit.crl)):
        for key in [key for key, path in tls.items() if not path]:
            yield f"pit.{key}", "is missing, and TLS needs all three files", f"Write {', '.join(tls)}, or none of them."


def _check_line(table: TableFile) -> Iterable[_Told]:
    brand, baud = table.shoe.driver, table.shoe.baud
    if baud is not None and baud not in brand.bauds:
        do = f"Write one of: {', '.join(map(str, sorted(brand.bauds)))}."
        yield "shoe.baud", f"the line of {brand.called} does not run at {baud}", do
    port = table.shoe.port
    do = "Write a device, best from /dev/serial/by-id, or socket://HOST:PORT."
    if re.fullmatch(r"COM[0-9]+|/dev/(cu|tty)\..*", port, re.IGNORECASE):
        yield "shoe.port", f"{port!r} is a port of another system, and a table runs on Linux", do
    elif not port.startswith("/") and not re.fullmatch(r"socket://[^/\s]+:[0-9]{1,5}", port):
        yield "shoe.port", f"{port!r} is neither a device's full path nor a serial server", do


def _check_paths(table: TableFile) -> Iterable[_Told]:
    taken: dict[str, str] = {}
    for key, path in (
        ("shoe.port", table.shoe.port),
        ("pins.page", table.pins.page),
        ("journal.path", table.journal.path),
        ("journal.signing_key", table.journal.signing_key),
        ("journal.archive", table.journal.archive),
        ("control.socket", table.control.socket),
    ):
        if path is None:
            continue
        if "\0" in path or not Path(path).name:
            yield key, f"{path!r} is no path", "Write the path of a file."
        elif not path.startswith("/") and key != "shoe.port":
            do = "Write the full path, from /. The daemon's folder is not the one that a person types the command in."
            yield key, f"{path!r} is no full path", do
        elif path in taken:
            yield key, f"{path} is taken by {taken[path]}", "Give each a path of its own."
        taken.setdefault(path, key)


def _check_journal(table: TableFile) -> Iterable[_Told]:
    yield from _check_range("journal.keep_shoes", table.journal.keep_shoes, 0, 100_000)
    yield from _check_range("journal.most_bytes", table.journal.most_bytes, 1_000_000, 1_000_000_000_000)


def _check_range(key: str, value: int, low: int, high: int) -> Iterable[_Told]:
    if not low <= value <= high:
        yield key, f"{value} is out of range", f"Write a number from {low} to {high}."


def _check_seats(table: TableFile) -> Iterable[_Told]:
    if not table.seats:
        yield "seats", "the table has no seats", "Add a [[seats]] for each, with its number."
    at: dict[int, int] = {}
    printed: dict[PersonalK9, int] = {}
    for place, seat in enumerate(table.seats):
        if seat.number < 1:
            yield f"seats.{place}.number", f"{seat.number} is no seat number", "Number the seats from 1."
        if seat.number in at:
            yield f"seats.{place}.number", f"seat {seat.number} stands twice", "Give each seat its own number."
        if seat.k9 is not None and seat.k9 in printed:
            other = printed[seat.k9]
            yield f"seats.{place}.k9", f"{seat.k9} is printed at seat {other} already", "No two seats share a K9."
        at.setdefault(seat.number, place)
        if seat.k9 is not None:
            printed.setdefault(seat.k9, seat.number)


def _check_pins(table: TableFile) -> Iterable[_Told]:
    pins = table.pins
    yield from _check_range("pins.sample_ms", pins.sample_ms, 5, 50)
    yield from _check_range("pins.debounce_ms", pins.debounce_ms, 5, 500)
    if pins.driver == "simulated" and pins.page is None:
        yield "pins.page", "is missing", "Name the file that stands in for the header."
    if pins.driver == "rpi_gpio" and pins.page is not None:
        yield "pins.page", "is only for the simulated driver", 'Remove it, or set pins.driver = "simulated".'
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


def _check_wiring(table: TableFile) -> Iterable[_Told]:
    pins = table.pins
    seats = [f"seat_{seat.number}" for seat in table.seats]
    yield from _check_wiring_names("pins.lamps", pins.lamps, [*seats, *LAMPS])
    yield from _check_wiring_names("pins.inputs", pins.inputs, [*seats, *BUTTONS])
    if table.table.lock_on == "deal" and "deal" not in pins.inputs:
        do = 'Wire the dealer\'s `deal` button, or set table.lock_on = "first_card".'
        yield "pins.inputs.deal", "is missing, and wagers are locked by it", do


def _check_wiring_names(section: str, wired: Iterable[str], known: list[str]) -> Iterable[_Told]:
    for name in wired:
        if name not in known:
            yield f"{section}.{name}", _unknown(name, known), "The names here are: " + ", ".join(known) + "."


_BURNED_AT_MOST, _HAND_AT_MOST = 11, 6  # a first card of ten and ten more; three cards each for two hands


def _check_shoe_rules(game: GameFile) -> Iterable[_Told]:
    shoe = game.shoe
    if not 1 <= shoe.decks <= 12:
        yield "shoe.decks", f"{shoe.decks} is out of range", "Write a number from 1 to 12."
    else:
        deepest = 52 * shoe.decks - _BURNED_AT_MOST - _HAND_AT_MOST
        if not 0 <= shoe.cut_card_from_end <= max(0, deepest):
            what = f"{shoe.cut_card_from_end} cards behind the cutting card leave no hand before it"
            do = f"Write a number from 0 to {max(0, deepest)}: before it lie the burned cards and one hand at least."
            yield "shoe.cut_card_from_end", what, do
        if shoe.fewest_cards_to_open > 52 * shoe.decks:
            yield "shoe.fewest_cards_to_open", "is more than the shoe holds", "Write 6, or little more."
    yield from _check_range("shoe.hands_after_cut_card", shoe.hands_after_cut_card, 0, 10)
    if shoe.fewest_cards_to_open < _HAND_AT_MOST:
        yield "shoe.fewest_cards_to_open", "is less than a hand can take", f"Write {_HAND_AT_MOST} or more."


def _old_form(values: dict[str, Any], file: str) -> list[Problem]:
    """A game file from before a bet was data: how each of its sections is written now."""
    told = [Problem(file, key, "is not how a bet is written", do) for key, do in _AS_BETS.items() if key in values]
    if isinstance(wagers := values.get("wagers"), dict) and "spots" in wagers:
        do = "Remove it: the spots are those of the [[bets]], in the order that they are settled in."
        told.append(Problem(file, "wagers.spots", "is not how the spots are named", do))
    royal = values.get("baccarat_royal")
    for key in ("gamblers_pay", "tie_pays", "gamblers_on_tie"):
        if isinstance(royal, dict) and key in royal:
            do = 'Write a [[bets]] for each spot, such as { when = { winner = "tie" }, pays = "8:1" }.'
            told.append(Problem(file, f"baccarat_royal.{key}", "is not how a bet is written", do))
    lucky9 = values.get("lucky9")
    for key in ("outcomes", "dead_totals", "higher_pays", "tie_pays", "bonus_pays"):
        if isinstance(lucky9, dict) and key in lucky9:
            do = 'Write rows in the [[bets]] of each spot, such as { when = { winner = "own" }, pays = "1:1" }.'
            told.append(Problem(file, f"lucky9.{key}", "is not how a bet is written", do))
    return told


_AS_BETS = {
    "pays": 'Write a [[bets]] for each spot, with rows such as { when = { winner = "banker" }, pays = "1:1", '
    'commission_taken = "1:20" }: see docs/bets.md.',
    "dragon_bonus": "Write a [[bets]] for dragon_player and one for dragon_banker, with rows such as "
    '{ when = { winner = "player", natural = false, margin = 9 }, pays = "30:1" }: see docs/bets.md.',
    "royal9": "Write a [[bets]] with rows such as "
    '{ when = { banker = { seat_pair = "own" } }, award = "banker_personal", meter = "banker_personal" }: '
    "see docs/bets.md.",
}


_OLD_KEYS = (*KINDS, *_AS_BETS)
"""Keys that only a game's file has or had."""


def _check_play(game: GameFile) -> Iterable[_Told]:
    """What the section of the kind and the sections beside it say of each other."""
    if (section := getattr(game, game.kind, None)) is None:
        return  # it is unsound, which has been told
    play: Game = section.dealt("mini")
    if play.tableau is None and game.shoe.drawn_in_error == "simulated_hand":
        do = 'Write "burn" or "next_card".'
        yield "shoe.drawn_in_error", "nobody could make the choices of a simulated hand of this game", do
    each_hand = [place for place, bet in enumerate(game.bets) if bet.each_hand]
    if play.seats_play and len(each_hand) != 1:
        do = "Write each_hand = true in the bet of that wager, and in no other."
        yield "bets", "it is not told which wager lies on the hands of a seat", do
    for place, bet in enumerate(game.bets):
        if bet.each_hand and not play.seats_play:
            yield f"bets.{place}.each_hand", "no seat has hands of its own in this game", "Remove it."
        if bet.between_actives and not play.roles_play:
            yield f"bets.{place}.between_actives", "no seats play each other in this game", "Remove it."


def _check_spots(game: GameFile) -> Iterable[_Told]:
    spots = [bet.spot for bet in game.bets]
    if not game.bets:
        yield "bets", "the game takes no wager", "Add a [[bets]] for each spot."
    if len(game.bets) > MOST_BETS:
        yield "bets", f"{len(game.bets)} are more than a round's event can tell", f"Write at most {MOST_BETS}."
    for place, bet in enumerate(game.bets):
        key = f"bets.{place}"
        if not re.fullmatch("[a-z0-9_]{1,24}", bet.spot):
            yield f"{key}.spot", f"{bet.spot!r} cannot be a spot's name", "Use only a-z, 0-9 and _, at most 24."
        elif bet.spot in spots[:place]:
            yield f"{key}.spot", f"{bet.spot} stands twice", "Write each spot once, with all its rows."
        for needed in bet.needs:
            if needed == bet.spot or needed not in spots:
                yield f"{key}.needs", f"{needed} is no other spot of this game", f"Name some of: {', '.join(spots)}."
        if not bet.rows:
            yield f"{key}.rows", f"nothing says when {bet.spot} wins", "Add its rows: the first that holds decides."


def _check_money(game: GameFile) -> Iterable[_Told]:
    for place, bet in enumerate(game.bets):
        if bet.price_cents is not None and bet.price_cents < 1:
            yield f"bets.{place}.price_cents", "is no price", "Write the price of the wager in cents."
        for number, row in enumerate(bet.rows):
            key = f"bets.{place}.rows.{number}"
            if row.pays == 0:
                yield (
                    f"{key}.pays",
                    "0 to one is no win",
                    'Write what it pays to one, such as "8:1", or result = "push".',
                )
            for word in ("commission_taken", "commission_owed"):
                part = getattr(row, word)
                if part is not None and not 0 < part < 1:
                    yield f"{key}.{word}", f"{part} is no part of a win", 'Write less than the whole, such as "1:20".'
            if not 0 < row.share <= 1:
                do = 'Write the whole, "1:1", or less, such as "1:10".'
                yield f"{key}.share", f"{ratio_text(row.share)} is no part of a meter", do
            if row.cents is not None and row.cents < 1:
                yield f"{key}.cents", f"{row.cents} is no award", "Write the award in cents."
            for word in ("award", "meter"):
                name = getattr(row, word)
                if name is not None and not NAME.fullmatch(name):
                    yield f"{key}.{word}", f"{name!r} cannot be a name", "Use only a-z, 0-9 and _, at most 60."
            if bet.spot in DRAGON_BONUS and (row.result == "half" or (row.pays and row.pays.denominator != 1)):
                do = "Write whole odds, or give the bet another name."
                yield key, f"a round's event tells of {bet.spot} what it pays to one, in whole numbers", do


def _check_awards(game: GameFile) -> Iterable[_Told]:
    whole = {row.meter for bet in game.bets for row in bet.rows if row.share == 1}
    for place, bet in enumerate(game.bets):
        awards = [row.award for row in bet.rows if row.award is not None]
        if awards and game.kind == "lucky9":
            do = "Write what each row pays to one: an award is of a round of two hands."
            yield f"bets.{place}.rows", f"{bet.spot} has awards", do
        if len(set(awards)) != len(awards):
            yield f"bets.{place}.rows", "holds an award twice", "Give each row an award of its own name."
        if awards and bet.price_cents is None:
            yield f"bets.{place}.price_cents", "is missing, and the bet has awards", "Write its one price in cents."
        for number, row in enumerate(bet.rows):
            if row.meter not in whole:
                do = "Correct the name, or add the row that wins all of it: until then the meter never begins again."
                yield f"bets.{place}.rows.{number}.meter", f"no row awards the whole of {row.meter}", do


def _check_reach(game: GameFile) -> Iterable[_Told]:
    """Rows that can decide no hand: they never hold, or rows before them hold wherever they do."""
    for each in unreachable(play_of(game), game.bets, game.shoe.decks):
        key, spot = f"bets.{each.bet}.rows.{each.row}", game.bets[each.bet].spot
        if each.why == "never_holds":
            yield key, f"no hand is so: {spot} can never be decided by it", "Correct it, or remove it."
        else:
            do = "Put it before them, or remove it: the first row that holds decides."
            yield key, f"wherever it holds, a row of {spot} before it holds", do


def _check_wagers(game: GameFile) -> Iterable[_Told]:
    wagers = game.wagers
    for low, high in (("circle_minimum_cents", "circle_maximum_cents"), ("side_minimum_cents", "side_maximum_cents")):
        if not 1 <= getattr(wagers, low) <= getattr(wagers, high):
            yield f"wagers.{high}", f"must be at least {low}, and that at least 1", "Write both in cents."
        elif wagers.increment_cents >= 1 and getattr(wagers, high) // wagers.increment_cents < -(
            -getattr(wagers, low) // wagers.increment_cents
        ):
            what = f"no multiple of increment_cents ({wagers.increment_cents}) lies between {low} and {high}"
            yield f"wagers.{high}", f"{what}, so no wager can be made", "Change the increment or the limits."
    if wagers.increment_cents < 1:
        yield "wagers.increment_cents", f"{wagers.increment_cents} is no increment", "Write it in cents, 1 for any."
    if game.rounding.unit_cents < 1:
        yield "rounding.unit_cents", f"{game.rounding.unit_cents} is no unit", "Write it in cents, 1 for exact cents."
    elif wagers.increment_cents % game.rounding.unit_cents:
        do = "Write a unit that the wagers' increment is a multiple of."
        yield "rounding.unit_cents", f"{game.rounding.unit_cents} does not divide every wager", do


@dataclass(frozen=True, slots=True)
class _Together:
    """The sections of a table's file that must fit its game's, which stands under `rules`."""

    table: TableSection
    seats: tuple[Seat, ...]
    shoe: ShoeSection
    pins: PinsSection
    rules: GameFile


def _check_game_fits(both: _Together) -> Iterable[_Told]:
    kind, deals = both.rules.kind, both.shoe.driver.deals
    if deals is not None and kind not in deals:
        can = [name for name in shoes.NAMES if kind in (shoes.brand(name).deals or {kind})]
        what = f"{both.shoe.driver.called} deals {' and '.join(sorted(deals)).replace('_', ' ')} only"
        yield "shoe.driver", what, f"Write one of: {', '.join(can)}."
    most = play_of(both.rules).most_cards(len(both.seats))
    if _HAND_AT_MOST <= both.rules.shoe.fewest_cards_to_open < most:
        what = f"a round of {len(both.seats)} seats can take {most} cards, more than fewest_cards_to_open"
        yield "seats", what, f"Write shoe.fewest_cards_to_open = {most} in the game's file, or take seats away."
    for place, seat in enumerate(both.seats):
        if seat.number > both.rules.most_seats:
            do = f"Number the seats from 1 to {both.rules.most_seats}: most_seats in the game's file says how many."
            yield f"seats.{place}.number", f"seat {seat.number} is beyond the sheet's seats", do
    if both.table.lock_on == "first_card" and play_of(both.rules).tableau is None:
        yield "table.lock_on", "the dealer locks the wagers of this game", 'Write "deal".'
    if both.rules.section.dealt(both.table.dealt) is None:
        yield "table.dealt", f"this game is not dealt as {both.table.dealt.title()}", "Remove it."
    printed = any(hand.seat_pair for bet in both.rules.bets for row in bet.rows for hand in row.when.hands())
    for place, seat in enumerate(both.seats):
        if printed and seat.k9 is None:
            yield f"seats.{place}.k9", "is missing, and a bet of the game asks for it", 'Add it, such as "KS 9H".'
        if not printed and seat.k9 is not None:
            yield f"seats.{place}.k9", "is for games with a bet that asks for it, and this has none", "Remove it."
    progressives = [bet.spot for bet in both.rules.bets if bet.progressive]
    named = ", ".join(progressives) or "none: remove it"
    if both.pins.sensed is not None and both.pins.sensed not in progressives:
        yield "pins.sensed", f"{both.pins.sensed} is no progressive bet of the game", f"The game's are: {named}."
    sensors = [name for seat in both.seats if (name := f"seat_{seat.number}") in both.pins.inputs]
    if sensors and both.pins.sensed is None and len(progressives) > 1:
        do = f"Name the spot whose chips the seats' inputs see, one of: {named}."
        yield "pins.sensed", "is missing, and the game has more than one progressive bet", do
    if not progressives:
        for name in sensors:
            yield f"pins.inputs.{name}", "senses a progressive wager, and the game has none", "Remove it."


_Check = tuple[Callable[[Any], Iterable[_Told]], frozenset[str]]

# Each check, and the sections it looks at: a mistake in one hides no mistake in another.
_TABLE_CHECKS: tuple[_Check, ...] = (
    (_check_id, frozenset({"table"})),
    (_check_seats, frozenset({"seats"})),
    (_check_line, frozenset({"shoe"})),
    (_check_pins, frozenset({"pins"})),
    (_check_wiring, frozenset({"pins", "seats", "table"})),
    (_check_pit, frozenset({"pit"})),
    (_check_journal, frozenset({"journal"})),
    (_check_paths, frozenset({"shoe", "pins", "journal", "control"})),
)
_GAME_CHECKS: tuple[_Check, ...] = (
    (_check_shoe_rules, frozenset({"shoe"})),
    (_check_play, frozenset({"kind", "shoe", "bets"})),
    (_check_wagers, frozenset({"wagers", "rounding"})),
    (_check_spots, frozenset({"bets"})),
    (_check_money, frozenset({"bets"})),
    (_check_awards, frozenset({"bets", "kind"})),
)

_TOGETHER_CHECKS: tuple[_Check, ...] = ((_check_game_fits, frozenset({"table", "seats", "shoe", "pins", "rules"})),)


def _warnings(table: TableFile, game: GameFile) -> Iterable[str]:
    if table.pit.tls is None and not re.fullmatch(r"localhost|127\.[0-9.]+|::1", table.pit.host):
        yield "[pit] has no TLS (ca, certificate, private_key): its network can read every hand and speak as the pit"
    if table.pit.trust_first_key:
        yield "[pit] trust_first_key: whoever speaks first as the pit is believed, and nobody compares its key"
    yield from conflicts(table.pins.lamps, table.pins.inputs)
    if not table.table.bet_recognition:
        sensed = _sensed(table.pins, game)
        for bet in game.bets:
            unseen = [seat for seat in table.seats if f"seat_{seat.number}" not in table.pins.inputs]
            if bet.progressive and bet.spot != sensed:
                yield f"nothing tells of wagers on {bet.spot}: none can be placed, at any seat"
            elif bet.progressive:
                yield from (
                    f"seat {seat.number} has no sensor: no {bet.spot} wager can be placed there" for seat in unseen
                )
    for name in [*(f"seat_{seat.number}" for seat in table.seats), *LAMPS]:
        if name not in table.pins.lamps:
            yield f"there is no lamp {name}"
    for name in ("void", "key", "new_shoe", *(call.value for call in play_of(game, table.table.dealt).calls)):
        if name not in table.pins.inputs:
            yield f"there is no input {name}: only `tablectl` can do that"
    brand = table.shoe.driver
    for name, why in brand.buttons.items():
        if name not in table.pins.inputs:
            yield f"there is no input {name}, and {why}"
    if not brand.bits_until_numbers_repeat and table.table.lock_on == "first_card":
        numbers_nothing = f"{brand.called} numbers nothing: one lost between hands goes unnoticed"
        yield f"a first card locks the wagers, and {numbers_nothing}"


_CONVERTER = _converter()
