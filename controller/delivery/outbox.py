"""How full the outbox is, and what is told of it. Pure: what waits there waits on the disk, and is never dropped."""

from __future__ import annotations

from controller.table.facts import OutboxFilling, OutboxFull


class OutboxWatch:
    """Tells once when four fifths of `most` events wait for the pit, and again only after fewer than half did."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._told = False

    def look(self, waiting: int) -> tuple[OutboxFilling | OutboxFull, ...]:
        """What the table must know of so many events waiting: that they are many, and each time that they are full."""
        if 2 * waiting < self._most:
            self._told = False
        filling = not self._told and 5 * waiting >= 4 * self._most
        self._told = self._told or filling
        full = (OutboxFull(waiting, self._most),) if waiting >= self._most else ()
        return ((OutboxFilling(waiting, self._most),) if filling else ()) + full
