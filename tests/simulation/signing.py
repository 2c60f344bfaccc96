"""Signatures of the simulation: fast, and each of one key and one message. Their own soundness is proven elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature

from controller.contract.signing import signature_of


class Signer:
    """Signs fast. `public` stands for both halves of the key."""

    def __init__(self, public_key: bytes) -> None:
        self.public = public_key

    def sign(self, data: bytes) -> bytes:
        """A signature of 64 bytes, of this key and this data."""
        return hashlib.sha512(self.public + data).digest()


class PublicKey:
    """Stands where the journal checks what it reads back: a `Signer`'s signature holds, and no other."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def from_public_bytes(cls, key: bytes) -> PublicKey:
        """The key, as cryptography's own makes it."""
        return cls(key)

    def verify(self, signature: bytes, data: bytes) -> None:
        """Raises InvalidSignature where the signature is another."""
        if signature != Signer(self._key).sign(data):
            raise InvalidSignature


def signature_holds(message: Mapping[str, object], public_key: bytes) -> bool:
    """Whether the message carries the `Signer`'s signature."""
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    return message["signature"] == signature_of(unsigned, Signer(public_key))
