"""How a message is signed: Ed25519 over its canonical JSON without the field `signature`, which is then added in
Base64.

A table signs its events in this way, and the pit signs its messages. Each kind of message has an exact set of fields,
and no two kinds have the same set. So a signature of one kind is never valid for another kind.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Protocol

from controller.contract.canonical import canonical


class Signer(Protocol):
    """Any object that can sign: the key of a table or of the pit."""

    def sign(self, data: bytes) -> bytes:
        """Return the Ed25519 signature of `data`, 64 bytes."""


def signed(message: Mapping[str, object], signer: Signer) -> bytes:
    """Sign the message, and return its canonical bytes with the signature in them."""
    return canonical({**message, "signature": signature_of(message, signer)})


def signature_of(message: Mapping[str, object], signer: Signer) -> str:
    """Return the signature of the message in Base64, as the field `signature` of the message has it."""
    return base64.b64encode(signer.sign(canonical(message))).decode()


def signed_part(message: Mapping[str, object]) -> tuple[bytes, bytes]:
    """Return two values from a received message: its signature, and the bytes over which the signature is made. Raises
    ValueError if the message has no signature, or if the signature is not in the one standard Base64 spelling.

    In that spelling, the low four bits of the last letter, which Base64 leaves unused, are zero.
    """
    text = message.get("signature")
    if not isinstance(text, str):
        raise ValueError("the message has no signature")
    signature = base64.b64decode(text, validate=True)
    if base64.b64encode(signature).decode() != text:
        raise ValueError("the signature is spelt in another way than its bytes are")
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    return signature, canonical(unsigned)
