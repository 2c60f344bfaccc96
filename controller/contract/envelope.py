"""How an event becomes the bytes that are stored, signed and sent: its id, its time, its place in the chain.

The id is `table/epoch/seq`. `seq` has no gaps and never repeats within an epoch. An epoch is a random name; each new
journal has a new epoch. `chain` is the journal's chain head before the row that made the event. So a pit that keeps the
last `chain` can later prove that this very journal made the events that the pit has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from controller.contract.canonical import canonical
from controller.contract.events import Event
from controller.contract.signing import Signer, signed

CONTRACT_VERSION = 4
"""The contract's version, in every event. A change that a receiver of the version before would misread raises it.

From version 2 on the pit signs what it says. From version 3 on an event names the spots of progressive bets.
From version 4 on events have the fields of `old_events.NEW_IN_4`.
`old_events.py` reads the events of earlier versions."""

CONTRACTS_READ = (1, 2, 3, 4)
"""The versions whose events are understood: a journal still holds the events of earlier programs."""

GENESIS = bytes(32)
"""The chain head before a journal's first row."""


class Stamp(Struct, frozen=True):
    """When a fact came.

    `at_ms` is for people, not for order: ms since 1970 UTC by the wall clock. `synchronised` says whether that clock
    was set. `boot_id` names the machine's run, and `since_boot_ms` counts from the start of that run, sleep included,
    by a clock that nobody sets. Two stamps with the same `boot_id` tell a true duration. `boot_id` is empty where
    unknown.
    """

    at_ms: int
    synchronised: bool
    boot_id: str = ""
    since_boot_ms: int = 0

    def text(self) -> str:
        """RFC 3339 in UTC, to the millisecond."""
        moment = datetime.fromtimestamp(self.at_ms / 1000, UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.at_ms % 1000:03d}Z"


def chain_head(previous: bytes, fact: bytes, messages: Sequence[bytes], salt: bytes) -> bytes:
    """The chain head after a row: SHA-256 over the head before it, its fact, its messages and its salt.

    Each part goes in with its length, so no two rows have the same hash. The salt keeps a face-down card from being
    found by trying all 52 cards.
    """
    digest = hashlib.sha256(previous)
    for part in (salt, fact, *messages):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def seal(event: Event, table: str, epoch: str, seq: int, stamp: Stamp, chain: bytes, signer: Signer | None) -> bytes:
    """The event's canonical bytes, complete and signed. Without a signer the event has no signature."""
    message: dict[str, object] = {
        **event.body(),
        "id": f"{table}/{epoch}/{seq}",
        "contract": CONTRACT_VERSION,
        "table": table,
        "epoch": epoch,
        "seq": seq,
        "at": stamp.text(),
        "clock_synchronised": stamp.synchronised,
        "chain": chain.hex(),
    }
    return canonical(message) if signer is None else signed(message, signer)
