"""The JSON Schema of `pitctl account --json`, made from the account's types."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

import controller.pit.reference
from controller.pit.reference.account import Account, AwardCount, MeterAccount
from tests.documents.configuration_page import field_texts

ACCOUNT_SCHEMA = Path(controller.pit.reference.__file__).with_name("account.schema.json")


def account_schema() -> str:
    """The schema, as a file. A part of a cent is a text, such as "1/3"."""
    _, types = msgspec.json.schema_components([Account], schema_hook=_part_of_a_cent, ref_template="#/$defs/{name}")
    for type_ in (Account, AwardCount, MeterAccount):
        told = types[type_.__name__]
        told["description"] = " ".join(told["description"].split())
        for field, text in field_texts(type_).items():
            told["properties"][field]["description"] = text
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What pitctl account --json tells",
        "$ref": "#/$defs/Account",
        "$defs": types,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _part_of_a_cent(type_: type) -> dict[str, Any]:
    assert type_ is Fraction
    return {"type": "string", "pattern": "^-?[0-9]+(/[0-9]+)?$"}
