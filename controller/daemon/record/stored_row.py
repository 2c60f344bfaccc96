"""A row in the form in which the journal's file and the archives store it: when and how the fact came, the bytes of the
fact, the messages, and the row's place in the chain of hashes. The fact's bytes are not decoded here."""

from __future__ import annotations

import json

from msgspec import Struct

from controller.contract.envelope import Stamp, chain_head


class StoredRow(Struct, frozen=True):
    """A row of the journal whose fact is still undecoded bytes.

    `via` says from where the fact came, for example `pit` or a button's name. `kind` is the name of the fact's class.
    `head` is the chain head after the row: a salted hash over this row and all rows before it. `first_seq` is the
    number of the row's first message; 0 if the row has no message.
    """

    number: int
    stamp: Stamp
    via: str
    kind: str
    fact: bytes
    salt: bytes
    head: bytes
    first_seq: int
    messages: tuple[bytes, ...]

    def head_after(self, previous: bytes) -> bytes:
        """Compute the chain head after this row: a salted hash over the row and `previous`, the head before it."""
        return chain_head(previous, stamped(self.stamp, self.via, self.fact), self.messages, self.salt)


def stamped(stamp: Stamp, via: str, fact: bytes) -> bytes:
    """Return the bytes that go into the chain's hash for a fact: when the fact came, from where it came (`via`), and
    the fact itself.

    A row of the first version of the journal file has only the wall clock's time, and no `via`. The hash of such a row
    does not change.
    """
    came = f"{stamp.at_ms} {int(stamp.synchronised)} "
    if stamp.boot_id or via:
        came += f"{stamp.boot_id or '-'} {stamp.since_boot_ms} {json.dumps(via)} "
    return came.encode() + fact
