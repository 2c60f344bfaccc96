"""The notes of what a daemon did to its files and told to others, read as a list. The recorder (recorder.c) writes
them."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("recorder.c")

OPENED, WROTE, CUT, SYNCED, UNLINKED, RENAMED, CLOSED, SAID, LIT = "owtsurc>l"

_HEADER = struct.Struct("<ciiqI")


class Note(NamedTuple):
    """One thing that the recorded daemon did, such as writing to a file or lighting a lamp.

    The meaning of `number` depends on the kind: the flags of `OPENED`, the offset of `WROTE`, the size of `CUT`. For
    `LIT` it is the level of a pin, 1 or 0, and `handle` is the pin's BCM number. `data` is a path (two paths with a NUL
    between them for `RENAMED`) or the bytes.
    """

    kind: str
    process: int
    handle: int
    number: int
    data: bytes


def build_recorder(folder: Path) -> Path:
    """Compile the recorder into `folder`, and return its path for LD_PRELOAD. Needs `cc`."""
    compiler = shutil.which("cc")
    assert compiler is not None
    recorder = folder / "recorder.so"
    options = "-shared -fPIC -O1 -Wall -Wextra -Werror -U_FORTIFY_SOURCE"  # that would inline what is replaced here
    subprocess.run([compiler, *options.split(), "-o", str(recorder), str(SOURCE), "-ldl"], check=True)
    return recorder


def read_notes(path: Path) -> list[Note]:
    """Return the notes of a recording from the file at `path`, in the order in which they were written."""
    data, notes, place = path.read_bytes(), [], 0
    while place < len(data):
        kind, process, handle, number, size = _HEADER.unpack_from(data, place)
        place += _HEADER.size
        notes.append(Note(kind.decode(), process, handle, number, data[place : place + size]))
        place += size
    return notes
