"""Signs the messages of the simulated pit and the simulated bet recognition. Written from the contract, and not from
the program that checks the signatures."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def signed(word: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """Return the message with the key's signature. If the message has no time yet, the present time is added before it
    is signed."""
    timed = {"at": at_now(), **word}
    return timed | {"signature": signature(timed, key)}


def signature(word: dict[str, Any], key: Ed25519PrivateKey) -> str:
    """Return the key's signature over the canonical JSON of the message, in base64."""
    return base64.b64encode(key.sign(canonical(word))).decode()


def canonical(word: dict[str, Any]) -> bytes:
    """Return the message as canonical JSON, which has exactly one form for each message."""
    return json.dumps(word, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def public_hex(key: Ed25519PrivateKey) -> str:
    """Return the public half of the key in hexadecimal, as a pit writes it in its messages."""
    return key.public_key().public_bytes_raw().hex()


def at_now() -> str:
    """Return the present time in UTC, as a pit writes it in the field `at` of its messages."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
