"""A model of a disk that can lose power. It knows what its folder holds, and how much of that survives a power cut at
each moment.

The model is as unkind as a real file system may be. Until a file is synced, each write and truncation since its last
sync survives or is lost independently, and so does each sector of 512 bytes of a write. Syncing a file does not save
its name; that takes a sync of the folder. A hole that a lost write leaves is filled with zeros. A rename changes two
names, and both changes survive or both are lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.power_loss.recording import CUT, OPENED, RENAMED, SYNCED, UNLINKED, WROTE, Note

SECTOR = 512
FOLDER, JOURNAL, KEY = "journal", "table.journal", "table.key"
"""Where a recorded table keeps its journal, and what it and its key are called there."""

Loss = Literal["kept", "dropped", "reordered", "torn"]
"""What became of what was not synced: all of it is there, none, some of the writes, or some sectors of them."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write of bytes at an offset of a file."""

    offset: int
    data: bytes

    def on(self, content: bytearray) -> None:
        """Apply the write to the file's content."""
        content.extend(bytes(max(0, self.offset - len(content))))
        content[self.offset : self.offset + len(self.data)] = self.data

    def sectors(self) -> Iterator[Write]:
        """Split the write at the disk's sector borders, and yield the parts as writes of their own."""
        start, end = self.offset, self.offset + len(self.data)
        while start < end:
            stop = min(end, start - start % SECTOR + SECTOR)
            yield Write(start, self.data[start - self.offset : stop - self.offset])
            start = stop


@dataclass(frozen=True, slots=True)
class Cut:
    """A truncation of a file to a given size, in bytes."""

    size: int

    def on(self, content: bytearray) -> None:
        """Apply the truncation to the file's content."""
        del content[self.size :]
        content.extend(bytes(self.size - len(content)))


@dataclass(eq=False, slots=True)
class File:
    """A file on the model of a disk, without its name: its synced bytes, and the changes made since the last sync."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[Write | Cut] = field(default_factory=list)

    def sync(self) -> None:
        """Sync the file. From now on no change made so far can be lost."""
        for change in self.pending:
            change.on(self.synced)
        self.pending.clear()

    def after(self, survives: Callable[[], bool], torn: bool) -> bytes:
        """Return what the file holds after a power cut in which only some of its unsynced changes survive. `survives`
        decides about each change or, if `torn` is True, about each sector of a change."""
        content = bytearray(self.synced)
        for change in self.pending:
            parts = change.sectors() if torn and isinstance(change, Write) else (change,)
            for part in parts:
                if survives():
                    part.on(content)
        return bytes(content)


_Names = dict[str, File | None]


class Disk:
    """The model of a disk with the files of one folder. Files that SQLite creates again at every start are left out.
    Call the method `do` with each note of a recording, in order.

    If `syncs` is False, the disk claims to sync its files but does not.
    """

    def __init__(self, folder: Path, syncs: bool = True) -> None:
        self._folder = folder
        self._syncs = syncs
        self._handles: dict[tuple[int, int], File | None] = {}  # None: the folder itself
        self._names: dict[str, File] = {}
        self._synced_names: _Names = {}
        self._pending_names: list[_Names] = []

    def do(self, note: Note) -> None:
        """Change the files in the way in which the daemon changed them by this note of the recording."""
        handle = note.process, note.handle
        match note.kind:
            case "o":
                self._open(handle, Path(os.fsdecode(note.data)), note.number)
            case "w" | "t" if (file := self._handles.get(handle)) is not None:
                file.pending.append(Write(note.number, note.data) if note.kind == WROTE else Cut(note.number))
            case "s" if handle in self._handles and self._syncs:
                self._sync(self._handles[handle])
            case "u" if (name := Path(os.fsdecode(note.data)).name) in self._names:
                self._rename({name: None})
            case "r":
                old, new = (Path(os.fsdecode(path)).name for path in note.data.split(b"\0"))
                self._rename({old: None, new: self._names[old]})
            case "c":
                self._handles.pop(handle, None)

    def changes(self, note: Note) -> bool:
        """Tell whether this note of the recording changes what a power cut can leave on the disk."""
        if note.kind == OPENED:
            path = Path(os.fsdecode(note.data))
            is_new = path.name not in self._names and bool(note.number & os.O_CREAT)
            return path != self._folder and not _made_anew(path.name) and (is_new or bool(note.number & os.O_TRUNC))
        if note.kind in (WROTE, CUT):
            return self._handles.get((note.process, note.handle)) is not None
        if note.kind == SYNCED:
            return (note.process, note.handle) in self._handles
        return note.kind == RENAMED or (note.kind == UNLINKED and Path(os.fsdecode(note.data)).name in self._names)

    def at_stake(self, name: str | None = None) -> int:
        """Return how many changes are not synced yet. With `name`, count only that file's changes. Without it, count
        the changes of all files and of their names."""
        if name is not None:
            return len(self._names[name].pending) if name in self._names else 0
        return len(self._pending_names) + sum(len(file.pending) for file in self._files())

    def bytes_at_stake(self) -> int:
        """Return how many written bytes are not synced."""
        changes = (change for file in self._files() for change in file.pending)
        return sum(len(change.data) for change in changes if isinstance(change, Write))

    def after(self, loss: Loss, survives: Callable[[], bool]) -> dict[str, bytes]:
        """Return the files, by name, that a power cut at this moment would leave. `survives` is called for each change
        that may be lost, and decides whether it survives."""

        def chance() -> bool:
            return loss == "kept" or (loss != "dropped" and survives())

        names = dict(self._synced_names)
        for change in self._pending_names:
            if chance():
                names |= change
        return {name: file.after(chance, loss == "torn") for name, file in names.items() if file is not None}

    def _files(self) -> set[File]:
        return {file for file in (*self._names.values(), *self._synced_names.values()) if file is not None}

    def _open(self, handle: tuple[int, int], path: Path, flags: int) -> None:
        if path == self._folder:
            self._handles[handle] = None
        elif not _made_anew(path.name):
            if path.name not in self._names:
                assert flags & os.O_CREAT, f"{path} was there before the recording"
                self._rename({path.name: File()})
            self._handles[handle] = self._names[path.name]
            if flags & os.O_TRUNC:
                self._names[path.name].pending.append(Cut(0))

    def _sync(self, file: File | None) -> None:
        if file is not None:
            file.sync()
            return
        for change in self._pending_names:
            self._synced_names |= change
        self._pending_names.clear()

    def _rename(self, names: _Names) -> None:
        self._pending_names.append(names)
        for name, file in names.items():
            if file is None:
                del self._names[name]
            else:
                self._names[name] = file


def _made_anew(name: str) -> bool:
    """Tell whether the table or SQLite creates this file again at a start, so that its bytes may be lost. Such a file
    is a lock file or SQLite's index of its write-ahead log."""
    return name.endswith(("-shm", ".lock"))
