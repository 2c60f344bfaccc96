"""A backup: a table's journal, its archives, its key, its certificate and its configuration in one compressed file.

The first member, `backup.json`, says whose table this is, how far its journal goes, and of each file what it is, where
it lay, and its SHA-256. A backup with `moved_by` is a move and no copy: the journal was set aside at its old place when
the backup was made, so the table told nothing after that. Only such a backup may go on in its epoch. Any other backup
may lack events that the table has told since.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from controller.disk import sync_folder
from controller.errors import TableError

_FORM = 1
_HEAD = "backup.json"

Kind = Literal["table", "game", "key", "note", "tls", "archive", "journal"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of a backup: what it is, the full path where it lay, and its SHA-256."""

    kind: Kind
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds. `rows` and `head` are its journal's, as `verify` counts them; `at` is when it was made."""

    table: str
    epoch: str
    rows: int
    head: str
    at: str
    version: str
    moved_by: str | None
    files: tuple[Kept, ...]


def kept(kind: Kind, path: Path, source: Path | None = None) -> Kept:
    """The entry of the file at `path`. With a `source`, the bytes are read from there. Raises OSError."""
    with (source or path).open("rb") as file:
        return Kept(kind, str(path), hashlib.file_digest(file, "sha256").hexdigest())


def write_backup(to: Path, backup: Backup, sources: Sequence[Path]) -> None:
    """Write the backup of these files, for its user alone, and have it on the disk, read back.

    `sources` are where the bytes of `backup.files` lie now, in the same order. Raises OSError (FileExistsError where
    `to` exists), and TableError `backup_damaged`.
    """
    with (
        os.fdopen(os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file,
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as tar,
    ):
        head = json.dumps({"backup": _FORM, **asdict(backup)}, indent=2).encode()
        told = tarfile.TarInfo(_HEAD)
        told.size, told.mode = len(head), 0o600
        tar.addfile(told, io.BytesIO(head))
        for number, source in enumerate(sources):
            tar.add(source.resolve(), str(number), recursive=False)
        tar.close()
        file.flush()
        os.fsync(file.fileno())
    sync_folder(to)
    with reading_backup(to, to.parent) as (_, files):
        for _ in files:
            pass


@contextmanager
def reading_backup(path: Path, into: Path) -> Iterator[tuple[Backup, Iterator[tuple[Kept, Path]]]]:
    """What a backup holds, and its files one by one. Each file stands unpacked in `into` until the next is asked for.

    Raises TableError `backup_damaged`, also while the files are read.
    """
    with _explained(path), gzip.open(path) as packed:
        while packed.read(1 << 20):
            pass  # to the checksum at the end, which also covers the head: no file is taken from a damaged backup
    with _explained(path), gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r:") as tar:
        members = iter(tar)
        head = json.loads(_bytes(tar, next(members), _HEAD))
        if head.pop("backup") != _FORM:
            raise ValueError("it has a form that this version does not know")
        files = tuple(Kept(**each) for each in head.pop("files"))
        yield Backup(**head, files=files), _files(into / path.name, tar, members, files)


def _bytes(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> bytes:
    file = tar.extractfile(member) if member.name == name else None
    if file is None:
        raise ValueError(f"it does not hold {name}")
    return file.read()


def _files(
    path: Path, tar: tarfile.TarFile, members: Iterator[tarfile.TarInfo], files: Sequence[Kept]
) -> Iterator[tuple[Kept, Path]]:
    for number, each in enumerate(files):
        member = next(members, None)
        file = None if member is None or member.name != str(number) else tar.extractfile(member)
        if file is None:
            raise ValueError(f"it does not hold {each.path}")
        unpacked = path.with_name(f"{path.name}.{number}")
        unpacked.unlink(missing_ok=True)
        try:
            digest = hashlib.sha256()
            with os.fdopen(os.open(unpacked, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                while data := file.read(1 << 20):
                    digest.update(data)
                    out.write(data)
                out.flush()
                os.fsync(out.fileno())
            if digest.hexdigest() != each.sha256:
                raise ValueError(f"{each.path} has other bytes than when the backup was made")
            yield each, unpacked
        finally:
            unpacked.unlink(missing_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    packing = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)
    try:
        yield
    except (*packing, ValueError, LookupError, TypeError, StopIteration) as error:
        do = "Use another backup. Where there is none, keep this file, and look at the disk from which it came."
        what = f"The backup {path} cannot be used: {error or type(error).__name__}."
        raise TableError("backup_damaged", what, do) from None
