"""Canonical JSON: the single byte form in which facts and events are stored, hashed, signed and sent.

Canonical JSON has sorted keys, no white space, UTF-8 and no floats. Whoever parses an event and writes the event again
in this form gets the same bytes. For this reason any receiver can check a signature.
"""

from __future__ import annotations

import json
from collections.abc import Mapping


def canonical(value: Mapping[str, object]) -> bytes:
    """Return the canonical bytes of a JSON object. Raises TypeError or ValueError for values that JSON does not
    have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parse_object(payload: bytes) -> dict[str, object]:
    """Parse a received payload and return the JSON object in it, or an empty dict where the payload holds no JSON
    object."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
