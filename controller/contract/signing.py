"""How a message is signed: Ed25519 over its canonical JSON without `signature`, which is then added in Base64.

Both sides sign in this way: a table signs its events, and the pit signs its messages. Each kind of message has an exact
set of fields, and no two kinds have the same set. So the signature of one kind is not valid for another kind.
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
    """Return the message's canonical bytes with its signature in them."""
    return canonical({**message, "signature": signature_of(message, signer)})


def signature_of(message: Mapping[str, object], signer: Signer) -> str:
    """Return the signature of the message in Base64, to be put into the message as `signature`."""
    return base64.b64encode(signer.sign(canonical(message))).decode()


def signed_part(message: Mapping[str, object]) -> tuple[bytes, bytes]:
    """Return the signature of a received message, and the bytes that it signs. Raises ValueError where the message has
    no signature, or a signature that is not spelt in the one valid way.

    Base64 leaves the last letter's four low bits unused; here they must be zero.
    """
    text = message.get("signature")
    if not isinstance(text, str):
        raise ValueError("the message has no signature")
    signature = base64.b64decode(text, validate=True)
    if base64.b64encode(signature).decode() != text:
        raise ValueError("the signature is spelt in another way than its bytes are")
    unsigned = {name: value for name, value in message.items() if name != "signature"}
    return signature, canonical(unsigned)
