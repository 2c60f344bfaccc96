"""A row as the journal's file and the archives hold it: the fact's bytes, how the fact came, its messages, its place in
the chain. Nothing here reads what the fact says."""

from __future__ import annotations

import json
from dataclasses import dataclass

from controller.contract.envelope import Stamp, chain_head


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row's bytes. `head` is the chain head after the row. `via` is as in `journal.Entry`.

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
        """The chain head that this row must have, after the head before it."""
        return chain_head(previous, stamped(self.stamp, self.via, self.fact), self.messages, self.salt)


def stamped(stamp: Stamp, via: str, fact: bytes) -> bytes:
    """What the chain holds of a fact: when and how it came, and itself. A row of form 1 knows the wall clock alone."""
    came = f"{stamp.at_ms} {int(stamp.synchronised)} "
    if stamp.boot_id or via:
        came += f"{stamp.boot_id or '-'} {stamp.since_boot_ms} {json.dumps(via)} "
    return came.encode() + fact
