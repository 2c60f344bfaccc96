"""Each source that a glossary names is of a term and a language that there are."""

from __future__ import annotations

from controller.words.found import LANGUAGES, pages_words, sentences
from tests.documents.glossary_pages import TERMS, sources


def test_each_term_and_each_source_is_of_a_key_that_there_is() -> None:
    english = dict(sentences(pages_words("en")))
    assert {*TERMS} <= english.keys()
    assert len({*TERMS}) == len(TERMS)
    assert sources().keys() <= {*LANGUAGES}
    assert {key for found in sources().values() for key in found} <= {*TERMS}
