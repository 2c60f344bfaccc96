"""`tablectl rounds` and `tablectl replay`: what a journal tells of the past, for technicians.

A replay goes through the shoe's own frames: the codec reads each again, which must give the fact that was journalled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from controller.contract.old_events import as_now
from controller.delivery.pit_log import compare
from controller.errors import TableError
from controller.record.journal import Row, read_rows, verify
from controller.record.replay import refold, with_failures
from controller.table.facts import Report, ShoeOpened, StepFailed
from controller.table.public import public
from controller.table.states import Table
from controller.words.events import event_line, settlement_lines
from drivers import shoe as shoes
from drivers.line.bad_bytes import BadBytes

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_OF_A_ROUND = ("round", "void", "correction")
_LEFT_OUT = ("report", "rules", "carried", "last_report")


def verify_journal(path: Path, log: Path | None, archive: Path | None) -> int:
    """Check every row of the journal and its archives, and hold it against a pit's log where there is one."""
    # The pit's word first: it names the event, where the journal could only say that a row is not as it was.
    agreed = compare(path, log, archive) if log else None
    good = verify(path, archive)
    print(f"{good.table}/{good.epoch}: {good.rows} rows, {good.messages} events, all good; head {good.head.hex()}")
    if good.archives:
        many = "1 archive" if good.archives == 1 else f"{good.archives} archives"
        print(f"rows 1 to {good.archived_rows} are in {many}, the chain unbroken through them")
    if agreed is not None:
        print(f"the pit's log agrees from event 1 to its last, {agreed}; {_after(agreed, good.messages)}")
    return 0


def _after(log_head: int, journal_head: int) -> str:
    more = journal_head - log_head
    return f"the journal goes on with {more} more, to {journal_head}" if more else "it is the journal's last too"


def rounds(path: Path, archive: Path | None = None) -> int:
    """Print every round of the journal and its archives, void and corrected ones too, a line each.

    `archive` is the folder of the archives, as in `journal.verify`.
    """
    for row in read_rows(path, archive):
        for body in row.messages:
            event = as_now(json.loads(body))
            if event["type"] in _OF_A_ROUND:
                print(event["at"], event_line(event))
    return 0


def replay_round(path: Path, which: str, archive: Path | None = None) -> int:
    """Print one finished round step by step; `which` is SHOE/ROUND. Raises TableError `no_such_round`.

    `archive` is the folder of the archives, as in `journal.verify`.
    """
    shoe, _, number = which.partition("/")
    if not (shoe.isdecimal() and number.isdecimal()):
        raise TableError("no_such_round", f"{which} names no round.", "Write SHOE/ROUND, for example 3/12.")
    lines = list(_replay(read_rows(path, archive), int(shoe), int(number)))
    if not lines:
        do = "`tablectl rounds` lists those there are; a hand still in play is not shown."
        raise TableError("no_such_round", f"The journal holds no finished round {which}.", do)
    print("\n".join(lines))
    return 0


def _replay(rows: Iterable[Row], shoe: int, number: int) -> Iterator[str]:
    """The steps of the round, and how it was corrected; nothing when it never finished."""
    table: Table | None = None
    lines: list[str] = []
    told = False
    for row, failed in with_failures(rows):
        if told:
            yield from _correction_in_words(row, shoe, number)
            continue
        if isinstance(row.fact, ShoeOpened):
            table = Table(row.fact.rules)
        if table is None:
            continue
        if failed:
            if table.shoe is not None and (table.shoe.number, table.round_number) == (shoe, number):
                lines.append(f"{_row_in_words(row)}, whose step failed")
            continue
        before, (table, _) = table, refold(table, row)
        if table.shoe is None or table.shoe.number != shoe:
            continue
        finished = any(_is(body, shoe, number, "round", "void") for body in row.messages)
        if finished or number in (before.round_number, table.round_number):
            lines += _step_in_words(row, table)
        if finished:
            yield from lines
            told = True


def _is(body: bytes, shoe: int, number: int, *types: str) -> bool:
    event = json.loads(body)
    return event["type"] in types and (event["shoe"], event["round"]) == (shoe, number)


def _correction_in_words(row: Row, shoe: int, number: int) -> Iterator[str]:
    for body in row.messages:
        if _is(body, shoe, number, "correction"):
            yield _row_in_words(row)
            yield f"    event {event_line(as_now(json.loads(body)))}"


def _step_in_words(row: Row, table: Table) -> Iterator[str]:
    yield _row_in_words(row)
    report: Report | None = getattr(row.fact, "report", None)
    if report is not None and not isinstance(row.fact, StepFailed):  # which has the report of the fact before it
        yield f"    frame {report.frame}, {_read_again(row, bytes.fromhex(report.frame))}"
    face = public(table)
    for hand in face.hands:
        if hand.cards:
            yield f"    {hand.hand} {' '.join(hand.cards)}" + ("" if hand.total is None else f" = {hand.total}")
    then = f"next card to {face.next_hand}" if face.next_hand else face.phase.replace("_", " ")
    yield f"    then: {f'FAULT {face.fault.code}' if face.fault else then}"
    for body in row.messages:
        event = as_now(json.loads(body))
        yield f"    event {event_line(event)}"
        yield from (f"      {line}" for line in settlement_lines(event))


def _read_again(row: Row, frame: bytes) -> str:
    """What the frame tells now. The row names the shoe that sent it; an older row does not, so all are asked."""
    written_by = row.via.removeprefix("shoe ")
    names = [written_by] if written_by in shoes.NAMES else shoes.NAMES
    read = [shoes.brand(name).read_again(frame) for name in names]
    if [row.fact] in read:
        return "which reads so again"
    heard = min(read, key=lambda told: sum(isinstance(said, BadBytes) for said in told))
    return f"WHICH READS {', '.join(map(_said_in_words, heard)) or 'NOTHING'} NOW"


def _row_in_words(row: Row) -> str:
    return f"row {row.number}  {row.stamp.text()}  {_said_in_words(row.fact)}"


def _said_in_words(said: DataclassInstance) -> str:
    """The name of a fact, or of what else a shoe's bytes were, and what it says; without its report."""
    values = {field.name: getattr(said, field.name) for field in fields(said) if field.name not in _LEFT_OUT}
    words = (f"{name} {_value_in_words(value)}" for name, value in values.items() if value is not None)
    return f"{type(said).__name__}({', '.join(words)})"


def _value_in_words(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_value_in_words, value))})"
    if is_dataclass(value) and not isinstance(value, type) and type(value).__str__ is object.__str__:
        return _said_in_words(value)
    return str(value)
