"""`tablectl verify`, `tablectl rounds`, `tablectl replay` and `tablectl evidence`: look into the past of a table's
journal. These commands are for technicians."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controller.basics.waited import waited_for
from controller.contract.face.record import RoundRecord, RowTold
from controller.contract.face.reports import RoundsReport, VerifyReport
from controller.contract.keys import write_whole
from controller.contract.old_events import as_now
from controller.daemon.delivery.pit_log import compare
from controller.daemon.evidence import evidence
from controller.daemon.record.journal_reading import read_origin, read_rows, verify
from controller.daemon.round_record import round_record
from controller.people.cli.files import writing
from controller.people.cli.told import print_report
from controller.people.screen.hand_page import hand_page
from controller.words.events import counted, event_line, settlement_lines

_OF_A_ROUND = ("round", "void", "correction")


def verify_journal(path: Path, log: Path | None, archive: Path | None, as_json: bool = False) -> int:
    """Check every row of the journal at `path` and of its archives. If `log` is the path of a pit's log of events, also
    compare the journal's events with that log."""
    # The pit's log comes first: it names an altered event, and the journal alone can name only the altered row.
    with waited_for("Checking every row"):
        agreed = compare(path, log, archive) if log else None
        good = verify(path, archive)
    if as_json:
        print_report(
            VerifyReport(
                table=good.table,
                epoch=good.epoch,
                rows=good.rows,
                events=good.messages,
                head=good.head.hex(),
                archived_rows=good.archived_rows,
                archives=good.archives,
                pit_log_agrees_to=agreed,
            )
        )
        return 0
    print(f"{good.table}/{good.epoch}: {good.rows} rows, {good.messages} events, all good; head {good.head.hex()}")
    if good.archives:
        archives = counted(good.archives, "archive")
        print(f"rows 1 to {good.archived_rows} are in {archives}, the chain unbroken through them")
    if agreed is not None:
        print(f"the pit's log agrees from event 1 to its last, {agreed}; {_after(agreed, good.messages)}")
    return 0


def _after(log_head: int, journal_head: int) -> str:
    more = journal_head - log_head
    return f"the journal has {more} more, up to {journal_head}" if more else "the journal ends with that event too"


def rounds(path: Path, archive: Path | None = None, as_json: bool = False) -> int:
    """Print every round in the journal and its archives, one line for each. Void and corrected rounds are included.

    `archive` is the folder of the journal's archives.
    """
    if as_json:
        with waited_for("Reading every row"):
            report = RoundsReport(tuple(_of_rounds(path, archive)))
        print_report(report)
        return 0
    for event in _of_rounds(path, archive):
        print(event["at"], event_line(event))
    return 0


def _of_rounds(path: Path, archive: Path | None) -> Iterator[dict[str, Any]]:
    events = (as_now(json.loads(body)) for row in read_rows(path, archive) for body in row.messages)
    return (event for event in events if event["type"] in _OF_A_ROUND)


def replay_round(path: Path, which: str, archive: Path | None, page: Path | None, as_json: bool = False) -> int:
    """Print one finished round step by step, or write it as a page to the file `page`. `which` is SHOE/ROUND, such as
    3/12. Raises TableError `no_such_round` or `page_unwritable`.

    `archive` is the folder of the journal's archives.
    """
    with waited_for("Reading every row"):
        record = round_record(read_rows(path, archive), read_origin(path), which)
    if as_json:
        print_report(record)
    elif page is None:
        print("\n".join(_lines(record)))
    else:
        with writing(page):
            write_whole(page, hand_page(record).encode())
        print(f"{page}: round {which}, {len(record.steps)} steps")
    return 0


def write_evidence(path: Path, which: str, to: Path, archive: Path | None, frame: str | None = None) -> int:
    """Write the evidence of one round to the file `to`. Evidence is a file that proves, from the table's journal, how
    the round was dealt. `which` is SHOE/ROUND, such as 3/12. Raises TableError if the journal cannot prove that round,
    and `page_unwritable`."""
    with waited_for("Reading every row"):
        held = evidence(path, which, archive, frame=frame)
    with writing(to):
        write_whole(to, held)
    print(f"{to}: round {which}, {len(held)} bytes. Check it with tools/verify.py, which needs none of this program.")
    return 0


def _lines(record: RoundRecord) -> Iterator[str]:
    for step in record.steps:
        yield _row_line(step) + (", whose step failed" if step.failed else "")
        if step.failed:
            continue
        if step.frame is not None:
            yield f"    frame {step.frame}, {step.again}"
        for hand in step.hands:
            total = "" if hand.total is None else f" = {hand.total}"
            yield f"    {hand.hand} {' '.join(hand.cards)}{total}"
        yield f"    then: {step.then}"
        for event in step.events:
            yield f"    event {event_line(event)}"
            yield from (f"      {line}" for line in settlement_lines(event))
    for correction in record.corrections:
        yield _row_line(correction)
        yield from (f"    event {event_line(event)}" for event in correction.events)


def _row_line(step: RowTold) -> str:
    return f"row {step.row}  {step.at}  {step.fact}"
