"""Two pure works that tests ask for with the same bytes again and again, done once: reading TOML, which takes
milliseconds, and finding that a signature holds. `make proof` remembers nothing."""

from __future__ import annotations

import marshal
import tomllib
from functools import cache
from hashlib import blake2b
from typing import Any, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from controller.contract import keys

_loads = tomllib.loads


def remember() -> None:
    """Let this process remember, and what is forked of it."""
    cast(Any, tomllib).loads = _read
    cast(Any, keys).Ed25519PublicKey = _PublicKey


def _read(text: str) -> dict[str, Any]:
    """What `tomllib.loads` reads, with a copy for each caller."""
    packed = _packed(text)
    return _loads(text) if packed is None else cast(dict[str, Any], marshal.loads(packed))


@cache
def _packed(text: str) -> bytes | None:
    """None where the text tells a time, which `marshal` does not take."""
    values = _loads(text)
    try:
        return marshal.dumps(values)
    except ValueError:
        return None


_held: set[tuple[bytes, bytes, bytes]] = set()
"""Key, signature and the digest of what it signs."""


class _PublicKey:
    """Stands for `Ed25519PublicKey` in `controller.contract.keys`."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    @classmethod
    def from_public_bytes(cls, raw: bytes) -> _PublicKey:
        """The key of these 32 bytes."""
        return cls(raw)

    def verify(self, signature: bytes, data: bytes) -> None:
        """Raise InvalidSignature or ValueError, as the true key does."""
        asked = (self._raw, signature, blake2b(data).digest())
        if asked not in _held:
            Ed25519PublicKey.from_public_bytes(self._raw).verify(signature, data)
            _held.add(asked)
