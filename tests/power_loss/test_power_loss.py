"""Checks of power cuts. Whenever the power fails, and whichever unsynced writes are lost, the journal opens, verifies,
and replays to the state after a commit. It holds every row on which the pit, the lamps or the control socket had relied
before the cut.

The states of the disk come from what a real daemon did to its files. Each recording is different, because times and
salts differ. A failure names its recording, which pytest keeps, and the state in it, which can be made again.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from itertools import repeat
from operator import or_
from pathlib import Path

import pytest

from tests.power_loss.crash import Found, Recording, State, examine, examine_share, moments, states
from tests.power_loss.disk import FOLDER, JOURNAL
from tests.power_loss.life import Life
from tests.power_loss.recording import LIT, OPENED, SAID, SYNCED, WROTE, Note, build_recorder
from tests.power_loss.witness import Witness
from tests.support.once import made_once

_SEED = 1
_SAMPLE = 20
_SHORT, _EVERY, _LONG = 8, 18, 144  # rounds


@pytest.fixture(scope="module")
def recorder(shim: Path | None) -> Callable[..., Path]:
    """Return a function `recorder(folder, rounds)` that records a table's run of `rounds` rounds in a folder."""
    if shim is None:
        pytest.skip("no C compiler or no RPi.GPIO: what the daemon does cannot be recorded")

    def record(folder: Path, rounds: int, program: Sequence[str] = ()) -> Path:
        Life(folder, build_recorder(folder), shim, program).live(rounds)
        return folder

    return record


@pytest.fixture(scope="module")
def short(recorder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short recorded run, which all tests of this file share."""
    return made_once(tmp_path_factory, "power_loss", lambda folder: recorder(folder, _SHORT))


@pytest.fixture
def record(recorder: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Return a function `record(rounds)` that records a table's run of `rounds` rounds in this test's folder."""
    return lambda *life: recorder(tmp_path, *life)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Yield a folder in which states of a disk are made. It is in memory if possible, because the files of each state
    are synced many times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder) / "state"


def _assert_nothing_wrong(found: Found, folder: Path) -> None:
    __tracebackhide__ = True
    if found.wrong:
        told = [
            f"{what}\n    again: python -m tests.power_loss {folder} {state}" for state, what in found.wrong.items()
        ]
        pytest.fail(f"{len(told)} of {found.kinds.total()} states are wrong:\n" + "\n".join(told[:10]))


def _sample(recording: Recording, size: int) -> list[State]:
    """Return `size` random states of the disk from the recording. Half of them lie in checkpoints and first starts,
    which are rare."""
    luck, all_moments = random.Random(_SEED), moments(recording)
    rare = list(states([moment for moment in all_moments if moment.checkpoint], 4))
    usual = list(states([moment for moment in all_moments if not moment.checkpoint], 4))
    return luck.sample(rare, min(size // 2, len(rare))) + luck.sample(usual, size - size // 2)


def _in_all_cores(folder: Path, those: list[State], scratch: Path) -> Found:
    cores = os.cpu_count() or 1
    size = 1 + len(those) // (4 * cores)  # the later a state, the longer its journal: shares are not alike
    shares = [sorted(those)[start : start + size] for start in range(0, len(those), size)]
    scratches = [scratch.with_name(f"state{number}") for number, _ in enumerate(shares)]
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as pool:
        return reduce(or_, pool.map(examine_share, repeat(folder), shares, scratches))


@pytest.mark.long
def test_the_recording_is_whole(short: Path) -> None:
    recording = Recording(short)
    disk, witness = recording.disk(), Witness(recording.truth)
    for note in recording.notes:
        disk.do(note)
        witness.take(note)
    for name, content in disk.after("kept", bool).items():
        assert (short / FOLDER / name).read_bytes() == content, f"{name} is not what was recorded of it"
    assert witness.events == set(range(1, len(recording.truth.row_of_seq))), "an event was not heard on its way"
    assert witness.heard["act"] == len(recording.truth.supervised) == 4
    assert witness.promised.row == len(recording.truth.heads) - 1, "the last rows were shown to nobody"
    assert witness.promised.boot == 3
    assert min(witness.heard[kind] for kind in ("lamp", "state", "status")) > 3


def test_a_power_cut_takes_nothing_that_was_told(short: Path, scratch: Path) -> None:
    recording = Recording(short)
    those = {*_sample(recording, _SAMPLE), *_while_archiving(recording, 8)}
    _assert_nothing_wrong(examine(recording, those, scratch), short)


def _while_archiving(recording: Recording, size: int) -> list[State]:
    """Return `size` random states of the disk that a power cut can leave after the table began its first archive."""
    names = [note.data if note.kind == OPENED else b"" for note in recording.notes]
    begun = next(place for place, name in enumerate(names) if name.endswith(b".archive.new"))
    since = list(states([moment for moment in moments(recording) if moment.note >= begun], 4))
    return random.Random(_SEED).sample(since, size)


def test_a_disk_that_does_not_sync_is_found_out(short: Path, scratch: Path) -> None:
    recording = Recording(short, syncs=False)
    found = examine(recording, _sample(recording, 16), scratch)
    assert len(found.wrong) > 3


@pytest.mark.proof
def test_a_table_that_does_not_sync_is_found_out(record: Callable[..., Path], scratch: Path) -> None:
    recording = Recording(record(1, ("-m", "tests.power_loss.careless_table")))
    found = examine(recording, _sample(recording, 24), scratch)
    assert len(found.wrong) > 5


def test_a_table_that_speaks_before_its_commit_is_found_out(short: Path, scratch: Path) -> None:
    recording = Recording(short)
    recording.notes = list(_words_before_writes(recording.notes))
    found = examine(recording, _sample(recording, 12), scratch)
    assert any("promised" in wrong for wrong in found.wrong.values())


def _words_before_writes(notes: Sequence[Note]) -> Iterator[Note]:
    """Yield the notes of a recording in a wrong order: the daemon's messages come before the writes and syncs that they
    should follow."""
    held: list[Note] = []
    for note in notes:
        if note.kind in (SAID, LIT):
            yield note
            continue
        if note.kind == WROTE and held and held[-1].kind == SYNCED:
            yield from held
            held = []
        held.append(note)
    yield from held


@pytest.mark.proof
def test_every_moment_of_a_life(record: Callable[..., Path], scratch: Path, figure: Callable[[str], None]) -> None:
    folder = record(_EVERY)
    all_moments = moments(Recording(folder))
    found = _in_all_cores(folder, list(states(all_moments, 2)), scratch)
    _assert_nothing_wrong(found, folder)
    assert len(found.contents) >= 3500
    figure(f"power cut at each of {len(all_moments)} writes, truncations, syncs and unlinks: {_told(found)}")


@pytest.mark.proof
def test_a_long_life_whose_log_begins_anew(
    record: Callable[..., Path], scratch: Path, figure: Callable[[str], None]
) -> None:
    folder = record(_LONG)
    recording = Recording(folder)
    disk, beginnings = recording.disk(), 0
    for note in recording.notes:
        log = disk.after("kept", bool).get(f"{JOURNAL}-wal", b"") if (note.kind, note.number) == (WROTE, 0) else b""
        beginnings += len(log) > 1000 * 4096 and len(note.data) == 32
        disk.do(note)
    assert beginnings, "SQLite never went back to the beginning of its log: this life is too short"
    found = _in_all_cores(folder, _sample(recording, 400), scratch)
    _assert_nothing_wrong(found, folder)
    figure(f"{_LONG} rounds, {beginnings} times the log began anew: {_told(found)}")


def _told(found: Found) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.kinds.items()))
    return (
        f"{found.kinds.total()} states ({kinds}), {len(found.contents)} of them different: each opens, verifies and "
        f"replays to a commit, none misses what was told; at most {found.most_bytes_lost} bytes unsynced at once"
    )
