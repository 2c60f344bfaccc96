"""Makes the page `docs/contract.md` from the AsyncAPI document and the JSON Schemas that the document names.

The AsyncAPI document is written by hand, except for its examples, which `make pages` makes from the code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.documents.contract_examples import examples

CONTRACT = Path(__file__).resolve().parents[2] / "controller" / "contract"
DOCUMENT = CONTRACT / "asyncapi.json"
_SNIPPET = Path(__file__).with_name("contract_snippet.py")
_OF_TWO_FORMS = ("round", "correction")
_PLAIN = {"seat", "seats", "cents"}  # definitions too small for a section of their own


def fresh_document() -> str:
    """Return the text of the AsyncAPI document with examples made anew from the code."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    for name, message in document["components"]["messages"].items():
        headers = {"headers": {"type": message["name"]}} if "headers" in message else {}
        message["examples"] = [{**headers, "payload": payload} for payload in examples()[name]]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def contract_page() -> Iterator[str]:
    """Yield the lines of the page `docs/contract.md`."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    info, server = document["info"], document["servers"]["pit"]
    yield "# The contract between a table and its pit"
    yield ""
    yield "Made from `controller/contract/asyncapi.json` and `controller/contract/schemas/` by `make pages`: those two"
    yield f"are the contract, version {info['version']}."
    yield ""
    yield from info["description"].splitlines()
    yield ""
    yield "```python"
    yield from _SNIPPET.read_text("utf-8").partition("# --8<--\n")[2].splitlines()
    yield "```"
    yield ""
    yield "In the journal (SQLite) a row of `fact` has its `salt` and `head`. These are hashed as the row's fact:"
    yield "`at_ms`, `clock_synchronised`, `boot_id` (`-` where empty), `since_boot_ms`, `via` as a JSON string, and"
    yield "`fact`, with a space between each two. A row whose `boot_id` and `via` are both empty is of the"
    yield "journal's first form: there it is `at_ms`, `clock_synchronised` and `fact`. The row's messages are each"
    yield "`body` of `message` with that `row`, in the order of `seq`."
    yield ""
    yield "## Clauses"
    yield ""
    yield "What each side promises. A number keeps its meaning from the first release of its version on. The"
    yield "[kit](conformance.md) tries each."
    yield ""
    for letter, side in (("P", "pit"), ("T", "table")):
        yield f"| clause | asked since version | what a {side} does |"
        yield "|---|---|---|"
        for clause in document["x-clauses"]:
            if clause["number"].startswith(letter):
                yield f"| {clause['number']} | {clause['since']} | {clause['text']} |"
        yield ""
    yield "## Channels"
    yield ""
    yield server["description"]
    yield ""
    yield "| topic | from | QoS | retained | what |"
    yield "|---|---|---|---|---|"
    for key, channel in document["channels"].items():
        mqtt = _operation(document, key)["bindings"]["mqtt"]
        retained = "yes" if mqtt["retain"] else "never"
        topic = f"[`{channel['address']}`](#{_anchor(channel['title'])})"
        yield f"| {topic} | {channel['x-from']} | {mqtt['qos']} | {retained} | {channel['title'].lower()} |"
    yield ""
    yield "`{root}` is `pit/v1` unless both sides are set otherwise, `{table}` the table's id."
    yield ""
    for key in document["channels"]:
        yield from _channel(document, key)
    yield from _shapes(document)


def _operation(document: dict[str, Any], channel: str) -> dict[str, Any]:
    """Return the only operation that the AsyncAPI document has on this channel."""
    (operation,) = (o for o in document["operations"].values() if o["channel"]["$ref"] == f"#/channels/{channel}")
    found: dict[str, Any] = operation
    return found


def _channel(document: dict[str, Any], key: str) -> Iterator[str]:
    channel = document["channels"][key]
    yield f"## {channel['title']}"
    yield ""
    yield f"`{channel['address']}`, from: {channel['x-from']}. {channel['description']}"
    yield ""
    if key == "event":
        yield "Every event has these fields; below each type has its own besides."
        yield ""
        yield from _fields(_schema("event.schema.json"), _said(document["components"]["schemas"]["envelope"]))
    words = _said(document["components"]["schemas"]["words"])
    for name in channel["messages"]:
        yield from _message(document["components"]["messages"][name], words)


def _said(schema: dict[str, Any]) -> dict[str, str]:
    """Return the descriptions in a JSON Schema, by the name of the field that is described."""
    return {name: rule["description"] for name, rule in schema["properties"].items() if "description" in rule}


def _message(message: dict[str, Any], words: dict[str, str]) -> Iterator[str]:
    payload = message["payload"]["schema"]
    yield f"### `{message['name']}`: {message['title'][0].lower()}{message['title'][1:]}"
    yield ""
    yield message["summary"]
    yield ""
    if "properties" in payload:
        yield from _fields(event_definition(message["name"], payload), words | _said(payload))
    else:
        file, _, inside = payload["$ref"].removeprefix("schemas/").partition("#/$defs/")
        yield from _fields(_schema(file)["$defs"][inside] if inside else _schema(file), {})
    for example in message["examples"]:
        yield from _example(example["payload"], set(payload.get("properties", example["payload"])))


def event_definition(type_: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the events' JSON Schema that describes the fields of one event, without the envelope (the
    fields that every event has). `type_` is the event's type, and `payload` an example."""
    definitions = _schema("event.schema.json")["$defs"]
    if type_ in _OF_TWO_FORMS:
        type_ = f"seats_{type_}" if payload["required"] == ["dealer"] else f"two_hands_{type_}"
    found: dict[str, Any] = definitions[type_]
    return found


def _example(payload: dict[str, Any], own: set[str]) -> Iterator[str]:
    """Yield an example event as JSON, a line for each field. The fields in `own`, which only this type of event has,
    come first."""
    ordered = sorted(payload.items(), key=lambda item: item[0] not in own)
    yield "```json"
    yield "{"
    lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in ordered]
    yield from (f"{line}," for line in lines[:-1])
    yield lines[-1]
    yield "}"
    yield "```"
    yield ""


def _shapes(document: dict[str, Any]) -> Iterator[str]:
    yield "## Shapes"
    yield ""
    yield "What several events have in them."
    yield ""
    definitions = _schema("event.schema.json")["$defs"]
    words = _said(document["components"]["schemas"]["words"])
    for name in sorted(_named_shapes()):
        definition = definitions[name]
        yield f"### {name}"
        yield ""
        if "description" in definition:
            yield f"{definition['description'].rstrip('.')}."
            yield ""
        if "properties" in definition:
            own = {key.removeprefix(f"{name}."): said for key, said in words.items()}
            yield from _fields(definition, own)
        else:
            yield f"{_form(definition)}."
            yield ""


def _named_shapes() -> set[str]:
    """Return the names of those definitions in the events' JSON Schema that other definitions refer to, and that need a
    section of their own on the page."""
    definitions = _schema("event.schema.json")["$defs"]
    text = json.dumps(definitions)
    types = set(_schema("event.schema.json")["properties"]["type"]["enum"])
    types |= {f"{hands}_{type_}" for hands in ("two_hands", "seats") for type_ in _OF_TWO_FORMS}
    return {name for name in definitions if f'"#/$defs/{name}"' in text} - types - _PLAIN


def _fields(schema: dict[str, Any], meanings: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a Markdown table with the fields of an object. The fields of an object inside another stand
    below it. `meanings` holds the text for each field."""
    yield "| field | form | meaning |"
    yield "|---|---|---|"
    yield from _rows(schema, "", meanings)
    yield ""


def _rows(schema: dict[str, Any], path: str, meanings: dict[str, str]) -> Iterator[str]:
    optional = set(schema["properties"]) - set(schema.get("required", ()))
    for name, rule in schema["properties"].items():
        meaning = meanings.get(path + name) or rule.get("description") or meanings.get(name, "")
        form = _form(rule) + (", may be left out" if name in optional else "")
        yield f"| `{path}{name}` | {form} | {meaning} |"
        inside, suffix = _inner(rule)
        if inside is not None:
            yield from _rows(inside, f"{path}{name}{suffix}.", meanings)


def _inner(rule: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return two values for a field: the schema of the object that the field contains (None if it contains none), and a
    text to put between the names of the field and of a field inside. The text is "[]" if the field is a list of such
    objects, otherwise ""."""
    for choice in rule.get("anyOf", rule.get("oneOf", [rule])):
        if "properties" in choice:
            return choice, ""
        if "properties" in choice.get("items", {}):
            return choice["items"], "[]"
    return None, ""


def _form(rule: dict[str, Any]) -> str:
    """Describe in words what values a JSON Schema rule allows for a field."""
    match rule:
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            return _form(_schema("event.schema.json")["$defs"][name]) if name in _PLAIN else f"[{name}](#{name})"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": list(words)}:
            return ", ".join(f"`{word}`" for word in words)
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            null = {"type": "null"}
            return " or ".join(_form(choice) for choice in sorted(choices, key=lambda choice: choice == null))
        case {"type": [str(first), "null"]}:
            return f"{_form(rule | {'type': first})} or null"
        case {"type": [*types]}:
            return " or ".join(_form({"type": type_}) for type_ in types)
        case {"type": "array", "items": dict(items)}:
            return f"list of {_form(items)}"
        case {"type": "object", "propertyNames": {"pattern": str(pattern)}, "additionalProperties": dict(values)}:
            return f"object of at most {rule['maxProperties']}, each name `{pattern}`, each value {_form(values)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object, each value {_form(values)}"
        case {"type": "integer"}:
            return "integer" + _limits(rule)
        case {"type": "string", "maxLength": most}:
            return f"text of at most {most} letters"
        case {"type": "string", "pattern": str(pattern)}:
            return f"text `{pattern}`"
        case {"type": "string"}:
            return "text"
        case {"type": "boolean"}:
            return "true or false"
        case _:
            return str(rule["type"])


def _limits(rule: dict[str, Any]) -> str:
    match rule:
        case {"minimum": low, "maximum": high}:
            return f" {low} to {high}"
        case {"minimum": low}:
            return f" from {low}"
        case _:
            return ""


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-").replace("'", "")


@cache
def _schema(file: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((CONTRACT / "schemas" / file).read_text("utf-8"))
    return schema
