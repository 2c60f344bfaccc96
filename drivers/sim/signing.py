"""What a pit says, signed. Written from the contract, and not from the program that checks the signatures."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def signed(word: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The word with its time, unless it has one, and this key's signature."""
    timed = {"at": at_now(), **word}
    return timed | {"signature": signature(timed, key)}


def signature(word: dict[str, Any], key: Ed25519PrivateKey) -> str:
    """The key's signature over the canonical JSON of the word."""
    return base64.b64encode(key.sign(canonical(word))).decode()


def canonical(word: dict[str, Any]) -> bytes:
    """The word as canonical JSON."""
    return json.dumps(word, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def public_hex(key: Ed25519PrivateKey) -> str:
    """The key's public half, as the pit writes it."""
    return key.public_key().public_bytes_raw().hex()


def at_now() -> str:
    """The time now, as the pit writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
