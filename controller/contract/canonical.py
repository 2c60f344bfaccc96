"""Canonical JSON: the single byte form in which facts and events are stored, hashed, signed and sent.

Keys sorted, no white space, UTF-8, no floats. Whoever parses an event and writes it again in this form gets the same
bytes. That is why any receiver can check a signature.
"""

from __future__ import annotations

import json
from collections.abc import Mapping


def canonical(value: Mapping[str, object]) -> bytes:
    """The canonical bytes of a JSON object. Raises TypeError or ValueError for values that JSON does not have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parse_object(payload: bytes) -> dict[str, object]:
    """The JSON object in a received payload; an empty object where the payload holds none."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
