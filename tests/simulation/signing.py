"""Imitated signatures for the simulation, which are fast to make. Each signature is valid for one key and one message
only. Other tests check the real signatures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from controller.contract.signing import signature_of


class Signer:
    """Signs messages by a fast hash instead of real cryptography. `public` is both the private and the public half of
    the key."""

    def __init__(self, public_key: bytes) -> None:
        self.public = public_key

    def sign(self, data: bytes) -> bytes:
        """Return a signature of 64 bytes, made from this signer's key and the bytes `data`."""
        return hashlib.sha512(self.public + data).digest()


def signature_holds(message: Mapping[str, object], public_key: bytes) -> bool:
    """Tell whether the message carries the signature of the `Signer` with this public key."""
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    return message["signature"] == signature_of(unsigned, Signer(public_key))
