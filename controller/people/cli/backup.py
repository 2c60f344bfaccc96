"""`tablectl backup` and `tablectl restore`: a table's state in one file, and that table on another machine.

A restored table goes on in its epoch only where the old machine can have sent nothing after the backup: the backup was
made with `--move`, which set the old machine's journal aside. Every other restore begins a new epoch, which the pit
must adopt.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from controller import __version__
from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.keys import for_owner, load_or_make_key, signature_holds
from controller.daemon.clock import stamp_now
from controller.daemon.config import load
from controller.daemon.config.table_file import JournalSection, TableFile
from controller.daemon.record.archive import beside
from controller.daemon.record.backup import Backup, Kept, Kind, kept, reading_backup, write_backup
from controller.daemon.record.epochs import note_of
from controller.daemon.record.journal import copied, read_origin, verify
from controller.daemon.record.journal_file import JournalFile, set_aside
from controller.people.cli.composition import open_shoe
from controller.people.cli.files import CONFIGURATION
from controller.people.cli.new_journal import new_journal

_STATE = Path("/var/lib/table-controller")


def backup(table: Path, to: Path, moved_by: str | None) -> int:
    """Write a backup of the table, which may run. With `moved_by` the table must be stopped, and cannot run here again.

    Raises TableError: `backup_unwritable`, `table_runs`, and what reading the journal raises.
    """
    file = load(table).file
    journal, to = Path(os.path.realpath(file.journal.path)), to.absolute()
    new = to.with_name(f"{to.name}.new")
    read_origin(journal)  # raises TableError where there is no journal
    with ExitStack() as ends, _unwritten(to):
        if to.exists():
            raise FileExistsError(errno.EEXIST, "there is a file of this name already")
        if moved_by is not None:
            ends.callback(_locked(journal).close)
        copy = Path(ends.enter_context(tempfile.TemporaryDirectory(dir=to.parent))) / "journal"
        archives = copied(journal, copy, file.journal.archives)
        good = verify(copy, None, file.journal.archives, beside(journal))
        files, sources = _files(table, file, archives)
        files.append(kept("journal", Path(file.journal.path), copy))
        whole = Backup(
            good.table, good.epoch, good.rows, good.head.hex(), stamp_now().text(), __version__, moved_by, tuple(files)
        )
        new.unlink(missing_ok=True)
        write_backup(new, whole, [*sources, copy], load_or_make_key(Path(file.journal.signing_key)))
    with _unwritten(to):
        if moved_by is not None:
            set_aside(journal)  # refused where the table was started meanwhile
        new.rename(to)
        sync_folder(to)
    print(f"{to}: table {good.table}, {good.rows} rows of epoch {good.epoch}, {len(archives)} archives; read back.")
    print("The backup holds the table's signing key: keep the file where only supervisors come.")
    if moved_by is not None:
        print("This machine is no table any more: its journal is set aside.")
        print("On the new machine: tablectl restore FILE")
    return 0


@contextmanager
def _unwritten(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        do = "Name a new file in a folder with room, and run this as root or as the table's user."
        raise TableError("backup_unwritable", f"The backup {to} was not made: {error.strerror or error}.", do) from None


def _locked(journal: Path) -> JournalFile:
    """The journal, locked, so that no table starts on it. Raises TableError `table_runs`."""
    try:
        return JournalFile(journal)
    except TableError as error:
        if error.code != "journal_in_use":
            raise
        do = "Stop the table: sudo systemctl stop table-controller. Without --move it may run during a backup."
        raise TableError("table_runs", "The table runs, and a table that is moved must not go on.", do) from None


def _files(table: Path, file: TableFile, archives: list[Path]) -> tuple[list[Kept], list[Path]]:
    """Every file of a backup except the journal, and the path of each file."""
    table, key = table.absolute(), Path(file.journal.signing_key)
    tls = (file.pit.ca, file.pit.certificate, file.pit.private_key, file.pit.crl)
    paths: list[tuple[Kind, Path]] = [
        ("table", table),
        ("game", Path(os.path.normpath(table.parent / file.table.game))),
        *(("tls", Path(each)) for each in tls if each is not None and os.access(each, os.R_OK)),
        ("key", key),
        ("note", note_of(key)),
        *(("archive", each) for each in archives),
    ]
    return [kept(kind, path) for kind, path in paths], [path for _, path in paths]


def verify_backup(source: Path) -> int:
    """Check a whole backup without restoring it, and print what it holds. Raises TableError as `restore` does."""
    with _unpacked(source) as (contents, files):
        _check_signed(source, contents, files, unsigned=True)
    moved = f", moved by {contents.moved_by}" if contents.moved_by is not None else ""
    print(f"{source}: table {contents.table}, {contents.rows} rows of epoch {contents.epoch}, all good{moved}.")
    archives = sum(each.kind == "archive" for each, _ in files)
    print(f"It was made at {contents.at} by version {contents.version}, with {len(files)} files, {archives} archives.")
    print("It is signed by the table's key." if contents.signed else "It is not signed: an earlier version wrote it.")
    return 0


@contextmanager
def _unpacked(source: Path) -> Iterator[tuple[Backup, list[tuple[Kept, Path]]]]:
    """All of a backup in a folder of its own, its journal and archives read whole and compared with what it says."""
    with ExitStack() as ends:
        try:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
            archives = folder / "archives"
            archives.mkdir()
            contents, packed = ends.enter_context(reading_backup(source.absolute(), folder))
            files = []
            for number, (each, unpacked) in enumerate(packed):
                kept_as = archives / Path(each.path).name if each.kind == "archive" else folder / str(number)
                files.append((each, unpacked.rename(kept_as)))
        except OSError as error:
            do = "Name what `tablectl backup` wrote, and make room in /var/tmp."
            what = f"{source} cannot be unpacked: {error.strerror or error}."
            raise TableError("backup_unreadable", what, do) from None
        try:
            good = verify(_of(files, "journal"), archives)
        except TableError as error:
            raise _damaged(source, error.what) from None
        said, found = (contents.rows, contents.head), (good.rows, good.head.hex())
        if (contents.table, contents.epoch, *said) != (good.table, good.epoch, *found):
            what = f"It says {contents.rows} rows of {contents.table}/{contents.epoch}, and its journal is another."
            raise _damaged(source, what)
        yield contents, files


def _of(files: list[tuple[Kept, Path]], kind: Kind) -> Path:
    return next(path for each, path in files if each.kind == kind)


def _damaged(source: Path, what: str) -> TableError:
    do = "Use another backup. Where there is none, keep this file, and ask who could change it."
    return TableError("backup_damaged", f"The backup {source} cannot be used. {what}", do)


def _check_signed(source: Path, contents: Backup, files: list[tuple[Kept, Path]], *, unsigned: bool) -> None:
    """Raises TableError where the key of the backup's journal did not sign what the backup says."""
    if contents.signed is None:
        if unsigned:
            return
        do = "Did an earlier version make this backup, and was it kept safe since? Then repeat with --unsigned."
        raise TableError("backup_unsigned", f"The backup {source} has no signature.", do)
    if not signature_holds(contents.signed, read_origin(_of(files, "journal")).public_key):
        raise _damaged(source, "What it says of itself is not what the table's key signed.")


def restore(source: Path, by: str | None, below: Path | None = None, *, unsigned: bool = False) -> int:
    """Make this machine the table of a backup. `by` is who decides that a new epoch begins, where the backup is a copy.

    Files are put below /etc/table-controller and /var/lib/table-controller, and where named, `below`. With `unsigned` a
    backup without a signature is restored too.

    Raises TableError: `backup_damaged`, `backup_unreadable`, `backup_unsigned`, `restore_begins_anew`,
    `restore_in_the_way`, `restore_outside`, `restore_failed`, `journal_in_use`.
    """
    try:
        with _unpacked(source) as (contents, files), ExitStack() as undo:
            _check_signed(source, contents, files, unsigned=unsigned)
            if contents.moved_by is None and by is None:
                what = f"The backup of {contents.at} is a copy: table {contents.table} may have gone on after it."
                do = (
                    "Is the old machine's memory card still good? Put the card into the new machine instead. Is it "
                    "lost? Run the same command with --by NAME: then a new epoch begins, which the pit must adopt."
                )
                raise TableError("restore_begins_anew", what, do)
            folders = [CONFIGURATION, _STATE] if below is None else [CONFIGURATION, _STATE, below]
            table, journal = _Placing(folders, undo).place(contents, files)
            undo.pop_all()
    except OSError as error:
        do = "Stop the table, and run the same command again with sudo."
        raise TableError("restore_failed", f"{source} was not restored: {error}.", do) from None
    section = load(table).file.journal
    good = verify(journal, section.archives)
    print(f"{journal}: {good.rows} rows of epoch {good.epoch}, all good.")
    _tell_shoe(journal, contents)
    if contents.moved_by is None and by is not None:
        new_journal(table, by)
        for path in (Path(section.path), note_of(Path(section.signing_key))):
            for_owner(path, journal.parent)
    else:
        print(f"The table goes on where it was when {contents.moved_by} moved it, at {contents.at}.")
    print("Check this machine: sudo tablectl doctor. Then start the table:")
    print("  sudo systemctl enable --now table-controller")
    return 0


class _Placing:
    """Puts files below these folders alone. `undo` removes them again, where a later file cannot be placed."""

    def __init__(self, folders: list[Path], undo: ExitStack) -> None:
        self._folders = [Path(os.path.realpath(each)) for each in folders]
        self._undo = undo

    def place(self, contents: Backup, files: list[tuple[Kept, Path]]) -> tuple[Path, Path]:
        """Put every file of the backup in its place. Returns the paths of the table's file and of the journal.

        The journal of a copy gets another name than the table's journal. So no power cut leaves a table that goes on
        with the copy.
        """
        table = Path(contents.files[0].path)
        for each, unpacked in files[:2]:
            self._configured(each, unpacked)
        section = load(table).file.journal
        key, journal = Path(section.signing_key), Path(section.path)
        laid = journal if contents.moved_by is not None else Path(f"{journal}.of-backup-{contents.epoch}")
        targets = [(unpacked, self._target(each, section, key, laid)) for each, unpacked in files[2:]]
        for path in (laid, key, section.archives, *(path for _, path in targets)):
            self._check_inside(path)
        _check_free(contents, section)
        owner = journal.parent
        owner.mkdir(parents=True, exist_ok=True)
        if any(each.kind == "archive" for each, _ in files) and not section.archives.exists():
            section.archives.mkdir(mode=0o700)
            for_owner(section.archives, owner)
        for (each, _), (unpacked, path) in zip(files[2:], targets, strict=True):
            if each.kind != "tls" or not path.exists():
                self._put(unpacked, path, owner)
        return table, laid

    @staticmethod
    def _target(each: Kept, section: JournalSection, key: Path, laid: Path) -> Path:
        match each.kind:
            case "journal":
                return laid
            case "archive":
                return section.archives / Path(each.path).name
            case "key":
                return key
            case "note":
                return note_of(key)
            case _:
                return Path(each.path)

    def _check_inside(self, path: Path) -> None:
        """Raises TableError where the path, its links followed, lies in no folder that a table's files belong in."""
        real = Path(os.path.realpath(path))
        if not path.is_absolute() or not any(folder in real.parents for folder in self._folders):
            do = "Was this table's file kept there? Then repeat with --below FOLDER. Or was the backup changed?"
            what = f"The backup wants to write {path}, which is in none of {', '.join(map(str, self._folders))}."
            raise TableError("restore_outside", what, do)

    def _configured(self, each: Kept, unpacked: Path) -> None:
        """Put the table's file or the game's in its place. A different file that is there stays, and the backup's file
        is put beside that file."""
        path = Path(each.path)
        if path.is_file() and kept(each.kind, path).sha256 == each.sha256:
            return
        self._check_inside(path)
        if path.exists():
            path = path.with_name(f"{path.name}.restored")
            print(f"{each.path} is there already and stays. The backup's file lies beside it as {path.name}.")
        self._put(unpacked, path, None)
        path.chmod(0o644)

    def _put(self, source: Path, to: Path, owner: Path | None) -> None:
        if not to.exists():
            self._undo.callback(to.unlink, missing_ok=True)
        _put(source, to, owner)


def _check_free(contents: Backup, section: JournalSection) -> None:
    """Raises TableError where a good journal or another table's key is in the way, and where a table runs on the
    journal. An older or a damaged journal is set aside."""
    journal, key = Path(os.path.realpath(section.path)), Path(section.signing_key)
    (key_before,) = (each for each in contents.files if each.kind == "key")
    do = "Is this the right machine? Then move that file to another folder, keep it, and run the same command again."
    if key.exists() and kept("key", key).sha256 != key_before.sha256:
        raise TableError("restore_in_the_way", f"This machine has another table's key, {key}.", do)
    if not journal.exists():
        set_aside(journal)  # a write-ahead log that was left: SQLite would take it for the new journal's log
        return
    JournalFile(journal).close()  # raises TableError where a table runs on the journal
    try:
        there = verify(journal, None, section.archives)
    except TableError:
        pass  # a damaged journal: the backup takes its place
    else:
        if (there.table, there.epoch) != (contents.table, contents.epoch) or there.rows >= contents.rows:
            what = (
                f"{journal} is a good journal of table {there.table}, epoch {there.epoch}, with {there.rows} rows. The "
                f"backup is of table {contents.table}, epoch {contents.epoch}, with {contents.rows} rows."
            )
            raise TableError("restore_in_the_way", what, do)
    print(f"The journal that was here is kept as {set_aside(journal)}.")


def _put(source: Path, to: Path, owner: Path | None) -> None:
    """Copy the file `source` to `to`, safe from a power cut. Only the account that owns the folder `owner` may read the
    copy; None: only this user."""
    to.parent.mkdir(parents=True, exist_ok=True)
    new = to.with_name(f"{to.name}.new")
    new.unlink(missing_ok=True)
    with source.open("rb") as file, os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        shutil.copyfileobj(file, out)
        out.flush()
        os.fsync(out.fileno())
    if owner is not None:
        for_owner(new, owner)
    new.rename(to)
    sync_folder(to)


def _tell_shoe(journal: Path, contents: Backup) -> None:
    """Print what people do with the shoe that was open at the backup."""
    try:
        shoe = open_shoe(journal)
    except TableError:
        print("No shoe was open.")
        return
    print(f"Shoe {shoe.number} was open, in round {shoe.round or 0}.")
    if contents.moved_by is None:
        print("The new journal does not know that shoe. Settle the round on the felt and write it down, take the")
        print("cards out, and announce a new shoe. The pit's log has what the table said after the backup.")
    else:
        print("The table did not hear the shoe meanwhile: it stops at its start, and asks for a count of the cards.")
