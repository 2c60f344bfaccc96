"""What a pit says, signed: written from the contract, and from nothing of the program that checks it."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def signed(word: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The word with its time, unless it has one, and with its signature by this key."""
    timed = {"at": at_now(), **word}
    return timed | {"signature": signature(timed, key)}


def signature(word: dict[str, Any], key: Ed25519PrivateKey) -> str:
    """The key's signature over the canonical JSON of the word."""
    return base64.b64encode(key.sign(canonical(word))).decode()


def canonical(word: dict[str, Any]) -> bytes:
    """The word as canonical JSON."""
    return json.dumps(word, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def public_hex(key: Ed25519PrivateKey) -> str:
    """The key's public half, as the pit says it."""
    return key.public_key().public_bytes_raw().hex()


def at_now() -> str:
    """The time, as the pit says it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
