"""Checks that the JSON of the table's status, feed and answers still has the bytes that an earlier version wrote, when
these types were dictionaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import controller.contract
from controller.contract.face.answers import Answer
from controller.contract.face.feed import FeedLine
from controller.contract.face.state import State
from controller.contract.state import online_state
from controller.daemon.control.lines import line

SCHEMAS = Path(controller.contract.__file__).with_name("schemas")
BEFORE = Path(__file__).with_name("face_of_dictionaries.jsonl").read_bytes().splitlines(keepends=True)
"""What the last version without types wrote of a table that has stopped in a round: its feed, its answers, its
state."""


def _written(said: bytes) -> bytes:
    keys = json.loads(said).keys()
    if "online" in keys:
        since_then = b'"meters":[],'
        state = msgspec.json.decode(b"{" + since_then + said[1:], type=State)
        return online_state(state).replace(since_then, b"") + b"\n"
    return line(msgspec.json.decode(said, type=Answer if "ok" in keys else FeedLine))


@pytest.mark.parametrize("said", BEFORE, ids=range(len(BEFORE)))
def test_what_was_written_before_is_read_and_written_again_byte_for_byte(said: bytes) -> None:
    """JSON of an earlier version gives the same bytes when it is read and written again. Keys that were added since
    that version are left out of the comparison."""
    written = _written(said)
    if "online" not in json.loads(said):
        known = _only_known(json.loads(written), json.loads(said))
        written = json.dumps(known).encode() + b"\n"
    assert written == said


def _only_known(now: Any, before: Any) -> Any:
    """Return the JSON value `now` without the keys that `before` does not have, at any depth. The order of the keys
    stays."""
    if isinstance(now, dict) and isinstance(before, dict):
        return {key: _only_known(value, before[key]) for key, value in now.items() if key in before}
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [_only_known(*pair) for pair in zip(now, before, strict=True)]
    return now


def test_those_lines_hold_each_line_of_the_feed_and_a_fault() -> None:
    keys = {key for said in BEFORE for key in json.loads(said)}
    assert keys >= {"placard", "rounds", "wiring", "status", "hand", "would", "code", "online"}
    assert any(b'"fault": {"id"' in said for said in BEFORE)


def test_the_state_has_the_keys_and_the_types_of_its_schema() -> None:
    contract = json.loads((SCHEMAS / "state.schema.json").read_text("utf-8"))["$defs"]["online"]
    types = msgspec.json.schema_components([State])[1]["State"]
    assert types["properties"].keys() == contract["properties"].keys() == set(types["required"])
    for name, field in types["properties"].items():
        rule = contract["properties"][name]
        if "type" in rule and "$ref" not in field:
            ours = [each["type"] for each in field.get("anyOf", [field])]
            theirs = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
            assert sorted(ours) == sorted(theirs), name
