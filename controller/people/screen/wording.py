"""The screen's words: each text in every language, so that a page can show one language or two side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from controller.basics import money
from controller.words.found import LANGUAGES, MOST_SIDE_BY_SIDE, pages_words

SUIT_SIGNS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}

Text = dict[str, str]
"""A text in every language."""


@cache
def words(language: str) -> dict[str, Any]:
    """The pages' words in this language: its sections, each with words by key."""
    return pages_words(language)


def say(section: str, key: str, **filled: str | int | Text) -> Text:
    """The words of this key, filled in. A name that the house made up is shown as it is written."""
    said = {}
    for language in LANGUAGES:
        text = words(language)[section].get(key)
        values = {name: value[language] if isinstance(value, Mapping) else value for name, value in filled.items()}
        said[language] = plain(key) if text is None else text.format(**values)
    return said


def knows(section: str, key: str) -> bool:
    """Whether the files have words for this key."""
    return key in words(LANGUAGES[0])[section]


def filled(page: str, languages: Sequence[str], *sections: str) -> str:
    """A page in these languages, with words in the place of `{{label.player}}`."""
    page = with_money(page).replace("{{language}}", languages[0]).replace("{{languages}}", " ".join(languages))
    for section in sections:
        for key in words(LANGUAGES[0])[section]:
            page = page.replace(f"{{{{{section}.{key}}}}}", _spans(section, key, languages))
    return page


def with_money(page: str) -> str:
    """A page that is told how the house writes money."""
    return page.replace("{{money}}", escape(json.dumps(money.in_use()._asdict())))


def _spans(section: str, key: str, languages: Sequence[str]) -> str:
    said = {each: escape(str(words(each)[section][key])) for each in languages}
    if len(languages) > 1 and len({*said.values()}) == 1:
        return f"<span>{said[languages[0]]}</span>"
    return "".join(f'<span lang="{each}">{text}</span>' for each, text in said.items())


_EVERY = frozenset(LANGUAGES)


def spoken(part: Any, languages: Sequence[str]) -> Any:
    """A part of a page with each text in these languages alone."""
    if isinstance(part, dict):
        if part.keys() == _EVERY:
            return {language: part[language] for language in languages}
        return {key: spoken(value, languages) for key, value in part.items()}
    return [spoken(each, languages) for each in part] if isinstance(part, list | tuple) else part


def chosen(asked: str, otherwise: Sequence[str]) -> tuple[str, ...]:
    """The languages that an address asks for, such as "zh-Hant,en"; otherwise those of the house."""
    known = tuple(dict.fromkeys(name for name in asked.split(",") if name in LANGUAGES))
    return known[:MOST_SIDE_BY_SIDE] or tuple(otherwise)


def plain(name: str) -> str:
    """A name in a file, for people: `lucky_6` is "Lucky 6"."""
    return name.replace("_", " ").capitalize()


def same(text: str) -> Text:
    """A text that is the same in every language."""
    return dict.fromkeys(LANGUAGES, text)


def joined(texts: list[Text], between: str | Text) -> Text:
    """The texts one after another, with what stands between them: words, or the key of a sign in `[join]`."""
    link = say("join", between) if isinstance(between, str) else between
    return {language: link[language].join(text[language] for text in texts) for language in LANGUAGES}


def either(values: list[Text]) -> Text:
    """One of several values: `"4, 5 or 6"`."""
    if len(values) < 2:
        return values[0]
    return joined([joined(values[:-1], "list"), values[-1]], say("when", "or"))


def card_text(card: str) -> str:
    """A card as people write it: `10♠`."""
    return f"{card[:-1].replace('T', '10')}{SUIT_SIGNS.get(card[-1], card[-1])}"
