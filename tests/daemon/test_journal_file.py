"""Checks the journal's file: what happens when it vanishes, which events are never sent, and which journal belongs to a
key."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import controller.daemon.record.journal as journal_module
from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.daemon import commits
from controller.daemon.record.epochs import open_journal
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_file import JournalFile, JournalGoneError
from controller.daemon.record.journal_reading import read_rows, verify
from controller.table.acts.rounds import LockWagers
from tests.daemon.daemon_world import running, table_config
from tests.daemon.test_journal import SHOES, TABLE, opened, tampering
from tests.support.waiting import PATIENCE_S, eventually

HALF = len(SHOES) // 2


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _all_removed(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        beside(path, suffix).unlink()


def _moved(path: Path) -> None:
    path.rename(beside(path, ".moved"))


def _replaced(path: Path) -> None:
    other = beside(path, ".other")
    opened(other).close()
    other.rename(path)


def _log_replaced(path: Path) -> None:
    beside(path, "-wal").unlink()
    beside(path, "-wal").write_bytes(b"no log of this journal" * 1000)


VANISHED: dict[str, tuple[Callable[[Path], None], str]] = {
    "all removed": (_all_removed, "table.journal was removed"),
    "the file removed": (lambda path: path.unlink(), "table.journal was removed"),
    "the file moved": (_moved, "table.journal was removed"),
    "the log removed": (lambda path: beside(path, "-wal").unlink(), "table.journal-wal was removed"),
    "the file replaced": (_replaced, "table.journal was replaced"),
    "the log replaced": (_log_replaced, "table.journal-wal was replaced"),
}


@pytest.mark.parametrize("case", VANISHED)
def test_what_vanished_is_noticed_by_the_next_commit_and_put_back_whole(tmp_path: Path, case: str) -> None:
    vanish, told = VANISHED[case]
    path = tmp_path / "table.journal"
    journal = opened(path)
    sent = journal.append(SHOES[:HALF])
    journal.mark_acked(1)
    vanish(path)
    with pytest.raises(JournalGoneError, match=f"^{told}$"):
        journal.append(SHOES[HALF:])
    journal.put_back()
    assert journal.missing() is None
    made = [*sent, *journal.append(SHOES[HALF:])]
    assert [message.seq for message in made] == list(range(1, len(made) + 1))
    assert journal.messages_after(0, 1000) == made
    assert verify(path).rows == len(SHOES), "while it runs"
    assert {stat.S_IMODE(beside(path, suffix).stat().st_mode) for suffix in ("", "-wal", "-shm")} == {0o600}
    journal.close()
    again = opened(path)
    assert (again.boot, again.acked_seq, again.head_seq) == (2, 1, len(made))
    again.close()
    assert verify(path).rows == len(SHOES)
    assert not list(tmp_path.glob("*.rescued-*"))


def test_archived_shoes_are_told_of_by_a_journal_that_was_put_back(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    journal = opened(path)
    made = journal.append(SHOES)
    journal.mark_acked(journal.head_seq)
    run = journal.next_to_archive(0, 1000)
    assert run is not None
    journal.leave_to_archive(run, journal.write_archive(run))
    assert journal.messages_after(0, 1000) == made, "also the first whose row follows an archived one"
    path.unlink()
    journal.put_back()
    assert journal.messages_after(0, 1000) == made
    journal.close()
    assert verify(path).rows == len(SHOES)


def test_a_file_that_another_process_holds_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    journal = opened(path)
    journal.append(SHOES[:HALF])
    path.unlink()
    other = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(OSError, match="another process has the file"):
        journal.put_back()
    with pytest.raises(JournalGoneError):
        journal.append(SHOES[HALF:])
    os.close(other)
    assert journal.put_back() == "table.journal.set-aside-1"
    journal.append(SHOES[HALF:])
    journal.close()
    assert verify(path).rows == len(SHOES)


def test_a_folder_that_is_away_is_waited_for(tmp_path: Path) -> None:
    """If the journal's folder is gone, the table waits and makes no new folder, because the disk may only be unmounted
    and come back."""
    folder = tmp_path / "disk"
    journal = opened(folder / "table.journal")
    journal.append(SHOES[:HALF])
    folder.rename(tmp_path / "away")
    for _ in range(2):
        with pytest.raises(OSError):  # SQLite's words
            journal.put_back()
    assert not folder.exists()
    (tmp_path / "away").rename(folder)
    assert journal.missing() is None
    journal.append(SHOES[HALF:])
    journal.close()
    assert verify(folder / "table.journal").rows == len(SHOES)


def test_a_journal_that_could_not_be_opened_again_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused(JournalFile):
        def __init__(self, path: Path) -> None:
            raise TableError("journal_unusable", "No file can be opened now.", "Wait.")

    path = tmp_path / "table.journal"
    journal = opened(path)
    journal.append(SHOES[:HALF])
    path.unlink()
    with monkeypatch.context() as patched:
        patched.setattr(journal_module, "JournalFile", Refused)
        with pytest.raises(OSError, match="No file can be opened"):
            journal.put_back()
        with pytest.raises(JournalGoneError):
            journal.append(SHOES[HALF:])
    journal.put_back()
    journal.append(SHOES[HALF:])
    journal.close()
    assert verify(path).rows == len(SHOES)


async def test_a_long_copy_keeps_the_watchdog_content_and_the_fault_lamp_blinking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "PING_S", 0.01)
    copied = threading.Event()
    put_back = Journal.put_back

    def slow(self: Journal) -> str | None:
        assert copied.wait(PATIENCE_S)
        return put_back(self)

    monkeypatch.setattr(Journal, "put_back", slow)

    path = Path(table_config(tmp_path).file.journal.path)
    async with running(tmp_path) as world:
        await world.open_shoe()
        await world.do(LockWagers())
        path.unlink()  # noqa: ASYNC240  # as somebody else does it
        world.shoe.deal("KS 2D")
        await eventually(lambda: world.status.journal.error == f"{path.name} was removed")
        pings = len(world.pings)
        await eventually(lambda: len(world.pings) > pings + 5)
        assert world.lamps["fault"] == "fast_blink"
        assert world.runtime.face.phase == "wagers_locked"
        copied.set()
        await eventually(world.fault)
        assert world.fault() == "journal_gone"
        assert world.status.journal.error is None
        assert len(list(read_rows(path))) == world.journal._row


# What does not hold is not sent.

ALTERED = {
    "a byte": "UPDATE message SET body = CAST(replace(CAST(body AS TEXT), '\"9S\"', '\"8S\"') AS BLOB) WHERE seq = 3",
    "another event's body": "UPDATE message SET body = (SELECT body FROM message WHERE seq = 2) WHERE seq = 3",
    "gone": "DELETE FROM message WHERE seq = 3",
    "no JSON": "UPDATE message SET body = x'00' WHERE seq = 3",
    "another chain": "UPDATE fact SET head = zeroblob(32) WHERE row = (SELECT row - 1 FROM message WHERE seq = 3)",
    "a chain without a row": "DELETE FROM fact WHERE row = (SELECT row - 1 FROM message WHERE seq = 3)",
}  # fmt: skip


@pytest.mark.parametrize("case", ALTERED)
def test_an_event_that_is_not_as_it_was_signed_is_not_read(tmp_path: Path, case: str) -> None:
    journal = opened(tmp_path / "table.journal")
    made = journal.append(SHOES)
    assert journal.messages_after(0, 5) == made[:5]
    assert journal.messages_after(len(made) - 1, 5) == made[-1:]
    assert journal.message(3) == made[2]
    with tampering(tmp_path / "table.journal") as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute(ALTERED[case])
    assert journal.messages_after(0, 5) == made[:2]
    assert journal.messages_after(2, 5) == []
    assert journal.message(3) is None
    assert journal.message(0) is None
    assert journal.messages_after(5, 2) == made[5:7]  # 3 to 5 are of one row
    assert journal.message(6) == made[5]
    journal.close()


# Which journal a key goes with.


def _open(folder: Path, new_by: str | None = None) -> str:
    key, journal = open_journal(folder / "table.journal", folder / "keys" / "table.key", TABLE, None, new_by)
    assert key.public == load_or_make_key(folder / "keys" / "table.key").public
    journal.close()
    epoch: str = journal.epoch
    return epoch


def _note(folder: Path) -> Path:
    return folder / "keys" / "table.key.journals"


def _refused(folder: Path) -> TableError:
    before = sorted(file.name for file in folder.iterdir())
    with pytest.raises(TableError) as caught:
        _open(folder)
    assert sorted(file.name for file in folder.iterdir()) == before
    return caught.value


def test_a_first_start_and_those_after_it_ask_nobody(tmp_path: Path) -> None:
    epoch = _open(tmp_path)
    assert [_open(tmp_path), _open(tmp_path)] == [epoch, epoch]
    (line,) = _note(tmp_path).read_text("utf-8").splitlines()
    assert json.loads(line)["epoch"] == epoch


@pytest.mark.parametrize("cut_off_after", ["note", "key", "file", "journal"])
def test_a_first_start_that_was_cut_off_asks_nobody(tmp_path: Path, cut_off_after: str) -> None:
    _open(tmp_path)
    _note(tmp_path).write_bytes(b"")
    if cut_off_after != "journal":
        (tmp_path / "table.journal").unlink()
    if cut_off_after == "note":
        (tmp_path / "keys" / "table.key").unlink()
    if cut_off_after == "file":
        (tmp_path / "table.journal").touch()
    assert _open(tmp_path) in _note(tmp_path).read_text("utf-8")


def test_a_table_from_before_the_notes_goes_on_and_misses_its_journal_from_then_on(tmp_path: Path) -> None:
    epoch = _open(tmp_path)
    _note(tmp_path).unlink()
    assert _open(tmp_path) == epoch
    assert epoch in _note(tmp_path).read_text("utf-8")
    (tmp_path / "table.journal").unlink()
    assert _refused(tmp_path).code == "journal_lost"
    _note(tmp_path).unlink()
    assert _refused(tmp_path).code == "journal_lost", "a key without a note has signed too"


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a copy"])
def test_a_journal_that_is_lost_is_named_with_what_to_do(tmp_path: Path, left: str) -> None:
    epoch = _open(tmp_path)
    path = tmp_path / "table.journal"
    match left:
        case "nothing":
            path.unlink()
        case "an empty file":
            path.write_bytes(b"")
        case "a copy":
            path.rename(tmp_path / f"table.journal.rescued-{epoch}")
    told = _refused(tmp_path)
    assert told.code == "journal_lost"
    assert epoch in told.what
    assert ("rescued" if left == "a copy" else "tablectl new-journal") in told.do


def test_the_journal_of_an_earlier_epoch_is_refused_and_unchanged(tmp_path: Path) -> None:
    first = _open(tmp_path)
    old = (tmp_path / "table.journal").read_bytes()
    (tmp_path / "table.journal").unlink()
    second = _open(tmp_path, new_by="Ann")
    assert second != first
    assert _open(tmp_path) == second
    (tmp_path / "table.journal").write_bytes(old)
    told = _refused(tmp_path)
    assert told.code == "journal_of_another_epoch"
    assert first in told.what
    assert second in told.what
    assert (tmp_path / "table.journal").read_bytes() == old


@pytest.mark.parametrize("note", [b"{", b"\xff", b"[]", b"{}", b"1", b'{"epoch": 1}\n[' + b"[" * 100_000])
def test_a_note_that_says_nothing_is_told(tmp_path: Path, note: bytes) -> None:
    _open(tmp_path)
    _note(tmp_path).write_bytes(note)
    assert _refused(tmp_path).code == "journal_note_unusable"
