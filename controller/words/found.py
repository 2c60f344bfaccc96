"""The languages, each found by its files: `NAME.toml`, and `NAME.screen.toml` with the words of the pages.

A house's own files stand in a folder of its own, and go over the shipped ones or beside them. English is whole. What
another language lacks is said in English, and `gaps` lists it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

from controller.basics.errors import TableError
from controller.basics.money import house_file

Sections = dict[str, dict[str, Any]]
"""A file: its sections, each with sentences by key, or with more sections."""

SHIPPED = Path(__file__).parent
"""The folder of the shipped files."""

HOUSES = Path("/etc/table-controller/words")
"""The folder of a house's own files."""

PAGES = ".screen.toml"
"""How the name of a file ends that has the words of the pages, which no daemon loads."""

_PROGRAMS = ".toml"
_NOT_WORDS = ("of", "table")
"""The keys of a part of the rules page that say where it stands. English has them for every language."""

AUDIENCES: Mapping[str, Mapping[str, tuple[str, ...] | None]] = MappingProxyType(
    {
        "players": {
            PAGES: (
                *("label", "mark", "join", "result", "limit", "waits", "choice", "sign", "hit", "step", "hit_waits"),
                *("link", "spot", "award", "pays", "when", "stop", "draws", "help"),
            ),
            _PROGRAMS: ("lamp", "pattern", "sign"),
        },
        "supervisors": {_PROGRAMS: ("fault", "exit")},
        "pit": {PAGES: ("pit", "finds"), _PROGRAMS: ("slip", "day", "phase", "doubt")},
        "staff": {PAGES: ("pit", "finds"), _PROGRAMS: None},
    }
)
"""Who reads which sections of the two files, by how the file's name ends. `players`: their page, the rules page and
the lamps' legend. `supervisors`: the faults and their exits. `pit`: its page and its papers. `staff`: whatever the
programs say."""


def found(folders: Iterable[Path]) -> tuple[str, ...]:
    """The languages of these folders, by the names of their files for the pages: English first."""
    names = {path.name.removesuffix(PAGES) for folder in folders for path in folder.glob(f"*{PAGES}")}
    return ("en", *sorted(names - {"en"}))


LANGUAGES = found((SHIPPED, HOUSES))
"""The languages by the names of their files, which are BCP 47 tags: `en`, `vi`, `zh-Hant`."""

SIDE_BY_SIDE = ("en", "vi")
"""What stands side by side where a house has chosen nothing."""

MOST_SIDE_BY_SIDE = 2


def houses_languages() -> tuple[str, ...]:
    """What the pit's page and papers are in: `languages` of the house's file.

    Raises TableError `house_file` where they are not one or two of those here.
    """
    chosen = house_file().get("languages", SIDE_BY_SIDE)
    listed = tuple(map(str, chosen)) if isinstance(chosen, list | tuple) else ()
    if not 1 <= len(set(listed)) == len(listed) <= MOST_SIDE_BY_SIDE or not {*listed} <= {*LANGUAGES}:
        do = f'Write one or two of {", ".join(LANGUAGES)}: languages = ["zh-Hant", "en"]'
        raise TableError("house_file", f"the house's file: languages = {chosen!r} is not one or two languages here", do)
    return listed


def unknown(name: str) -> tuple[str, str]:
    """What is wrong with a language that is not found, and what to write. `zh-CN` may mean what begins alike."""
    alike = [[each for each in LANGUAGES if each.lower().startswith(name[:many].lower())] for many in (2, 1)]
    near = (alike[0] or alike[1]) if name else []
    meant = f", is {' or '.join(near)} meant?" if near else ""
    return f"there is no language {name}{meant}", f"The languages here are: {', '.join(LANGUAGES)}."


def pages_words(name: str) -> Sections:
    """What the pages say in a language, with the sections and keys of English."""
    return _whole(name + PAGES)


def programs_words(name: str) -> Sections:
    """What the programs say in a language, with the sections and keys of English."""
    return _whole(name + _PROGRAMS)


def own_words(name: str, ending: str) -> Sections:
    """What a language's own shipped file has; nothing where there is no such file."""
    return _in(SHIPPED / (name + ending))


@cache
def _in(path: Path) -> Sections:
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def sentences(sections: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Every sentence of the sections, with its place in the file: `fault.burn_short.do`."""
    for key, told in sections.items():
        if isinstance(told, dict):
            yield from sentences(told, f"{place}{key}.")
        elif key not in _NOT_WORDS or not place.startswith("help."):
            yield place + key, str(told)


def filled_in(sentence: str) -> set[str]:
    """The names of what is put into a sentence. Raises ValueError for a brace that is not closed."""
    return {field for _, field, _, _ in Formatter().parse(sentence) if field is not None}


def gaps(name: str, audience: str) -> list[str]:
    """What of an audience's words a shipped language lacks: `vi.toml fault.burn_short.do`. Empty where it is whole."""
    lacking = []
    for ending, sections in AUDIENCES[audience].items():
        english = own_words("en", ending)
        asked = {key: told for key, told in english.items() if sections is None or key in sections}
        asked.pop("detail", None)  # documents alone tell these
        has = dict(sentences(own_words(name, ending)))
        lacking += [f"{name}{ending} {place}" for place, _ in sentences(asked) if place not in has]
    return lacking


def papers_in_english() -> list[str]:
    """A line for each language of the house's file in which the pit's page and papers say something in English."""
    return [
        f"languages: {len(lacking)} words of slips, gaming days and the pit's page are not in {name}, and stand there "
        "in English"
        for name in houses_languages()
        if (lacking := gaps(name, "pit"))
    ]


def _whole(file: str) -> Sections:
    english = "en" + (PAGES if file.endswith(PAGES) else _PROGRAMS)
    words: Sections = tomllib.loads((SHIPPED / english).read_text("utf-8"))
    for folder in (SHIPPED, HOUSES) if file != english else (HOUSES,):
        words = _over(words, _read(folder / file))
    return words


def _read(path: Path) -> dict[str, Any]:
    """A file's sections. A file that cannot be read says nothing: `tablectl words check` tells why."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _over(words: Mapping[str, Any], own: object) -> dict[str, Any]:
    """The words, with those of `own` in their place that fit there. So no file of words can make a program fail."""
    said = own if isinstance(own, dict) else {}
    return {
        key: _over(told, said.get(key)) if isinstance(told, dict) else said[key] if _fits(told, said.get(key)) else told
        for key, told in words.items()
    }


def _fits(sentence: object, own: object) -> bool:
    """Whether a sentence can stand in another's place: nothing is put into it that the program does not give."""
    if not isinstance(own, str):
        return False
    try:
        return filled_in(own) <= filled_in(str(sentence))
    except ValueError:
        return False
