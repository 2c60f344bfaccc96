"""Backs up and restores a pit's ledger that is kept in a file. A ledger in PostgreSQL is backed up by PostgreSQL's own
programs.

A backup is one packed file. The file holds a copy of the ledger at one moment, the pit's private key and the key's
rotations. The head (first part) of the file names the last committed event of each table. The pit's key signs the head,
and a passphrase encrypts the private key inside. Before a backup is used, its head is compared with the ledger in it.
An earlier version wrote a folder without a signature, in which the key was not encrypted.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.basics.waited import waited_for
from controller.contract.canonical import parse_object
from controller.contract.keeping.packed import Content, Member, damaged, read_packed, write_packed
from controller.contract.keeping.placing import Placing
from controller.contract.keeping.seal import MOST_SEALED_BYTES, SALT_BYTES, Seal, known_passphrase, new_passphrase
from controller.contract.keys import SigningKey, load_or_make_key, rotations_of, signature_holds
from controller.pit.reference import people
from controller.pit.reference.clock import now_text
from controller.pit.reference.ledger_file import LedgerFile, PitLock
from controller.pit.reference.opening import Place
from controller.pit.reference.standing import read_account, read_standing
from controller.pit.reference.store import missing

_FORM, _OF_FOLDER = 2, 1
_LEDGER, _KEY, _ROTATIONS = "ledger", "key", "key.rotations"
_NAMES = {_LEDGER, _KEY, _ROTATIONS}
_HEAD, _SUMS = "backup.json", "SHA256SUMS"
_MOST_SMALL_BYTES = 1 << 22
_WITH_IT = ("", "-wal", "-shm")  # a ledger, and what SQLite keeps beside it: another ledger must not find it


class Kept(Struct, frozen=True):
    """The result of making or checking a backup. `at` is the time at which the backup was made. `tables` maps each
    table to the number of its last event. `findings` lists what does not balance in the backup's ledger.

    `public_key` belongs to the private key that signed the backup that was checked. `public_key` is None for an
    unsigned folder that an earlier version wrote, and in the result of making a backup.
    """

    at: str
    tables: dict[str, int]
    findings: tuple[str, ...]
    public_key: bytes | None = None

    @property
    def events(self) -> str:
        """Return the last event of each table in the backup, as text for people."""
        return ", ".join(f"{table} through event {seq}" for table, seq in self.tables.items()) or "no table yet"


class _Head(Struct, frozen=True):
    """The content of a backup's head: when the backup was made, the last event of each table, and the names of the
    files in it. Nobody has compared these claims with the files yet."""

    at: str
    tables: dict[str, int]
    names: tuple[str, ...]
    salt: bytes | None = None
    public_key: bytes | None = None
    says: dict[str, Any] | None = None


class _Unpacked(Struct, frozen=True):
    source: Path
    head: _Head
    kept: Kept
    files: dict[str, Path]

    def key(self, passphrase_file: Path | None) -> bytes | None:
        """Return the pit's private key from the backup; None if the backup holds no key. Raises TableError
        `backup_damaged` if the content is no key, or not the key that signed the backup. Raises `passphrase_wrong`,
        `passphrase_missing` or `passphrase_unreadable` if the key cannot be decrypted."""
        if _KEY not in self.files:
            return None
        with self.files[_KEY].open("rb") as file:
            private = file.read(MOST_SEALED_BYTES)
        if self.head.salt is not None:
            private = Seal(known_passphrase(passphrase_file), self.head.salt).open(private, _KEY)
        try:
            public = SigningKey(private).public
        except ValueError:
            raise damaged(self.source, "it holds no key") from None
        if self.head.public_key not in (None, public):
            raise damaged(self.source, "the key in it did not sign it")
        return private


def back_up(at: Place, key: Path, to: Path, passphrase_file: Path | None) -> Kept:
    """Make a backup of the ledger in the new file `to`, even while a pit runs. The backup is written under another name
    and read back; only after that it gets the name `to`.

    Raises TableError `backup_unwritable`, `backup_by_database`, an error about the passphrase, or an error of reading
    the ledger.
    """
    ledger = _file(at)
    if not ledger.is_file():
        raise missing(ledger)
    new = to.with_name(f"{to.name}.new")
    with _unwritten(to), Placing() as placing, ExitStack() as ends:
        if os.path.lexists(to):
            raise FileExistsError(errno.EEXIST, "a file or folder has that name already")
        seal = Seal(new_passphrase(passphrase_file))
        placing.make_folder(to.parent, None)
        new.unlink(missing_ok=True)
        placing.may_be_made(new)
        ends.enter_context(waited_for("Packing the ledger, and reading it back"))
        copy = Path(ends.enter_context(TemporaryDirectory(dir=to.parent))) / _LEDGER
        _copy(ledger, copy)
        kept, signer = _look(copy), load_or_make_key(key)
        files: dict[str, Content] = {_LEDGER: copy, _KEY: seal.close(key.read_bytes(), _KEY)}
        if _rotations(key).exists():
            files[_ROTATIONS] = _rotations(key)
        said = {"pit_backup": _FORM, "at": kept.at, "tables": kept.tables}
        write_packed(new, {**said, "public_key": signer.public.hex(), "salt": seal.salt.hex()}, files, signer)
        new.rename(to)
        sync_folder(to)
    return kept


def verify_backup(source: Path, passphrase_file: Path | None) -> Kept:
    """Check a whole backup without restoring it. If a passphrase file is given, check the private key in the backup
    too. Raises TableError `backup_damaged`, `backup_unreadable`, `passphrase_wrong` or `passphrase_unreadable`."""
    with _unpacked(source, unsigned=True) as backup:
        if passphrase_file is not None:
            backup.key(passphrase_file)
        return backup.kept


@contextmanager
def _unpacked(source: Path, *, unsigned: bool) -> Iterator[_Unpacked]:
    """Unpack a backup, check its signature, and compare its ledger with what its head says. Yields the unpacked backup.
    If `unsigned` is True, a backup without a signature is accepted.

    Raises TableError `backup_damaged`, `backup_unsigned`, `backup_unreadable`.
    """
    with ExitStack() as ends:
        waiting = ends.enter_context(ExitStack())
        waiting.enter_context(waited_for("Unpacking the backup, and drawing up its account"))
        try:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
            if source.is_dir():
                head, files = _of_folder(source, folder)
            else:
                head, unpacked = read_packed(source, _read, folder)
                files = dict(zip(head.names, unpacked, strict=True))
        except OSError as error:
            do = "Name what `pitctl backup` wrote, as a user who may read it, and make room in /var/tmp."
            what = f"{source} cannot be unpacked: {error.strerror or error}."
            raise TableError("backup_unreadable", what, do) from None
        if head.says is None and not unsigned:
            do = "Did an earlier version make this backup, and was it kept safe since? Then repeat with --unsigned."
            raise TableError("backup_unsigned", f"The backup {source} has no signature.", do)
        if head.says is not None and not signature_holds(head.says, head.public_key or b""):
            raise damaged(source, "what it says of itself is not what its key signed")
        try:
            found = _look(files[_LEDGER])
        except TableError as error:
            raise damaged(source, error.what.rstrip(".")) from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, sqlite3.Error):
            raise damaged(source, "its ledger holds what no pit wrote") from None
        if found.tables != head.tables:
            raise damaged(source, "it says other tables or events than its ledger has")
        waiting.close()
        yield _Unpacked(source, head, Kept(head.at, found.tables, found.findings, head.public_key), files)


def _read(says: dict[str, Any]) -> tuple[_Head, list[Member]]:
    """Parse the head of a pit's backup (the JSON object `says`). Returns the head, and the list of the files in the
    backup. Raises ValueError, TypeError or LookupError if `says` is not the head of a pit's backup."""
    if says["pit_backup"] != _FORM:
        raise ValueError("it has a form that this version does not know")
    members = [Member(**each) for each in says["files"]]
    names = tuple(each.name for each in members)
    salt, public_key = bytes.fromhex(says["salt"]), bytes.fromhex(says["public_key"])
    if not {_LEDGER, _KEY} <= {*names} <= _NAMES or len({*names}) != len(names) or len(salt) != SALT_BYTES:
        raise ValueError("it does not hold one pit's files")
    return _Head(_printable(says["at"]), dict(says["tables"]), names, salt, public_key, says), members


def _of_folder(source: Path, into: Path) -> tuple[_Head, dict[str, Path]]:
    """Copy a backup that commit 0f50807 wrote as a folder into the folder `into`. Returns the backup's head, and a dict
    that maps each file's name to the path of its copy. Only the small files are read whole into memory. Raises
    TableError `backup_damaged`."""
    try:
        sums = {
            name: digest for digest, name in (line.split() for line in _small(source / _SUMS).decode().splitlines())
        }
        if not {_HEAD, _LEDGER} <= sums.keys() <= {*_NAMES, _HEAD} or {each.name for each in source.iterdir()} != {
            *sums,
            _SUMS,
        }:
            raise ValueError("a file of the backup is missing, or a strange file lies beside the others")
        files = {}
        for name, digest in sums.items():
            files[name] = into / name
            if _copied(source / name, into / name) != digest:
                raise ValueError(f"its file {name} has other bytes than when the backup was made")
        says = parse_object(_small(files.pop(_HEAD)))
        if says["pit_backup"] != _OF_FOLDER or not isinstance(tables := says["tables"], dict):
            raise ValueError("it has a form that this version does not know")
        return _Head(_printable(says["at"]), tables, tuple(files)), files
    except (ValueError, LookupError, TypeError) as error:
        raise damaged(source, str(error)) from None


def _printable(text: object) -> str:
    if not isinstance(text, str) or not text.isprintable():
        raise ValueError("what it says of itself cannot be read")
    return text


def _ordinary(path: Path) -> int:
    """Open an ordinary file and return its descriptor. Raises ValueError for anything else, for example a pipe, on
    which reading would wait for a writer; OSError for a link."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError(f"{path.name} is no ordinary file")
    return handle


def _small(path: Path) -> bytes:
    with os.fdopen(_ordinary(path), "rb") as file:
        if len(data := file.read(_MOST_SMALL_BYTES + 1)) > _MOST_SMALL_BYTES:
            raise ValueError(f"{path.name} is too long")
    return data


def _copied(path: Path, to: Path) -> str:
    """Copy a file and return its SHA-256 in hexadecimal. Raises ValueError for a sparse file: a file whose size is far
    larger than the space that it takes up on the disk."""
    digest = hashlib.sha256()
    with os.fdopen(_ordinary(path), "rb") as file, to.open("xb") as out:
        status = os.fstat(file.fileno())
        if status.st_size > status.st_blocks * 512 * 64 + _MOST_SMALL_BYTES:
            raise ValueError(f"{path.name} is larger than what it holds")
        while data := file.read(1 << 20):
            digest.update(data)
            out.write(data)
    return digest.hexdigest()


def restore(
    source: Path, at: Place, key: Path, by: str | None, passphrase_file: Path | None = None, *, unsigned: bool = False
) -> tuple[Kept, Path | None]:
    """Replace the ledger by the ledger in a backup. Returns what the backup holds, and the path to which the former
    ledger was moved. The path is None if there was no former ledger.

    If the present ledger is sound and has more events than the backup, `by` must name the person who decides to go
    back. The passphrase is asked for if this machine has no key. If restoring fails, everything is as it was before.

    Raises TableError `backup_damaged`, `backup_unsigned`, `backup_unreadable`, `backup_by_database`,
    `passphrase_wrong`, `ledger_locked`, `restore_goes_back`, `restore_in_the_way`, `signing_key_unusable`,
    `backup_unwritable`.
    """
    ledger = _file(at)
    with _unpacked(source, unsigned=unsigned) as backup, _unwritten(ledger), Placing() as placing:
        private = backup.key(passphrase_file) if not key.exists() or backup.head.salt is None else None
        former = backup.head.public_key or (None if private is None else SigningKey(private).public)
        if key.exists() and former is not None and not _follows(key, former):
            raise TableError(
                "restore_in_the_way",
                f"This machine has another pit's key, {key}.",
                "Check that this is the right machine. If so, move that key to another folder, keep it, and repeat.",
            )
        placing.make_folder(ledger.parent, None)
        placing.may_be_made(*(ledger.with_name(ledger.name + ending) for ending in (*_WITH_IT, ".lock")))
        with closing(PitLock(ledger)):  # no pit runs meanwhile
            before = ledger.exists()
            if before:
                _refuse_going_back(ledger, backup.kept, by)
            if not key.exists() and private is not None:
                if _ROTATIONS in backup.files and not _rotations(key).exists():
                    placing.put(backup.files[_ROTATIONS], _rotations(key), None)
                placing.put(private, key, None)
            aside = ledger.with_name(f"{ledger.name}.before-{now_text().replace(':', '')}")
            placing.move(ledger, aside)
            placing.put(backup.files[_LEDGER], ledger, None)
    return backup.kept, aside if before else None


def _refuse_going_back(ledger: Path, kept: Kept, by: str | None) -> None:
    try:
        there = _look(ledger)
    except TableError:
        return  # damaged: that is what backups are for
    more = [table for table, seq in there.tables.items() if seq > kept.tables.get(table, 0)]
    if more and by is None:
        raise TableError(
            "restore_goes_back",
            f"The ledger {ledger} is sound, and has more than the backup of {kept.at}: {', '.join(more)}.",
            "Start the pit on the ledger that is there. If that ledger must go, repeat the command with --by NAME: that"
            " ledger is set aside, and the tables send again what the backup lacks.",
        )
    if by is not None:
        people.name(by)


def _copy(ledger: Path, to: Path) -> None:
    with (
        closing(LedgerFile(ledger, begin=False, read_only=True)) as db,
        db.explained(),
        closing(sqlite3.connect(to)) as into,
    ):
        db.connection.backup(into)
        into.execute("PRAGMA journal_mode = DELETE")


def _look(path: Path) -> Kept:
    """Return the last event of each table in the ledger file, and what does not balance in the ledger's accounts.

    A ledger with an earlier form (database schema) is not changed. Instead the function copies the ledger, brings the
    copy to the newest form, and reads the copy.
    """
    try:
        return _seen(path)
    except TableError as error:
        if error.code != "ledger_of_earlier_form":
            raise
    with TemporaryDirectory(dir=path.parent) as folder:
        newest = Path(folder) / _LEDGER
        _copy(path, newest)
        LedgerFile(newest).close()
        return _seen(newest)


def _seen(path: Path) -> Kept:
    standing = read_standing(path)
    return Kept(now_text(), {each.table: each.seq for each in standing.tables}, read_account(path).findings)


def _file(at: Place) -> Path:
    if isinstance(at, Path):
        return at
    raise TableError(
        "backup_by_database",
        "The ledger is in PostgreSQL, whose own programs back it up and restore it.",
        "Use pg_dump or pg_basebackup, and copy the pit's key file too. After a restore start the pit: the tables send"
        " again what the copy lacks.",
    )


def _rotations(key: Path) -> Path:
    return key.with_name(key.name + ".rotations")


def _follows(key: Path, former: bytes) -> bool:
    """Return True if `former` is the public key of the pit's key in the file `key`, or the public key of an earlier pit
    key that this key replaced in a rotation."""
    public = load_or_make_key(key).public
    return public == former or former.hex() in (each.former for each in rotations_of(key, public))


@contextmanager
def _unwritten(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        do = "Name a new file on a disk with room, and run this as the pit's user."
        raise TableError("backup_unwritable", f"{to} was not written: {error.strerror or error}.", do) from None
