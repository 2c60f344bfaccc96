"""The running pit as a witness of the tables' journals: it collects the checkpoints that tables show, and sends its
cosignatures."""

from __future__ import annotations

import time
from collections.abc import Collection

from controller.contract.keys import SigningKey
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.witness import Cosigned


class Cosigning:
    """The checkpoints that tables showed on one connection, judged by the ledger, and the answers that are still to be
    sent."""

    def __init__(self, ledger: Ledger, key: SigningKey) -> None:
        self._ledger = ledger
        self._key = key
        self.forget()

    def forget(self) -> None:
        """Forget all checkpoints and answers, because a new connection begins."""
        self._shown: list[tuple[str, bytes]] = []
        self._to_look: set[str] = set()
        self._due: dict[str, Cosigned] = {}

    def show(self, table: str, payload: bytes) -> None:
        """Keep the checkpoint that a table showed, until `settle` judges it."""
        self._shown.append((table, payload))

    def look(self, tables: Collection[str]) -> None:
        """Remember to send these tables what the pit has cosigned of their journals."""
        self._to_look.update(tables)

    def settle(self) -> list[tuple[str, RefusedError]]:
        """Judge all checkpoints that came, in one transaction. Returns the alarms for people, each with its table."""
        shown, self._shown = self._shown, []
        to_look, self._to_look = self._to_look, set()
        if not shown and not to_look:
            return []
        answers, alarms = self._ledger.witness.judge_all(shown, to_look, self._key, int(time.time()))
        self._due |= answers
        return alarms

    @property
    def due(self) -> bool:
        """Tell whether an answer to a table waits to be sent."""
        return bool(self._due)

    def next_word(self, at: str) -> tuple[str, bytes]:
        """Remove the next answer that waits. Return its table and its signed bytes, with the time `at`."""
        table = next(iter(self._due))
        return table, self._due.pop(table).payload(table, at, self._key)
