"""Checks that a process that may not write in the ledger's folder, such as the pit's web page, can still read the
ledger, both while a pit runs and while none runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest

from controller.contract.keys import signature_holds
from controller.pit.reference.house_log import read_events, statement
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.opening import Place
from controller.pit.reference.standing import read_account, read_standing
from tests.pit.evening import KEY, TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import give, opened
from tests.support import forks

ROOT = Path(__file__).resolve().parents[2]
_LOOK = f"""{forks.ALIKE}import os, sys
from pathlib import Path
from controller.pit.reference.standing import read_account, read_standing
if os.getuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
ledger = Path(sys.argv[1])
assert not os.access(ledger.parent, os.W_OK)
print(read_standing(ledger).tables[0].seq, read_account(ledger).findings)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user of the machine may enter."""
    made = Path(mkdtemp())
    yield made
    made.chmod(0o755)
    rmtree(made)


def looked(ledger: Path) -> str:
    """Read the ledger in a process that may not write in the ledger's folder, and return that process's output."""
    for path in ledger.parent.iterdir():
        path.chmod(0o644)
    ledger.parent.chmod(0o555)
    run = subprocess.run(
        [sys.executable, "-c", _LOOK, str(ledger)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    ledger.parent.chmod(0o755)
    return run.stdout + run.stderr


def test_who_may_not_write_reads_what_is_committed(folder: Path) -> None:
    ledger, table = folder / "ledger", TableEvening("t-0")
    with closing(opened(ledger)) as open_:
        give(open_, table, table.lock(1), table.finish())
        assert looked(ledger) == "2 ()\n"
    assert not list(folder.glob("*-wal")), "the pit has ended, and its log is gone"
    assert looked(ledger) == "2 ()\n"


@over_both
def test_what_another_process_reads_is_what_the_ledger_says(at: Place) -> None:
    table = TableEvening("t-0")
    with closing(opened(at)) as open_:
        give(open_, table, table.lock(1, 2), table.finish((2, "all")), table.hit(2, "all", "big"))
        open_.keep([("t-1", RefusedError("x", "What came.", "Look."))])
        standing, awards = read_standing(at), tuple(open_.awards())
        assert standing.running
        assert standing.undecidable is None
        assert standing.levels == open_.levels()
        assert tuple(each.award for each in standing.waiting) == awards
        assert [each.hit_at for each in standing.waiting] == ["2026-01-01T20:00:00.000Z"]
        assert standing.owed_cents == awards[0].cents
        assert [(each.table, each.seq) for each in standing.tables] == [("t-0", 3), ("t-1", 0)]
        assert [each.code for each in standing.alarms] == ["x"]
        assert standing.alarms_by_code == {"x": 1}
        assert read_account(at) == open_.account()
        assert [event["seq"] for _, _, event in read_events(at, 0)] == [1, 2, 3]
        said = json.loads(statement(at, KEY, KEY.public))
        assert signature_holds(said, KEY.public)
        assert (said["heads"]["t-0"]["seq"], said["owed_cents"]) == (3, awards[0].cents)
    assert not read_standing(at).running


def test_what_comes_is_followed(tmp_path: Path) -> None:
    ledger, table = tmp_path / "ledger", TableEvening("t-0")
    with closing(opened(ledger)) as open_:
        command = [sys.executable, "-m", "controller.pit.reference", "events", "--ledger", str(ledger), "--follow"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as follower:
            assert follower.stdout is not None
            for seat in (1, 2):
                give(open_, table, table.lock(seat))
                assert json.loads(follower.stdout.readline())["event"]["progressive"][0]["seats"] == [seat]
            follower.kill()
