"""Checks every message that a test makes against the written contract (the schemas of the messages between table and
pit)."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_SCHEMAS = {
    file.name.partition(".")[0]: json.loads(file.read_text(encoding="utf-8"))
    for file in (Path(__file__).parents[2] / "controller" / "contract" / "schemas").glob("*.schema.json")
}
_VALIDATORS = {name: Draft202012Validator(schema) for name, schema in _SCHEMAS.items()}

EVENT_SCHEMA: dict[str, Any] = _SCHEMAS["event"]
_UNSIGNED_SCHEMA = EVENT_SCHEMA | {
    "required": [name for name in EVENT_SCHEMA["required"] if name != "signature"],
    "properties": {name: rule for name, rule in EVENT_SCHEMA["properties"].items() if name != "signature"},
}


@lru_cache
def whole_validator(signed: bool) -> Draft202012Validator:
    """Return the validator of the published schema of events. With `signed` False, an event must have no signature."""
    return Draft202012Validator(EVENT_SCHEMA if signed else _UNSIGNED_SCHEMA)


@lru_cache
def _validator(type_: str, of_seats: bool, signed: bool) -> Draft202012Validator:
    """Return the validator of one event type. Its schema is written out, without references and without branches for
    other types, so it takes a quarter of the time of the published schema. `tests/contract/test_event_schema.py` checks
    both against the same events."""
    schema, of_type = EVENT_SCHEMA if signed else _UNSIGNED_SCHEMA, EVENT_SCHEMA["$defs"][type_]
    if "if" in of_type:
        assert of_type["if"] == {"required": ["dealer"]}
        of_type = of_type["then" if of_seats else "else"]
    of_type = _written_out(of_type)
    both = {
        "properties": schema["properties"] | of_type["properties"],
        "required": [*schema["required"], *of_type["required"]],
    }
    return Draft202012Validator(of_type | both | {"additionalProperties": False})


def _written_out(schema: Any) -> Any:
    """Return the schema with each reference (`$ref`) replaced by the schema that it names."""
    match schema:
        case {"$ref": str(name), **more}:
            assert not more, "a reference stands alone"
            return _written_out(EVENT_SCHEMA["$defs"][name.removeprefix("#/$defs/")])
        case dict():
            return {key: _written_out(value) for key, value in schema.items()}
        case list():
            return [*map(_written_out, schema)]
    return schema


def check_event(body: bytes, *, signed: bool = True) -> dict[str, Any]:
    """Check an event against the contract, and return it as a dict. Raises AssertionError with everything that breaks
    the contract.

    Give `signed` False for an event that a script made and no table sent. Such an event must have no signature, but
    must keep every other rule.
    """
    event: dict[str, Any] = json.loads(body)
    broken = _broken(_alike(body), signed)
    assert not broken, f"{event.get('type')} breaks the contract: {'; '.join(broken)}"
    assert event["id"] == f"{event['table']}/{event['epoch']}/{event['seq']}"
    again = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert body == again, "a receiver that writes an event again gets the same bytes"
    return event


_OWN = re.compile(
    rb'("chain":")[0-9a-f]{64}"|("at":")[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"'
    rb'|("id":"[a-z0-9-]{1,60}/[a-z0-9]{1,60}/)[1-9][0-9]*"|("seq":)[1-9][0-9]*'
    rb'|("signature":")[A-Za-z0-9+/]{85}[AQgw]=="'
)
"""What two events that tell the same differ in. What does not have its form is not found, and the schema refuses it."""

_ANY = (b"0" * 64 + b'"', b'2026-01-01T00:00:00.000Z"', b'1"', b"1", b"A" * 86 + b'=="')


def _alike(body: bytes) -> bytes:
    """Return the event with its chain value, time, number and signature replaced by fixed values. Two events that
    differ only in these values become equal."""
    return _OWN.sub(lambda found: found[found.lastindex or 0] + _ANY[(found.lastindex or 0) - 1], body)


@lru_cache(10_000)  # tables play alike again and again, and a look into the schema is slow
def _broken(body: bytes, signed: bool) -> list[str]:
    event = json.loads(body)
    return [f"{error.json_path}: {error.message}" for error in validator_of(event, signed).iter_errors(event)]


def validator_of(event: dict[str, Any], signed: bool) -> Draft202012Validator:
    """Return the validator of this event's type. If the type is unknown, return the validator of all events."""
    known = event.get("type") in EVENT_SCHEMA["properties"]["type"]["enum"]
    return _validator(event["type"], "dealer" in event, signed) if known else whole_validator(signed)


def check_message(topic: str, body: bytes) -> dict[str, Any]:
    """Check the message on this topic against the contract, and return it as a dict. Raises AssertionError with
    everything that breaks the contract."""
    kind = topic.rpartition("/")[2].replace("-", "_")
    if kind == "event":
        return check_event(body)
    message: dict[str, Any] = json.loads(body)
    broken = [f"{error.json_path}: {error.message}" for error in _VALIDATORS[kind].iter_errors(message)]
    assert not broken, f"{topic} breaks the contract: {'; '.join(broken)}"
    return message
