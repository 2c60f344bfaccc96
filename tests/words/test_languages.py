"""Checks the language files. Each language is found by its files, has no sentence that English lacks, and is complete
for each group of readers that needs it complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.daemon.config import load_game
from controller.daemon.config.letters import without_a_font
from controller.words import found
from controller.words.found import AUDIENCES, LANGUAGES, PAGES, filled_in, gaps, own_words, sentences
from tests.support.tables import TABLES

_STAFFS = ("en", "es", "vi", "zh-Hans", "zh-Hant")
WHOLE_FOR = {"players": LANGUAGES, "supervisors": _STAFFS, "pit": _STAFFS, "staff": ("en", "vi")}
"""The languages in which everything is said to an audience."""

KNOWN_GAPS: set[str] = set()
"""What is said in English although the language must be whole: `vi.toml fault.burn_short.do`. Whoever adds a sentence
in English alone lists it here; whoever translates it takes it out."""


def test_every_language_is_whole_for_its_audiences_but_for_the_gaps_that_are_known() -> None:
    assert AUDIENCES.keys() == WHOLE_FOR.keys()
    assert {
        gap for audience, names in WHOLE_FOR.items() for name in names for gap in gaps(name, audience)
    } == KNOWN_GAPS


@pytest.mark.parametrize("ending", [PAGES, ".toml"])
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_says_nothing_that_english_does_not_say(name: str, ending: str) -> None:
    english, other = dict(sentences(own_words("en", ending))), dict(sentences(own_words(name, ending)))
    assert other.keys() <= english.keys()
    for place, sentence in other.items():
        assert sentence.strip() == sentence or sentence.strip() in ("and", "or") or place in _JOINS, place
        assert bool(sentence) == bool(english[place]), place
        assert filled_in(sentence) == filled_in(english[place]), place
        assert re.findall(r"`[^`]*`", sentence) == re.findall(r"`[^`]*`", english[place]), place


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_letter_of_a_language_is_in_a_font_that_the_pages_bring(name: str) -> None:
    said = "".join(sentence for ending in (PAGES, ".toml") for _, sentence in sentences(own_words(name, ending)))
    assert without_a_font(said) == ""


def test_every_row_of_a_shipped_bet_has_its_words_in_every_language() -> None:
    """If a shipped house has its own text for a row of a bet's pay table, the text exists in each language."""
    games = (load_game(path)[0] for path in (TABLES.parent / "games").glob("*.toml"))
    words = [row.words for game in games for bet in game.bets for row in bet.rows if row.words]
    assert len(words) == 6
    assert all(each.keys() == {*LANGUAGES} for each in words)


_JOINS = ("waits.and", "when.or", *(f"join.{sign}" for sign in ("list", "comma", "semicolon", "colon", "stop")))


def test_a_language_is_found_by_its_file_and_what_it_lacks_is_said_in_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xx.screen.toml").write_text(
        """[label]
player = "X"
banker = "{seat}"
no_such = "X"
[waits]
nothing = 3
[hit]
""",
        "utf-8",
    )
    (tmp_path / "vi.screen.toml").write_text("not TOML", "utf-8")
    assert found.found([found.SHIPPED, tmp_path]) == ("en", *sorted({*LANGUAGES, "xx"} - {"en"}))
    monkeypatch.setattr(found, "HOUSES", tmp_path)
    english, words = found.pages_words("en"), found.pages_words("xx")
    assert words["label"] == english["label"] | {"player": "X"}, "what is put in there is not known"
    assert words.keys() == english.keys()
    assert words["waits"] == english["waits"]
    assert found.pages_words("vi")["label"]["player"] == own_words("vi", PAGES)["label"]["player"]


def test_a_gap_is_listed_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en", "vi"):
        for ending in (PAGES, ".toml"):
            text = (found.SHIPPED / (name + ending)).read_text("utf-8")
            lines = [line for line in text.splitlines() if name == "en" or not line.startswith(("player =", "what ="))]
            (tmp_path / (name + ending)).write_text("\n".join(lines), "utf-8")
    monkeypatch.setattr(found, "SHIPPED", tmp_path)
    assert "vi.screen.toml label.player" in gaps("vi", "players")
    assert "vi.toml fault.burn_short.what" in gaps("vi", "supervisors")
    assert "vi.toml fault.burn_short.do" not in gaps("vi", "supervisors")
    assert gaps("vi", "staff")
    assert gaps("en", "staff") == []
