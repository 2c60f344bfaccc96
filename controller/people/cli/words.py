"""`tablectl words check`: find the mistakes in a house's own language file (a translation of the program's texts), and
the texts that the file lacks."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unicodedata import combining, east_asian_width

from controller.basics.errors import TableError
from controller.basics.near import meant
from controller.daemon.config.letters import without_a_font
from controller.words.found import AUDIENCES, HOUSES, LANGUAGES, PAGES, filled_in, own_words, sentences

_TAG = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"
_WITHOUT_LIMIT = ("help.", "stop.", "link.", "step.", "when.")
"""Sentences of the players' page that may run over several lines, or stand on a board that is fitted."""

_WIDER = 1.1


def check(path: Path) -> int:
    """Print every mistake in a house's language file (a translation of the program's texts). Also print the key of
    every text that people will see in English, because the file lacks it. Returns 0 if there is no mistake.

    Raises TableError `words_unread` if the file cannot be read.
    """
    wrong, lacking = look(path)
    for line in wrong:
        print(line)
    for audience, places in lacking.items():
        shown = f": {', '.join(places)}" if places else ""
        print(f"{audience}: {len(places)} sentences are said in English{shown}")
    where = f"A table reads the file from {HOUSES}." if not wrong else "A sentence that is wrong is not said."
    print(f"{path.name}: {len(wrong)} {'mistake' if len(wrong) == 1 else 'mistakes'}. {where}", file=sys.stderr)
    return 1 if wrong else 0


def look(path: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Check a house's language file (a translation of the program's texts). Returns two values: the mistakes, a line
    each; and a dict that maps each audience, such as the players, to the keys of the texts that it will see in English.
    """
    ending = PAGES if path.name.endswith(PAGES) else ".toml"
    name = path.name.removesuffix(ending)
    try:
        told = dict(sentences(tomllib.loads(path.read_text("utf-8"))))
    except (OSError, ValueError) as error:
        raise TableError("words_unread", f"{path}: {error}", "Correct the file, then check it again.") from None
    english = dict(sentences(own_words("en", ending)))
    wrong = [line for place, text in told.items() for line in _wrong(place, text, english, ending)]
    if not re.fullmatch(_TAG, name) or not path.name.endswith(".toml"):
        names = f"ko.toml, or ko{PAGES} for the pages: ko is a language's BCP 47 tag"
        wrong.insert(0, f"{path.name}: the file's name is not that of a language; write, for example, {names}")
    shipped = dict(sentences(own_words(name, ending))) if name in LANGUAGES else {}
    return wrong, dict(_lacking({**shipped, **told}, english, ending))


def _lacking(texts: dict[str, str], english: dict[str, str], ending: str) -> Iterator[tuple[str, list[str]]]:
    for audience, files in AUDIENCES.items():
        if ending in files:
            sections = files[ending]
            asked = (place for place in english if not place.startswith("detail."))
            of = (place for place in asked if sections is None or place.partition(".")[0] in sections)
            yield audience, [place for place in of if place not in texts]


def _wrong(place: str, text: str, english: dict[str, str], ending: str) -> Iterator[str]:
    if (said := english.get(place)) is None:
        yield f"{place}: there is no such key{meant(place, english)}"
        return
    try:
        named = filled_in(text)
    except ValueError as error:
        yield f"{place}: a brace is wrong: {error}"
        return
    if named != filled_in(said):
        yield f"{place}: what is put in differs: {_braces(named)} here, {_braces(filled_in(said))} in English"
    if sorted(re.findall(r"`[^`]*`", text)) != sorted(re.findall(r"`[^`]*`", said)):
        yield f"{place}: a command in `…` differs from the English: {said}"
    if text != text.strip() and said == said.strip():
        yield f"{place}: a space stands at an end"
    if bool(text) != bool(said):
        yield f"{place}: {'is empty' if said else 'must be empty'}"
    if letters := without_a_font(text):
        yield f"{place}: the pages bring no font with {letters}"
    if ending == PAGES and not place.startswith(_WITHOUT_LIMIT) and wide(text) > _WIDER * widest(place):
        yield f"{place}: {text!r} is wider than in any shipped language, and may not fit: look at the page"


def _braces(names: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "nothing"


def wide(text: str) -> float:
    """Return roughly how wide a text is on a page, in ems. A mark above or below a letter adds no width."""
    drawn = (letter for letter in text if not combining(letter) and not "\u17b4" <= letter <= "\u17d3")
    return sum(1.0 if east_asian_width(letter) in "WF" else 0.55 for letter in drawn)


@cache
def _shipped() -> list[dict[str, str]]:
    return [dict(sentences(own_words(name, PAGES))) for name in LANGUAGES]


def widest(place: str) -> float:
    """Return the width of the text with the key `place` in the shipped language in which that text is widest. A text of
    that width is known to fit on the page."""
    return max(wide(said.get(place, "")) for said in _shipped())
