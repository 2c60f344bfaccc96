"""Checks that stored events are read back into the types from which they were made: each example of the contract, and
each event of old journals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import controller.contract
from controller.contract import events
from controller.contract.canonical import canonical
from controller.contract.event_reading import read
from controller.contract.old_events import as_now
from controller.daemon.record.journal_reading import read_rows
from tests.journals.old_journals import NAMES, OF_0F50807, copied

_DOCUMENT: object = json.loads(Path(controller.contract.__file__).with_name("asyncapi.json").read_text("utf-8"))


def _examples(within: object) -> Iterator[dict[str, Any]]:
    if isinstance(within, dict):
        if isinstance(within.get("type"), str) and isinstance(within.get("chain"), str):
            yield within
        for value in within.values():
            yield from _examples(value)
    elif isinstance(within, list):
        for value in within:
            yield from _examples(value)


def test_an_example_of_the_contract_is_read_as_it_was_made() -> None:
    types = set()
    for example in _examples(_DOCUMENT):
        event = read(example)
        assert event is not None, example["type"]
        body = json.loads(canonical(event.body()))
        assert body == {name: example[name] for name in body}
        types.add(event.TYPE)
    assert types == {type_.TYPE for type_ in events.Event.__subclasses__()}


def test_every_event_of_an_old_journal_is_read(tmp_path: Path) -> None:
    for name in (*NAMES, *OF_0F50807):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        for row in read_rows(copied(name, folder).journal):
            for event in map(json.loads, row.messages):
                assert read(as_now(event)) is not None, (name, event["type"])


def test_what_is_of_another_version_is_no_event_and_no_traceback() -> None:
    for other in ({}, {"type": "sermon"}, {"type": "round"}, {"type": 3}, {"type": "void", "shoe": "first"}):
        assert read(other) is None
