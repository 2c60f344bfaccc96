"""The running pit as a witness: the checkpoints that came, and what the pit has yet to say of those it cosigned."""

from __future__ import annotations

import time
from collections.abc import Collection

from controller.contract.keys import SigningKey
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.witness import Cosigned


class Cosigning:
    """Judges what tables show on one connection, by the ledger, and keeps what is to be said until it can be said."""

    def __init__(self, ledger: Ledger, key: SigningKey) -> None:
        self._ledger = ledger
        self._key = key
        self.forget()

    def forget(self) -> None:
        """A new connection begins."""
        self._shown: list[tuple[str, bytes]] = []
        self._to_look: set[str] = set()
        self._due: dict[str, Cosigned] = {}

    def show(self, table: str, payload: bytes) -> None:
        """A table showed this checkpoint."""
        self._shown.append((table, payload))

    def look(self, tables: Collection[str]) -> None:
        """These tables are to hear what the pit has cosigned of their journals."""
        self._to_look.update(tables)

    def settle(self) -> list[tuple[str, RefusedError]]:
        """Judge what came, in one transaction. Returns what people are told, each of a table."""
        shown, self._shown = self._shown, []
        to_look, self._to_look = self._to_look, set()
        if not shown and not to_look:
            return []
        answers, alarms = self._ledger.witness.judge_all(shown, to_look, self._key, int(time.time()))
        self._due |= answers
        return alarms

    @property
    def due(self) -> bool:
        """Whether the pit has something to say."""
        return bool(self._due)

    def next_word(self, at: str) -> tuple[str, bytes]:
        """The next word that is due, said at this time, with its table."""
        table = next(iter(self._due))
        return table, self._due.pop(table).payload(table, at, self._key)
