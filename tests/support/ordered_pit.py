"""The tests' pit without a network: it does with a table's events what any pit does, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

_Event = TypeVar("_Event")


@dataclass
class OrderedPit(Generic[_Event]):
    """A pit that commits each event only after the event before it. `ledger` is what it committed; a test may remove
    some of it."""

    ledger: list[_Event] = field(default_factory=list)

    def commit(self, seq: int, event: _Event) -> None:
        """Take in an event, and commit it if it is the next one. Raises AssertionError if a committed event comes again
        with another body."""
        if seq == len(self.ledger) + 1:
            self.ledger.append(event)
        elif seq <= len(self.ledger):
            assert self.ledger[seq - 1] == event, "an id came again with another body"
