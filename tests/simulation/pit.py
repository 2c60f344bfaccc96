"""The simulated pit: the reference pit's own ledger, meters and awards, served without a network.

The program around the ledger is imitated, so that it can crash between commit and acknowledgement, send no levels for a
while, send old levels, and send a message twice. The content of its messages comes from the ledger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Literal

from controller.basics.errors import TableError
from controller.contract.events import Win
from controller.contract.pit_words import MetersWord
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Step
from controller.pit.reference.clock import Moments
from controller.pit.reference.committed import Ack
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from tests.simulation.broken import hold
from tests.simulation.disk import unsynced
from tests.simulation.signing import Signer
from tests.support.ledgers import meet, unheard_steps

_LEVELS_EVERY_S = 1.5
_STEPS_EVERY_S = 2.0
_BETWEEN_COMMIT_AND_ACK_S = 0.003
_LEGITIMATE = ("hits_corrected", "many_voids", "lock_heard_late", "wins_put_in_order", "win_came_late")
"""Alarms about people, who correct and void often here, and about tables that are cut off."""

KEY = Signer(hashlib.sha256(b"pit").digest())

Say = Callable[[str | None, str, bytes, bool], None]
Levels = Literal["well", "silent", "stuck", "old"]


class LedgerPit:
    """A simulated pit of many tables. `levels` says how it sends the meters' levels: for example "stuck" repeats the
    last message, and "old" repeats the first message."""

    def __init__(self, path: Path, terms: Mapping[str, Terms], later: Callable[..., object]) -> None:
        self.say: Say = lambda table, kind, payload, retain: None
        self.up = False
        self.commit_takes_s = 0.02
        self.levels: Levels = "well"
        self.complaints: list[str] = []  # which no table gave reason to
        self.steps_said: dict[str, list[bytes]] = {}  # every award step ever published, by table
        self._path = path
        self._terms = terms
        self._later = later
        self._uncommitted: list[tuple[str, bytes]] = []
        self._life = 0
        self._levels_said: list[bytes] = []
        self._win: Win | None = None
        self.start()

    def start(self) -> None:
        """Start the pit, for the first time or again."""
        if self.up:
            return
        with unsynced():
            self.ledger = Ledger(self._path)
        self.ledger.serve()
        self.ledger.sign_by(KEY, [KEY.public])
        self._moments = Moments(self.ledger.held_ack_time(), self.ledger.hold_ack_time)
        self.ledger.set_terms(self._terms)
        self._seqs = iter(self.ledger.meters_seqs(1000))
        self.up = True
        self._life += 1
        self._every(_LEVELS_EVERY_S, self.say_levels, self._life)
        self._every(_STEPS_EVERY_S, self.say_steps, self._life)

    def crash(self) -> None:
        """End the pit's program. Only what the ledger has committed is left."""
        if self.up:
            self._uncommitted.clear()
            self._life += 1
            self.up = False
            self.ledger.close()

    def connected(self) -> None:
        """Send acknowledgements, levels and award steps, as a pit does once it is connected to its broker."""
        self._acknowledge(self.ledger.acks())
        self.say_levels()
        self.say_steps()

    def receive(self, table: str, kind: str, payload: bytes) -> None:
        """Take in a message of a table. `kind` is "state" or "event"."""
        if kind == "event":
            self._uncommitted.append((table, payload))
            if len(self._uncommitted) == 1:
                self._later(self.commit_takes_s, self._commit, self._life)
            return
        try:
            meet(self.ledger, table, payload, adopt_new=True)
        except TableError as refusal:
            self.complaints.append(str(refusal))
        if (ack := self.ledger.ack(table)) is not None:
            self._acknowledge({table: ack})

    def decide(self, award: str, step: Step, by: str) -> Award | None:
        """Take the step `step` of an award, as the person `by`. If the award is in doubt, a second person agrees.
        Return None if nobody can take this step now."""
        doubted = next(each.doubted for each in self.ledger.awards() if each.id == award)
        try:
            decided = self.ledger.take_step(award, step, by)
            hold("no award in doubt is one person's to verify", not doubted or step == "rejected", decided)
        except TableError as refusal:
            if refusal.code == "award_doubted":
                return self.ledger.take_step(award, step, by, "cashier di")
            if refusal.code not in ("step_not_next", "award_incomplete", "tables_unheard", "award_waits"):
                raise
            return None
        return decided

    def _commit(self, life: int) -> None:
        if life != self._life:
            return
        arrived, self._uncommitted = self._uncommitted, []
        received = self.ledger.receive(arrived)
        alarms = [alarm for event in received.committed for alarm in event.alarms if alarm.code not in _LEGITIMATE]
        self.complaints += [*map(str, alarms), *(str(refusal) for _, refusal in received.refused)]
        types = {event.type for event in received.committed}
        self._later(_BETWEEN_COMMIT_AND_ACK_S, self._committed, life, received.acks, types)

    def _committed(self, life: int, acks: Mapping[str, Ack], types: AbstractSet[str]) -> None:
        if life == self._life:
            self._acknowledge(acks)
            if types & {"wagers_locked", "void", "hit"}:
                self.say_levels()
            if types & {"hit", "award"}:
                self.say_steps()

    # What it says.

    def _acknowledge(self, acks: Mapping[str, Ack]) -> None:
        for table, ack in acks.items():
            self.say(table, "ack", ack.payload(table, self._moments.next(), KEY), True)

    def say_levels(self) -> None:
        """Send every meter's level to all tables, in the way that `levels` says."""
        match self.levels:
            case "well":
                seq = next(self._seqs)
                self._win = self.ledger.win_after(None if self._win is None else self._win.seq) or self._win
                word = MetersWord(seq, self._moments.of_number(seq), self.ledger.levels(), self._win)
                self._levels_said.append(word.payload(KEY))
                self.say(None, "meters", self._levels_said[-1], True)
            case "stuck":
                self.say(None, "meters", self._levels_said[-1], True)
            case "old":
                self.say(None, "meters", self._levels_said[0], True)

    def say_steps(self) -> None:
        """Send each table the first award step that the table's own events do not mention yet. The later steps wait
        until the table has reported that step, because a table refuses a step that is older than the last one it has
        taken."""
        for table in self.ledger.acks():
            for step in unheard_steps(self.ledger, table)[:1]:
                payload = step.payload(KEY)
                self.steps_said.setdefault(table, []).append(payload)
                self.say(table, "award", payload, False)

    def _every(self, seconds: float, do: Callable[[], None], life: int) -> None:
        def again() -> None:
            if life == self._life:
                do()
                self._later(seconds, again)

        self._later(seconds, again)
