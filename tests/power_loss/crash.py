"""The check of power cuts: every moment at which the power could fail, every state in which the failure could leave the
disk, and whether the table can start from that state."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import verify
from controller.daemon.record.replay import replay
from controller.table.public import public
from tests.power_loss.disk import FOLDER, JOURNAL, KEY, Disk, Loss
from tests.power_loss.recording import SYNCED, read_notes
from tests.power_loss.witness import Promised, Truth, Witness, read_truth

_INDEX_BYTES = 32768


class State(NamedTuple):
    """One state in which a power cut can leave the disk. The cut comes just before note number `moment` of the
    recording. `draw` is the number of the random choice of which writes survive."""

    moment: int
    loss: Loss
    draw: int = 0

    def __str__(self) -> str:
        return f"{self.moment} {self.loss} {self.draw}"


class Recording:
    """The recording of a table's run, kept in `folder`. If `syncs` is False, the recording is played back as if every
    sync of the disk had done nothing."""

    def __init__(self, folder: Path, syncs: bool = True) -> None:
        self.folder = folder
        self.notes = read_notes(folder / "notes")
        self.truth = read_truth(folder)
        self.syncs = syncs

    def disk(self) -> Disk:
        """Return the disk as it was before the recording began."""
        return Disk(self.folder / FOLDER, self.syncs)


class Moment(NamedTuple):
    """A moment of a recording at which a power cut can leave a state that was not possible the moment before. `note` is
    the number of the note that follows the moment."""

    note: int
    at_stake: int  # changes that are not synced
    checkpoint: bool  # whether some are to the database itself, not to its log
    before_sync: bool


def moments(recording: Recording) -> list[Moment]:
    """Return every moment of the recording at which a power cut can leave a new state of the disk. The end of the
    recording is always included."""
    disk, found = recording.disk(), []
    for index, note in enumerate(recording.notes):
        if disk.changes(note):
            found.append(Moment(index, disk.at_stake(), disk.at_stake(JOURNAL) > 0, note.kind == SYNCED))
        disk.do(note)
    return [*found, Moment(len(recording.notes), disk.at_stake(), disk.at_stake(JOURNAL) > 0, True)]


def states(found: Iterable[Moment], draws: int) -> Iterator[State]:
    """Yield the states in which a power cut at these moments can leave the disk: with all writes, with only the synced
    writes, and `draws` times with a random part of the writes.

    The state with only the synced writes stays the same until the next sync. So it is checked once, just before that
    sync, when the table has told the most to the outside. Moments in a checkpoint, which overwrites good data, get four
    times as many random states.
    """
    for moment in found:
        yield State(moment.note, "kept")
        if moment.before_sync and moment.at_stake:
            yield State(moment.note, "dropped")
        of_each = draws * 4 if moment.checkpoint else draws
        if moment.at_stake:
            yield from (State(moment.note, "torn", draw) for draw in range(of_each))
        if moment.at_stake > 1:
            yield from (State(moment.note, "reordered", draw) for draw in range(of_each))


@dataclass
class Found:
    """The results of the checked states of the disk: `kinds` counts the states of each kind, `contents` holds the
    digests of their files (many states hold the same), `most_bytes_lost` is the most written bytes that one state lost,
    and `wrong` holds the states that failed."""

    kinds: Counter[str] = field(default_factory=Counter)
    contents: set[bytes] = field(default_factory=set)
    most_bytes_lost: int = 0
    wrong: dict[State, str] = field(default_factory=dict)

    def __or__(self, other: Found) -> Found:
        return Found(
            self.kinds + other.kinds,
            self.contents | other.contents,
            max(self.most_bytes_lost, other.most_bytes_lost),
            self.wrong | other.wrong,
        )


def examine(recording: Recording, those: Iterable[State], scratch: Path) -> Found:
    """Make each of these states of the disk in the folder `scratch`, and check it. If two states hold the same files
    and must keep the same promises, only one of them is checked."""
    found, judged = Found(), set[tuple[bytes, Promised]]()
    disk, witness, done = recording.disk(), Witness(recording.truth), 0
    committed = committed_rows(recording, scratch)
    for state in sorted(those):
        for note in recording.notes[done : state.moment]:
            disk.do(note)
            witness.take(note)
        done = state.moment
        files, index = left_behind(disk, state)
        content = _digest(files)
        found.kinds[state.loss] += 1
        found.contents.add(content)
        found.most_bytes_lost = max(found.most_bytes_lost, disk.bytes_at_stake() if state.loss == "dropped" else 0)
        if (content, witness.promised) in judged:
            continue
        judged.add((content, witness.promised))
        leave(files | index, scratch)
        wrong = judge(scratch, recording.truth, witness.promised, committed)
        if wrong is not None:
            found.wrong[state] = wrong
    return found


def examine_share(folder: Path, those: Sequence[State], scratch: Path) -> Found:
    """Check these states of the recording in `folder`. A worker process calls this function."""
    return examine(Recording(folder), those, scratch)


def left_behind(disk: Disk, state: State) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return two dictionaries of files: the files that a power cut leaves on the disk, and the shared-memory index of
    SQLite's write-ahead log. After a power cut this index may hold anything, so it is filled with random bytes or left
    out."""
    luck = random.Random(str(state))
    odds = luck.random()
    files = disk.after(state.loss, lambda: luck.random() < odds)
    return files, {f"{JOURNAL}-shm": luck.randbytes(_INDEX_BYTES)} if luck.random() < 0.5 else {}


def committed_rows(recording: Recording, scratch: Path) -> set[int]:
    """Return how many rows the journal could hold after a whole number of commits, as a set of numbers. They are found
    by reading the recorded journal at each sync."""
    rows, disk = {0}, Disk(recording.folder / FOLDER)
    for note in recording.notes:
        disk.do(note)
        if note.kind == SYNCED and JOURNAL in (files := disk.after("kept", bool)):
            leave(files, scratch)
            with closing(sqlite3.connect(scratch / JOURNAL)) as db:
                if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    rows.add(db.execute("SELECT coalesce(max(row), 0) FROM fact").fetchone()[0])
    return rows


def leave(files: dict[str, bytes], scratch: Path) -> None:
    """Put these files into the folder `scratch`, and remove everything else from it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for name, content in files.items():
        path = scratch / name
        path.write_bytes(content)
        path.chmod(0o600)


def _digest(files: dict[str, bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.digest()


def judge(folder: Path, truth: Truth, promised: Promised, committed: set[int]) -> str | None:
    """Start a table from the files in `folder` as `tablectl run` does, and read the journal as `tablectl verify` does.
    Return a text that says what is wrong, or None if nothing is wrong.

    `truth` is the journal that the recorded daemon left. `promised` is the last row that was known outside the table.
    `committed` has the numbers of rows that are possible after a commit.
    """
    path = folder / JOURNAL
    try:
        if promised.boot:
            verify(path, folder)  # as a person may, before the table is started again
        key = load_or_make_key(folder / KEY)
        journal = Journal(path, truth.table_id, key, key.public)
        with closing(journal):
            table, differs = replay(journal.open_shoe(), truth.rules, truth.table_id, journal.epoch)
            boot = journal.boot
        good = verify(path, folder)
    except TableError as error:
        return f"{error.code}: {error}"
    if not promised.boot and good.epoch != truth.epoch:
        return None if good.rows == 0 else f"another journal, and it has {good.rows} rows"
    if (good.epoch, key.public) != (truth.epoch, truth.public_key):
        return "another journal or key, where this one was known outside"
    if boot <= promised.boot:
        return f"boot {boot}, where boot {promised.boot} was known outside"
    if good.rows < promised.row:
        return f"{good.rows} rows, where {promised.by} promised {promised.row}"
    if good.rows >= len(truth.heads) or good.head != truth.heads[good.rows]:
        return f"its {good.rows} rows are not the first {good.rows} that were written"
    if good.rows not in committed:
        return f"{good.rows} rows, which is inside a commit"
    if differs is not None or public(table) != truth.faces[good.rows]:
        return f"replays to another table than stood after row {good.rows} (differs: {differs})"
    return None
