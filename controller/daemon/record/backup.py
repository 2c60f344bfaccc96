"""Writes and reads backups. A backup is one packed file with a table's journal, its archives, its keys, its certificate
and its configuration.

The head (the first part of the file) says whose table this is, how far its journal goes, and which files the backup
holds. The files have no paths. Each has a name from the fixed list `NAMES`, or an archive's name, so whoever restores
the backup knows where each file belongs.

If the head has `moved_by`, the table was moved and not only copied: the journal was set aside at its old place when the
backup was made, so the table sent no event after that. Only after a move may the restored table go on in the same epoch
(the random name of the journal). Any other backup may lack events that the table has sent since.

The table's key signs the head, and a passphrase seals the private keys inside. So a reader without the passphrase can
neither change what the backup says nor sign as the table.
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
    """The head of a backup file, which describes the backup's contents.

    `rows` is the number of rows in its journal, and `head` the hash over all of them. `at` is when the backup was made.
    `moved_by` names the person who moved the table, if the backup is a move. `files` are the names of the files in the
    backup. `salt` is the salt for the passphrase that seals the private keys. `says` is the signed head with its
    signature. A backup of an earlier version has neither salt nor signature, and its certificate's files have their
    former paths as names.
    """

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
        """Return the text that binds the sealed secret file `name` to this backup: its table, its epoch and `name`. The
        text is needed besides the passphrase to open the file. So nobody can put a sealed file under another name or
        into another table's backup."""
        return f"{self.table}/{self.epoch}/{name}"


def is_backup(path: Path) -> bool:
    """Tell whether the file may be a backup, because it begins with the two bytes of gzip. Return False for a file that
    cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False


def write_backup(to: Path, backup: Backup, files: Mapping[str, Path], signer: Signer, seal: Seal) -> None:
    """Write a backup of the files, sync it to the disk, and read it back as a check. No other user may read the backup
    file. `files` maps each file's name in the backup to its path.

    Raises OSError (FileExistsError if `to` exists), and TableError `backup_damaged`.
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
    """Unpack a backup into the folder `into`. Return the backup's head, and a dict from the name of each file to the
    path of its unpacked copy. Of each file only the SHA-256 is checked.

    Raises TableError `backup_damaged`; OSError if `path` cannot be read, or `into` cannot be written.
    """
    backup, files = read_packed(path, _read, into)
    return backup, dict(zip(backup.files, files, strict=True))


def opened(backup: Backup, name: str, path: Path, seal: Seal | None) -> bytes:
    """Return the decrypted content of the secret file `name` of a backup. `path` is where its sealed form was unpacked.
    With `seal` None the file was never sealed, and its content is returned as it is. Raises TableError
    `passphrase_wrong`, and OSError."""
    with path.open("rb") as file:
        content = file.read(MOST_SEALED_BYTES)
    return content if seal is None else seal.open(content, backup.about(name))


def _read(head: dict[str, Any]) -> tuple[Backup, list[Member]]:
    """Parse the head of a backup. Return the head as a `Backup`, and the files that it lists with their SHA-256. Raises
    ValueError, TypeError or LookupError if `head` is not the head of a backup."""
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
