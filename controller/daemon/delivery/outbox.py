"""Decides when people are told that too many events wait for the pit (in the outbox). The code is pure: it only
computes. No waiting event is ever dropped."""

from __future__ import annotations

from controller.table.facts import OutboxFilling, OutboxFull


class OutboxWatch:
    """Warns people when the number of events that wait for the pit reaches four fifths of `most`. The next warning
    comes only after that number has fallen below half of `most` and has risen again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._told = False

    def look(self, waiting: int) -> tuple[OutboxFilling | OutboxFull, ...]:
        """Return the facts to tell the table when `waiting` events wait for the pit. `OutboxFilling` (four fifths full)
        is returned once, and again only after fewer than half of `most` events waited. `OutboxFull` is returned at
        every call while the outbox is full."""
        if 2 * waiting < self._most:
            self._told = False
        filling = not self._told and 5 * waiting >= 4 * self._most
        self._told = self._told or filling
        full = (OutboxFull(waiting, self._most),) if waiting >= self._most else ()
        return ((OutboxFilling(waiting, self._most),) if filling else ()) + full
