"""Turns the values of a TOML file into frozen types, and says what is wrong with each value that its type does not
allow."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from fractions import Fraction
from functools import cache
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import asdict, fields

from controller.basics.near import meant
from controller.daemon.config.examples import GAME_SECTIONS, TABLE_SECTIONS, how_to_add
from controller.daemon.config.game_file import GAME_KEYS, GameFile, of_kind
from controller.daemon.config.problems import Mistake, Problem, unknown
from controller.daemon.config.table_file import TableFile
from controller.rules.game.bets import CardsAre, HandIs, Has, When, ratio, ratio_text
from controller.rules.game.cards import PersonalK9
from drivers import shoe as shoes
from drivers.line.brand import Brand


def read(path: Path, kind: Literal["table", "game"]) -> tuple[dict[str, Any], list[Problem]]:
    """Read the TOML file at `path`. Return its values, and a list of problems. If the file cannot be read or is of
    another `kind`, the values are empty and the list holds one problem."""
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
        if twice := re.match(r"Cannot declare \('(bets|seats)',\) twice", str(error)):
            do = f"Each of them is a section of its own: write [[{twice[1]}]] in place of [{twice[1]}]."
        elif curly := sorted({*text} & _CURLY):
            do = f"Write straight quotes, \" or ', in place of {' '.join(curly)}: an editor for letters writes those."
        return {}, [Problem(str(path), "(the file)", f"is not TOML: {error}", do)]
    return (values, []) if not (wrong := _another_kind(values, kind)) else ({}, [Problem(str(path), *wrong)])


_CURLY = frozenset("\u201c\u201d\u201e\u2018\u2019\u201a")
"""Quotes that editors for letters write in place of straight quotes."""

_ITS_OWN = {"table": ("table", "seats", "pins", "pit", "journal", "control", "program"), "game": GAME_KEYS}
"""Keys of a table's file that no game's file has, and keys of a game's file that no table's file has."""


def _another_kind(values: dict[str, Any], kind: Literal["table", "game"]) -> Mistake | None:
    """Return a mistake if the file is empty or of the wrong kind, such as a game's file named as a table's; otherwise
    None."""
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
    """Turn a file's values into an object of `type_`.

    The result is None if `problems` is not empty, or if a value is wrong. For each wrong value, add a problem to
    `problems`.
    """
    if problems:
        return None
    sections = TABLE_SECTIONS if type_ is TableFile else GAME_SECTIONS
    try:
        kind: Any = of_kind(values) if type_ is GameFile else type_
        return cast(_T, _made(values, _form(kind), ""))
    except _WrongError as wrong:
        for at, what, do in wrong.mistakes:
            problems.append(Problem(str(path), at or "(the file)", what, do or how_to_add(at, sections)))
        _tell_a_typo_once(problems)
        return None


class _WrongError(Exception):
    """The error for a value that does not have its type. `mistakes` holds everything that is wrong in the value.

    The mistake for a missing key does not yet have the advice what to write. The code that catches the error adds it.
    """

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__(mistakes)
        self.mistakes = mistakes


def _tell_a_typo_once(problems: list[Problem]) -> None:
    """Remove from `problems` each problem "... is missing" that comes only from a misspelt name of a section or key.

    A misspelt name causes two problems: an unknown name and a missing one. People are told only of the unknown one.
    """
    misspelt = {name for problem in problems for name in re.findall(r"is (\w+) meant\?", problem.what)}
    problems[:] = [problem for problem in problems if problem.what not in {f"{name} is missing" for name in misspelt}]


class _Form(Struct, frozen=True):
    """The analysed type of a configuration key. For a list or a table of keys, `of` holds the types of its entries.
    `choices` holds the allowed values, if the type has fixed choices. "Or None" is dropped from the type, because TOML
    has no null."""

    kind: Any
    origin: Any
    of: tuple[_Form, ...]
    choices: Sequence[str | int]
    is_section: bool


def _made(value: Any, form: _Form, at: str) -> Any:
    """Convert `value` to the type `form`. `at` is the key under which the file has the value. Raises _WrongError with
    every mistake in the value."""
    try:
        if form.choices:
            return _choice(value, form)
        if form.origin is tuple:
            return tuple(_each(enumerate(_list(value)), form.of[0], at))
        if form.origin is dict:
            keys = list(_table(value))
            made = _each(value.items(), form.of[1], at)
            return dict(zip(map(_points, keys) if form.of[0].kind is int else keys, made, strict=True))
        if form.is_section:
            return _section(_table(value), form.kind, at)
        return _PLAIN[form.kind](value)
    except ValueError as error:
        raise _WrongError((at, *_described(error, form))) from error


@cache
def _form(type_: Any) -> _Form:
    """Analyse a type into a `_Form`. The result is cached, because the program's start waits for it."""
    (kind,) = {*get_args(type_)} - {NoneType} if NoneType in get_args(type_) else {type_}
    origin, choices = get_origin(kind), _choices(kind)
    of = tuple(_form(each) for each in get_args(kind) if each is not ...) if origin in (tuple, dict) else ()
    return _Form(kind, origin, of, choices, isinstance(kind, type) and issubclass(kind, Struct | tuple))


def _each(values: Iterable[tuple[object, Any]], form: _Form, at: str) -> list[Any]:
    """Convert each value to the type `form`. `values` holds pairs of a key and its value, below the key `at`. Raises
    _WrongError with the mistakes of all values."""
    made, mistakes = [], list[Mistake]()
    for key, value in values:
        try:
            made.append(_made(value, form, f"{at}.{key}"))
        except _WrongError as wrong:
            mistakes += wrong.mistakes
    if mistakes:
        raise _WrongError(*mistakes)
    return made


def _section(values: dict[str, Any], type_: Any, at: str) -> Any:
    """Convert the values of a section of the file to the section's type.

    Raises _WrongError with every mistake, and also with missing and unknown keys.
    """
    if type_ in (When, HandIs, CardsAre, Has):
        values = _listed(values, type_)
    made, mistakes, dot = dict[str, Any](), list[Mistake](), at and f"{at}."
    forms, defaults = _forms(type_), _defaults(type_)
    for name, form in forms.items():
        try:
            if name in values:
                made[name] = _made(values[name], form, f"{dot}{name}")
            elif name not in defaults:
                mistakes.append((f"{dot}{name}", f"{name} is missing", ""))
        except _WrongError as wrong:
            mistakes += wrong.mistakes
    if strange := sorted(values.keys() - forms.keys()):
        known = [*forms]
        what = "; ".join(unknown(key, known) for key in strange)
        mistakes.append((at, what, f"The keys here are: {', '.join(known)}."))
    if mistakes:
        raise _WrongError(*mistakes)
    return type_(**made)


@cache
def _forms(type_: Any) -> dict[str, _Form]:
    """Return the analysed type of each key of a section. `type_` is the section's type.

    Most sections are structs. The wiring of a pin is a named tuple instead, because the program that darkens the lamps
    uses that type and must import little.
    """
    keys = type_.__struct_fields__ if issubclass(type_, Struct) else type_._fields
    return {name: _form(hint) for name, hint in get_type_hints(type_).items() if name in keys}


@cache
def _defaults(type_: Any) -> dict[str, Any]:
    """Return the default values of those keys of a section that a file may leave out."""
    if not issubclass(type_, Struct):
        return dict(type_._field_defaults)
    return {field.name: field.default for field in fields(type_) if not field.required}


def _described(error: ValueError, form: _Form) -> tuple[str, str]:
    """Return two texts for people about a wrong value: what is wrong, and what to write instead."""
    match error.args:
        case (str(what), str(do)):
            return what, do
        case _ if form.choices:
            return str(error), f"Write one of: {', '.join(map(str, form.choices))}."
    return str(error), _INSTEAD.get(form.kind, "Correct it.")


_OF_CARDS = 'Write a rank such as "8" or "T", a suit such as "H", or a card such as "KS".'
_INSTEAD: dict[Any, str] = {
    HandIs: _OF_CARDS,
    Has: _OF_CARDS,
    PersonalK9: 'Write the King and the 9 as they are printed, rank then suit: "KS 9H".',
    Fraction: 'Write two whole numbers in quotes: "8:1" pays eight to one, "1:2" pays half, and "1:20" is 5%.',
    int: "Write digits alone, without quotes and without a point: 8.",
    str: 'Write a text in quotes: "royal9-01".',
    bool: "Write true or false, without quotes.",
}


def _choices(type_: object) -> list[str | int]:
    """Return the texts or numbers that are allowed for a type with fixed choices. Return an empty list for any other
    type."""
    if type_ is Brand:
        return list(shoes.NAMES)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return [choice.value for choice in type_]
    return list(get_args(type_)) if get_origin(type_) is Literal else []


def _choice(value: object, form: _Form) -> object:
    """Return the value if it is one of the allowed choices and has the same type: 4800.0 is not 4800. For a brand's
    name, return the brand. Raises ValueError for any other value."""
    if not any(type(value) is type(choice) and value == choice for choice in form.choices):
        raise ValueError(f"{value!r} is not a choice here{_meant_choice(value, form.choices)}")
    if form.kind is Brand:
        return shoes.brand(str(value))
    return form.kind(value) if isinstance(form.kind, type) else value


def _meant_choice(value: object, choices: Sequence[str | int]) -> str:
    """Return a question about the choice that somebody probably meant, such as ", is T meant?" for the rank "10".
    Return an empty text if no choice is near.

    If the choices are the numbers 0 to 9 and the value is greater, the question offers the digits of the value. For 12
    it is ": is 1 or 2 meant?".
    """
    if value in ("10", 10) and "T" in choices:
        return ", is T meant?"
    if type(value) is int and value > 9 and [*choices] == [*range(10)]:
        return f": is {' or '.join(dict.fromkeys(str(value)))} meant?"
    return meant(value, choices) if isinstance(value, str) else ""


def _plain(kind: type, word: str) -> Callable[[object], object]:
    """Return a function that accepts only values of exactly this type, and raises ValueError for others and for a
    number that is too large for TOML. `word` is what people call the type. In TOML, "8" in quotes is a text and not a
    number."""

    def taken(value: object) -> object:
        if type(value) is not kind:
            raise ValueError(f"{value!r} is not {word}{_meant_plain(value, kind)}")
        if isinstance(value, int) and value.bit_length() > 63:  # TOML's bound. Python would not even print some of them
            raise ValueError("the number is too large")
        return value

    return taken


def _meant_plain(value: object, kind: type) -> str:
    """If somebody wrote dollars such as 15.00 instead of a whole number, return a question that offers the amount in
    cents. Otherwise return an empty text."""
    if kind is not int or not isinstance(value, float) or not 0 < value < 10**9:
        return ""
    cents = round(100 * value)
    if abs(cents - 100 * value) >= 1e-6:
        return ""
    plain = f"is {value:.0f} meant? For" if value.is_integer() else "for"
    return f"; {plain} an amount in cents, is {cents} meant?"


def _ratio(text: object) -> Fraction:
    """Parse odds such as "3:2", which pay three for two. Raises ValueError for any other value."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,4}:[1-9][0-9]{0,3}", text):
        raise ValueError(f'{text!r} is not a ratio such as "3:2"' + _meant_ratio(text))
    return ratio(text)


def _meant_ratio(text: object) -> str:
    """Return a question that offers a ratio such as "1:20" to somebody who wrote `5%`, `0.05`, 8, `8 to 1` or `0.5:1`.
    For a ratio with too long numbers, return a text that says so. Return an empty text if no ratio can be guessed."""
    written = str(text).strip()
    if isinstance(text, str) and re.fullmatch(r"[0-9]+:[1-9][0-9]*", text):
        return ": each number has at most four digits"
    try:
        if parts := re.fullmatch(r"([\d.]+)\s*for\s*([\d.]+)", written):  # with the stake: 40 for 1 pays 39 to 1
            share = Fraction(parts[1]) / Fraction(parts[2]) - 1
        elif written.endswith("%"):
            share = Fraction(written.removesuffix("%")) / 100
        elif parts := re.fullmatch(r"([\d.]+)\s*(?:to|:|/|-)\s*([\d.]+)", written.replace(",", ".")):
            share = Fraction(parts[1]) / Fraction(parts[2])
        else:
            share = Fraction(written)
    except (ValueError, ZeroDivisionError):
        return ""
    return f', is "{ratio_text(share)}" meant?' if share >= 0 else ""


_PLAIN: Mapping[Any, Callable[[object], object]] = {
    bool: _plain(bool, "true or false"),
    int: _plain(int, "a whole number"),
    str: _plain(str, "a text"),
    Fraction: _ratio,
    PersonalK9: lambda text: PersonalK9.parse(str(text)),
}


def _list(value: object) -> list[Any]:
    """Return the value if it is a list. Raises ValueError if not.

    Without this check a text would count as the list of its letters, and a TOML table as the list of its keys.
    """
    if isinstance(value, dict) and value:
        do = "Write its name in two pairs of brackets, such as [[bets]], once for each entry."
        raise ValueError("one section is not a list", do)
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list", "Write a list in square brackets.")
    return value


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("is not a table", "Write its keys and values, as the example table and the game files show.")
    return value


def _listed(values: dict[str, Any], type_: type[Struct]) -> dict[str, Any]:
    """Return a bet's condition with a list for every key that takes several values. A file may give a single value
    without the list.

    For example, `first_two = ["K", 9]` is read as `first_two = [["K"], [9]]`.
    """
    forms = _forms(type_)
    listed = {
        key: each if isinstance(each, list) or key not in forms or forms[key].origin is not tuple else [each]
        for key, each in values.items()
    }
    if isinstance(two := listed.get("first_two"), list):
        listed["first_two"] = [ranks if isinstance(ranks, list) else [ranks] for ranks in two]
    return listed


def _points(key: str) -> int:
    """Convert a key of the file such as "6" to a number of points, because keys in TOML are always texts. Raises
    ValueError for any other key."""
    if not re.fullmatch("0|[1-9][0-9]?", key):
        raise ValueError(f"{key} is not a number of points", "Write a number from 0 to 9.")
    return int(key)


Sections = Mapping[str, Any]
"""The sections of a file that are sound in themselves, by their names."""


def sound_sections(values: dict[str, Any], type_: type[Struct], whole: Struct | None) -> dict[str, Any]:
    """Return the sections of a file that have no mistake, by name. `whole` is the whole file as an object, or None if
    the file has a mistake.

    The mistakes in the other sections are not reported here, because `structure` has already reported them.
    """
    if whole is not None:
        return asdict(whole)
    sound: dict[str, Any] = {}
    for name, form in _forms(type_).items():
        with suppress(_WrongError, KeyError):
            sound[name] = _made(values[name], form, name) if name in values else _defaults(type_)[name]
    return sound


def check(checks: Iterable[Callable[..., Iterable[Mistake]]], sections: Sections, file: str) -> list[Problem]:
    """Run the checks on a file's sections, and return the problems that they find.

    A check's parameters are named after the sections that it looks at. A check runs only if all its sections could be
    read. So a mistake in one section hides no mistake in another.
    """
    problems = []
    for each in checks:
        wanted = _sections_of(each)
        if wanted <= sections.keys():
            found = each(**{name: sections[name] for name in wanted})
            problems += [Problem(file, *mistake) for mistake in found]
    return problems


@cache
def _sections_of(check_: Callable[..., Iterable[Mistake]]) -> frozenset[str]:
    """Return the names of the sections that a check looks at. They are the names of the check's parameters."""
    return frozenset(signature(check_).parameters)
