"""A row in the form in which the journal's file and the archives hold rows: the bytes of the fact, how the fact came,
the messages, and the row's place in the chain. The fact's bytes are not decoded here."""

from __future__ import annotations

import json

from msgspec import Struct

from controller.contract.envelope import Stamp, chain_head


class StoredRow(Struct, frozen=True):
    """A row of the journal with its fact as bytes. `head` is the chain head after the row. `via` is as in
    `journal_rows.Entry`.

    `first_seq` is the number of the row's first message; 0 where the row has none.
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
        """Compute the chain head after this row, from the chain head before the row."""
        return chain_head(previous, stamped(self.stamp, self.via, self.fact), self.messages, self.salt)


def stamped(stamp: Stamp, via: str, fact: bytes) -> bytes:
    """Return the bytes of a fact over which the chain's hash goes: when and how the fact came, and the fact.

    A row of form 1 has no time but that of the wall clock.
    """
    came = f"{stamp.at_ms} {int(stamp.synchronised)} "
    if stamp.boot_id or via:
        came += f"{stamp.boot_id or '-'} {stamp.since_boot_ms} {json.dumps(via)} "
    return came.encode() + fact
