"""The ledger is read by a process that may not write beside it, as the pit's page is, whether a pit runs or not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest

from tests.pit.evening import TableEvening
from tests.pit.test_meters import give, opened

ROOT = Path(__file__).resolve().parents[2]
_LOOK = """
import os, sys
from pathlib import Path
from controller.pit.standing import read_account, read_standing
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
    """A folder that everybody may pass to."""
    made = Path(mkdtemp())
    yield made
    made.chmod(0o755)
    rmtree(made)


def looked(ledger: Path) -> str:
    """What such a process reads."""
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
