"""Canonical JSON: the one byte form in which facts and events are stored, hashed, signed and sent.

Keys sorted, no white space, UTF-8, no floats: whoever parses an event and writes it again in this form gets the same
bytes, which is what makes a signature checkable by any receiver.
"""

from __future__ import annotations

import json
from collections.abc import Mapping


def canonical(value: Mapping[str, object]) -> bytes:
    """The canonical bytes of a JSON object. Raises TypeError or ValueError for what JSON cannot say."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parse_object(payload: bytes) -> dict[str, object]:
    """The JSON object in a payload that came; an empty one where it holds none."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
