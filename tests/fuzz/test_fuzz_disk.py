"""A disk that is full: the real daemon keeps what came, says so, and loses nothing once there is room."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

from tests.hil.daemon import Broker, Table, TableFiles
from tests.hil.far_pit import FarPit
from tests.hil.far_shoe import FarShoe
from tests.hil.header import Pins
from tests.hil.plugin import Dealer, Eventually

_DISK_BYTES = 1_500_000


@contextmanager
def _mounted(folder: Path) -> Iterator[bool]:
    """A small file system of its own at the folder, where this user may mount one."""
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(folder)]
    mounted = mount is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def _filled(folder: Path) -> Iterator[None]:
    """The file system at the folder has not a byte left."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        for size in (65536, 4096, 512, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
    yield
    filler.unlink()


@contextmanager
def _no_larger_file(table: Table) -> Iterator[None]:
    """No file of the daemon's may grow past its journal's WAL: a disk that refuses a write, and needs no rights.

    SQLite does not call that full: it is an I/O error.
    """
    pid = table.process.pid if table.runs else os.getpid()  # whoever we start is held to it, too
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    wal = table.journal.with_name(table.journal.name + "-wal")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, before[1]))
    yield
    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@pytest.fixture(params=["a disk of its own", "a limit"])
def disk(request: pytest.FixtureRequest, tmp_path: Path, figure: Callable[[str], None]) -> Iterator[Path | None]:
    """The folder of a small disk for the journal; None for a limit on its files."""
    figure(f"a full disk, made so by {request.param}: what came is kept, told as it is, and nothing lost")
    folder = tmp_path / "disk"
    folder.mkdir()
    if request.param == "a limit":
        yield None
        return
    with _mounted(folder) as mounted:
        if not mounted:
            pytest.skip("this user may not mount a file system: only the limit is tried")
        yield folder


@pytest.fixture
def table_files(tmp_path: Path, broker: Broker, shim: Path | None, disk: Path | None) -> TableFiles:
    """The files of a table whose journal is on that disk."""
    journal = {} if disk is None else {"path": str(disk / "table.journal"), "signing_key": str(disk / "table.key")}
    return TableFiles(tmp_path, f"disk-{os.getpid()}", broker.port, shim, None, journal=journal)


@pytest.fixture
def full(table: Table, disk: Path | None) -> Callable[[], AbstractContextManager[None]]:
    """`with full():` there is no room on the journal's disk."""
    return lambda: _no_larger_file(table) if disk is None else _filled(disk)


def test_a_full_disk_stops_the_table_and_loses_nothing(
    table: Table,
    shoe: FarShoe,
    pins: Pins,
    pit: FarPit,
    dealer: Dealer,
    eventually: Eventually,
    disk: Path | None,
    full: Callable[[], AbstractContextManager[None]],
) -> None:
    dealer.open_shoe()
    dealer.play("KS 2D 9S 3C")
    dealer.lock(1)
    eventually(lambda: table.unacknowledged() == 0)
    told = len(pit.events)
    with full():
        shoe.deal("KS 2D 9S 3C")
        eventually(lambda: table.has_read(shoe))
        eventually(lambda: table.status()["journal"]["error"])
        error = table.status()["journal"]["error"]
        assert error == ("disk I/O error (SQLITE_IOERR_WRITE)" if disk is None else "the disk is full (SQLITE_FULL)")
        eventually(lambda: pins.lamp("fault") == "fast_blink")
        assert table.phase == "wagers_locked", "what is not on the disk is not shown"
        assert len(pit.events) == told, "nor told"
    eventually(lambda: table.fault == "journal_failed", within_s=10)
    assert error in table.face["fault"]["details"]["error"]
    assert table.hands == {"player": ["KS", "9S"], "banker": ["2D", "3C"]}
    table.supervisor("clear")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    dealer.play("KS 2D 9S 3C")
    eventually(lambda: len(pit.rounds) == 3)


def test_a_table_does_not_start_on_a_full_disk_and_says_why(
    table: Table, dealer: Dealer, disk: Path | None, full: Callable[[], AbstractContextManager[None]]
) -> None:
    dealer.open_shoe()
    facts = table.facts()
    table.kill()
    table.journal.with_name(table.journal.name + "-shm").unlink()  # as after a power loss: it is made anew
    if disk is None:
        why = r"disk I/O error \(SQLITE_IOERR_(WRITE|SHMSIZE)\)\.\n  what to do: Check that its disk is sound and not "
    else:
        why = r"the disk is full \(SQLITE_IOERR_SHMSIZE\)\.\n  what to do: Make room on its disk\."
    with full():
        table.start(await_ready=False)
        assert table.process.wait(20) == 1
    said = f"journal_unusable: The journal {table.journal} cannot be opened: "
    assert re.match(why, table.log.partition(said)[2]), table.log
    assert "Traceback" not in table.log
    table.start()
    assert table.facts()[: len(facts)] == facts
