"""What can vanish under a table, and what stands in a journal's place: a person always hears of it."""

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
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.plugin import Dealer, Eventually
from controller.record.journal import verify

HAND = "9C TD TC 5D"
STAYS_WRONG = 78


def beside(journal: Path, suffix: str) -> Path:
    return journal.with_name(journal.name + suffix)


def refused(table: Table, code: str, exit_code: int = STAYS_WRONG) -> str:
    """What a start that must be refused says."""
    run = table.tablectl("run")
    assert run.returncode == exit_code, run.stderr
    (told,) = [line for line in run.stderr.splitlines() if line.startswith(code)]
    return run.stderr[run.stderr.index(told) :]


# While the table runs.


def test_a_journal_that_another_file_replaced_is_written_again_and_the_other_kept(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually, tmp_path: Path
) -> None:
    dealer.open_shoe()
    shutil.copy(table.journal, tmp_path / "older")
    dealer.play(HAND)
    os.replace(tmp_path / "older", table.journal)  # noqa: PTH105  # another file under the name
    dealer.lock()
    eventually(lambda: table.fault == "journal_gone")
    kept = beside(table.journal, ".set-aside-1")
    details = {"file": "table.journal", "found": "replaced", "kept_as": kept.name}
    assert table.face["fault"]["details"] == details
    table.supervisor("clear")
    shoe.deal(HAND)
    eventually(lambda: len(pit.rounds) == 2 and table.unacknowledged() == 0)
    assert kept.exists()
    assert table.verify().messages == len(pit.events)


def test_a_log_that_was_removed_takes_no_hand_with_it(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.play(HAND)
    beside(table.journal, "-wal").unlink()
    shoe.deal("KS")  # drawn in error, and kept
    eventually(lambda: table.fault == "journal_gone")
    assert table.face["fault"]["details"] == {"file": "table.journal-wal", "found": "removed"}
    facts = table.facts()
    table.kill()
    assert verify(table.journal).rows >= len(facts)
    table.start()
    assert table.fault == "journal_gone"
    assert table.facts()[: len(facts)] == facts
    table.supervisor("clear")
    table.count()  # the shoe went unheard, too
    assert len(pit.rounds) == 1


def test_a_journal_removed_before_a_stop_is_there_again_after_it(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.play(HAND)
    eventually(lambda: table.unacknowledged() == 0)
    table.journal.unlink()
    assert table.stop() == 0
    assert "is written there again: table.journal was removed" in table.log
    table.start()
    table.count()
    eventually(lambda: table.links_up() and table.unacknowledged() == 0)
    assert table.fault is None
    assert table.verify().messages == len(pit.events)


# Before it starts.


def test_a_key_that_has_signed_a_journal_does_not_start_without_it(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually, tmp_path: Path
) -> None:
    dealer.open_shoe()
    dealer.play(HAND)
    eventually(lambda: table.unacknowledged() == 0)
    epoch = table.status()["pit"]["epoch"]
    table.kill()
    for suffix in ("", "-wal", "-shm"):
        beside(table.journal, suffix).rename(tmp_path / f"away{suffix}")

    told = refused(table, "journal_lost")
    assert epoch in told
    assert "tablectl new-journal TABLE.toml --by NAME" in told
    assert not table.journal.exists()

    begun = table.tablectl("new-journal", "--by", "Ann")
    assert begun.returncode == 0, begun.stderr
    table.start()
    new = table.status()["pit"]["epoch"]
    assert new != epoch
    assert new in begun.stdout
    note = Path(table.files.values["journal"]["signing_key"] + ".journals")
    noted = [json.loads(line) for line in note.read_text("utf-8").splitlines()]
    assert [(each["epoch"], each.get("by")) for each in noted] == [(epoch, None), (new, "Ann")]
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    table.stop()

    shutil.move(tmp_path / "away", table.journal)  # the old one comes back
    shutil.move(tmp_path / "away-wal", beside(table.journal, "-wal"))
    told = refused(table, "journal_of_another_epoch")
    assert epoch in told
    assert new in told
    assert verify(table.journal).epoch == epoch


def test_a_new_journal_is_not_begun_under_a_table_that_runs(table: Table, dealer: Dealer) -> None:
    dealer.open_shoe()
    begun = table.tablectl("new-journal", "--by", "Ann")
    assert begun.returncode == 1
    assert begun.stderr.startswith("journal_in_use: ")
    dealer.play(HAND)
    assert table.fault is None


def test_a_damaged_journal_is_kept_where_a_new_one_is_begun(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    table.stop()
    with closing(sqlite3.connect(table.journal)) as db, db:
        db.execute("UPDATE fact SET salt = zeroblob(16)")
    refused(table, "journal_damaged")
    before = table.journal.read_bytes()
    assert table.tablectl("new-journal", "--by", "Ann").returncode == 0
    assert beside(table.journal, ".set-aside-1").read_bytes() == before
    table.start()
    eventually(table.links_up)
    assert table.phase == "no_shoe"


# Two tables on one journal.


@pytest.mark.parametrize("way", ["symbolic link", "hard link", "removed lock"])
def test_two_tables_never_share_a_journal(
    table: Table, table_files: TableFiles, dealer: Dealer, tmp_path: Path, way: str
) -> None:
    dealer.open_shoe()
    other = tmp_path / "other.journal"
    match way:
        case "symbolic link":
            other.symlink_to(table.journal)
        case "hard link":
            other.hardlink_to(table.journal)
        case "removed lock":
            other = table.journal
            beside(other, ".lock").unlink(missing_ok=True)
    file = tmp_path / "second.toml"
    text = table.file.read_text("utf-8")
    assert str(table.journal) in text
    file.write_text(text.replace(str(table.journal), str(other)), "utf-8")
    first, table.file = table.file, file
    refused(table, "journal_in_use", exit_code=1)
    table.file = first
    dealer.play(HAND)
    if way == "hard link":
        table.kill()
        assert "2 names" in refused(table, "journal_linked")
        other.unlink()
        table.start()
        assert table.phase == "wagers_open"


# Who may read it.


def test_a_journal_is_its_users_alone(unstarted_table: Table, dealer: Dealer) -> None:
    table = unstarted_table
    umask = os.umask(0)
    try:
        table.start()
    finally:
        os.umask(umask)
    dealer.open_shoe()
    files = [beside(table.journal, suffix) for suffix in ("", "-wal", "-shm")]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    table.kill()
    for file in files:
        file.chmod(0o644)
    table.start()
    table.count()
    dealer.play(HAND)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
