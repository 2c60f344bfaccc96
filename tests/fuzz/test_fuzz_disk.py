"""Checks of a disk that is full or fails: the real daemon keeps what it received in memory, tells people, and loses
nothing once the disk works again."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from controller.bench.daemon import ROOT, Broker, Table, TableFiles
from controller.bench.dealer import Dealer
from controller.bench.far_pit import Event, FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from tests.support.second_person import agree
from tests.support.waiting import PATIENCE_S

_DISK_BYTES = 1_500_000
_MAKE_ROOM = r"\n  what to do: Make room on its disk\."
_CHECK = r"\n  what to do: Check that its disk is sound and not "


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that can be made to refuse writes of the journal. It refuses them inside the block `with refusing(table)`.

    `error` is the error that a running table reports while the disk refuses. `why` is a pattern for the error of a
    table that cannot start on such a disk. It is None if the table can start, because the start copies SQLite's
    write-ahead log into the journal's file and so makes room. `journal` holds settings for the section [journal] of the
    table's file, and `environment` holds variables for the daemon.
    """

    error: str
    why: str | None
    refusing: Callable[[Table], AbstractContextManager[None]]
    journal: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


@contextmanager
def _mounted(folder: Path) -> Iterator[bool]:
    """Mount a small file system at the folder for the duration of the block, if this user may. Yield whether it is
    mounted."""
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
    """Fill the file system at the folder to its last byte for the duration of the block."""
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
    """During the block, let no file of the daemon grow beyond the present size of the journal's write-ahead log. The
    disk then refuses a write, and the test needs no special rights.

    SQLite reports this as an I/O error, not as a full disk.
    """
    pid = table.process.pid if table.runs else os.getpid()  # whoever we start is held to it, too
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    wal = table.journal.with_name(table.journal.name + "-wal")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it was killed meanwhile
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def _there(file: Path) -> Iterator[None]:
    """Create this empty file for the duration of the block."""
    file.touch()
    yield
    file.unlink()


@contextmanager
def _of_its_own(folder: Path) -> Iterator[Disk]:
    """Yield a small disk that holds only the journal and that can be filled."""
    with _mounted(folder) as mounted:
        if not mounted:
            pytest.skip("this user may not mount a file system, so none can be filled")
        yield Disk(
            error="the disk is full (SQLITE_FULL)",
            why=r"the disk is full \(SQLITE_IOERR_SHMSIZE\)\." + _MAKE_ROOM,
            refusing=lambda _: _filled(folder),
            journal={"path": str(folder / "table.journal"), "signing_key": str(folder / "table.key")},
        )


@contextmanager
def _limited(_folder: Path) -> Iterator[Disk]:
    """Yield a disk on which no file can grow."""
    yield Disk(
        error="disk I/O error (SQLITE_IOERR_WRITE)",
        why=None,
        refusing=_no_larger_file,
    )


@contextmanager
def _failing(folder: Path) -> Iterator[Disk]:
    """Yield a disk that accepts each write but fails to sync. After a crash the written bytes may be on the disk or
    not."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: cc is not on the path, and syncs are made to fail by a library in C")
    library, switch = folder / "failing_sync.so", folder / "fail"
    source = Path(__file__).with_name("failing_sync.c")
    options = "-shared -fPIC -O1 -Wall -Wextra -Werror"
    subprocess.run([compiler, *options.split(), "-o", library, source], check=True)
    yield Disk(
        error="disk I/O error (SQLITE_IOERR_FSYNC)",
        why=r"disk I/O error \(SQLITE_IOERR_FSYNC\)\." + _CHECK,
        refusing=lambda _: _there(switch),
        environment={"LD_PRELOAD": str(library), "TABLE_SYNCS_FAIL": str(switch)},
    )


_DISKS = {"a disk of its own": _of_its_own, "a limit": _limited, "syncs that fail": _failing}


_OF_THE_KILLED = [pytest.param(by, marks=[pytest.mark.proof] * (by != "a disk of its own")) for by in _DISKS]


@pytest.fixture(params=[pytest.param(by, marks=[pytest.mark.proof] * (by == "a limit")) for by in _DISKS])
def disk(request: pytest.FixtureRequest, tmp_path: Path, figure: Callable[[str], None]) -> Iterator[Disk]:
    """Yield one kind of disk for the journal. The disk works until the test makes it refuse."""
    figure(f"a disk that refuses, made so by {request.param}: what came is kept, told as it is, and nothing lost")
    folder = tmp_path / "disk"
    folder.mkdir()
    with _DISKS[request.param](folder) as disk:
        yield disk


@pytest.fixture
def bench_table_files(tmp_path: Path, broker: Broker, shim: Path | None, disk: Disk) -> TableFiles:
    """Return the files of a table whose journal is on the disk under test."""
    files = TableFiles(tmp_path, f"disk-{os.getpid()}", broker.port, shim, None, journal=disk.journal)
    both = (disk.environment, files.environment)
    preloaded = ":".join(each["LD_PRELOAD"] for each in both if "LD_PRELOAD" in each)
    files.environment |= disk.environment | {"LD_PRELOAD": preloaded}
    return files


def _cards(event: Event) -> str:
    """Return the cards of a finished round as text: first Player's cards, then Banker's."""
    return " - ".join(" ".join(event[side]["cards"]) for side in ("player", "banker"))


def _drawn(table: Table, after_row: int) -> list[str]:
    """Return the drawn cards that the journal holds after the row `after_row`."""
    return [fact["card"] for fact in table.facts(after_row) if fact["fact"] == "CardDrawn"]


def test_a_disk_that_refuses_stops_the_table_and_loses_nothing(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually, disk: Disk
) -> None:
    dealer.open_shoe()
    dealer.play("9C TD TC 5D")
    dealer.lock(1)
    eventually(lambda: table.unacknowledged() == 0)
    told, facts, before = len(pit.events), table.facts(), table.status()
    with disk.refusing(table):
        shoe.deal("KS 2D 9S 3C")
        table.hear_out()
        eventually(lambda: table.status().journal.error)
        eventually(lambda: pins.lamp("fault") == "fast_blink")
        status = table.status()
        assert status.journal.error == disk.error
        assert status.face == before.face, "what is not on the disk is not shown"
        assert status.lamps == before.lamps | {"fault": "fast_blink"}, "nor by a lamp"
        assert len(pit.events) == told, "nor told"
        assert table.facts() == facts, "nor found in the journal by another program"
    eventually(lambda: table.fault == "journal_failed")
    assert table.stop_told.details == {"error": disk.error.rpartition("(")[2].rstrip(")")}, "a code and no sentence"
    assert table.hands == {"player": ["KS", "9S"], "banker": ["2D", "3C"]}
    table.supervisor("clear")
    dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 3)
    assert pit.types[told:] == ["round", "hit", "fault", "fault_cleared", "wagers_locked", "round"], "each once"
    assert [hit["seat"] for hit in pit.hits] == [1]
    assert [_cards(event) for event in pit.rounds] == ["9C TC - TD 5D", "KS 9S - 2D 3C", "9C TC - TD 5D"]
    assert _drawn(table, len(facts)) == ["KS", "2D", "9S", "3C", "9C", "TD", "TC", "5D"]
    assert table.verify().messages == len(pit.events)


@pytest.mark.parametrize("disk", _OF_THE_KILLED, indirect=True)
def test_a_table_killed_while_its_disk_refuses_starts_once_it_works_and_misses_what_is_lost(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually, disk: Disk
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    eventually(lambda: table.unacknowledged() == 0)
    told, facts = len(pit.events), table.facts()
    with disk.refusing(table):
        shoe.deal("KS")
        eventually(lambda: table.status().journal.error)
        shoe.deal("2D 9S")  # they wait behind it, and nothing of them is written
        table.hear_out()
        table.kill()
    table.journal.with_name(table.journal.name + "-shm").unlink()  # as after a power loss: it is made anew
    if disk.why is not None:
        with disk.refusing(table):
            table.start(await_ready=False)
            assert table.process.wait(PATIENCE_S) == 1
        said = f"journal_unusable: The journal {table.journal} cannot be opened: "
        assert re.match(disk.why, table.log.partition(said)[2]), table.log
        assert "Traceback" not in table.log

    # After a power loss nobody knows until when the shoe was heard. Otherwise a short restart need not stop the table.
    Path(f"{table.files.values['control']['socket']}.heard").unlink()
    table.start()
    eventually(table.links_up)
    assert table.facts()[: len(facts)] == facts
    kept = _drawn(table, len(facts))
    assert kept in ([], ["KS"]), "whether a commit that failed stands, the disk decides"
    assert table.hands == {"player": kept, "banker": []}
    eventually(lambda: pit.types[told:] == ["fault"])
    assert table.fault == "shoe_unheard"
    shoe.deal("3C")
    eventually(lambda: table.stop_told.held_cards == 1)
    for card in ["KS", "2D", "9S"][len(kept) :]:
        waits = table.supervisor("card", card=card)
        agree(waits, Path(table.files.values["control"]["socket"]), pins.confirm)
        eventually(lambda: table.status().second_person is None)
    table.count()
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    assert pit.types[told:] == ["fault", "fault_cleared", "round", "hit"], "each once"
    assert [_cards(event) for event in pit.rounds] == ["KS 9S - 2D 3C"]
    assert table.verify().messages == len(pit.events)


_LOST_PAGES = """
import os, shutil, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
from tests.daemon.test_journal import SHOES, opened, verify

PAGE = 4096
switch = Path(os.environ["TABLE_SYNCS_FAIL"])

def after_a_failed_sync(folder, killed):
    path, log, after = folder / "journal", folder / "journal-wal", folder / "after"

    def until_a_sync_fails():
        journal = opened(path)
        journal.append(SHOES[:8])
        (folder / "synced").write_bytes(log.read_bytes())
        journal.mark_acked(journal.head_seq)
        switch.touch()
        try:
            journal.append(SHOES[8:9])
        except OSError:
            switch.unlink()
            return journal
        sys.exit("the sync did not fail")

    if not killed:
        journal = until_a_sync_fails()
    elif pid := os.fork():
        assert os.waitpid(pid, 0)[1] == 0
        journal = None
    else:
        until_a_sync_fails()
        os._exit(0)
    synced, failed = (folder / "synced").read_bytes(), log.read_bytes()
    if journal is None:
        journal = opened(path)
    journal.append(SHOES[journal._row:][:1])
    told = verify(path).rows

    def on_disk(place, page):
        rewritten = page != failed[place:place + PAGE]
        dropped = failed[place:place + PAGE] != synced[place:place + PAGE]
        return synced[place:place + PAGE].ljust(len(page), bytes(1)) if dropped and not rewritten else page

    whole = log.read_bytes()
    after.mkdir()
    shutil.copy(path, after / "journal")
    pages = (on_disk(place, whole[place:place + PAGE]) for place in range(0, len(whole), PAGE))
    (after / "journal-wal").write_bytes(b"".join(pages))
    opened(after / "journal").close()
    assert verify(after / "journal").rows == told, (killed, verify(after / "journal").rows, told)

for killed in (True, False):
    folder = Path(sys.argv[2], str(killed))
    folder.mkdir()
    after_a_failed_sync(folder, killed)
"""


def test_after_a_failed_sync_nothing_hangs_on_what_the_kernel_took_for_written(tmp_path: Path) -> None:
    """The journal relies on no data that a failed sync left unwritten, whether the program is killed or runs on. The
    danger is that the kernel counts the unwritten pages as written after a failed sync, so the next sync leaves them
    out."""
    with _failing(tmp_path) as disk:
        command = [sys.executable, "-c", _LOST_PAGES, str(ROOT), str(tmp_path)]
        done = subprocess.run(
            command, env={**os.environ, **disk.environment}, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
