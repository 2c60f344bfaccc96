"""A public key in a form that two people can compare: one person at the table, one at the pit."""

from __future__ import annotations

import hashlib
from functools import lru_cache

_BYTES = 16


@lru_cache(maxsize=8)  # a running table asks for the same keys each time that it renders its lamps
def fingerprint(public_key: bytes) -> str:
    """Return the first 16 bytes of the raw key's SHA-256 as 8 groups of 4 hex digits: "ab12 cd34 …"."""
    digits = hashlib.sha256(public_key).digest()[:_BYTES].hex()
    return " ".join(digits[place : place + 4] for place in range(0, len(digits), 4))


def shown(key: bytes | None) -> str | None:
    """Return the fingerprint of a key, which two people can compare. Returns None where there is no key."""
    return None if key is None else fingerprint(key)
