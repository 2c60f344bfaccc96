"""Makes tests faster by remembering the results of pure functions that they call again and again with the same bytes.
These functions read TOML or a game's file, which takes milliseconds, or check a signature. Only valid signatures are
remembered. With `make proof`, nothing is remembered."""

from __future__ import annotations

import marshal
import tomllib
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from controller.contract import keys
from controller.daemon import config

_loads = tomllib.loads
_read_game = config._read_game


def remember() -> None:
    """Let this process, and the processes forked from it, remember the results of reading TOML and game files and of
    checking signatures."""
    cast(Any, tomllib).loads = _read
    cast(Any, keys).Ed25519PublicKey = _PublicKey
    cast(Any, config)._read_game = _game


def _read(text: str) -> dict[str, Any]:
    """Return the values in a TOML text, as `tomllib.loads` does, as a new copy for each caller."""
    packed = _packed(text)
    return _loads(text) if packed is None else cast(dict[str, Any], marshal.loads(packed))


@cache
def _packed(text: str) -> bytes | None:
    """Return the values in a TOML text, packed by `marshal`. Return None if the text has a time, which `marshal` does
    not take."""
    values = _loads(text)
    try:
        return marshal.dumps(values)
    except ValueError:
        return None


def _game(path: Path) -> object:
    """Return the content of a game's file, as the program reads it."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError):
        return _read_game(path)  # which says what is wrong
    return _game_of(path, content)


@lru_cache(8)
def _game_of(path: Path, content: bytes) -> object:
    return _read_game(path)


_held: set[tuple[bytes, bytes, bytes]] = set()
"""Key, signature and the digest of what it signs."""


class _PublicKey:
    """A key that takes the place of `Ed25519PublicKey` in `controller.contract.keys`, and remembers which signatures
    held."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    @classmethod
    def from_public_bytes(cls, raw: bytes) -> _PublicKey:
        """Return the public key of these 32 bytes."""
        return cls(raw)

    def verify(self, signature: bytes, data: bytes) -> None:
        """Check a signature. Return if the signature holds; otherwise raise InvalidSignature or ValueError, as the real
        key does."""
        asked = (self._raw, signature, blake2b(data).digest())
        if asked not in _held:
            Ed25519PublicKey.from_public_bytes(self._raw).verify(signature, data)
            _held.add(asked)
