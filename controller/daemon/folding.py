"""Applies the facts and requests that wait in the main loop's inbox. The result is the table's next state and new rows
for the journal."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable

from msgspec import Struct, field

from controller.contract.envelope import Stamp
from controller.daemon.answer import Answer
from controller.daemon.inbox import Arrived, Asked
from controller.daemon.record.journal_rows import Entry
from controller.daemon.shoe_heard import Pace
from controller.table.acts.entry import Ambient, Request
from controller.table.acts.recognition import SeeWager
from controller.table.acts.seats import PlaceWager
from controller.table.facts import Fact, OutboxFull, PitKeyRotated, StepFailed, WagersLocked
from controller.table.foreseen import not_as_shown
from controller.table.legality import Refuse
from controller.table.public import BETWEEN_ROUNDS, PHASE_NAMES
from controller.table.requests import after, before, decide, not_answered
from controller.table.states import Table
from controller.table.step import step

_log = logging.getLogger(__name__)

_TELLS_NO_LAMP = ("wager_lies_there", "wager_old", "recognition_key_other")
"""The refusals of a wager that changes nothing at its seat: it lies there, or the word is nobody's or an old one."""


class Folded(Struct):
    """The result of applying the main loop's inbox to the table: the new state, the rows to commit, and the answers to
    give after the commit."""

    table: Table
    entries: list[Entry] = field(default_factory=list)
    answers: list[tuple[asyncio.Future[Answer], Answer]] = field(default_factory=list)


class Folding:
    """Applies the items of the main loop's inbox to the table's state, in the order in which they came.

    `is_shoe_fact` tells whether something noticed about the shoe matters in the table's present phase, and so becomes a
    fact. `answered` is called with each request and the fact that the request becomes, or the refusal. `refused_seats`
    are the seats whose lamp shows a refused wager, until a wager is accepted at that seat or the wagers are locked.
    """

    def __init__(
        self,
        is_shoe_fact: Callable[[Fact, Table], bool],
        answered: Callable[[Arrived, Asked, Fact | Refuse], None],
    ) -> None:
        self._is_shoe_fact = is_shoe_fact
        self._answered = answered
        self._pace = Pace()
        self.refused_seats: frozenset[int] = frozenset()

    def fold(self, table: Table, inbox: list[Arrived | Callable[[], None]]) -> Folded:
        """Apply each item of the inbox to the table, in order, and return the new state with the rows to commit and the
        answers to give after the commit.

        Some items are functions. Such a function is called when its turn comes, and makes no row.
        """
        folded = Folded(table)
        for arrived in inbox:
            if callable(arrived):
                arrived()
                continue
            fact = self._fact_of(arrived, folded)
            if fact is not None:
                self._take(self._pace.timed(fact, arrived.stamp, arrived.on_time), arrived, folded)
        return folded

    def _fact_of(self, arrived: Arrived, folded: Folded) -> Fact | None:
        """Return the fact that the item makes. If the item is a request, the fact is what the request becomes, and the
        request's answer is added to `folded`. Return None if the request is refused or if the fact does not matter now.
        """
        item, table = arrived.what, folded.table
        if not isinstance(item, Asked):
            return item if self._is_fact(item, table) else None
        fact = _decide(table, item, arrived.ambient)
        refused = fact.code if isinstance(fact, Refuse) else getattr(fact, "refusal", None)
        if item.answer is not None:
            folded.answers.append((item.answer, Answer(refused)))
        self._note_wager(item.request, refused)
        self._answered(arrived, item, fact)
        return None if isinstance(fact, Refuse) else fact

    def _take(self, fact: Fact, arrived: Arrived, folded: Folded) -> None:
        """Apply the fact to the table, together with the facts that must come before it and the facts that follow from
        it."""
        if isinstance(fact, WagersLocked):
            self.refused_seats = frozenset()
        for believed in (*before(folded.table, fact, arrived.ambient), fact):
            folded.table, rows = _step_or_fail(folded.table, believed, arrived.stamp, arrived.via)
            folded.entries += rows
        for follows in after(folded.table, arrived.ambient):
            folded.table, rows = _step_or_fail(folded.table, follows, arrived.stamp, "controller")
            folded.entries += rows

    def _note_wager(self, request: Request, refused: str | None) -> None:
        if not isinstance(request, PlaceWager | SeeWager) or refused in _TELLS_NO_LAMP:
            return
        if refused is None:
            self.refused_seats -= {request.wager.seat}
        else:
            self.refused_seats |= {request.wager.seat}

    def _is_fact(self, noticed: Fact, table: Table) -> bool:
        """Tell whether something that the controller noticed matters in the table's present phase. If so, it becomes a
        fact in the journal."""
        match noticed:
            case PitKeyRotated(former=former):
                return table.pit_key == former
            case OutboxFull():  # noticed at every event; inside a round it may wait for the next
                return table.fault is None and PHASE_NAMES[type(table.phase)] in BETWEEN_ROUNDS
            case _:
                return self._is_shoe_fact(noticed, table)


def _decide(table: Table, asked: Asked, ambient: Ambient) -> Fact | Refuse:
    """Return the fact that the request becomes, or a refusal.

    Before the table's rules decide, two checks can refuse a supervisor's act. An act that clears a fault must name the
    fault that stands now. An act that was previewed must still do exactly what its preview said.
    """
    return (
        not_answered(table, asked.request, asked.fault)
        or not_as_shown(table, asked.request, ambient, asked.shown)
        or decide(table, asked.request, ambient)
    )


def _step_or_fail(table: Table, fact: Fact, stamp: Stamp, via: str) -> tuple[Table, list[Entry]]:
    """Apply the fact to the table. Return the new state and the rows for the journal.

    If applying the fact raises an exception, two rows are returned, which must be committed together: the fact, and a
    record of the failure.
    """
    try:
        after, events = step(table, fact)
    except Exception as error:  # noqa: BLE001  # step is total, so this is a defect: the table stops, and not the program
        failure = StepFailed(f"{type(error).__name__} in {type(fact).__name__}", getattr(fact, "report", None))
        # The exception's own text could tell a face-down card. The types say where it happened.
        _log.error("the step failed: %s\n%s", failure.error, "".join(traceback.format_tb(error.__traceback__)))
        after, events = step(table, failure)
        return after, [Entry(stamp, fact, (), via), Entry(stamp, failure, events, "controller")]
    return after, [Entry(stamp, fact, events, via)]
