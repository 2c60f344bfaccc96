"""What a table runs, as digests that are the same on every honest copy of the same files.

The program's digest is SHA-256 over a line for each file of the packages `controller` and `drivers`, in the order of
their names: `SHA-256-of-the-file  controller/daemon/app.py`. What Python writes itself (`__pycache__`) is left out. The
configuration's digest is over the values of the table's file and of its game's file. The digest is over both. It finds
an accident, a forgotten change and a clumsy hand. Whoever is root can also make the program lie about itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

_PACKAGES = ("controller", "drivers")


def program_digest(folder: Path = Path(__file__).parents[2]) -> str:
    """SHA-256 of the program that lies in `folder`, in hex."""
    return _sha256("".join(f"{_sha256(path.read_bytes())}  {name}\n" for name, path in _files(folder)))


def digest(program: str, configuration: str) -> str:
    """The one digest over the program's and the configuration's, in hex."""
    return _sha256(f"{program}\n{configuration}\n")


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each file of the program by its name, in the order of the names' bytes."""
    found = (path for package in _PACKAGES for path in (folder / package).rglob("*"))
    named = ((path.relative_to(folder).as_posix(), path) for path in found if "__pycache__" not in path.parts)
    return ((name, path) for name, path in sorted(named, key=lambda each: each[0].encode()) if path.is_file())


def _sha256(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
