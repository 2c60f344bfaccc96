"""A backup: a table's journal, its archives, its key, its certificate and its configuration in one compressed file.

The first member, `backup.json`, says whose table this is, how far its journal goes, and of each file what it is, where
it lay, and its SHA-256. A backup with `moved_by` is a move and no copy: the journal was set aside at its old place when
the backup was made, so the table told nothing after that. Only such a backup may go on in its epoch. Any other backup
may lack events that the table has told since.

The table's key signs `backup.json`. A backup holds that key too, so whoever can read a backup can also forge one. The
signature finds a change by anybody who has no backup of this table. A reader bounds what is unpacked, and takes no path
from a backup before the path was looked at (`controller/people/cli/backup.py`).
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
from typing import Literal, get_args

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.signing import Signer, signed

_FORM = 2
_UNSIGNED = 1  # the form of a backup that an earlier version wrote
_MOST_HEAD_BYTES = 1 << 22
_MOST_TIMES, _AND_BYTES = 64, 1 << 24  # a table's files never pack smaller than this; a bomb of zeros does by 1000
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
    """What a backup says that it holds. `rows` and `head` are its journal's, as `verify` counts them; `at` is when it
    was made. `signed` is what the table's key signed, with the signature; None in a backup without one."""

    table: str
    epoch: str
    rows: int
    head: str
    at: str
    version: str
    moved_by: str | None
    files: tuple[Kept, ...]
    signed: dict[str, object] | None = None


def is_backup(path: Path) -> bool:
    """Whether the file begins as a backup does. A file that cannot be read is none."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False


def kept(kind: Kind, path: Path, source: Path | None = None) -> Kept:
    """The entry of the file at `path`. With a `source`, the bytes are read from there. Raises OSError."""
    with (source or path).open("rb") as file:
        return Kept(kind, str(path), hashlib.file_digest(file, "sha256").hexdigest())


def write_backup(to: Path, backup: Backup, sources: Sequence[Path], signer: Signer) -> None:
    """Write the backup of these files, for its user alone, and have it on the disk, read back.

    `sources` are where the bytes of `backup.files` lie now, in the same order. Raises OSError (FileExistsError where
    `to` exists), and TableError `backup_damaged`.
    """
    with (
        os.fdopen(os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file,
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as tar,
    ):
        says = {name: value for name, value in asdict(backup).items() if name != "signed"}
        head = signed({"backup": _FORM, **says}, signer)
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
        most, unpacked = path.stat().st_size * _MOST_TIMES + _AND_BYTES, 0
        while data := packed.read(1 << 20):
            if (unpacked := unpacked + len(data)) > most:
                raise ValueError("it would unpack to more than a table's files can be")
        # That was up to the checksum at the end, which also covers the head: no file is taken from a damaged backup.
    with _explained(path), gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r:") as tar:
        members = iter(tar)
        backup = _read(_bytes(tar, next(members), _HEAD))
        yield backup, _files(into / "file", tar, members, backup.files)


def _read(head: bytes) -> Backup:
    """Raises ValueError, TypeError or LookupError where these bytes are no `backup.json`."""
    says = json.loads(head)
    form, whole = says.pop("backup"), dict(says)
    if form not in (_UNSIGNED, _FORM):
        raise ValueError("it has a form that this version does not know")
    signature = says.pop("signature", None)
    files = tuple(Kept(**each) for each in says.pop("files"))
    names = [value for each in files for value in (each.kind, each.path, each.sha256)]
    backup = Backup(**says, files=files, signed=None if signature is None else {"backup": form, **whole})
    texts = [backup.table, backup.epoch, backup.head, backup.at, backup.version, backup.moved_by or "", *names]
    kinds = [each.kind for each in files]
    if not all(isinstance(each, str) and each.isprintable() for each in texts) or type(backup.rows) is not int:
        raise ValueError("what it says of itself cannot be read")
    if kinds[:2] != ["table", "game"] or any(kinds.count(one) != 1 for one in ("table", "game", "key", "journal")):
        raise ValueError("it does not hold one table's files")
    if not {*kinds} <= {*get_args(Kind)}:
        raise ValueError("it holds a file of an unknown kind")
    return backup


def _bytes(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> bytes:
    file = tar.extractfile(member) if member.name == name and member.isreg() else None
    if file is None or member.size > _MOST_HEAD_BYTES:
        raise ValueError(f"it does not hold {name}")
    return file.read()


def _files(
    path: Path, tar: tarfile.TarFile, members: Iterator[tarfile.TarInfo], files: Sequence[Kept]
) -> Iterator[tuple[Kept, Path]]:
    for number, each in enumerate(files):
        member = next(members, None)
        good = member is not None and member.name == str(number) and member.isreg()
        file = tar.extractfile(member) if member is not None and good else None
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
    except (*packing, ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration) as error:
        do = "Use another backup. Where there is none, keep this file, and look at the disk from which it came."
        what = f"The backup {path} cannot be used: {error or type(error).__name__}."
        raise TableError("backup_damaged", what, do) from None
