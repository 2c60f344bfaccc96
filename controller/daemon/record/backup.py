"""A backup: a table's journal, its archives, its keys, its certificate and its configuration in one packed file.

The head (the first part of the file) says whose table this is, how far its journal goes, and which files it holds. Each
file has a name from the fixed list `NAMES`, or an archive's name, and no path: whoever restores a backup knows where
the file of a name belongs. A backup with `moved_by` is a move and no copy: the journal was set aside at its old place
when the backup was made, so the table told nothing after that. Only such a backup may go on in its epoch. Any other
backup may lack events that the table has told since.

The table's key signs the head. A passphrase seals the private keys inside. So whoever reads a backup without the
passphrase can neither change what it says nor speak as the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from controller.contract.keeping.packed import Content, Member, read_packed, write_packed
from controller.contract.keeping.seal import MOST_SEALED_BYTES, SALT_BYTES, Seal
from controller.contract.signing import Signer

_FORM = 3
_WITH_PATHS = 1  # the form of version 0.1.0's drafts, up to commit 0f50807: paths, no signature, keys in the clear

SECRETS = frozenset({"key", "private_key"})
NAMES = ("table.toml", "game.toml", "key", "key.journals", "ca", "certificate", "private_key", "crl", "journal")
"""The names of files besides archives, whose names are `archive/` and the archive's own file name."""
_NEEDED = {"table.toml", "game.toml", "key", "journal"}
_ARCHIVE = re.compile(r"archive/[a-z0-9][a-z0-9-]*\.archive")
_OF_KIND = {"table": "table.toml", "game": "game.toml", "key": "key", "note": "key.journals", "journal": "journal"}


class Backup(Struct, frozen=True):
    """What a backup says of its contents. `rows` and `head` are its journal's, as `verify` counts them. `at` is when
    the backup was made. `files` are the names of its files. `salt` is the salt of the passphrase's seal, and `says` the
    head as it was signed, with its signature. A backup of an earlier version has neither salt nor signature, and its
    certificate's files have their former paths as names."""

    table: str
    epoch: str
    rows: int
    head: str
    at: str
    version: str
    moved_by: str | None
    files: tuple[str, ...]
    salt: bytes | None
    says: Mapping[str, object] | None

    def about(self, name: str) -> str:
        """Return the text that binds the sealed secret `name` to this table and epoch."""
        return f"{self.table}/{self.epoch}/{name}"


def is_backup(path: Path) -> bool:
    """Tell whether the file begins as a backup does, with the two bytes of gzip. A file that cannot be read counts as
    no backup."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False


def write_backup(to: Path, backup: Backup, files: Mapping[str, Path], signer: Signer, seal: Seal) -> None:
    """Write a backup of these files, given by their names, that only the user who writes it may read. Sync it, and read
    it back.

    Raises OSError (FileExistsError where `to` exists), and TableError `backup_damaged`.
    """
    says = {
        "backup": _FORM,
        "table": backup.table,
        "epoch": backup.epoch,
        "rows": backup.rows,
        "head": backup.head,
        "at": backup.at,
        "version": backup.version,
        "moved_by": backup.moved_by,
        "salt": seal.salt.hex(),
    }
    contents: dict[str, Content] = {
        name: seal.close(path.read_bytes(), backup.about(name)) if name in SECRETS else path
        for name, path in files.items()
    }
    write_packed(to, says, contents, signer)


def read_backup(path: Path, into: Path) -> tuple[Backup, dict[str, Path]]:
    """Unpack a backup into the folder `into`. Return what the backup says, and its files by their names. Only the
    SHA-256 of each file is checked.

    Raises TableError `backup_damaged`; OSError where `path` cannot be read, or `into` cannot be written.
    """
    backup, files = read_packed(path, _read, into)
    return backup, dict(zip(backup.files, files, strict=True))


def opened(backup: Backup, name: str, path: Path, seal: Seal | None) -> bytes:
    """Return a secret of a backup in the clear. Its sealed form lies unpacked at `path`; without `seal` it was never
    sealed. Raises TableError `passphrase_wrong`, and OSError."""
    with path.open("rb") as file:
        content = file.read(MOST_SEALED_BYTES)
    return content if seal is None else seal.open(content, backup.about(name))


def _read(head: dict[str, Any]) -> tuple[Backup, list[Member]]:
    """Return what a backup's head says, and its files as members. Raises ValueError, TypeError or LookupError where
    this is no head of a backup."""
    says = dict(head)
    form, listed = says.pop("backup"), says.pop("files")
    if form not in (_WITH_PATHS, _FORM):
        raise ValueError("it has a form that this version does not know")
    salt = None
    if form == _FORM:
        says.pop("signature")
        salt = bytes.fromhex(says.pop("salt"))
        members = [Member(**each) for each in listed]
        names = [each.name for each in members]
        good = all(name in NAMES or _ARCHIVE.fullmatch(name) for name in names) and len(salt) == SALT_BYTES
    else:
        members = [Member(str(number), each["sha256"]) for number, each in enumerate(listed)]
        names = [_former_name(each["kind"], each["path"]) for each in listed]
        good = True
    backup = Backup(**says, files=tuple(names), salt=salt, says=head if form == _FORM else None)
    texts = [backup.table, backup.epoch, backup.head, backup.at, backup.version, backup.moved_by or "", *names]
    if not all(isinstance(each, str) and each.isprintable() for each in texts) or type(backup.rows) is not int:
        raise ValueError("what it says of itself cannot be read")
    if not good or not {*names} >= _NEEDED or len({*names}) != len(names):
        raise ValueError("it does not hold one table's files")
    return backup, members


def _former_name(kind: str, path: str) -> str:
    match kind:
        case "archive":
            return f"archive/{Path(path).name}"
        case "tls":
            return path
        case _:
            return _OF_KIND[kind]
