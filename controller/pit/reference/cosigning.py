"""The running pit as a witness of the tables' journals. The module collects the checkpoints that tables show, lets the
ledger judge them, and provides the pit's signed answers."""

from __future__ import annotations

import time
from collections.abc import Collection

from controller.contract.keys import SigningKey
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.witness import Cosigned


class Cosigning:
    """The checkpoints that tables showed during one connection to the broker, and the pit's answers that are still to
    be sent."""

    def __init__(self, ledger: Ledger, key: SigningKey) -> None:
        self._ledger = ledger
        self._key = key
        self.forget()

    def forget(self) -> None:
        """Forget all checkpoints and answers, because a new connection to the broker begins."""
        self._shown: list[tuple[str, bytes]] = []
        self._to_look: set[str] = set()
        self._due: dict[str, Cosigned] = {}

    def show(self, table: str, payload: bytes) -> None:
        """Store the checkpoint `payload` that a table showed. The next call of `settle` judges the checkpoint."""
        self._shown.append((table, payload))

    def look(self, tables: Collection[str]) -> None:
        """Request an answer for each of these tables: the checkpoint of its journal that the pit cosigned last. The
        next call of `settle` prepares the answers."""
        self._to_look.update(tables)

    def settle(self) -> list[tuple[str, RefusedError]]:
        """Judge all checkpoints that tables showed since the last call, in one transaction. Return the alarms for
        people, each with its table."""
        shown, self._shown = self._shown, []
        to_look, self._to_look = self._to_look, set()
        if not shown and not to_look:
            return []
        answers, alarms = self._ledger.witness.judge_all(shown, to_look, self._key, int(time.time()))
        self._due |= answers
        return alarms

    @property
    def due(self) -> bool:
        """Tell whether an answer to a table is still to be sent."""
        return bool(self._due)

    def next_word(self, at: str) -> tuple[str, bytes]:
        """Take the next answer out of the queue. Return its table and its signed bytes. `at` is the time in the
        message."""
        table = next(iter(self._due))
        return table, self._due.pop(table).payload(table, at, self._key)
