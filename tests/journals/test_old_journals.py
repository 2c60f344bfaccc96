"""A journal outlives the program that wrote it: journals of an earlier commit are read, replayed and gone on with."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from controller.basics.errors import TableError
from controller.contract.envelope import Stamp
from controller.contract.face.table import Public
from controller.contract.keys import load_or_make_key
from controller.daemon.clock import stamp_now
from controller.daemon.config import load
from controller.daemon.control.past import Past
from controller.daemon.record.archive import beside
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_form import SCHEMA_VERSION
from controller.daemon.record.journal_reading import read_rows, verify
from controller.daemon.record.journal_rows import Entry
from controller.daemon.record.replay import replay
from controller.people.cli import programs
from controller.people.cli.client import ask, status_of
from controller.people.cli.main import main
from controller.people.screen.figures import past_view
from controller.people.screen.past import Past as PastOfScreen
from controller.table.facts import CommitFailed, ShoeOpened
from controller.table.step import step
from tests.journals.old_journals import NAMES, OldJournal, copied, original

TABLES = Path(__file__).parents[2] / "config" / "tables"


@pytest.mark.parametrize("name", NAMES)
def test_a_table_goes_on_from_it(name: str, tmp_path: Path) -> None:
    old = copied(name, tmp_path)
    read = verify(old.journal)
    rows = list(read_rows(old.journal))
    opened = [row.fact for row in rows if isinstance(row.fact, ShoeOpened)]
    key = load_or_make_key(old.key)
    journal = Journal(old.journal, read.table, key, key.public)
    table, differs = replay(journal.open_shoe(), load(TABLES / "royal9.toml").rules, read.table, journal.epoch)
    assert differs is None
    assert table.shoe is not None
    assert table.rules == opened[-1].rules, "an open shoe folds under the rules it opened with"
    assert table.rules.procedure == 2
    assert (table.recognition_key, table.wager_seq) == (None, 0), "the network wagers nothing before a key is adopted"

    fact, stamp = CommitFailed("disk full"), stamp_now()
    journal.append([Entry(stamp, fact, step(table, fact)[1], "controller")])
    journal.close()
    again = verify(old.journal)
    assert (again.rows, again.epoch) == (read.rows + 1, read.epoch)
    last = list(read_rows(old.journal))[-1]
    assert (last.fact, last.stamp, last.via) == (fact, stamp, "controller")
    with closing(sqlite3.connect(old.journal)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


WITH_ROUNDS = [name for name in NAMES if name not in ("baccarat_royal", "lucky9", "royal9-unplugged")]
"""The others were left in their shoe's first round."""


@pytest.mark.parametrize("name", WITH_ROUNDS)
def test_the_technicians_page_has_its_figures(name: str, tmp_path: Path) -> None:
    """The screen gets the events of that time in the words of today."""

    async def told() -> list[dict[str, Any]]:
        past = Past(original(name), beside(original(name)))

        async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await past.tell(reader, writer)
            writer.close()

        async with await asyncio.start_unix_server(met, tmp_path / "past"):
            screen = PastOfScreen(tmp_path / "past")
            await screen.catch_up("epoch")
            return screen.events

    events = asyncio.run(told())
    view = past_view(events)
    assert len(view["rounds"]) == sum(event["type"] in ("round", "void") for event in events) > 0
    assert [won["seat"] for won in view["awards"]] == [e["seat"] for e in events if e["type"] == "hit"][::-1][:20]


def table_over(old: OldJournal, name: str, folder: Path) -> Path:
    """The file of a simulated table with this old journal."""
    game = name.partition("-")[0]
    changes: dict[str, dict[str, Any]] = {
        "table": {"id": verify(old.journal).table},
        "journal": {"path": str(old.journal), "signing_key": str(old.key)},
    }
    example = programs.example_table(game)
    return programs.simulated_table(folder, programs.free_port(), example, **changes)


SAMPLE = ("lucky9", "royal9-by-hand", "royal9-restarted")
THE_REST = [pytest.param(name, marks=pytest.mark.proof) for name in NAMES if name not in SAMPLE]


@pytest.mark.parametrize("name", [*SAMPLE, *THE_REST])
def test_the_daemon_goes_on_from_it(name: str, tmp_path: Path) -> None:
    """The daemon shows the shoe and the fault that were left, ends both on a supervisor's word, and opens the next
    shoe."""
    old = copied(name, tmp_path)
    read = verify(old.journal)
    shoe = max(row.fact.shoe for row in read_rows(old.journal) if isinstance(row.fact, ShoeOpened))
    table = table_over(old, name, tmp_path)
    with programs.started(programs.python("-m", "controller.people.cli.main", "run", str(table)), tmp_path / "log"):
        face = started(table)
        assert face.shoe == shoe
        for act in ("void", "new_shoe") if face.phase in ("wagers_locked", "round_in_play") else ("new_shoe",):
            supervised(table, act)
        assert started(table).shoe == shoe + 1
    again = verify(old.journal)
    assert (again.epoch, again.table) == (read.epoch, read.table)
    assert again.rows > read.rows


def supervised(table: Path, act: str) -> None:
    """A supervisor acts, and names the fault that stands. A fault that came since the supervisor looked is named next."""
    fault = started(table).fault
    while True:
        try:
            ask(table, {"do": act, "by": "Smith", **({} if fault is None else {"fault": fault.id})})
        except TableError as refused:
            before, fault = fault, started(table).fault
            if refused.code != "fault_unnamed" or fault is None or fault == before:
                raise
        else:
            return


def started(table: Path) -> Public:
    """What the started table shows, once it answers."""
    for _ in range(2000):
        with suppress(TableError):
            return status_of(table).face
        time.sleep(0.01)
    raise AssertionError("the table does not answer")


def test_a_shoe_that_this_version_cannot_fold_is_told_with_the_version_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = copied("royal9-by-hand", tmp_path)
    table = table_over(old, "royal9-by-hand", tmp_path)
    key = load_or_make_key(old.key)
    journal = Journal(old.journal, verify(old.journal).table, key, key.public)
    unknown = b'{"fact":"ShoeOpened","version":"9.9.9","wheels":3}'
    monkeypatch.setattr("controller.daemon.record.journal.fact_to_json", lambda _: unknown)
    opened = next(row.fact for row in read_rows(original("royal9-by-hand")) if isinstance(row.fact, ShoeOpened))
    journal.append([Entry(stamp_now(), opened, ())])
    journal.close()
    assert main(["run", str(table)]) == 78, "starting again changes nothing"
    told = capsys.readouterr().err
    assert told.startswith("shoe_of_another_version: The open shoe of the journal was begun by version 9.9.9")
    assert "what to do: Install version 9.9.9 again." in told


@pytest.mark.parametrize(
    "change",
    ["boot_id = 'feed'", "boot_id = ''", "since_boot_ms = since_boot_ms + 1", "via = 'socket'", "via = ''"],
)
def test_how_a_fact_came_is_in_the_chain(change: str, tmp_path: Path) -> None:
    old = copied("royal9-by-hand", tmp_path)
    key = load_or_make_key(old.key)
    journal = Journal(old.journal, verify(old.journal).table, key, key.public)
    journal.append([Entry(Stamp(1_800_000_000_000, True, "c0ffee", 12), CommitFailed("disk full"), (), "shoe")])
    journal.close()
    rows = verify(old.journal).rows
    with closing(sqlite3.connect(old.journal)) as db:
        db.execute(f"UPDATE fact SET {change} WHERE row = ?", (rows,))
        db.commit()
    with pytest.raises(Exception, match=f"row {rows}: it does not fit the chain"):
        verify(old.journal)
