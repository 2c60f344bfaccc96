"""A table's backup, and the table on another machine: where it was, or in a new epoch, and never on an old copy."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller import __version__
from controller.basics.errors import TableError
from controller.daemon.config import load
from controller.daemon.record.backup import reading_backup
from controller.daemon.record.journal import verify
from controller.daemon.record.replay import replay_open_shoe
from controller.people.cli.main import main
from controller.people.cli.surroundings import simulated_table
from controller.rules.game.cards import Card
from controller.table.facts import CardDrawn, Fact, Report, ShoeOpened
from controller.table.states import Burning
from tests.support.archives import archive_all
from tests.support.errors import raising
from tests.support.stopped import opened, stopped_table


def _table(folder: Path, shoes: int = 1) -> Path:
    """A table that was stopped in the burn of its last shoe."""
    folder.mkdir(parents=True)
    rules = load(simulated_table(folder, 1)).rules
    facts: list[Fact] = [ShoeOpened(shoe, "dealer", rules, "digest", "test") for shoe in range(1, shoes + 1)]
    card = CardDrawn(Card.parse("3H"), report=Report(1, "05"))
    return stopped_table(folder, [*facts, card])


def _lost(folder: Path) -> None:
    """The machine is gone: its folder has another name, and an empty one is in its place."""
    folder.rename(folder.with_name("gone"))
    folder.mkdir()


def _inside(words: tuple[str, ...]) -> list[str]:
    """The words, and for a restore the folder around the backup as the place of a table's files."""
    return [*words, *(("--below", str(Path(words[1]).parent)) if words[0] == "restore" else ())]


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that does what it should."""
    assert main(_inside(words)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def _refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The code with which a command is refused."""
    capsys.readouterr()
    assert main(_inside(words)) != 0
    return capsys.readouterr().err.partition(":")[0]


def test_a_moved_table_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    before = verify(tmp_path / "table" / "table.journal")
    _said(capsys, "backup", str(table), kept, "--move", "--by", "Smith")
    with raising("journal_lost"):
        opened(table)
    _lost(tmp_path / "table")
    told = _said(capsys, "restore", kept)
    assert "Shoe 1 was open" in told
    assert verify(tmp_path / "table" / "table.journal") == before
    journal = opened(table)
    state, differs = replay_open_shoe(journal, load(table).rules, "royal9-01", __version__)
    journal.close()
    assert (journal.epoch, type(state.phase), differs) == (before.epoch, Burning, None)


def test_a_copy_is_restored_by_a_persons_word_alone_and_in_a_new_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    journal = opened(table)  # as while the table runs
    try:
        _said(capsys, "backup", str(table), kept)
    finally:
        journal.close()
    before = verify(tmp_path / "table" / "table.journal")
    key = (tmp_path / "table" / "table.key").read_bytes()
    _lost(tmp_path / "table")
    assert _refused(capsys, "restore", kept) == "restore_begins_anew"
    assert list((tmp_path / "table").iterdir()) == []
    told = _said(capsys, "restore", kept, "--by", "Jones")
    new = verify(tmp_path / "table" / "table.journal")
    assert new.epoch != before.epoch
    assert f"epoch {new.epoch}" in told, "what the pit is to adopt"
    assert verify(tmp_path / "table" / f"table.journal.of-backup-{before.epoch}") == before
    assert (tmp_path / "table" / "table.key").read_bytes() == key
    opened(table).close()


@pytest.mark.parametrize("at", [0, 5, 8, 11, 12, 13])
def test_no_power_cut_inside_a_restored_copy_leaves_a_table_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    epoch = verify(tmp_path / "table" / "table.journal").epoch
    _said(capsys, "backup", str(table), kept)
    _lost(tmp_path / "table")
    synced, real = 0, os.fsync

    def fsync(handle: int) -> None:
        nonlocal synced
        synced += 1
        if synced > at:
            raise KeyboardInterrupt
        real(handle)

    with monkeypatch.context() as cut:
        cut.setattr(os, "fsync", fsync)
        main(_inside(("restore", kept, "--by", "Jones")))
    try:
        journal = opened(table)
    except TableError:
        return
    journal.close()
    assert journal.epoch != epoch


def test_what_a_lost_journal_left_beside_its_place_is_not_read_as_the_new_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    _said(capsys, "backup", str(table), kept, "--move", "--by", "Smith")
    log = tmp_path / "table" / "table.journal-wal"
    log.write_bytes(b"of another journal")
    _said(capsys, "restore", kept)
    assert not log.exists() or log.read_bytes() == b""
    assert (tmp_path / "table" / "table.journal.set-aside-2-wal").read_bytes() == b"of another journal"


def test_archives_go_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table", shoes=3), str(tmp_path / "kept")
    journal = opened(table)
    journal.mark_acked(journal.head_seq)
    assert len(archive_all(journal)) == 1
    journal.close()
    before = verify(tmp_path / "table" / "table.journal")
    _said(capsys, "backup", str(table), kept, "--move", "--by", "Smith")
    _lost(tmp_path / "table")
    _said(capsys, "restore", kept)
    assert verify(tmp_path / "table" / "table.journal") == before
    assert before.archives == 1


@pytest.mark.parametrize("first", [None, "first"], ids=["beside the journal", "elsewhere"])
def test_archives_stay_found_where_the_tables_file_names_another_folder(
    first: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table", shoes=3), str(tmp_path / "kept")
    journal = opened(table, tmp_path / "table" / first if first else None)
    journal.mark_acked(journal.head_seq)
    archive_all(journal)
    journal.close()
    before = verify(tmp_path / "table" / "table.journal")
    if first is None:
        text = table.read_text("utf-8")
        table.write_text(text.replace("[journal]\n", f'[journal]\narchive = "{tmp_path}/second"\n'), "utf-8")
    _said(capsys, "backup", str(table), kept)
    assert _refused(capsys, "restore", kept, "--by", "Jones") == "restore_in_the_way", "the journal here is good"
    _lost(tmp_path / "table")
    _said(capsys, "restore", kept, "--by", "Jones")
    aside = tmp_path / "table" / f"table.journal.of-backup-{before.epoch}"
    folder = tmp_path / "second" if first is None else tmp_path / "table" / "table.journal.archive"
    assert verify(aside, folder) == before


def test_a_table_that_runs_is_not_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    journal = opened(table)
    try:
        assert _refused(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith") == "table_runs"
    finally:
        journal.close()
    assert not kept.exists()
    opened(table).close()


def test_a_backup_is_for_its_user_alone_and_never_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _said(capsys, "backup", str(table), str(kept))
    assert kept.stat().st_mode & 0o777 == 0o600
    before = kept.read_bytes()
    assert _refused(capsys, "backup", str(table), str(kept)) == "backup_unwritable"
    assert kept.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "table"]


def test_a_damaged_backup_is_told_and_puts_no_journal_anywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    _lost(tmp_path / "table")
    whole = kept.read_bytes()
    no_block = whole[:10] + b"\xff" + whole[11:]  # the deflate stream's first byte: a kind of block that there is not
    changed = gzip.compress(gzip.decompress(whole).replace(b"SQLite format 3", b"SQLite format 4"))
    cut = (whole[:100], whole[: len(whole) // 2], whole[:-4])
    checksum = whole[:-8] + bytes(each ^ 255 for each in whole[-8:-4]) + whole[-4:]
    for damaged in (*cut, b"", b"nothing", no_block, changed, checksum):
        kept.write_bytes(damaged)
        assert _refused(capsys, "restore", str(kept)) == "backup_damaged"
        assert not (tmp_path / "table" / "table.journal").exists()


def test_what_is_good_on_this_machine_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    _said(capsys, "backup", str(table), kept)
    assert _refused(capsys, "restore", kept, "--by", "Jones") == "restore_in_the_way"
    journal = tmp_path / "table" / "table.journal"
    good = journal.read_bytes()
    journal.write_bytes(b"damaged" + good[7:])
    _said(capsys, "restore", kept, "--by", "Jones")
    aside = tmp_path / "table" / "table.journal.set-aside-1"
    assert aside.read_bytes().startswith(b"damaged"), "nothing recorded is thrown away"
    (tmp_path / "table" / "table.key").write_bytes(bytes(32))
    assert _refused(capsys, "restore", kept, "--by", "Jones") == "restore_in_the_way"


def test_a_configuration_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    _said(capsys, "backup", str(table), kept, "--move", "--by", "Smith")
    before = table.read_text("utf-8")
    changed = before.replace("Royal 9, table 1", "Royal 9, table 2")
    table.write_text(changed, "utf-8")
    told = _said(capsys, "restore", kept)
    assert "is there already and stays" in told
    assert table.read_text("utf-8") == changed
    assert (tmp_path / "table" / "table.toml.restored").read_text("utf-8") == before


def test_a_backup_says_what_it_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _said(capsys, "backup", str(table), str(kept))
    with reading_backup(kept, tmp_path) as (told, files):
        kinds = [each.kind for each, _ in files]
    assert (told.table, told.moved_by) == ("royal9-01", None)
    assert kinds == ["table", "game", "key", "note", "journal"]


def _forged(kept: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Somebody who has no key changes what the backup says of itself."""
    with tarfile.open(kept) as tar:
        members = [(each, (tar.extractfile(each) or io.BytesIO()).read()) for each in tar]
    says = json.loads(members[0][1])
    change(says)
    _packed(kept, [(members[0][0], json.dumps(says).encode()), *members[1:]])


def _packed(kept: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    with tarfile.open(kept, "w:gz") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def _unsigned(says: dict[str, Any]) -> None:
    says["backup"] = 1
    says.pop("signature", None)


@pytest.mark.parametrize(
    "claim",
    [{"rows": 10**9}, {"head": "00" * 32}, {"epoch": "ffffffffff"}, {"table": "royal9-02"}],
    ids=lambda claim: next(iter(claim)),
)
def test_what_a_backup_says_of_its_journal_is_compared_with_the_journal(
    claim: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _said(capsys, "backup", str(table), str(kept))
    _lost(tmp_path / "table")

    def change(says: dict[str, Any]) -> None:
        says.update(claim, moved_by="Smith")
        _unsigned(says)

    _forged(kept, change)
    assert _refused(capsys, "verify", str(kept)) == "backup_damaged"
    assert _refused(capsys, "restore", str(kept), "--unsigned") == "backup_damaged"
    assert list((tmp_path / "table").iterdir()) == []


def test_a_copy_that_somebody_made_a_move_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _said(capsys, "backup", str(table), str(kept))
    _lost(tmp_path / "table")
    _forged(kept, lambda says: says.update(moved_by="Smith"))
    assert _refused(capsys, "restore", str(kept)) == "backup_damaged"
    _forged(kept, _unsigned)
    assert _refused(capsys, "restore", str(kept)) == "backup_unsigned"
    assert list((tmp_path / "table").iterdir()) == []
    _said(capsys, "restore", str(kept), "--unsigned")


@pytest.mark.parametrize("kind", ["table", "game", "tls"])
def test_a_restore_writes_only_where_a_tables_files_belong(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept, evil = _table(tmp_path / "in" / "table"), tmp_path / "in" / "kept", tmp_path / "evil"
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    _lost(tmp_path / "in" / "table")

    def change(says: dict[str, Any]) -> None:
        each = next((each for each in says["files"] if each["kind"] == kind), says["files"][3])  # the note: not needed
        each.update(kind=kind, path=f"{tmp_path}/in/table/../../evil")
        _unsigned(says)

    _forged(kept, change)
    assert _refused(capsys, "restore", str(kept), "--unsigned") == "restore_outside"
    assert not evil.exists()
    assert list((tmp_path / "in" / "table").iterdir()) == [], "a failed restore leaves nothing behind"


def test_a_link_leads_a_restore_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "in" / "table"), tmp_path / "in" / "kept"
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    (tmp_path / "in" / "table").rename(tmp_path / "in" / "gone")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in" / "table").symlink_to(tmp_path / "elsewhere")
    assert _refused(capsys, "restore", str(kept)) == "restore_outside"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def _bomb(kept: Path) -> None:
    with gzip.open(kept, "wb", 1) as file:
        for _ in range(64):
            file.write(bytes(1 << 20))


def _deep(kept: Path) -> None:
    _packed(kept, [(tarfile.TarInfo("backup.json"), b"[" * 200_000 + b"]" * 200_000)])


def _no_object(kept: Path) -> None:
    _packed(kept, [(tarfile.TarInfo("backup.json"), b"[1]")])


def _only_links(kept: Path) -> None:
    link = tarfile.TarInfo("backup.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    _packed(kept, [(link, b"")])


@pytest.mark.parametrize("hostile", [_bomb, _deep, _no_object, _only_links])
def test_a_hostile_backup_is_an_error_and_no_traceback(
    hostile: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    hostile(kept)
    for command in ("verify", "restore"):
        assert _refused(capsys, command, str(kept)) == "backup_damaged"
    assert list(tmp_path.iterdir()) == [kept]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _bomb(tmp_path / "kept")
    assert main(["verify", str(tmp_path / "kept")]) == 1
    assert "it would unpack to more than a table's files can be" in capsys.readouterr().err


def test_a_backup_is_verified_without_restoring_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table", shoes=3), tmp_path / "kept"
    journal = opened(table)
    journal.mark_acked(journal.head_seq)
    archive_all(journal)
    journal.close()
    _said(capsys, "backup", str(table), str(kept))
    _lost(tmp_path / "table")
    told = _said(capsys, "verify", str(kept))
    assert "all good" in told
    assert "signed by the table's key" in told
    assert list((tmp_path / "table").iterdir()) == []
