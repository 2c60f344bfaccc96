"""Checks a table's backup, and a table that is restored from it on another machine.

The restored table either continues where the old table stopped, or begins a new epoch (a journal with a new random
name). It never continues from an outdated copy of its journal.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from controller import __version__
from controller.basics.errors import TableError
from controller.contract.fingerprint import fingerprint
from controller.contract.keeping import seal
from controller.contract.keeping.packed import Member, read_packed
from controller.contract.keys import SigningKey, load_or_make_key
from controller.contract.signing import Signer, signed
from controller.daemon.clock import stamp_now
from controller.daemon.config import load
from controller.daemon.record.backup import read_backup
from controller.daemon.record.journal_reading import read_origin, verify
from controller.daemon.record.journal_rows import Entry
from controller.daemon.record.replay import replay_open_shoe
from controller.people.cli.main import main
from controller.people.cli.programs import simulated_table
from controller.rules.game.cards import Card
from controller.table.facts import CardDrawn, Fact, Report, ShoeOpened
from controller.table.states import Burning
from tests.support.archives import AtStep, archive_all
from tests.support.errors import raising
from tests.support.stopped import opened, stopped_table


def _table(folder: Path, shoes: int = 1) -> Path:
    """Make a table that was stopped while its last shoe was being burned. Return the path of the table's file."""
    folder.mkdir(parents=True)
    rules = load(simulated_table(folder, 1)).rules
    facts: list[Fact] = [ShoeOpened(shoe, "dealer", rules, "digest", "test") for shoe in range(1, shoes + 1)]
    card = CardDrawn(Card.parse("3H"), report=Report(1, "05"))
    return stopped_table(folder, [*facts, card])


def _lost(folder: Path) -> None:
    """Simulate a lost machine: rename its folder, and put an empty folder in its place."""
    folder.rename(folder.with_name("gone"))
    folder.mkdir()


@pytest.fixture(autouse=True)
def _cheap_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "_COST", 2)


@pytest.fixture(autouse=True)
def passphrase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file with the passphrase that encrypts this test's backups."""
    file = tmp_path_factory.getbasetemp() / "passphrase"
    if not file.exists():
        file.touch(0o600)
        file.write_text("four words nobody guesses\n", "utf-8")
    _PASSPHRASE.append(file)
    return file


_PASSPHRASE: list[Path] = []


def _inside(words: tuple[str, ...]) -> list[str]:
    """Return the words of a `tablectl` command, with the option for the passphrase file added.

    For `restore`, also add the option that says where the table's file goes: beside the backup.
    """
    told = list(words)
    if words[0] == "restore":
        told += ["--table", str(Path(words[1]).parent / "table" / "table.toml")]
    if words[0] != "verify" and "--passphrase-file" not in words:
        told += ["--passphrase-file", str(_PASSPHRASE[-1])]
    return told


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run the `tablectl` command, which must succeed, and return what it prints."""
    assert main(_inside(words)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def _refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run the `tablectl` command, which must be refused, and return the code of the refusal."""
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
        table.write_text(text.replace("[journal]\n", f'[journal]\narchive = "{tmp_path}/table/second"\n'), "utf-8")
    _said(capsys, "backup", str(table), kept)
    assert _refused(capsys, "restore", kept, "--by", "Jones") == "restore_in_the_way", "the journal here is good"
    _lost(tmp_path / "table")
    _said(capsys, "restore", kept, "--by", "Jones")
    aside = tmp_path / "table" / f"table.journal.of-backup-{before.epoch}"
    folder = tmp_path / "table" / "second" if first is None else tmp_path / "table" / "table.journal.archive"
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


def test_a_journal_that_cannot_be_read_whole_is_not_replaced_where_nothing_says_that_it_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A restore does not replace a journal of a newer version, because rounds may have been dealt since the backup.

    If the backup took its place, the table would report other rounds under the same numbers.
    """
    table, kept = _table(tmp_path / "table"), str(tmp_path / "kept")
    _said(capsys, "backup", str(table), kept, "--move", "--by", "Smith")
    journal = tmp_path / "table" / "table.journal"
    with closing(sqlite3.connect(journal)) as db:
        db.execute("PRAGMA user_version = 99")
    newer = journal.read_bytes()
    assert _refused(capsys, "restore", kept, "--by", "Jones") == "restore_in_the_way"
    assert journal.read_bytes() == newer


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
    (tmp_path / "unpacked").mkdir()
    told, files = read_backup(kept, tmp_path / "unpacked")
    assert (told.table, told.moved_by) == ("royal9-01", None)
    assert list(files) == ["table.toml", "game.toml", "key", "key.journals", "journal"]
    with tarfile.open(kept) as tar:
        assert tar.getnames() == ["backup.json", *files], "as `tar -xzOf FILE table.toml` needs it"


# The seal.


def test_whoever_finds_a_backup_finds_no_private_key_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept, tls = _table(tmp_path / "table"), tmp_path / "kept", tmp_path / "tls"
    tls.mkdir()
    for name in ("ca", "certificate", "private_key"):
        (tls / name).write_text(f"this is the {name}", "utf-8")
        table.write_text(table.read_text("utf-8").replace("[pit]\n", f'[pit]\n{name} = "{tls / name}"\n'), "utf-8")
    _said(capsys, "backup", str(table), str(kept))
    unpacked = gzip.decompress(kept.read_bytes())
    assert (tmp_path / "table" / "table.key").read_bytes() not in unpacked
    assert b"this is the certificate" in unpacked
    assert b"this is the private_key" not in unpacked


def test_without_the_passphrase_a_backup_is_verified_and_not_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept, wrong = _table(tmp_path / "table"), tmp_path / "kept", tmp_path / "wrong"
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    key = read_origin(tmp_path / "table" / "table.journal.set-aside-1").public_key
    _lost(tmp_path / "table")
    wrong.touch(0o600)
    wrong.write_text("five words nobody guesses", "utf-8")
    told = _said(capsys, "verify", str(kept))
    assert f"of fingerprint {fingerprint(key)}" in told
    assert "are sealed" in told
    assert "is this table's" in _said(capsys, "verify", str(kept), "--passphrase-file", str(_PASSPHRASE[-1]))
    assert _refused(capsys, "verify", str(kept), "--passphrase-file", str(wrong)) == "passphrase_wrong"
    assert _refused(capsys, "restore", str(kept), "--passphrase-file", str(wrong)) == "passphrase_wrong"
    assert list((tmp_path / "table").iterdir()) == []


def test_a_passphrase_is_asked_for_at_the_terminal_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"

    def backup(*typed: str) -> str:
        answers = iter(typed)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: bool(typed)))
        monkeypatch.setattr("getpass.getpass", lambda _: next(answers))
        main(["backup", str(table), str(kept)])
        return capsys.readouterr().err.partition(":")[0]

    assert backup() == "passphrase_missing"
    assert backup("short") == "passphrase_weak"
    assert backup("chuy\u1ec7n c\u1ed5 t\u00edch", "another") == "passphrase_differs"
    assert not kept.exists()
    assert backup("chuy\u1ec7n c\u1ed5 t\u00edch", "chuye\u0323\u0302n co\u0302\u0309 ti\u0301ch") == "", (
        "typed elsewhere"
    )
    assert kept.exists()


@pytest.mark.parametrize(
    ("content", "mode"),
    [(b"four words nobody guesses", 0o644), (b"", 0o600), (b"\xff" * 20, 0o600), (b"x" * 2000, 0o600)],
)
def test_a_passphrases_file_is_its_owners_and_holds_one(
    content: bytes, mode: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, file = _table(tmp_path / "table"), tmp_path / "file"
    file.write_bytes(content)
    file.chmod(mode)
    words = ("backup", str(table), str(tmp_path / "kept"), "--passphrase-file", str(file))
    assert _refused(capsys, *words) == "passphrase_unreadable"


# What somebody crafted.


Change = Callable[[dict[str, Any], dict[str, bytes]], object]


def _forged(kept: Path, change: Change, signer: Signer | None = None) -> None:
    """Change the description or the files in the backup `kept`. If `signer` is given, sign the backup again with it."""
    with tarfile.open(kept) as tar:
        files = {each.name: (tar.extractfile(each) or io.BytesIO()).read() for each in tar}
    says = json.loads(files.pop("backup.json"))
    change(says, files)
    for each in says["files"]:
        each["sha256"] = hashlib.sha256(files[each["name"]]).hexdigest()
    if signer is not None:
        del says["signature"]
        says = json.loads(signed(says, signer))
    _packed(kept, [("backup.json", json.dumps(says).encode()), *files.items()])


def _packed(kept: Path, members: list[tuple[str, bytes]]) -> None:
    with tarfile.open(kept, "w:gz") as tar:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def _former(at: Path, kept: Path, **claims: object) -> None:
    """Write a backup in the old form of commit 0f50807. `claims` replace fields of its description."""
    folder = at.parent
    journal = folder / "table.journal"
    good, says = verify(journal), []
    game = (folder / load(at).file.table.game).resolve()
    paths = {"table": at, "game": game, "key": folder / "table.key", "note": folder / "table.key.journals"}
    members = []
    for number, (kind, path) in enumerate([*paths.items(), ("journal", journal)]):
        data = path.read_bytes()
        says.append({"kind": kind, "path": str(path), "sha256": hashlib.sha256(data).hexdigest()})
        members.append((str(number), data))
    whole = {"table": good.table, "epoch": good.epoch, "rows": good.rows, "head": good.head.hex(), "at": "then"}
    head = {"backup": 1, **whole, "version": "0.1.0", "moved_by": "Smith", "files": says, **claims}
    _packed(kept, [("backup.json", json.dumps(head).encode()), *members])


def test_a_backup_of_an_earlier_version_is_restored_on_a_persons_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    before = verify(tmp_path / "table" / "table.journal")
    _former(table, kept)
    _lost(tmp_path / "table")
    assert "not signed, and its key is not sealed" in _said(capsys, "verify", str(kept))
    assert _refused(capsys, "restore", str(kept)) == "backup_unsigned"
    assert list((tmp_path / "table").iterdir()) == []
    _said(capsys, "restore", str(kept), "--unsigned")
    assert verify(tmp_path / "table" / "table.journal") == before


@pytest.mark.parametrize(
    "claim",
    [{"rows": 10**9}, {"head": "00" * 32}, {"epoch": "ffffffffff"}, {"table": "royal9-02"}],
    ids=lambda claim: next(iter(claim)),
)
def test_what_a_backup_says_of_its_journal_is_compared_with_the_journal(
    claim: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _former(table, kept, **claim)
    _lost(tmp_path / "table")
    assert _refused(capsys, "verify", str(kept)) == "backup_damaged"
    assert _refused(capsys, "restore", str(kept), "--unsigned") == "backup_damaged"
    assert list((tmp_path / "table").iterdir()) == []


def test_a_copy_that_somebody_made_a_move_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    _said(capsys, "backup", str(table), str(kept))
    _lost(tmp_path / "table")
    for signer in (None, SigningKey(bytes(32))):
        _forged(kept, lambda says, _: says.update(moved_by="Smith"), signer)
        assert _refused(capsys, "restore", str(kept)) == "backup_damaged"
        assert _refused(capsys, "restore", str(kept), "--unsigned") == "backup_damaged"
    assert list((tmp_path / "table").iterdir()) == []


def test_a_key_that_did_not_sign_the_journal_is_not_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    (tmp_path / "table" / "table.key").rename(tmp_path / "true.key")
    (tmp_path / "table" / "table.key").touch(0o600)
    (tmp_path / "table" / "table.key").write_bytes(bytes(32))
    _former(table, kept)
    _lost(tmp_path / "table")
    assert _refused(capsys, "verify", str(kept)) == "backup_damaged"
    assert _refused(capsys, "restore", str(kept), "--unsigned") == "backup_damaged"
    assert list((tmp_path / "table").iterdir()) == []


@pytest.mark.parametrize("name", ["../../evil", "/etc/cron.d/evil", "archive/../../evil.archive", "evil"])
def test_a_backup_whose_maker_has_the_key_names_no_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "in" / "table"), tmp_path / "in" / "kept"
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    key = load_or_make_key(table.with_name("table.key"))
    _lost(tmp_path / "in" / "table")

    def change(says: dict[str, Any], files: dict[str, bytes]) -> None:
        says["files"].append({"name": name})
        files[name] = b"evil"

    _forged(kept, change, key)
    assert _refused(capsys, "restore", str(kept)) == "backup_damaged"
    assert list((tmp_path / "in" / "table").iterdir()) == []


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("path", "evil.journal"),
        ("signing_key", "in/table/../../evil"),
        ("path", "in/table/table.key"),
        ("game", "../../evil.toml"),
    ],
)
def test_a_table_file_that_only_the_backup_has_leads_nowhere_else(
    key: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, kept = _table(tmp_path / "in" / "table"), tmp_path / "in" / "kept"
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    signer = load_or_make_key(table.with_name("table.key"))
    _lost(tmp_path / "in" / "table")
    evil = place if key == "game" else f"{tmp_path}/{place}"

    def change(_: dict[str, Any], files: dict[str, bytes]) -> None:
        text = re.sub(rf'(?m)^{key} = ".*"$', f'{key} = "{evil}"', files["table.toml"].decode())
        files["table.toml"] = text.encode()

    _forged(kept, change, signer)
    assert _refused(capsys, "restore", str(kept)) in ("restore_outside", "config_invalid")
    assert {each.name for each in tmp_path.iterdir()} == {"in"}
    assert list((tmp_path / "in" / "table").iterdir()) == [], "a failed restore leaves nothing behind"


def test_what_the_machines_own_table_file_says_is_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "table"), tmp_path / "kept"
    before = verify(tmp_path / "table" / "table.journal")
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    _lost(tmp_path / "table")
    own = (tmp_path / "gone" / "table.toml").read_text("utf-8")
    table.write_text(own.replace(str(tmp_path / "table" / "table.journal"), str(tmp_path / "ssd" / "journal")), "utf-8")
    _said(capsys, "restore", str(kept))
    assert verify(tmp_path / "ssd" / "journal") == before


def test_a_link_leads_a_restore_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, kept = _table(tmp_path / "in" / "table", shoes=3), tmp_path / "in" / "kept"
    journal = opened(table)
    journal.mark_acked(journal.head_seq)
    archive_all(journal)
    journal.close()
    _said(capsys, "backup", str(table), str(kept), "--move", "--by", "Smith")
    own = table.read_bytes()
    _lost(tmp_path / "in" / "table")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in" / "table" / "table.journal.archive").symlink_to(tmp_path / "elsewhere")
    assert _refused(capsys, "restore", str(kept)) == "restore_outside"
    table.write_bytes(own)
    assert _refused(capsys, "restore", str(kept)) == "restore_outside"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def _bomb(kept: Path) -> None:
    kept.write_bytes(64 * gzip.compress(bytes(1 << 20), 1))


def _deep(kept: Path) -> None:
    _packed(kept, [("backup.json", b"[" * 200_000 + b"]" * 200_000)])


def _no_object(kept: Path) -> None:
    _packed(kept, [("backup.json", b"[1]")])


def _only_links(kept: Path) -> None:
    with tarfile.open(kept, "w:gz") as tar:
        link = tarfile.TarInfo("backup.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)


def _of_another_kind(kept: Path) -> None:
    _packed(kept, [("backup.json", b'{"pit_backup":2,"files":[]}')])


def _nothing(kept: Path) -> None:
    _packed(kept, [])


_HOSTILE = [_bomb, _deep, _no_object, _only_links, _of_another_kind, _nothing]


@pytest.mark.parametrize("hostile", _HOSTILE)
def test_a_hostile_backup_is_an_error_and_no_traceback(
    hostile: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    hostile(kept)
    for command in ("verify", "restore"):
        assert _refused(capsys, command, str(kept)) == "backup_damaged"
    assert list(tmp_path.iterdir()) == [kept]


def test_a_hole_is_no_file(tmp_path: Path) -> None:
    """A packed file that holds a sparse file (one with holes) is refused, because the sparse file claims a size far
    above that of the packed file."""
    kept, size = tmp_path / "kept", 1 << 26
    with tarfile.open(kept, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, data in (("backup.json", b'{"a":1}'), ("hole", b"")):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            if name == "hole":
                member.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(size), "GNU.sparse.name": name}
            tar.addfile(member, io.BytesIO(data))
    hole = Member("hole", hashlib.sha256(bytes(size)).hexdigest())
    with raising("backup_damaged"):
        read_packed(kept, lambda _: (None, [hole]), tmp_path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _bomb(tmp_path / "kept")
    assert main(["verify", str(tmp_path / "kept")]) == 1
    assert "it would unpack to more than such files can be" in capsys.readouterr().err


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
    assert "signed by the key of fingerprint" in told
    assert list((tmp_path / "table").iterdir()) == []


# A restore that fails, and one that is killed.


def _before_a_restore(tmp_path: Path, capsys: pytest.CaptureFixture[str], *move: str) -> tuple[Path, Path]:
    """Make a backup of a table. Then put an older state of the table in its place: the journal is shorter, and the file
    with the key's notes has other content. `move` holds more words for the command `tablectl backup`. Return the
    table's folder and the backup."""
    table, kept = _table(tmp_path / "table", shoes=3), tmp_path / "kept"
    shutil.copytree(tmp_path / "table", tmp_path / "older")
    journal = opened(table)
    journal.mark_acked(journal.head_seq)
    archive_all(journal)
    journal.append([Entry(stamp_now(), CardDrawn(Card.parse("4H"), report=Report(2, "05")), ())])
    journal.close()
    _said(capsys, "backup", str(table), str(kept), *move)
    _lost(tmp_path / "table")
    (tmp_path / "older").rename(tmp_path / "older-machine")
    shutil.copytree(tmp_path / "older-machine", tmp_path / "table", dirs_exist_ok=True)
    (tmp_path / "table" / "table.journal-wal").touch(0o600)
    note = tmp_path / "table" / "table.key.journals"
    note.write_bytes(note.read_bytes() * 2)
    table.write_text(f"{table.read_text('utf-8')}\n# changed\n", "utf-8")
    return tmp_path / "table", kept


def _tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


_MOVED = ("--move", "--by", "Smith")
EACH_STEP = [pytest.param(moved, 1, marks=pytest.mark.proof) for moved in (True, False)]
_STEPS = ((Path, "mkdir"), (os, "fsync"), (os, "link"), (os, "fchmod"), (Path, "rename"))


def _stepped(monkeypatch: pytest.MonkeyPatch, before: Callable[[], None]) -> None:
    """Call `before` ahead of each step that a restore does on the disk."""

    def at(real: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **kwargs: Any) -> Any:
            before()
            return real(*args, **kwargs)

        return stepped

    for owner, name in _STEPS:
        monkeypatch.setattr(owner, name, at(getattr(owner, name)))


@pytest.mark.parametrize(("moved", "stride"), [(True, 9), *EACH_STEP])
def test_a_restore_that_fails_leaves_the_machine_as_it_was(
    moved: bool, stride: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, kept = _before_a_restore(tmp_path, capsys, *(_MOVED if moved else ()))
    before = _tree(machine)
    words = _inside(("restore", str(kept), *(() if moved else ("--by", "Jones"))))
    for step in itertools.count(3, stride):

        def fill() -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        at = AtStep(step, fill)
        with monkeypatch.context() as failing:
            _stepped(failing, at)
            code = main(words)
        if code == 0:
            break
        told = capsys.readouterr().err.partition(":")[0]
        assert told in ("restore_failed", "backup_unreadable", "signing_key_unusable", "journal_unusable"), told
        assert _tree(machine) == before, f"at step {step}"
    assert step > 15
    assert _tree(machine) != before


@pytest.mark.parametrize(("moved", "stride"), [(False, 9), *EACH_STEP])
def test_a_restore_that_was_killed_is_repeated(
    moved: bool, stride: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, kept = _before_a_restore(tmp_path, capsys, *(_MOVED if moved else ()))
    shutil.copytree(machine, tmp_path / "before")
    words = _inside(("restore", str(kept), *(() if moved else ("--by", "Jones"))))
    assert main(words) == 0
    whole = _tree(machine)
    assert (main(words) == 0) is moved, "a move that lacked no more than its end is done again"
    for step in itertools.count(3, stride):
        shutil.rmtree(machine)
        shutil.copytree(tmp_path / "before", machine)
        child = os.fork()
        if child == 0:
            with monkeypatch.context() as killed:
                _stepped(killed, AtStep(step, lambda: os._exit(9)))
                os._exit(main(words))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            break
        if main(words) != 0:  # the new journal was begun
            assert not moved
            assert capsys.readouterr().err.startswith("restore_in_the_way")
            continue
        after = _tree(machine)
        assert {name for name in after if "set-aside" not in name} == {
            name for name in whole if "set-aside" not in name
        }
        if moved:
            assert after["table.journal"] == whole["table.journal"]
    assert step > 15
