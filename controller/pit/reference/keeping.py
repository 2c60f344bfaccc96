"""Backup and restore of a ledger in a file. A ledger in PostgreSQL is backed up by PostgreSQL's own programs.

A backup is a folder with four things. A copy of the ledger at one moment. The pit's key with its rotations.
`backup.json`, which says how far each table was. `SHA256SUMS`, which `sha256sum -c` reads too.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from controller.basics.errors import TableError
from controller.contract.keys import SigningKey, load_or_make_key, rotations_of, write_whole
from controller.pit.reference import people
from controller.pit.reference.clock import now_text
from controller.pit.reference.ledger import Place
from controller.pit.reference.ledger_file import LedgerFile, PitLock
from controller.pit.reference.standing import read_account, read_standing
from controller.pit.reference.store import missing

_FORM = 1
_HEAD, _LEDGER, _SUMS = "backup.json", "ledger", "SHA256SUMS"
_WITH_IT = ("-wal", "-shm")  # what SQLite keeps beside a ledger: another ledger must not find it


@dataclass(frozen=True, slots=True)
class Kept:
    """What a backup holds: when it was made, by table the number of the last event, and what does not balance."""

    at: str
    tables: dict[str, int]
    findings: tuple[str, ...]

    @property
    def events(self) -> str:
        """How far the backup goes, for people."""
        return ", ".join(f"{table} through event {seq}" for table, seq in self.tables.items()) or "no table yet"


def back_up(at: Place, key: Path, to: Path) -> Kept:
    """Make a backup in the new folder `to`, also while a pit runs. The backup is read back before it gets that name.

    Raises TableError `backup_unwritable`, `backup_by_database`, or as reading the ledger does.
    """
    ledger = _file(at)
    if not ledger.is_file():
        raise missing(ledger)
    new = to.with_name(f"{to.name}.new")
    with _unwritten(to), ExitStack() as at_the_end:
        if to.exists():
            raise FileExistsError(errno.EEXIST, "a file or folder has that name already")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700, parents=True)
        at_the_end.callback(shutil.rmtree, new, ignore_errors=True)  # where the backup failed
        copy = new / _LEDGER
        _copy(ledger, copy)
        names = [_LEDGER]
        for name, path in (("key", key), ("key.rotations", _rotations(key))):
            if path.exists():
                write_whole(new / name, path.read_bytes())
                names.append(name)
        kept = _look(copy)
        head = {"pit_backup": _FORM, "at": kept.at, "tables": kept.tables, "findings": kept.findings}
        write_whole(new / _HEAD, json.dumps(head, indent=2).encode() + b"\n")
        sums = "".join(f"{_digest(new / name)}  {name}\n" for name in (*names, _HEAD))
        write_whole(new / _SUMS, sums.encode())
        copy.chmod(0o600)
        _sync(copy)
        read_backup(new)
        new.rename(to)
        _sync(to.parent)
    return kept


def read_backup(folder: Path) -> Kept:
    """What a backup holds, each file compared with its SHA-256. Raises TableError `backup_damaged`."""
    do = "Use another backup. Where there is none, keep this backup, and look at the disk on which it lay."
    try:
        sums = {name: digest for digest, name in (line.split() for line in (folder / _SUMS).read_text().splitlines())}
        for name, digest in sums.items():
            if Path(name).name != name or _digest(folder / name) != digest:
                raise ValueError(f"its file {name} has other bytes than when the backup was made")
        if not {_HEAD, _LEDGER} <= sums.keys() or any(each.name not in {*sums, _SUMS} for each in folder.iterdir()):
            raise ValueError("a file of the backup is missing, or a strange file lies beside the others")
        head = json.loads((folder / _HEAD).read_text("utf-8"))
        if head["pit_backup"] != _FORM:
            raise ValueError("it has a form that this version does not know")
        return Kept(str(head["at"]), dict(head["tables"]), tuple(head["findings"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise TableError("backup_damaged", f"The backup {folder} cannot be used: {why}.", do) from None


def restore(source: Path, at: Place, key: Path, by: str | None) -> tuple[Kept, Path | None]:
    """Put a backup in the place of the ledger. Returns what the backup holds, and where the former ledger is kept now.

    Where the ledger in place is sound and has more than the backup, the name of a person who decides so is needed
    (`by`). Raises TableError `backup_damaged`, `backup_by_database`, `ledger_locked`, `restore_goes_back`,
    `restore_in_the_way`, `signing_key_unusable`, `backup_unwritable`.
    """
    ledger, kept = _file(at), read_backup(source)
    if key.exists() and (source / "key").exists() and not _follows(key, source / "key"):
        raise TableError(
            "restore_in_the_way",
            f"This machine has another pit's key, {key}.",
            "Check that this is the right machine. If so, move that key to another folder, keep it, and repeat.",
        )
    with _unwritten(ledger):
        ledger.parent.mkdir(parents=True, exist_ok=True)
        with closing(PitLock(ledger)):  # no pit runs meanwhile
            before = ledger.exists()
            if before:
                _refuse_going_back(ledger, kept, by)
            aside = ledger.with_name(f"{ledger.name}.before-{now_text().replace(':', '')}")
            new = ledger.with_name(f"{ledger.name}.new")
            new.unlink(missing_ok=True)
            shutil.copyfile(source / _LEDGER, new)
            new.chmod(0o600)
            _sync(new)
            for more in ("", *_WITH_IT):
                with suppress(FileNotFoundError):
                    ledger.with_name(ledger.name + more).rename(aside.with_name(aside.name + more))
            new.rename(ledger)
            for name, to in (("key", key), ("key.rotations", _rotations(key))):
                if (source / name).exists() and not to.exists():
                    write_whole(to, (source / name).read_bytes())
            _sync(ledger.parent)
    return kept, aside if before else None


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
    """How far a ledger goes, and what does not balance in it.

    A ledger of an earlier form is not changed: a copy gets the newest form, and the copy is read.
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


def _follows(key: Path, former: Path) -> bool:
    """Whether the key is the former key, or a later one that the former key handed over to."""
    if key.read_bytes() == former.read_bytes():
        return True
    rotations = rotations_of(key, load_or_make_key(key).public)
    return SigningKey(former.read_bytes()).public.hex() in (each.former for each in rotations)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _unwritten(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        do = "Name a new folder on a disk with room, and run this as the pit's user."
        raise TableError("backup_unwritable", f"{to} was not written: {error.strerror or error}.", do) from None
