"""Simulates the pit's part of an evening, from a hit to the cash: the ledger of the project's own pit on a disk, the
people at the pit, and the cash that they count out.

The table's events come to the pit signed, as they came from the table. The pit's steps of an award go back to the
table, and the table's own events about these steps come to the pit again. People decide with the commands that `pitctl`
has. A second person at the pit is a name that somebody types: a cheat can type the name of a person who is not there.
"""

from __future__ import annotations

import base64
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Step
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.settings import default
from controller.table.acts.pit import SeeAward
from controller.table.facts import AwardStepped
from tests.support.ledgers import meet
from tests.support.tables import EPOCH, ROYAL9, TableUnderTest

KEY = SigningKey(bytes(32))
SLIPS = "the drawer's slips"
"""All that is left of a payment where the ledger was lost and no table had heard of it."""

_AT = "2026-01-01T20:00:00.000Z"
_TABLE = ROYAL9.table


def new_ledger(path: Path) -> None:
    """Make a new ledger of a pit that has adopted the table. Each evening works on a copy of this ledger."""
    with closing(Ledger(path)) as ledger:
        ledger.serve()
        ledger.set_terms(default().meters)
        ledger.adopt(_TABLE, EPOCH, KEY.public.hex())


class Window:
    """The pit's side of one simulated evening. `cash` is what was counted out for each hit, in cents, by the number of
    the hit's event."""

    def __init__(self, table: TableUnderTest, folder: Path) -> None:
        self.cash: Counter[int] = Counter()
        self._table = table
        self._lost: Counter[int] = Counter()  # the cash that had been counted out when a ledger was lost
        self._path = folder / "ledger"
        for stale in folder.glob("ledger?*"):
            stale.unlink()
        shutil.copyfile(folder / "new", self._path)
        self._copy = folder / "copy"
        shutil.copyfile(self._path, self._copy)
        self._ledger = self._open()

    def close(self) -> None:
        """Close the pit's ledger at the end of the evening."""
        self._ledger.close()

    # What happens by itself.

    def hear(self) -> None:
        """Pass the table's events to the pit and the pit's award steps to the table, again and again, until neither of
        the two has anything new to send."""
        while True:
            self._receive()
            step = self._ledger.next_steps([_TABLE]).get(_TABLE)
            if step is None:
                return
            hit = self._table.events[step.hit_seq - 1]
            about = {key: hit[key] for key in ("shoe", "round", "spot", "seat", "tier")}
            stepped = AwardStepped(
                seq=step.seq,
                award=step.award,
                hit=step.hit,
                meter=step.meter,
                cents=step.cents,
                step=step.step,
                by=step.by,
                **about,
            )
            if self._table.ask(SeeAward(stepped)) is not None:
                return

    def copy(self) -> None:
        """Make a backup copy of the pit's ledger, as the house does."""
        self._copy.unlink()
        with closing(sqlite3.connect(self._path)) as here, closing(sqlite3.connect(self._copy)) as there:
            here.backup(there)

    def restore(self) -> None:
        """Replace the pit's ledger by its last backup copy, as after a failed disk. The broker still retains the pit's
        last acknowledgement, and hands it to the restored pit."""
        self._lost = self.cash.copy()
        ack = self._ledger.ack(_TABLE)
        self._ledger.close()
        for stale in self._path.parent.glob("ledger-*"):
            stale.unlink()
        shutil.copyfile(self._copy, self._path)
        self._ledger = self._open()
        if ack is not None:
            with suppress(TableError):  # it says that this ledger is behind
                self._ledger.hear_own_ack(_TABLE, ack.payload(_TABLE, _AT, KEY))
        self._meet()

    # What people decide.

    def awards(self) -> list[Award]:
        """Return every award in the pit's ledger, the oldest first."""
        return self._ledger.awards()

    def take(self, award: Award, step: Step, by: str, witness: str | None = None) -> bool:
        """Take the next step of an award, as a person at the pit does, and return whether the ledger allowed the step.
        If the step is `paid`, the cash is counted out."""
        if not self._done(lambda: self._ledger.take_step(award.id, step, by, witness)):
            return False
        if step == "paid":
            self.cash[event_of(award)] += next(now.cents for now in self.awards() if now.id == award.id)
        return True

    def recall(self, award: Award, by: str, witness: str) -> bool:
        return self._done(lambda: self._ledger.recall(award.id, by, witness))

    def dismiss(self, award: Award, by: str, witness: str) -> bool:
        return self._done(lambda: self._ledger.dismiss(award.id, by, witness))

    def retire(self, by: str, witness: str) -> bool:
        return self._done(lambda: self._ledger.retire(_TABLE, by, witness, "gone for good"))

    def unadopt(self, by: str, witness: str) -> bool:
        return self._done(lambda: self._ledger.unadopt(_TABLE, EPOCH, by, "another machine spoke", witness))

    def trace(self, award: Award) -> frozenset[str]:
        """Return, as texts, what makes the award doubtful at the pit, and which two people decided on it.

        If the ledger was lost after a payment, the slips in the drawer still show that payment.
        """
        about = "SELECT code FROM alarm JOIN award ON award.hand = alarm.hand WHERE award.number = ?"
        ended = "SELECT ended_by FROM adoption WHERE ended_by IS NOT NULL"
        with closing(sqlite3.connect(self._path)) as ledger:
            alarms = {f"alarm {code}" for (code,) in ledger.execute(about, (award.number,))}
            told = {f"the table was set aside by {who}" for (who,) in ledger.execute(ended)}
        told |= {"doubts decided by two names"} if any(not doubt.stands for doubt in award.doubts) else set()
        told |= {"dismissed by two names"} if any(telling.dismissed_by for telling in award.tellings) else set()
        told |= {SLIPS} if self._lost[event_of(award)] else set()
        return frozenset(alarms | told | {doubt.code for doubt in award.doubts})

    def _open(self) -> Ledger:
        ledger = Ledger(self._path)
        ledger.serve()
        return ledger

    def _meet(self) -> None:
        state = {"online": True, "table": _TABLE, "epoch": EPOCH, "public_key": KEY.public.hex()}
        with suppress(TableError):  # the table is retired, or its adoption was taken back
            meet(self._ledger, _TABLE, canonical(state | {"head_seq": len(self._table.events)}), adopt_new=False)

    def _receive(self) -> None:
        self._meet()
        ack = self._ledger.ack(_TABLE)
        if ack is not None:
            new = [(_TABLE, _signed(event)) for event in self._table.events[ack.seq :]]
            received = self._ledger.receive(new)
            assert not received.refused, received.refused
            self._ledger.look_whether_heard([_TABLE])

    def _done(self, decide: Callable[[], object]) -> bool:
        try:
            decide()
        except TableError:
            return False
        return True


def event_of(award: Award) -> int:
    """Return the number of the event in which the table reported the award's hit. The number stays the same even if the
    pit sets the hit's journal aside under another name."""
    return int(award.hit.rpartition("/")[2])


def _signed(event: dict[str, object]) -> bytes:
    return canonical(event | {"signature": base64.b64encode(KEY.sign(canonical(event))).decode()})
