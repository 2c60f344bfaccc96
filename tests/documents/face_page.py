"""Makes the page `docs/face.md` and the JSON Schema of the face (what a table tells of itself on the control socket and
the feed) from the face's types.

The meaning of a field is the text below the field in its type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

import controller.contract.face
from controller.contract.face import FACE_VERSION
from controller.contract.face.answers import Answer
from controller.contract.face.feed import FeedLine
from controller.contract.face.record import RoundRecord
from controller.contract.face.reports import (
    BackupReport,
    CheckReport,
    DigestReport,
    RoundsReport,
    VerifyReport,
    VersionsReport,
)
from controller.contract.face.status import PitKeys, Recognition, Status
from tests.documents.configuration_page import field_texts

SCHEMA = Path(controller.contract.face.__file__).with_name("face.schema.json")

REPORTS: dict[type[msgspec.Struct], str] = {
    CheckReport: "check TABLE.toml --json",
    DigestReport: "digest TABLE.toml --json",
    VersionsReport: "versions --json",
    PitKeys: "pit-key TABLE.toml --json",
    Recognition: "recognition-key TABLE.toml --json",
    RoundsReport: "rounds JOURNAL --json",
    RoundRecord: "replay JOURNAL 3/12 --json",
    VerifyReport: "verify JOURNAL --json",
    BackupReport: "verify FILE.backup --json",
}
"""The report of each command that prints one with `--json`."""

_WHOLE: dict[type[msgspec.Struct], str] = {
    Status: "`tablectl status TABLE.toml --json` prints it, and `tablectl watch` shows each that differs.",
    FeedLine: "The socket beside the control socket, whose name ends in `.feed`, tells these to everybody on the "
    "machine: all at once to a new reader, and then each that differs.",
    **{type_: f"A program reads it from `tablectl {said}`." for type_, said in REPORTS.items()},
    Answer: "The control socket answers each request by one line. A request is a line too, for example "
    '`{"do": "status"}`.',
}

_INTRODUCTION = f"""\
# What a table says of itself

Made by `make pages` from the types in `controller/contract/face`, as is the JSON Schema beside them,
`face.schema.json`. This is version {FACE_VERSION} of the face.

Python reads a line into a type, and a type checker sees each field:

```python
import msgspec
from controller.contract.face.feed import FeedLine


def waits(line: bytes) -> str | None:
    said = msgspec.json.decode(line, type=FeedLine)
    return said.status.face.phase if said.status else None
```

What the table retains at the broker, its `state`, is in [the contract](contract.md).

A reader skips a key that it does not know: a later version may have more. A key that goes, or means something else,
raises `face_version`."""


def face_schema() -> str:
    """Return the JSON Schema of every type of the face, as the text of a file."""
    _, types = msgspec.json.schema_components([*_WHOLE], ref_template="#/$defs/{name}")
    known = _types()
    told = {name: with_meanings(known[name], type_) for name, type_ in sorted(types.items())}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a table says of itself",
        "description": f"Version {FACE_VERSION} of the face.",
        "oneOf": [{"$ref": f"#/$defs/{type_.__name__}"} for type_ in _WHOLE],
        "$defs": told,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def face_page() -> Iterator[str]:
    """Yield the lines of the page `docs/face.md`."""
    types: dict[str, dict[str, Any]] = json.loads(face_schema())["$defs"]
    yield from (_INTRODUCTION, "")
    whole = [type_.__name__ for type_ in _WHOLE]
    for name in [*whole, *sorted(types.keys() - whole)]:
        type_ = types[name]
        yield from (f"## {name}", "", type_["description"])
        yield from (_WHOLE[each] for each in _WHOLE if each.__name__ == name)
        yield from ("", *table_of(type_), "")


def table_of(type_: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a Markdown table that has a row for each key in a JSON Schema."""
    yield from ("| key | value | meaning |", "|---|---|---|")
    for key, field in type_["properties"].items():
        absent = "" if key in type_["required"] else " It may be absent."
        meaning = f"{field.get('description', '')}{absent}".replace("|", "\\|").strip()
        yield f"| `{key}` | {_value(field)} | {meaning} |"


def with_meanings(of: type[msgspec.Struct], type_: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema `type_` of the type `of`, with the meaning of each field added as a description."""
    meanings = _meanings(of)
    fields = {
        key: field | ({"description": meanings[key]} if key in meanings else {})
        for key, field in type_["properties"].items()
    }
    told = {key: value for key, value in type_.items() if key not in ("properties", "required", "title")}
    told["description"] = " ".join(told["description"].split())
    return told | {"properties": fields, "required": type_.get("required", [])}


def _types() -> dict[str, type[msgspec.Struct]]:
    found: dict[str, type[msgspec.Struct]] = {}
    left: list[type[msgspec.Struct]] = [msgspec.Struct]
    while left:
        type_ = left.pop()
        left += type_.__subclasses__()
        if type_.__module__.startswith(controller.contract.face.__name__):
            found[type_.__name__] = type_
    return found


def _meanings(type_: type[msgspec.Struct]) -> dict[str, str]:
    """Return the text below each field in the source of the type or of its base types, by the field's name."""
    made_of = [each for each in type_.__mro__ if each.__module__.startswith("controller.")]
    return {name: text for each in reversed(made_of) for name, text in field_texts(each).items()}


def _value(field: dict[str, Any]) -> str:
    """Describe in words what value a field has, from its JSON Schema."""
    match field:
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": list(ways)}:
            return " or ".join(map(_value, ways))
        case {"type": "array", "prefixItems": list(items)}:
            return f"a list of {', '.join(map(_value, items))}"
        case {"type": "array", "items": dict(item)}:
            return f"a list of {_value(item)}"
        case {"type": "object", "additionalProperties": dict(item)}:
            return f"by name, {_value(item)}"
        case {"type": str(type_)}:
            return {"integer": "whole number", "object": "an object"}.get(type_, type_)
        case _:
            return "any value"
