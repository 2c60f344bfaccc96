"""Finds the languages of the programs by their files: `NAME.toml` has the texts of the programs, and `NAME.screen.toml`
the texts of the pages.

A house may have files of its own in a separate folder. They add languages, or replace sentences of the shipped files.
English is complete. Whatever another language lacks is shown in English, and `gaps` lists it.
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
    """Return the names of the languages that have a file with the texts of the pages in one of these folders, English
    first."""
    names = {path.name.removesuffix(PAGES) for folder in folders for path in folder.glob(f"*{PAGES}")}
    return ("en", *sorted(names - {"en"}))


LANGUAGES = found((SHIPPED, HOUSES))
"""The languages by the names of their files, which are BCP 47 tags: `en`, `vi`, `zh-Hant`."""

SIDE_BY_SIDE = ("en", "vi")
"""What stands side by side where a house has chosen nothing."""

MOST_SIDE_BY_SIDE = 2


def houses_languages() -> tuple[str, ...]:
    """Return the languages in which the pit's page and its papers are written: `languages` in the house's file, or
    `SIDE_BY_SIDE` if the file does not say.

    Raises TableError `house_file` if `languages` is not one or two different languages of `LANGUAGES`, or if the file
    is wrong in another way.
    """
    chosen = house_file().get("languages", SIDE_BY_SIDE)
    listed = tuple(map(str, chosen)) if isinstance(chosen, list | tuple) else ()
    if not 1 <= len(set(listed)) == len(listed) <= MOST_SIDE_BY_SIDE or not {*listed} <= {*LANGUAGES}:
        do = f'Write one or two of {", ".join(LANGUAGES)}: languages = ["zh-Hant", "en"]'
        raise TableError("house_file", f"the house's file: languages = {chosen!r} is not one or two languages here", do)
    return listed


def unknown(name: str) -> tuple[str, str]:
    """Return two texts about an unknown language name: what is wrong, and what to write instead. For `zh-CN`, the
    languages that begin with `zh` are suggested."""
    alike = [[each for each in LANGUAGES if each.lower().startswith(name[:many].lower())] for many in (2, 1)]
    near = (alike[0] or alike[1]) if name else []
    meant = f", is {' or '.join(near)} meant?" if near else ""
    return f"there is no language {name}{meant}", f"The languages here are: {', '.join(LANGUAGES)}."


def pages_words(name: str) -> Sections:
    """Return the texts of the pages in this language. Texts that the language lacks are in English."""
    return _whole(name + PAGES)


def programs_words(name: str) -> Sections:
    """Return the texts of the programs in this language. Texts that the language lacks are in English."""
    return _whole(name + _PROGRAMS)


def own_words(name: str, ending: str) -> Sections:
    """Return the content of a language's shipped file. Missing texts are not replaced by English ones. Return an empty
    dict if there is no such file. `ending` is how the file's name ends, such as ".toml"."""
    return _in(SHIPPED / (name + ending))


@cache
def _in(path: Path) -> Sections:
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def sentences(sections: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every sentence in the sections of a language file, as pairs of its place, such as `fault.burn_short.do`,
    and the sentence."""
    for key, told in sections.items():
        if isinstance(told, dict):
            yield from sentences(told, f"{place}{key}.")
        elif key not in _NOT_WORDS or not place.startswith("help."):
            yield place + key, str(told)


def filled_in(sentence: str) -> set[str]:
    """Return the names in a sentence's braces, which stand for values to be filled in. Raises ValueError for a brace
    that is not closed."""
    return {field for _, field, _, _ in Formatter().parse(sentence) if field is not None}


def gaps(name: str, audience: str) -> list[str]:
    """Return the places of the sentences that a shipped language lacks, such as `vi.toml fault.burn_short.do`. Only
    sentences for the named audience, such as "players", are looked at. The list is empty if the language has them all.
    """
    lacking = []
    for ending, sections in AUDIENCES[audience].items():
        english = own_words("en", ending)
        asked = {key: told for key, told in english.items() if sections is None or key in sections}
        asked.pop("detail", None)  # documents alone tell these
        has = dict(sentences(own_words(name, ending)))
        lacking += [f"{name}{ending} {place}" for place, _ in sentences(asked) if place not in has]
    return lacking


def papers_in_english() -> list[str]:
    """Return one warning for each language of the house that lacks sentences of the pit's page or papers. Those
    sentences are shown in English."""
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
    """Return the sections of a language file, or an empty dict if the file cannot be read. The command `tablectl words
    check` tells why a file cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _over(words: Mapping[str, Any], own: object) -> dict[str, Any]:
    """Return `words`, with sentences of the language file `own` in place of those in `words`. A sentence that does not
    fit is not taken, so no language file can make a program fail."""
    said = own if isinstance(own, dict) else {}
    return {
        key: _over(told, said.get(key)) if isinstance(told, dict) else said[key] if _fits(told, said.get(key)) else told
        for key, told in words.items()
    }


def _fits(sentence: object, own: object) -> bool:
    """Return True if the sentence `own` may replace `sentence`. It may if every name that `own` has in braces is in
    braces in `sentence` too."""
    if not isinstance(own, str):
        return False
    try:
        return filled_in(own) <= filled_in(str(sentence))
    except ValueError:
        return False
