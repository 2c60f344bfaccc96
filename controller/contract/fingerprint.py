"""Writes a public key as a short text that two people can compare, one at the table and one at the pit."""

from __future__ import annotations

import hashlib
from functools import lru_cache

_BYTES = 16


@lru_cache(maxsize=8)  # a running table asks for the same keys each time that it renders its lamps
def fingerprint(public_key: bytes) -> str:
    """Return a short text for a public key, which two people can compare: the first 16 bytes of its SHA-256, as 8
    groups of 4 hex digits ("ab12 cd34 …")."""
    digits = hashlib.sha256(public_key).digest()[:_BYTES].hex()
    return " ".join(digits[place : place + 4] for place in range(0, len(digits), 4))


def shown(key: bytes | None) -> str | None:
    """Return the fingerprint of a public key, which two people can compare. Returns None if `key` is None."""
    return None if key is None else fingerprint(key)
