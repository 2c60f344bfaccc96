"""Canonical JSON: the single byte form in which facts and events are stored, hashed, signed and sent.

Canonical JSON has sorted keys, no white space, UTF-8 and no floats. Parsing an event and writing it again in this form
gives the same bytes. For this reason any receiver can check a signature.
"""

from __future__ import annotations

import json
from collections.abc import Mapping


def canonical(value: Mapping[str, object]) -> bytes:
    """Return the canonical bytes of a JSON object. Raises TypeError or ValueError if it holds a value that JSON cannot
    express."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parse_object(payload: bytes) -> dict[str, object]:
    """Parse a received payload and return the JSON object in it. Return an empty dict if the payload holds no JSON
    object."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
