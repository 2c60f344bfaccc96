"""Completes an event with its id, its time and its place in the journal's hash chain, and makes the bytes that are
stored, signed and sent.

The id is `table/epoch/seq`. An epoch is the random name that each new journal gets. `seq` numbers the events of an
epoch, without gaps or repetitions. Each event has the field `chain`: the head of the journal's hash chain before the
row that made the event. A pit keeps the last `chain` that it received. With that value it can later check whether a
journal is the one that made the events which the pit has.
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
    """The time at which a fact reached the table.

    `at_ms` is the wall clock's time in milliseconds since 1970 UTC. It is for people to read, and nothing is sorted by
    it. `synchronised` says whether that clock had been set. `boot_id` identifies one boot of the machine, and is empty
    if the boot is unknown. `since_boot_ms` counts from the boot, sleep included, by a clock that nobody sets. So two
    stamps with the same `boot_id` give a true duration.
    """

    at_ms: int
    synchronised: bool
    boot_id: str = ""
    since_boot_ms: int = 0

    def text(self) -> str:
        """Return the wall clock's time in RFC 3339, in UTC, to the millisecond."""
        moment = datetime.fromtimestamp(self.at_ms / 1000, UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.at_ms % 1000:03d}Z"


def chain_head(previous: bytes, fact: bytes, messages: Sequence[bytes], salt: bytes) -> bytes:
    """Return the new head of the journal's hash chain after one more row: SHA-256 over the `previous` head and the
    row's salt, fact and messages.

    Each part is hashed together with its length, so two different rows cannot give the same bytes to hash. Without the
    salt, somebody could find a face-down card by trying all 52 cards.
    """
    digest = hashlib.sha256(previous)
    for part in (salt, fact, *messages):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def seal(event: Event, table: str, epoch: str, seq: int, stamp: Stamp, chain: bytes, signer: Signer | None) -> bytes:
    """Return the canonical bytes of the complete event, signed by `signer`. If `signer` is None, the event has no
    signature."""
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
