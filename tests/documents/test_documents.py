"""The documents that are made from the code say what the code says, and the code keeps what they rely on."""

from __future__ import annotations

import pytest

from tests.documents.face_page import SCHEMA, face_schema
from tests.documents.pages import DOCS, SENTENCES, pages, sentences


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_made_document_is_fresh(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == pages()[name], f"docs/{name} is stale: run `make pages`"


def test_the_contract_has_the_sentences_that_people_are_told() -> None:
    assert SENTENCES.read_text("utf-8") == sentences(), "controller/contract/sentences.json is stale: run `make pages`"


def test_the_faces_schema_is_that_of_its_types() -> None:
    assert SCHEMA.read_text("utf-8") == face_schema(), "controller/contract/face/face.schema.json: run `make pages`"
