"""Checks files and devices that vanish while a table runs, and a wrong file in the journal's place. A person always
hears of it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from controller.bench.daemon import Table, TableFiles
from controller.bench.dealer import Dealer
from controller.bench.waiting import Eventually
from controller.daemon.record.journal_reading import verify
from tests.hil.bench import Bench

ROUND = "9C TD TC 5D"
STAYS_WRONG = 78


def beside(journal: Path, suffix: str) -> Path:
    return journal.with_name(journal.name + suffix)


def refused(table: Table, code: str, exit_code: int = STAYS_WRONG) -> str:
    """Start the table, check that the start is refused with this error code, and return the message."""
    run = table.tablectl("run", check=False)
    assert run.returncode == exit_code, run.stderr
    (told,) = [line for line in run.stderr.splitlines() if line.startswith(code)]
    return run.stderr[run.stderr.index(told) :]


# While the table runs.


@pytest.mark.proof  # `tests/daemon/test_journal_file.py` has each file that vanishes or is replaced
def test_a_journal_that_another_file_replaced_is_written_again_and_the_other_kept(at: Bench, tmp_path: Path) -> None:
    at.dealer.open_shoe()
    shutil.copy(at.table.journal, tmp_path / "older")
    at.dealer.play(ROUND)
    os.replace(tmp_path / "older", at.table.journal)  # noqa: PTH105  # another file under the name
    at.dealer.lock()
    at.eventually(lambda: at.table.fault == "journal_gone")
    kept = beside(at.table.journal, ".set-aside-1")
    details = {"file": "table.journal", "found": "replaced", "kept_as": kept.name}
    assert at.table.stop_told.details == details
    at.table.supervisor("clear")
    at.shoe.deal(ROUND)
    at.eventually(lambda: len(at.pit.rounds) == 2 and at.table.unacknowledged() == 0)
    assert kept.exists()
    assert at.table.verify().messages == len(at.pit.events)


def test_a_log_that_was_removed_takes_no_round_with_it(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play(ROUND)
    beside(at.table.journal, "-wal").unlink()
    at.shoe.deal("KS")  # drawn in error, and kept
    at.eventually(lambda: at.table.fault == "journal_gone")
    assert at.table.stop_told.details == {"file": "table.journal-wal", "found": "removed"}
    facts = at.table.facts()
    at.table.kill()
    assert verify(at.table.journal).rows >= len(facts)
    at.table.start()
    assert at.table.fault == "journal_gone"
    assert at.table.facts()[: len(facts)] == facts
    at.table.supervisor("clear")
    at.table.count()  # the shoe went unheard, too
    at.eventually(lambda: at.table.unacknowledged() == 0)
    assert len(at.pit.rounds) == 1


def test_a_journal_removed_before_a_stop_is_there_again_after_it(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.play(ROUND)
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.table.journal.unlink()
    assert at.table.stop() == 0
    assert "is written there again: table.journal was removed" in at.table.log
    at.table.start()
    at.table.count()
    at.eventually(lambda: at.table.links_up() and at.table.unacknowledged() == 0)
    assert at.table.fault is None
    assert at.table.verify().messages == len(at.pit.events)


# Before it starts.


def test_a_key_that_has_signed_a_journal_does_not_start_without_it(at: Bench, tmp_path: Path) -> None:
    at.dealer.open_shoe()
    at.dealer.play(ROUND)
    at.eventually(lambda: at.table.unacknowledged() == 0)
    epoch = at.table.status().pit.epoch
    at.table.kill()
    for suffix in ("", "-wal", "-shm"):
        beside(at.table.journal, suffix).rename(tmp_path / f"away{suffix}")

    told = refused(at.table, "journal_lost")
    assert epoch in told
    assert "tablectl new-journal TABLE.toml --by NAME" in told
    assert not at.table.journal.exists()

    begun = at.table.tablectl("new-journal", "--by", "Ann")
    assert begun.returncode == 0, begun.stderr
    at.table.start()
    new = at.table.status().pit.epoch
    assert new != epoch
    assert new in begun.stdout
    note = Path(at.table.files.values["journal"]["signing_key"] + ".journals")
    noted = [json.loads(line) for line in note.read_text("utf-8").splitlines()]
    assert [(each["epoch"], each.get("by")) for each in noted] == [(epoch, None), (new, "Ann")]
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    at.table.stop()

    shutil.move(tmp_path / "away", at.table.journal)  # the old one comes back
    shutil.move(tmp_path / "away-wal", beside(at.table.journal, "-wal"))
    told = refused(at.table, "journal_of_another_epoch")
    assert epoch in told
    assert new in told
    assert verify(at.table.journal).epoch == epoch


def test_a_damaged_journal_is_kept_where_a_new_one_is_begun(at: Bench) -> None:
    at.dealer.open_shoe()
    at.table.stop()
    with closing(sqlite3.connect(at.table.journal)) as db, db:
        db.execute("UPDATE fact SET salt = zeroblob(16)")
    refused(at.table, "journal_damaged")
    before = at.table.journal.read_bytes()
    assert at.table.tablectl("new-journal", "--by", "Ann").returncode == 0
    assert beside(at.table.journal, ".set-aside-1").read_bytes() == before
    at.table.start()
    at.eventually(at.table.links_up)
    assert at.table.phase == "no_shoe"


# Two tables on one journal, and a new one under a table that runs.


@pytest.mark.parametrize(
    "way", ["symbolic link", *(pytest.param(way, marks=pytest.mark.proof) for way in ("hard link", "removed lock"))]
)
def test_two_tables_never_share_a_journal(at: Bench, table_files: TableFiles, tmp_path: Path, way: str) -> None:
    at.dealer.open_shoe()
    other = tmp_path / "other.journal"
    match way:
        case "symbolic link":
            other.symlink_to(at.table.journal)
        case "hard link":
            other.hardlink_to(at.table.journal)
        case "removed lock":
            other = at.table.journal
            beside(other, ".lock").unlink(missing_ok=True)
    file = tmp_path / "second.toml"
    text = at.table.file.read_text("utf-8")
    assert str(at.table.journal) in text
    file.write_text(text.replace(str(at.table.journal), str(other)), "utf-8")
    first, at.table.file = at.table.file, file
    refused(at.table, "journal_in_use", exit_code=1)
    at.table.file = first
    if way == "symbolic link":
        begun = at.table.tablectl("new-journal", "--by", "Ann", check=False)
        assert (begun.returncode, begun.stderr.split(":")[0]) == (1, "journal_in_use")
    at.dealer.play(ROUND)
    assert at.table.fault is None
    if way == "hard link":
        at.table.kill()
        assert "2 names" in refused(at.table, "journal_linked")
        other.unlink()
        at.table.start()
        assert at.table.phase == "wagers_open"


# Who may read it.


def test_a_journal_is_its_users_alone(unstarted_table: Table, dealer: Dealer, eventually: Eventually) -> None:
    table = unstarted_table
    umask = os.umask(0)
    try:
        table.start()
    finally:
        os.umask(umask)
    eventually(table.links_up)
    dealer.open_shoe()
    files = [beside(table.journal, suffix) for suffix in ("", "-wal", "-shm")]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    table.kill()
    for file in files:
        file.chmod(0o644)
    table.start()
    table.count()
    dealer.play(ROUND)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
