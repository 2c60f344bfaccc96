"""Packs several files into one compressed file. The backups of a table and of a pit are such files. The first file in
the pack is a signed description of the pack.

This first file is called the head, and its name is `backup.json`. It names every other file in the pack, with its
SHA-256. The code that unpacks trusts nothing in the pack. It bounds the unpacked size before it unpacks anything. Each
member must be an ordinary file, in the order of the head, and must have the SHA-256 that the head names.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.signing import Signer, signed

_T = TypeVar("_T")

_HEAD = "backup.json"
_MOST_HEAD_BYTES = 1 << 22
_MOST_TIMES, _AND_BYTES = 64, 1 << 24  # SQLite's files never pack smaller than this; a bomb of zeros does by 1000
_PIECE = 1 << 20


class Member(NamedTuple):
    """A file inside a backup's packed file: its name in the pack, and its SHA-256."""

    name: str
    sha256: str


Content = Path | bytes
"""Where a member's bytes lie, or the bytes."""


def member_of(name: str, content: Content) -> Member:
    """Return the entry for a file that will be packed: its name, and the SHA-256 of its content. `content` is the
    bytes, or the path of a file. Raises OSError if that file cannot be read."""
    if isinstance(content, bytes):
        return Member(name, hashlib.sha256(content).hexdigest())
    with content.open("rb") as file:
        return Member(name, hashlib.file_digest(file, "sha256").hexdigest())


def write_packed(to: Path, says: Mapping[str, object], files: Mapping[str, Content], signer: Signer) -> None:
    """Pack `files` into the new file `to`, write it through to the disk, and read it back to compare. `files` maps the
    name of each member to its content. Only the user of this program may read the new file.

    `says` holds further fields for the pack's head (its signed description). If anything fails, the new file is
    removed. Raises OSError. If `to` exists already, raises FileExistsError and leaves that file as it is. Raises
    TableError `backup_damaged` if the disk holds something else than was written.
    """
    handle = os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with (
            os.fdopen(handle, "w+b") as file,
            tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as tar,
        ):
            members = [member_of(name, content) for name, content in files.items()]
            _add(tar, _HEAD, signed({**says, "files": [each._asdict() for each in members]}, signer))
            for name, content in files.items():
                _add(tar, name, content)
            tar.close()
            file.flush()
            os.fsync(file.fileno())
        sync_folder(to)
        read_packed(to, lambda _: (None, members), None)
    except BaseException:
        to.unlink(missing_ok=True)
        raise


def _add(tar: tarfile.TarFile, name: str, content: Content) -> None:
    told = tarfile.TarInfo(name)
    told.mode = 0o600
    if isinstance(content, bytes):
        told.size = len(content)
        tar.addfile(told, io.BytesIO(content))
        return
    with content.open("rb") as file:
        told.size = os.fstat(file.fileno()).st_size
        tar.addfile(told, file)


def read_packed(
    path: Path, read: Callable[[dict[str, Any]], tuple[_T, Sequence[Member]]], into: Path | None
) -> tuple[_T, list[Path]]:
    """Check the packed file at `path`, and unpack its members into the folder `into` under the file names "0", "1" and
    so on. If `into` is None, only compare the members with their SHA-256.

    The function `read` is called with the pack's head (the JSON object that describes the pack). It returns a pair: any
    value, and the list of the members that the pack must hold. It may raise ValueError, LookupError or TypeError.

    Returns a pair: the value from `read`, and the paths of the unpacked members. Raises TableError `backup_damaged`.
    Raises OSError if `path` cannot be read or `into` cannot be written.
    """
    with _explained(path):
        _check_bounds(path)
        with gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r:") as tar:
            members = iter(tar)
            file, size = _ordinary(tar, next(members, None), _HEAD)
            if size > _MOST_HEAD_BYTES:
                raise ValueError("what it says of itself is too long")
            if not (says := parse_object(file.read())):
                raise ValueError("it does not say what it is")
            said, listed = read(says)
            unpacked = [Path() if into is None else into / str(number) for number in range(len(listed))]
            for each, to in zip(listed, unpacked, strict=True):
                file, _ = _ordinary(tar, next(members, None), each.name)
                if _unpacked(file, None if into is None else to) != each.sha256:
                    raise ValueError(f"{each.name} has other bytes than when the backup was made")
            if next(members, None) is not None:
                raise ValueError("it holds more files than it says")
            return said, unpacked


def damaged(path: Path, why: str) -> TableError:
    """Return the TableError that says that the backup at `path` must not be used, and why."""
    do = "Use another backup. Where there is none, keep this one, and ask where it lay and who could change it."
    return TableError("backup_damaged", f"The backup {path} cannot be used: {why}.", do)


def _check_bounds(path: Path) -> None:
    """Read the packed file through to the checksum at its end, because no member may be taken from a damaged backup.
    Raises ValueError if the file would unpack to far more bytes than a backup of its size can have."""
    most, unpacked = path.stat().st_size * _MOST_TIMES + _AND_BYTES, 0
    with gzip.open(path) as packed:
        while data := packed.read(_PIECE):
            if (unpacked := unpacked + len(data)) > most:
                raise ValueError("it would unpack to more than such files can be")


def _ordinary(tar: tarfile.TarFile, member: tarfile.TarInfo | None, name: str) -> tuple[Any, int]:
    """Return the opened file and the size in bytes of a member of the pack. Raises ValueError if the member is not an
    ordinary file called `name`, or if it is sparse, because a sparse file can be larger than the bytes in the pack."""
    good = member is not None and member.name == name and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE)
    file = tar.extractfile(member) if member is not None and good and not member.issparse() else None
    if member is None or file is None:
        raise ValueError(f"it does not hold {name} as an ordinary file")
    return file, member.size


def _unpacked(file: Any, to: Path | None) -> str:
    """Copy the file to the path `to`, and return its SHA-256 in hex. If `to` is None, only compute the SHA-256."""
    digest = hashlib.sha256()
    handle = os.open(
        os.devnull if to is None else to, os.O_WRONLY | (0 if to is None else os.O_CREAT | os.O_EXCL), 0o600
    )
    with os.fdopen(handle, "wb") as out:
        while data := file.read(_PIECE):
            digest.update(data)
            out.write(data)
    return digest.hexdigest()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    packing = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, OverflowError)
    try:
        yield
    except (*packing, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(path, str(error) or type(error).__name__) from None
