"""A pit for tests, without a network: it takes a table's events in order and refuses a changed repeat, and does nothing
else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

_Event = TypeVar("_Event")


@dataclass
class OrderedPit(Generic[_Event]):
    """A pit that commits each event only after the event before it. `ledger` holds the committed events; a test may
    remove some of them."""

    ledger: list[_Event] = field(default_factory=list)

    def commit(self, seq: int, event: _Event) -> None:
        """Take in an event, and commit it if it is the next one. Raises AssertionError if an event that is already
        committed comes again with another body."""
        if seq == len(self.ledger) + 1:
            self.ledger.append(event)
        elif seq <= len(self.ledger):
            assert self.ledger[seq - 1] == event, "an id came again with another body"
