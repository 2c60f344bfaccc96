"""Checks the results that the tests cache to save time. They must be equal to freshly computed results."""

from __future__ import annotations

import tomllib

import pytest

from controller.contract.keys import SigningKey, signature_holds
from controller.contract.signing import signature_of
from tests.support.remembered import remember

KEY = SigningKey(bytes(32))


@pytest.fixture(autouse=True)
def remembers() -> None:
    remember()


def test_no_other_message_signature_or_key_holds_once_one_did() -> None:
    event: dict[str, object] = {"table": "royal9-01", "seq": 1}
    said = event | {"signature": signature_of(event, KEY)}
    for _ in range(2):
        assert signature_holds(said, KEY.public)
        assert not signature_holds(said | {"seq": 2}, KEY.public)
        assert not signature_holds(said | {"signature": "A" * 86}, KEY.public)
        assert not signature_holds(said, SigningKey(bytes(range(32))).public)
        assert not signature_holds(said, KEY.public[:31])


def test_whoever_changes_what_was_read_changes_no_others() -> None:
    text = "[a]\nlist = [1, {b = 2.5}]"
    first = tomllib.loads(text)
    first["a"]["list"].append(3)
    assert tomllib.loads(text) == {"a": {"list": [1, {"b": 2.5}]}}
    assert str(tomllib.loads("at = 10:00:00")["at"]) == "10:00:00"
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads("a = ")
