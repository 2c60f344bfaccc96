"""The Python code that `docs/contract.md` prints: a pit needs it to check a table's events, and an auditor to check the
chain of hashes through them."""

# --8<--
import base64
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def read_event(body: bytes, public_key: str) -> dict[str, Any]:
    """Return the event in `body`, if the table signed exactly these bytes with the key `public_key`. Raises an
    exception otherwise."""
    event: dict[str, Any] = json.loads(body)
    unsigned = {name: value for name, value in event.items() if name != "signature"}
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    key.verify(base64.b64decode(event["signature"]), canonical(unsigned))
    if canonical(event) != body:
        raise ValueError("not canonical: other bytes with the same signature")
    return event


def canonical(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def next_head(head: bytes, salt: bytes, fact: bytes, messages: list[bytes]) -> bytes:
    """Return the head of the hash chain after one more journal row. `head` is the head before that row, and `salt`,
    `fact` and `messages` are the row's content. The events of the row that comes next carry the returned head as
    `chain`."""
    parts = (salt, fact, *messages)
    return hashlib.sha256(head + b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()
