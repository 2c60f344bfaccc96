"""A ledger's backup, made while the pit runs, is restored: tables send what it lacks, and nothing is paid twice."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from controller.pit.reference.__main__ import main
from controller.pit.reference.keeping import read_backup
from controller.pit.reference.ledger import Ledger
from tests.pit.evening import TableEvening
from tests.pit.house import TABLE, House, ack
from tests.pit.test_meters import code_of


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

    assert main(["backup", *at, str(copy)]) == 0
    assert read_backup(copy).tables == {TABLE: 2}
    assert {path.stat().st_mode & 0o077 for path in copy.iterdir()} == {0}
    assert main(["restore", *at, str(copy)]) == 1
    assert "ledger_locked" in capsys.readouterr().err, "a pit runs on it"

    far.send_events(table.lock(4), table.finish((4, "k9")), hit := table.hit(4, "k9", "banker_personal"))
    far.ack(ack(5))
    for step in ("verify", "pay"):
        assert main(["award", step, f"{TABLE}.1", *at, "--by", "Ann"]) == 0
    with closing(Ledger(house.ledger, begin=False)) as ledger:
        before = ledger.awards()
    cents = before[0].cents
    for step, by in (("pending", "pit"), ("verified", "Ann"), ("paid", "Ann")):
        far.send_events(table.award(hit, step, cents, by))
    far.ack(ack(8))
    assert pit.ended(signal.SIGKILL) != 0

    assert main(["restore", *at, str(copy)]) == 1
    assert "restore_goes_back" in capsys.readouterr().err, "the ledger in place is sound and has more"
    assert main(["restore", *at, str(copy), "--by", "Smith"]) == 0
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
    assert main(["award", "pay", f"{TABLE}.1", *at, "--by", "Eve"]) == 1
    assert "award_told" in capsys.readouterr().err
    assert main(["award", "recall", f"{TABLE}.1", *at, "--by", "Carl"]) == 0
    assert main(["account", *at]) == 0
    with closing(Ledger(house.ledger, begin=False)) as ledger:
        (award,) = ledger.awards()
        assert (award.step, award.cents, ledger.account().paid_cents) == ("paid", cents, cents)


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Path]:
    """A ledger, and its backup."""
    ledger, copy = tmp_path / "ledger", tmp_path / "copy"
    Ledger(ledger).close()
    assert main(["key", "--ledger", str(ledger)]) == 0
    assert main(["backup", "--ledger", str(ledger), str(copy)]) == 0
    return ledger, copy


@pytest.mark.parametrize("name", ["ledger", "key", "backup.json", "SHA256SUMS"])
def test_a_backup_with_one_byte_changed_is_refused_and_nothing_is_touched(kept: tuple[Path, Path], name: str) -> None:
    ledger, copy = kept
    file, before = copy / name, ledger.read_bytes()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert code_of(lambda: read_backup(copy)) == "backup_damaged"
    assert main(["restore", "--ledger", str(ledger), str(copy), "--by", "Ann"]) == 1
    assert ledger.read_bytes() == before


def test_a_backup_is_never_written_over_and_a_lost_machine_gets_key_and_ledger_back(
    kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    assert main(["backup", "--ledger", str(ledger), str(copy)]) == 1
    assert "backup_unwritable" in capsys.readouterr().err
    new = tmp_path / "new machine" / "ledger"
    assert main(["restore", "--ledger", str(new), str(copy)]) == 0
    assert new.with_name("ledger.key").read_bytes() == ledger.with_name("ledger.key").read_bytes()
    assert new.with_name("ledger.key").stat().st_mode & 0o077 == 0
    new.with_name("ledger.key").write_bytes(bytes(32))
    assert main(["restore", "--ledger", str(new), str(copy)]) == 1
    assert "restore_in_the_way" in capsys.readouterr().err


def test_a_key_that_was_rotated_after_the_backup_stays(kept: tuple[Path, Path]) -> None:
    ledger, copy = kept
    key = ledger.with_name("ledger.key")
    assert main(["rotate-key", "--ledger", str(ledger)]) == 0
    rotated = key.read_bytes()
    assert main(["restore", "--ledger", str(ledger), str(copy)]) == 0
    assert key.read_bytes() == rotated, "the tables know no other key any more"


def test_a_damaged_ledger_is_no_backup_and_gives_way_to_one(
    kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, copy = kept
    ledger.write_bytes(b"SQLite format 3\0" + bytes(4000))
    assert main(["backup", "--ledger", str(ledger), str(tmp_path / "second")]) == 1
    assert "ledger_" in capsys.readouterr().err
    assert not list(tmp_path.glob("second*")), "what was half made has gone"
    assert main(["restore", "--ledger", str(ledger), str(copy)]) == 0
    assert main(["account", "--ledger", str(ledger)]) == 0


def test_a_ledger_of_an_earlier_form_is_backed_up_as_it_is_and_gives_way_on_a_persons_word_alone(
    form_3: Path, kept: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever updates the pit backs its ledger up before the new version gives it another form."""
    before, copy = form_3.read_bytes(), tmp_path / "of form 3"
    assert main(["backup", "--ledger", str(form_3), str(copy)]) == 0
    assert form_3.read_bytes() == before
    assert {path.name for path in copy.iterdir()} == {"ledger", "backup.json", "SHA256SUMS"}
    with closing(sqlite3.connect(copy / "ledger")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
    assert read_backup(copy).tables.keys() == {"t-0", "t-1"}
    assert main(["restore", "--ledger", str(form_3), str(kept[1])]) == 1
    assert "restore_goes_back" in capsys.readouterr().err
    assert main(["restore", "--ledger", str(form_3), str(copy)]) == 0
    with closing(Ledger(form_3)) as ledger:
        assert [award.step for award in ledger.awards()] == ["paid", "rejected", "pending"]


def test_a_database_is_backed_up_by_its_own_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for act in ("backup", "restore"):
        assert main([act, "--ledger", "postgresql://nowhere/pit", str(tmp_path / "copy")]) == 1
        assert "backup_by_database" in capsys.readouterr().err
