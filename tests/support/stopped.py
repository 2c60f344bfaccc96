"""A table whose daemon does not run, and whose journal holds the facts that a test gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from controller.daemon.clock import stamp_now
from controller.daemon.config import load
from controller.daemon.record.epochs import open_journal
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Entry
from controller.people.cli.programs import simulated_table
from controller.table.facts import Fact
from controller.table.states import Table
from controller.table.step import step


def stopped_table(folder: Path, facts: Sequence[Fact]) -> Path:
    """Write the table's files, with these facts in its journal, into `folder`. Returns the path of the table file."""
    table = simulated_table(folder, 1)
    journal = opened(table)
    folded = Table(load(table).rules)
    for fact in facts:
        folded, events = step(folded, fact)
        journal.append([Entry(stamp_now(), fact, tuple(events))])
    journal.close()
    return table


def opened(table: Path, archive: Path | None = None) -> Journal:
    """Open the table's journal as its daemon does, and return it. The journal's archives go to the folder `archive`."""
    file = load(table).file
    return open_journal(Path(file.journal.path), Path(file.journal.signing_key), file.table.id, archive)[1]
