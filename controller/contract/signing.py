"""How a message is signed: Ed25519 over its canonical form without `signature`, which is then added in Base64.

Both sides sign in this way: a table its events, the pit its words. Each kind of message has an exact set of fields, and
no two kinds have the same set. So a signature of one kind holds for no other kind.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Protocol

from controller.contract.canonical import canonical


class Signer(Protocol):
    """Whoever signs: a table, or the pit."""

    def sign(self, data: bytes) -> bytes:
        """The Ed25519 signature of `data`, 64 bytes."""


def signed(message: Mapping[str, object], signer: Signer) -> bytes:
    """The message's canonical bytes with its signature."""
    return canonical({**message, "signature": signature_of(message, signer)})


def signature_of(message: Mapping[str, object], signer: Signer) -> str:
    """The signature that belongs into the message."""
    return base64.b64encode(signer.sign(canonical(message))).decode()


def signed_part(message: Mapping[str, object]) -> tuple[bytes, bytes]:
    """The signature of a received message, and the bytes that are signed. Raises ValueError where it has none.

    A signature has one spelling: Base64 leaves the last letter's four low bits unused, and they must be zero.
    """
    text = message.get("signature")
    if not isinstance(text, str):
        raise ValueError("the message has no signature")
    signature = base64.b64decode(text, validate=True)
    if base64.b64encode(signature).decode() != text:
        raise ValueError("the signature is spelt in another way than its bytes are")
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    return signature, canonical(unsigned)
