"""Runs the commands from the maintenance lists in the documents, exactly as written there, at a healthy table. No
command may report a trouble."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from controller.bench.daemon import ROOT, Table
from controller.bench.dealer import Dealer
from controller.people.cli import programs

_LISTS = re.compile(r"^## Monthly\n(.*?)^## By symptom", re.M | re.S)
_BACKUP = ("royal9-01.backup", "--passphrase-file", "passphrase")


def _of_the_page() -> list[list[str]]:
    lists = _LISTS.search((ROOT / "docs" / "care.md").read_text("utf-8"))
    assert lists is not None
    return [words.split() for words in re.findall(r"`(?:sudo )?tablectl ([^`]+)`", lists[1])]


@pytest.mark.proof
def test_the_commands_of_the_monthly_and_the_yearly_list_find_nothing_at_a_table_that_is_well(
    table: Table, dealer: Dealer, tmp_path: Path
) -> None:
    dealer.open_shoe()
    dealer.play("KS 2D 9S 3C", 1)
    (tmp_path / "passphrase").write_text("from the safe\n", "utf-8")
    (tmp_path / "passphrase").chmod(0o600)

    def run(words: list[str]) -> tuple[int, str]:
        here = {
            "NAME": "Ann",
            "royal9-01.backup": f"{tmp_path}/royal9-01.backup",
            "passphrase": f"{tmp_path}/passphrase",
        }
        command = programs.python(*table.program, *[here.get(word, word) for word in words])
        own = os.environ | table.files.environment | {"TABLE_CONTROLLER_TABLE": str(table.file)}
        done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    assert run(["backup", *_BACKUP])[0] == 0
    before = (tmp_path / "royal9-01.backup").read_bytes()
    listed = _of_the_page()
    told = {" ".join(words): run(words) for words in listed if words[0] not in ("doctor", "self-test")}
    assert [*told] == ["lamp-test --by NAME", "verify", f"verify {' '.join(_BACKUP)}"]
    assert {code for code, _ in told.values()} == {0}, told
    assert "all good; head" in told["verify"][1]
    backup = told[f"verify {' '.join(_BACKUP)}"][1]
    assert backup.endswith("The passphrase opens the keys inside, and the key is this table's.\n")
    assert not re.search("restore|new-journal|remove|delete", backup)
    assert (tmp_path / "royal9-01.backup").read_bytes() == before
    assert ["doctor"] in listed
    rows = run(["doctor"])[1]
    assert re.search(r"^ok +journal", rows, re.M), rows
