"""Checks that a backup of a ledger, made while the pit runs, can be restored. After that the tables send the events
that the ledger lacks, and nothing is paid twice."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import itertools
import json
import os
import shutil
import signal
import sqlite3
import tarfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.contract.keeping import seal
from controller.contract.keys import SigningKey, load_or_make_key
from controller.contract.signing import signed
from controller.pit.reference.__main__ import main
from controller.pit.reference.keeping import verify_backup
from controller.pit.reference.ledger import Ledger
from tests.pit.evening import TableEvening
from tests.pit.house import TABLE, House, ack
from tests.pit.test_meters import code_of
from tests.support.archives import AtStep


def test_a_restored_ledger_catches_up_and_pays_nothing_twice(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at, copy = ["--ledger", str(house.ledger)], tmp_path / "usb" / "copy"
    table, far = TableEvening(TABLE, ("banker_personal",)), house.far()
    pit = house.pit("--adopt-new")
    far.publish(f"pit/v1/{TABLE}/state", table.state(), retain=True)
    far.ack(ack(0))
    far.send_events(table.lock(1), table.finish())
    far.ack(ack(2))

    assert _main("backup", *at, str(copy)) == 0
    assert verify_backup(copy, None).tables == {TABLE: 2}
    assert copy.stat().st_mode & 0o077 == 0
    assert _main("restore", *at, str(copy)) == 1
    assert "ledger_locked" in capsys.readouterr().err, "a pit runs on it"

    far.send_events(table.lock(4), table.finish((4, "k9")), hit := table.hit(4, "k9", "banker_personal"))
    far.ack(ack(5))
    for step, by in (("verify", "Ann"), ("pay", "Cas")):
        assert house.decide("award", step, f"{TABLE}.1", by=by) == 0
    with closing(Ledger(house.ledger, begin=False)) as ledger:
        before = ledger.awards()
    cents = before[0].cents
    for step, by in (("pending", "pit"), ("verified", "practice:Ann"), ("paid", "practice:Cas")):
        far.send_events(table.award(hit, step, cents, by))
    far.ack(ack(8))
    assert pit.ended(signal.SIGKILL) != 0

    assert _main("restore", *at, str(copy)) == 1
    assert "restore_goes_back" in capsys.readouterr().err, "the ledger in place is sound and has more"
    assert _main("restore", *at, str(copy), "--by", "Smith") == 0
    (aside,) = tmp_path.glob("ledger.sqlite.before-*Z")
    with closing(Ledger(aside, begin=False)) as ledger:
        assert ledger.awards() == before, "what was in place is kept whole"

    house.pit()
    far.publish(f"pit/v1/{TABLE}/state", table.state(), retain=True)
    far.ack(ack(2))
    assert main(["award", "list", *at]) == 0
    assert "no awards" in capsys.readouterr().out
    far.send_events(*table.sent[2:])
    far.ack(ack(8))
    with closing(Ledger(house.ledger, begin=False)) as ledger:
        assert ledger.awards()[0].held, "the table tells that it was paid"
    assert house.decide("award", "pay", f"{TABLE}.1", by="Eve") == 1
    assert "award_told" in capsys.readouterr().err
    assert house.decide("award", "recall", f"{TABLE}.1", by="Carl") == 0
    assert main(["account", *at]) == 0
    with closing(Ledger(house.ledger, begin=False)) as ledger:
        (award,) = ledger.awards()
        assert (award.step, award.cents, ledger.account().paid_cents) == ("paid", cents, cents)


_PASSPHRASE: list[Path] = []


@pytest.fixture(autouse=True)
def _passphrase(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "_COST", 2)
    file = tmp_path_factory.mktemp("secret") / "passphrase"
    file.touch(0o600)
    file.write_text("four words nobody guesses\n", "utf-8")
    _PASSPHRASE.append(file)


def _main(*words: str) -> int:
    return main([*words, "--passphrase-file", str(_PASSPHRASE[-1])])


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Path]:
    """The paths of a ledger and of its backup."""
    ledger, copy = tmp_path / "ledger", tmp_path / "copy"
    Ledger(ledger).close()
    assert main(["key", "--ledger", str(ledger)]) == 0
    assert _main("backup", "--ledger", str(ledger), str(copy)) == 0
    return ledger, copy


def _with_another_byte(content: bytes, place: int) -> bytes:
    """Return the gzip-compressed content with the byte at `place` changed, or a later byte if that change would not
    alter the unpacked content."""
    changed = bytearray(content)
    changed[place] ^= 1
    try:
        same = gzip.decompress(changed) == gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        same = False
    return _with_another_byte(content, place + 1) if same else bytes(changed)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_backup_with_one_byte_changed_is_refused_and_nothing_is_touched(
    kept: tuple[Path, Path], part: float, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    before, content = ledger.read_bytes(), copy.read_bytes()
    copy.write_bytes(_with_another_byte(content, int(len(content) * part)))
    assert code_of(lambda: verify_backup(copy, None)) == "backup_damaged"
    assert _main("restore", "--ledger", str(ledger), str(copy), "--by", "Ann") == 1
    assert ledger.read_bytes() == before


def _packed(copy: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(copy, "w:gz") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def _forged(copy: Path, change: Callable[[dict[str, Any], object], object], signer: SigningKey | None) -> None:
    """Change the backup's description or its files with the function `change`, as a forger would. Sign the backup with
    the key `signer`, or leave the old signature if `signer` is None."""
    with tarfile.open(copy) as tar:
        files = {each.name: (tar.extractfile(each) or io.BytesIO()).read() for each in tar}
    says = json.loads(files.pop("backup.json"))
    change(says, files)
    for each in says["files"]:
        each["sha256"] = hashlib.sha256(files[each["name"]]).hexdigest()
    if signer is not None:
        del says["signature"]
        says = json.loads(signed(says, signer))
    _packed(copy, {"backup.json": json.dumps(says).encode(), **files})


def test_what_a_backup_says_is_what_its_key_signed_and_what_its_ledger_has(kept: tuple[Path, Path]) -> None:
    ledger, copy = kept
    key = load_or_make_key(ledger.with_name("ledger.key"))
    _forged(copy, lambda says, _: says.update(tables={"t-0": 9}), None)
    assert code_of(lambda: verify_backup(copy, None)) == "backup_damaged"
    _forged(copy, lambda says, _: says.update(tables={"t-0": 9}), key)
    assert code_of(lambda: verify_backup(copy, None)) == "backup_damaged", "no event of t-0 is in the ledger"


def test_a_forged_pit_is_not_restored_where_the_true_key_is(
    kept: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    forger = SigningKey(bytes(32))
    _forged(copy, lambda says, _: says.update(public_key=forger.public.hex()), forger)
    assert verify_backup(copy, None).public_key == forger.public, "whose key it is, a person compares"
    assert _main("restore", "--ledger", str(ledger), str(copy)) == 1
    assert "restore_in_the_way" in capsys.readouterr().err
    new = ledger.parent / "new" / "ledger"
    assert _main("restore", "--ledger", str(new), str(copy)) == 1
    assert "backup_damaged" in capsys.readouterr().err, "the sealed key is another"
    assert not new.parent.exists()


def test_whoever_finds_a_backup_finds_no_key_in_it(
    kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    assert ledger.with_name("ledger.key").read_bytes() not in gzip.decompress(copy.read_bytes())
    wrong = tmp_path / "wrong"
    wrong.touch(0o600)
    wrong.write_text("five words nobody guesses", "utf-8")
    for words in (("verify", str(copy)), ("restore", "--ledger", str(tmp_path / "new" / "ledger"), str(copy))):
        assert main([*words, "--passphrase-file", str(wrong)]) == 1
        assert "passphrase_wrong" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert _main("verify", str(copy)) == 0
    assert "that key signed the backup" in capsys.readouterr().out


def _bomb(copy: Path, ledger: bytes) -> None:
    copy.write_bytes(64 * gzip.compress(bytes(1 << 20), 1))


def _deep(copy: Path, ledger: bytes) -> None:
    _packed(copy, {"backup.json": b"[" * 200_000 + b"]" * 200_000})


def _folder(copy: Path, ledger: bytes, head: bytes) -> None:
    """Replace the backup by one in the form that the program of commit 0f50807 wrote: a folder with the ledger's file,
    the description `head` of the backup, and a file of checksums."""
    copy.unlink()
    copy.mkdir()
    sums = ""
    for name, data in (("ledger", ledger), ("backup.json", head)):
        (copy / name).write_bytes(data)
        sums += f"{hashlib.sha256(data).hexdigest()}  {name}\n"
    (copy / "SHA256SUMS").write_text(sums, "utf-8")


def _deep_folder(copy: Path, ledger: bytes) -> None:
    _folder(copy, ledger, b"[" * 200_000 + b"]" * 200_000)


def _folder_with_another_count(copy: Path, ledger: bytes) -> None:
    _folder(copy, ledger, b'{"pit_backup":1,"at":"then","tables":{"t-0":9},"findings":[]}')


def _linked_folder(copy: Path, ledger: bytes) -> None:
    _folder(copy, ledger, b"{}")
    (copy / "ledger").unlink()
    (copy / "ledger").symlink_to("/etc/passwd")


@pytest.mark.parametrize("hostile", [_bomb, _deep, _deep_folder, _folder_with_another_count, _linked_folder])
def test_a_hostile_backup_is_an_error_and_no_traceback(
    hostile: Callable[[Path, bytes], None], kept: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    before = ledger.read_bytes()
    hostile(copy, before)
    for words in (("verify", str(copy)), ("restore", "--ledger", str(ledger), "--unsigned", str(copy))):
        assert _main(*words) == 1
        assert capsys.readouterr().err.partition(":")[0] in ("backup_damaged", "backup_unreadable")
    assert ledger.read_bytes() == before


def test_the_folder_of_an_earlier_version_is_restored_on_a_persons_word(
    kept: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    _folder(copy, ledger.read_bytes(), b'{"pit_backup":1,"at":"then","tables":{},"findings":[]}')
    assert _main("restore", "--ledger", str(ledger), str(copy)) == 1
    assert "backup_unsigned" in capsys.readouterr().err
    assert _main("restore", "--ledger", str(ledger), "--unsigned", str(copy)) == 0


def test_a_restore_that_fails_leaves_ledger_and_key_as_they_were(
    kept: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, copy = kept
    ledger.with_name("ledger.key").unlink()
    lock = ledger.with_name("ledger.lock")
    lock.touch(0o600)

    def tree() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fill() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = tree()
    for step in itertools.count():
        at = AtStep(step, fill)
        with monkeypatch.context() as failing:
            for owner, name in ((os, "fsync"), (os, "fchmod"), (Path, "rename")):
                failing.setattr(owner, name, _after(at, getattr(owner, name)))
            code = _main("restore", "--ledger", str(ledger), str(copy))
        if code == 0:
            break
        assert tree() == before, f"at step {step}"
    assert step > 5


def _after(before: Callable[[], None], real: Callable[..., Any]) -> Callable[..., Any]:
    def stepped(*args: Any, **kwargs: Any) -> Any:
        before()
        return real(*args, **kwargs)

    return stepped


def test_a_backup_is_never_written_over_and_a_lost_machine_gets_key_and_ledger_back(
    kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    assert _main("backup", "--ledger", str(ledger), str(copy)) == 1
    assert "backup_unwritable" in capsys.readouterr().err
    new = tmp_path / "new machine" / "ledger"
    assert _main("restore", "--ledger", str(new), str(copy)) == 0
    assert new.with_name("ledger.key").read_bytes() == ledger.with_name("ledger.key").read_bytes()
    assert new.with_name("ledger.key").stat().st_mode & 0o077 == 0
    new.with_name("ledger.key").write_bytes(bytes(32))
    assert _main("restore", "--ledger", str(new), str(copy)) == 1
    assert "restore_in_the_way" in capsys.readouterr().err


def test_a_key_that_was_rotated_after_the_backup_stays(kept: tuple[Path, Path]) -> None:
    ledger, copy = kept
    key = ledger.with_name("ledger.key")
    assert main(["rotate-key", "--ledger", str(ledger)]) == 0
    rotated = key.read_bytes()
    assert _main("restore", "--ledger", str(ledger), str(copy)) == 0
    assert key.read_bytes() == rotated, "the tables know no other key any more"


def test_a_damaged_ledger_is_no_backup_and_gives_way_to_one(
    kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    ledger.write_bytes(b"SQLite format 3\0" + bytes(4000))
    assert _main("backup", "--ledger", str(ledger), str(tmp_path / "second")) == 1
    assert "ledger_" in capsys.readouterr().err
    assert not list(tmp_path.glob("second*")), "what was half made has gone"
    assert _main("restore", "--ledger", str(ledger), str(copy)) == 0
    assert main(["account", "--ledger", str(ledger)]) == 0


def test_a_ledger_of_an_earlier_form_is_backed_up_as_it_is_and_gives_way_on_a_persons_word_alone(
    form_6: Path, kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The backup of a ledger in an old form of the schema leaves the ledger unchanged, and can be restored. So a person
    who updates the pit can make a backup before the new program updates the schema.

    The ledger is not replaced by an older backup unless a person says so.
    """
    before, copy = form_6.read_bytes(), tmp_path / "of form 6"
    shutil.copy(kept[0].with_name("ledger.key"), form_6.with_name(f"{form_6.name}.key"))
    assert _main("backup", "--ledger", str(form_6), str(copy)) == 0
    assert form_6.read_bytes() == before
    with tarfile.open(copy) as tar:
        tar.extract("ledger", tmp_path / "unpacked", filter="data")
    with closing(sqlite3.connect(tmp_path / "unpacked" / "ledger")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (6,)
    assert verify_backup(copy, None).tables.keys() == {"t-0", "t-1"}
    assert _main("restore", "--ledger", str(form_6), str(kept[1])) == 1
    assert "restore_goes_back" in capsys.readouterr().err
    assert _main("restore", "--ledger", str(form_6), str(copy)) == 0
    with closing(Ledger(form_6)) as ledger:
        assert [award.step for award in ledger.awards()] == ["paid", "rejected", "pending"]


def test_a_database_is_backed_up_by_its_own_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for act in ("backup", "restore"):
        assert _main(act, "--ledger", "postgresql://nowhere/pit", str(tmp_path / "copy")) == 1
        assert "backup_by_database" in capsys.readouterr().err
