"""How full the outbox is (the events that wait for the pit), and when people are told of that. Pure. No event that
waits is ever dropped."""

from __future__ import annotations

from controller.table.facts import OutboxFilling, OutboxFull


class OutboxWatch:
    """Warns once when four fifths of `most` events wait for the pit, and again only after fewer than half of `most`
    waited."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._told = False

    def look(self, waiting: int) -> tuple[OutboxFilling | OutboxFull, ...]:
        """Return the facts for the table while `waiting` events wait: `OutboxFilling` once, `OutboxFull` each time."""
        if 2 * waiting < self._most:
            self._told = False
        filling = not self._told and 5 * waiting >= 4 * self._most
        self._told = self._told or filling
        full = (OutboxFull(waiting, self._most),) if waiting >= self._most else ()
        return ((OutboxFilling(waiting, self._most),) if filling else ()) + full
