"""Checks that each source in a glossary belongs to an existing term and language, and that the glossary pages say how
many terms have a source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.words.found import LANGUAGES, pages_words, sentences
from tests.documents.glossary_pages import TERMS, glossaries, sources

DOCS = Path(__file__).resolve().parents[2] / "docs"
OTHERS = [name for name in LANGUAGES if name != "en"]


def test_each_term_and_each_source_is_of_a_key_that_there_is() -> None:
    english = dict(sentences(pages_words("en")))
    assert {*TERMS} <= english.keys()
    assert len({*TERMS}) == len(TERMS)
    assert sources().keys() <= {*LANGUAGES}
    assert {key for found in sources().values() for key in found} <= {*TERMS}


def test_each_source_can_be_looked_up() -> None:
    """Each source of a glossary's term has a web address, or the number of a government's order."""
    looked_up = re.compile(r"https?://[\w-]+\.\w|(Order|Orden Ministerial|Ordem Executiva|Despacho) .*\d")
    told = {said for found in sources().values() for said in found.values()}
    assert [said for said in told if not looked_up.search(said)] == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_page_tells_how_many_of_its_rows_have_a_source(name: str) -> None:
    page = [*glossaries()[f"words-{name.lower()}.md"]()]
    rows = [line for line in page if re.search(r"\| `[\w.]+` \| ", line)]
    found = [row for row in rows if "no published source found" not in row]
    own = [row for row in found if not re.search(r"\((an online house|a guide|a player's page)\)", row)]
    assert len(rows) == len(TERMS)
    assert f"- {len(found)} of {len(rows)} terms have a published source; of these, {len(own)} " in "\n".join(page)
    assert f"(words-{name.lower()}.md) | {len(found)} of {len(rows)} | {len(own)} |" in (DOCS / "screen.md").read_text(
        "utf-8"
    )
