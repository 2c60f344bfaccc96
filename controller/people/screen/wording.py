"""The texts of the screen's pages, each in every language, so that a page can show one language or two side by side."""

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
    """Return the texts of the web pages in this language: a dict of sections, each a dict of texts by key."""
    return pages_words(language)


def say(section: str, key: str, **filled: str | int | Text) -> Text:
    """Return the text for `key` in every language, with its placeholders filled in from `filled`. If the language files
    have no text for `key`, because the house made the name up, return the key in readable form, such as "Lucky 6"."""
    said = {}
    for language in LANGUAGES:
        text = words(language)[section].get(key)
        values = {name: value[language] if isinstance(value, Mapping) else value for name, value in filled.items()}
        said[language] = plain(key) if text is None else text.format(**values)
    return said


def knows(section: str, key: str) -> bool:
    """Tell whether the language files hold a text for `key` in `section`."""
    return key in words(LANGUAGES[0])[section]


def filled(page: str, languages: Sequence[str], *sections: str) -> str:
    """Return the HTML page with its placeholders, such as `{{label.player}}`, replaced by texts in these languages.
    Only placeholders of the named `sections` are replaced, and those for the languages and for the house's way of
    writing money."""
    page = with_money(page).replace("{{language}}", languages[0]).replace("{{languages}}", " ".join(languages))
    for section in sections:
        for key in words(LANGUAGES[0])[section]:
            page = page.replace(f"{{{{{section}.{key}}}}}", _spans(section, key, languages))
    return page


def with_money(page: str) -> str:
    """Fill the house's way of writing money into the HTML page, and return the page. The script in the page uses it."""
    return page.replace("{{money}}", escape(json.dumps(money.in_use()._asdict())))


def _spans(section: str, key: str, languages: Sequence[str]) -> str:
    said = {each: escape(str(words(each)[section][key])) for each in languages}
    if len(languages) > 1 and len({*said.values()}) == 1:
        return f"<span>{said[languages[0]]}</span>"
    return "".join(f'<span lang="{each}">{text}</span>' for each, text in said.items())


_EVERY = frozenset(LANGUAGES)


def spoken(part: Any, languages: Sequence[str]) -> Any:
    """Return the content of a part of a page, with every text reduced to these languages."""
    if isinstance(part, dict):
        if part.keys() == _EVERY:
            return {language: part[language] for language in languages}
        return {key: spoken(value, languages) for key, value in part.items()}
    return [spoken(each, languages) for each in part] if isinstance(part, list | tuple) else part


def chosen(asked: str, otherwise: Sequence[str]) -> tuple[str, ...]:
    """Return the first two languages that a web address asks for, such as "zh-Hant,en", without unknown ones. If none
    is left, return `otherwise`."""
    known = tuple(dict.fromkeys(name for name in asked.split(",") if name in LANGUAGES))
    return known[:MOST_SIDE_BY_SIDE] or tuple(otherwise)


def plain(name: str) -> str:
    """Return a name from a configuration file in readable form: `lucky_6` becomes "Lucky 6"."""
    return name.replace("_", " ").capitalize()


def same(text: str) -> Text:
    """Return a `Text` (a text for every language) that is `text` in all languages."""
    return dict.fromkeys(LANGUAGES, text)


def joined(texts: list[Text], between: str | Text) -> Text:
    """Join the texts, separately in each language. `between` is what is put between them: a text, or the key of a
    separator in the section `[join]` of the language files."""
    link = say("join", between) if isinstance(between, str) else between
    return {language: link[language].join(text[language] for text in texts) for language in LANGUAGES}


def either(values: list[Text]) -> Text:
    """Return the texts as alternatives in one text, such as `"4, 5 or 6"`."""
    if len(values) < 2:
        return values[0]
    return joined([joined(values[:-1], "list"), values[-1]], say("when", "or"))


def card_text(card: str) -> str:
    """Return a card as people write it: `10♠`."""
    return f"{card[:-1].replace('T', '10')}{SUIT_SIGNS.get(card[-1], card[-1])}"
