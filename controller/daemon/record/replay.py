"""Rebuilds the state of a table from the facts in its journal (replay).

Only the open shoe's facts are replayed. If a fact could not be applied, the next row in the journal is `StepFailed`,
and the fact is passed over, as it was when it happened. Each event that a fact makes again is compared with the stored
event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from controller.basics.errors import TableError
from controller.contract.envelope import seal
from controller.contract.events import Event
from controller.contract.old_events import as_now
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Row
from controller.table.facts import ShoeOpened, StepFailed
from controller.table.rules import TableRules
from controller.table.states import Table
from controller.table.step import step
from controller.table.stops import Stepped

_NOT_COMPARED = ("signature", "contract", "what", "do")
"""The signature, and what an earlier version of the program wrote differently: the contract's version, and the
sentences for people that events had until contract 2."""


def replay(rows: Iterable[Row], rules: TableRules, table_id: str, epoch: str) -> tuple[Table, int | None]:
    """Apply the facts of these rows in order, and return two values: the resulting state of the table, and the number
    of the first row whose stored events differ from those made again (None if all are equal).

    `rules` are those of a table that has opened no shoe yet.
    """
    table = Table(rules)
    differs: int | None = None
    for row, failed in with_failures(rows):
        if failed:
            continue
        before, (table, events) = table, refold(table, row)
        # A shoe's opening also closed what was before it, which this replay has not seen.
        opened_unseen = isinstance(row.fact, ShoeOpened) and before == Table(rules)
        if not opened_unseen and differs is None and _stored(row, table.rules) != _made(row, events, table_id, epoch):
            differs = row.number
    return table, differs


def replay_open_shoe(journal: Journal, rules: TableRules, table_id: str, version: str) -> tuple[Table, int | None]:
    """Rebuild the table's state from the journal's open shoe. Return the state, and the number of the first row whose
    stored events differ from those made again (None if all are equal).

    Raises TableError `shoe_of_another_version` if this program, which is of the version `version`, cannot apply the
    shoe's facts, and other TableErrors if the journal cannot be read.
    """
    try:
        return replay(journal.open_shoe(), rules, table_id, journal.epoch)
    except TableError as error:
        if error.code not in ("fact_unreadable", "replay_failed"):
            raise
        begun_by = journal.open_shoe_begun_by() or "another version"
        raise TableError(
            "shoe_of_another_version",
            f"The open shoe of the journal was begun by version {begun_by} of the program. Version {version} "
            f"cannot go on with it: {error.what}",
            f"Install version {begun_by} again. Start the table with it, finish the shoe or close it with "
            "`tablectl close-shoe`, and stop the table. Then start this version.",
        ) from error


def with_failures(rows: Iterable[Row]) -> Iterator[tuple[Row, bool]]:
    """Yield pairs: a row, and True if its fact could not be applied at the time. In that case the next row says so."""
    for row, following in pairwise(chain(rows, (None,))):
        assert row is not None
        yield row, following is not None and isinstance(following.fact, StepFailed)


def refold(table: Table, row: Row) -> Stepped:
    """Apply the fact of a row to the table again, and return the new table and the events that the fact made.

    Raises TableError `replay_failed` if the fact does not fit the table. Then another version of the program wrote the
    fact, or somebody made the journal up.
    """
    try:
        return step(table, row.fact)
    except Exception as error:
        raise TableError(
            "replay_failed",
            f"Row {row.number} of the journal, a {type(row.fact).__name__}, cannot be replayed by this program.",
            "Run the version that wrote the journal, or set the journal aside and report this.",
        ) from error


def _stored(row: Row, rules: TableRules) -> list[dict[str, object]]:
    meters = [meter for bet in rules.progressives for meter in bet.meters]
    return _compared(as_now(json.loads(body), meters) for body in row.messages)


def _made(row: Row, events: Iterable[Event], table_id: str, epoch: str) -> list[dict[str, object]]:
    return _compared(
        json.loads(seal(event, table_id, epoch, row.first_seq + place, row.stamp, row.previous_head, None))
        for place, event in enumerate(events)
    )


def _compared(messages: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Return the messages without the fields that may differ in a replay, such as the signature."""
    return [{name: value for name, value in message.items() if name not in _NOT_COMPARED} for message in messages]
