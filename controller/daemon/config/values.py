"""A TOML file's values as frozen types, and what is wrong with a value that its type does not allow."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from inspect import signature
from pathlib import Path
from types import GenericAlias
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import cattrs
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn
from cattrs.v import transform_error

from controller.daemon.config.examples import GAME_SECTIONS, TABLE_SECTIONS, how_to_add
from controller.daemon.config.game_file import GAME_KEYS, GameFile, of_kind
from controller.daemon.config.problems import Mistake, Problem, meant, unknown
from controller.daemon.config.table_file import TableFile
from controller.rules.game.bets import CardsAre, HandIs, Has, When, ratio, ratio_text
from controller.rules.game.cards import PersonalK9
from drivers import shoe as shoes
from drivers.line.brand import Brand


def read(path: Path, kind: Literal["table", "game"]) -> tuple[dict[str, Any], list[Problem]]:
    """The values in a table's file or a game's file, or the problem of a file that cannot be read."""
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
        do = "Correct that line. Put a text in quotes, and write each key once."
        return {}, [Problem(str(path), "(the file)", f"is not TOML: {error}", do)]
    return (values, []) if not (wrong := _another_kind(values, kind)) else ({}, [Problem(str(path), *wrong)])


_ITS_OWN = {"table": ("table", "seats", "pins", "pit", "journal", "control"), "game": GAME_KEYS}
"""Keys of a table's file that no game's file has, and keys of a game's file that no table's file has."""


def _another_kind(values: dict[str, Any], kind: Literal["table", "game"]) -> Mistake | None:
    """What is wrong where somebody names, for example, a game's file as a table's."""
    example = "tables/royal9.toml" if kind == "table" else "games/royal9.toml"
    do = f"Name a {kind}'s file. config/{example} is an example to copy."
    if not values:
        return "(the file)", "is empty", do
    if values.keys() & set(_ITS_OWN[kind]):
        return None
    for other, keys in _ITS_OWN.items():
        if other != kind and values.keys() & set(keys):
            return "(the file)", f"is a {other}'s file, and a {kind}'s file is needed here", do
    return None


_T = TypeVar("_T")


def structure(values: dict[str, Any], type_: type[_T], path: Path, problems: list[Problem]) -> _T | None:
    """The values as the type. None where `problems` holds a problem already, or this function adds one."""
    if problems:
        return None
    sections = TABLE_SECTIONS if type_ is TableFile else GAME_SECTIONS
    try:
        return _CONVERTER.structure(values, type_)
    except cattrs.BaseValidationError as error:
        for line in transform_error(error, path="", format_exception=_describe):
            described, _, key = line.rpartition(" @ ")
            what, _, do = described.rpartition("|")
            at = _toml_key(key)
            problems.append(Problem(str(path), at, what, how_to_add(at, sections) if do == _MISSING else do))
        _tell_a_typo_once(problems)
        return None


_MISSING = "missing"


def _tell_a_typo_once(problems: list[Problem]) -> None:
    """A misspelt section is an unknown section and a missing one. People are told of the unknown section alone."""
    misspelt = {name for problem in problems for name in re.findall(r"is (\w+) meant\?", problem.what)}
    problems[:] = [problem for problem in problems if problem.what not in {f"{name} is missing" for name in misspelt}]


def _toml_key(path: str) -> str:
    """A cattrs path as a TOML key: `.pins.lamps['deal'].bcm` is `pins.lamps.deal.bcm`."""
    return re.sub(r"\['?([^'\]]+)'?\]", r".\1", path).lstrip(".") or "(the file)"


def _describe(error: BaseException, type_: type | None) -> str:
    """What is wrong and what to do, parted by `|`."""
    match error:
        case ForbiddenExtraKeysError():
            known = [field.name for field in fields(error.cl)]
            return (
                "; ".join(unknown(key, known) for key in sorted(error.extra_fields))
                + "|"
                + ("The keys here are: " + ", ".join(known) + ".")
            )
        case KeyError():
            return f"{error.args[0]} is missing|{_MISSING}"
        case AttributeError() | TypeError():
            return "is not a table|Write its keys and values, as the example table and the game files show."
        case ValueError(args=(str(what), str(do))):
            return f"{what}|{do}"
        case _ if choices := _choices(type_):
            return f"{error}|Write one of: {', '.join(map(str, choices))}."
        case _:
            kinds = (type_, *get_args(type_))  # the type of a key that may be left out: the kind, or None
            return f"{error}|{next((_INSTEAD[kind] for kind in kinds if kind in _INSTEAD), 'Correct it.')}"


_INSTEAD: dict[Any, str] = {
    PersonalK9: 'Write the King and the 9 as they are printed, rank then suit: "KS 9H".',
    Fraction: 'Write two whole numbers in quotes: "8:1" pays eight to one, "1:2" pays half, and "1:20" is 5%.',
    int: "Write digits alone, without quotes and without a point: 8.",
    str: 'Write a text in quotes: "royal9-01".',
    bool: "Write true or false, without quotes.",
}


def _choices(type_: object) -> list[str | int]:
    """The texts or numbers that a value of this type may be; none where the type is no choice."""
    if type_ is Brand:
        return list(shoes.NAMES)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return [choice.value for choice in type_]
    if get_origin(type_) is Union:  # of a key that may be left out: TOML itself has no null
        return [choice for kind in get_args(type_) for choice in _choices(kind)]
    return list(get_args(type_)) if get_origin(type_) is Literal else []


def _is_choice(type_: object) -> bool:
    return bool(_choices(type_))


def _choice(value: object, type_: Any) -> object:
    """The value where it is one of the choices, and of the same kind: 4800.0 is not 4800."""
    if not any(type(value) is type(choice) and value == choice for choice in _choices(type_)):
        raise ValueError(f"{value!r} is not a choice here{meant(value, _choices(type_))}")
    if type_ is Brand:
        return shoes.brand(str(value))
    return type_(value) if isinstance(type_, type) else value


def _plain(kind: type, word: str) -> Any:
    """A hook that takes values of exactly this kind. TOML has types: "8" in quotes is a text and no number."""

    def hook(value: object, _: type) -> object:
        if type(value) is not kind:
            raise ValueError(f"{value!r} is not {word}")
        if isinstance(value, int) and value.bit_length() > 63:  # TOML's bound. Python would not even print some of them
            raise ValueError("the number is too large")
        return value

    return hook


def _is_section(type_: object) -> bool:
    return isinstance(type_, type) and is_dataclass(type_)


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)

    @cache  # else cattrs makes its code for a section again in each type that holds the section
    def section(type_: type[Any]) -> Callable[[Any, object], Any]:
        return make_dict_structure_fn(type_, converter, _cattrs_forbid_extra_keys=True)

    converter.register_structure_hook_factory(_is_section, section)
    for kind, word in ((bool, "true or false"), (int, "a whole number"), (str, "a text")):
        converter.register_structure_hook(kind, _plain(kind, word))
    converter.register_structure_hook_func(_is_choice, _choice)
    converter.register_structure_hook(Fraction, _ratio)
    converter.register_structure_hook_func(_is_list, _list)
    converter.register_structure_hook_func(_is_by_points, _by_points)
    converter.register_structure_hook(PersonalK9, lambda text, _: PersonalK9.parse(str(text)))
    converter.register_structure_hook_func(
        lambda type_: type_ is GameFile, lambda values, _: converter.structure(values, of_kind(values))
    )
    converter.register_structure_hook_factory(
        lambda type_: type_ in (When, HandIs, CardsAre, Has), lambda type_: _one_or_several(converter, type_)
    )
    return converter


def _ratio(text: object, _: type) -> Fraction:
    """Odds: "3:2" pays three for two."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,4}:[1-9][0-9]{0,3}", text):
        raise ValueError(f'{text!r} is not a ratio such as "3:2"' + _meant_ratio(text))
    return ratio(text)


def _meant_ratio(text: object) -> str:
    """The ratio that somebody meant with `5%`, `0.05`, 8, `8 to 1` or `0.5:1`."""
    written = str(text).strip()
    try:
        if written.endswith("%"):
            share = Fraction(written.removesuffix("%")) / 100
        elif parts := re.fullmatch(r"([\d.]+)\s*(?:to|:|/|-)\s*([\d.]+)", written):
            share = Fraction(parts[1]) / Fraction(parts[2])
        else:
            share = Fraction(written)
    except (ValueError, ZeroDivisionError):
        return ""
    return f', is "{ratio_text(share)}" meant?' if share >= 0 else ""


def _is_list(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _list(value: object, type_: Any) -> tuple[Any, ...]:
    """A list. Without this hook a text would count as the list of its letters, and a table as that of its keys."""
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list")
    of_one_kind: Any = GenericAlias(list, get_args(type_)[:1])
    return tuple(_CONVERTER.structure(value, of_one_kind))


def _one_or_several(converter: cattrs.Converter, type_: type[Any]) -> Callable[[Any, object], Any]:
    """A hook for a condition. Where any of several values may hold, a single value may stand without its list.

    For example: `first_two = ["K", 9]` is read as `first_two = [["K"], [9]]`.
    """
    of_lists = make_dict_structure_fn(type_, converter, _cattrs_forbid_extra_keys=True)
    several = {name for name, hint in get_type_hints(type_).items() if any(map(_is_list, (hint, *get_args(hint))))}

    def hook(value: Any, _: object) -> Any:
        listed = {key: each if isinstance(each, list) or key not in several else [each] for key, each in value.items()}
        if isinstance(two := listed.get("first_two"), list):
            listed["first_two"] = [ranks if isinstance(ranks, list) else [ranks] for ranks in two]
        return of_lists(listed, type_)

    return hook


def _is_by_points(type_: Any) -> bool:
    return get_origin(type_) is dict and get_args(type_)[0] is int


def _by_points(value: object, type_: Any) -> dict[int, Any]:
    """A TOML table whose keys are points. TOML itself has keys of text only."""
    by_text: Any = GenericAlias(dict, (str, get_args(type_)[1]))
    rows: dict[str, Any] = _CONVERTER.structure(value, by_text)
    if wrong := [key for key in rows if not re.fullmatch("0|[1-9][0-9]?", key)]:
        raise ValueError(f"{', '.join(wrong)} is not a number of points")
    return {int(key): row for key, row in rows.items()}


Sections = Mapping[str, Any]
"""The sections of a file that are sound in themselves, by their names."""


def sound_sections(values: dict[str, Any], type_: type[Any]) -> dict[str, Any]:
    """The sections of a file of this type that can be read. People have been told of the others by `structure`."""
    sound: dict[str, Any] = {}
    for name, section in get_type_hints(type_).items():
        try:
            sound[name] = _CONVERTER.structure(values[name], section) if name in values else _default(type_, name)
        except Exception:  # noqa: BLE001  # `structure` has told of whatever cattrs raises here
            continue
    return sound


def _default(type_: type[Any], name: str) -> Any:
    """The value of a section that was left out. Raises KeyError where a file must have the section."""
    return {field.name: field.default for field in fields(type_) if field.default is not MISSING}[name]


def check(checks: Iterable[Callable[..., Iterable[Mistake]]], sections: Sections, file: str) -> list[Problem]:
    """What the checks find. A check runs where every section that it looks at is sound: its arguments, by their names.

    So a mistake in one section hides no mistake in another.
    """
    problems = []
    for each in checks:
        wanted = signature(each).parameters.keys()
        if wanted <= sections.keys():
            found = each(**{name: sections[name] for name in wanted})
            problems += [Problem(file, *mistake) for mistake in found]
    return problems


_CONVERTER = _converter()
