"""`tablectl backup` and `tablectl restore`: save the state of a table in one file, and turn another machine into that
table.

An epoch is the life of one journal of a table, from its first row on. A restored table may stay in its epoch only if
the old machine has certainly sent nothing after the backup. Only a backup that was made with `--move` ensures this,
because `--move` sets the old machine's journal aside. Every other restore begins a new epoch, which the pit must adopt.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from controller import __version__
from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.basics.waited import waited_for
from controller.contract.face.reports import BackupReport
from controller.contract.fingerprint import fingerprint
from controller.contract.keeping.packed import damaged, member_of
from controller.contract.keeping.placing import Placing
from controller.contract.keeping.seal import Seal, known_passphrase, new_passphrase
from controller.contract.keys import SigningKey, for_owner, load_or_make_key, signature_holds
from controller.daemon.clock import stamp_now
from controller.daemon.config import load, load_table_file
from controller.daemon.config.table_file import TableFile
from controller.daemon.record.archive import beside
from controller.daemon.record.backup import SECRETS, Backup, opened, read_backup, write_backup
from controller.daemon.record.epochs import note_of
from controller.daemon.record.journal_file import JournalFile, set_aside
from controller.daemon.record.journal_reading import copied, read_origin, verify
from controller.people.cli.composition import open_shoe
from controller.people.cli.files import CONFIGURATION, VARIABLE, default_table
from controller.people.cli.new_journal import new_journal
from controller.people.cli.told import print_report

_STATE = Path("/var/lib/table-controller")
_CONFIGURED = ("table.toml", "game.toml")


def places(table: Path, file: TableFile) -> dict[str, Path]:
    """Return the path at which each file of a backup belongs on a machine. The result maps the name of a file in the
    backup to its path. `table` is the path of the machine's table file, and `file` its content. The archives of the
    journal are left out, because they go to a folder."""
    key, pit = Path(file.journal.signing_key), file.pit
    tls = {"ca": pit.ca, "certificate": pit.certificate, "private_key": pit.private_key, "crl": pit.crl}
    return {
        "table.toml": table.absolute(),
        "game.toml": Path(os.path.normpath(table.absolute().parent / file.table.game)),
        **{name: Path(path) for name, path in tls.items() if path is not None},
        "key": key,
        "key.journals": note_of(key),
        "journal": Path(file.journal.path),
    }


def backup(table: Path, to: Path, moved_by: str | None, passphrase_file: Path | None) -> int:
    """Write a backup of the table to the file `to`. The table may run while the backup is made, unless `moved_by` is
    given.

    `moved_by` names the person who moves the table to another machine. The table must then be stopped, and this machine
    cannot run the table again. Raises TableError: `backup_unwritable`, `table_runs`, an error of the passphrase, or an
    error of reading the journal.
    """
    file = load(table).file
    journal, to = Path(os.path.realpath(file.journal.path)), to.absolute()
    new = to.with_name(f"{to.name}.new")
    read_origin(journal)  # raises TableError where there is no journal
    with _unwritten(to), Placing() as placing:
        if to.exists():
            raise FileExistsError(errno.EEXIST, "there is a file of this name already")
        seal = Seal(new_passphrase(passphrase_file))
        with ExitStack() as ends:
            if moved_by is not None:
                ends.callback(_locked(journal).close)
            ends.enter_context(waited_for("Packing the table, and reading it back"))
            copy = Path(ends.enter_context(tempfile.TemporaryDirectory(dir=to.parent))) / "journal"
            archives = copied(journal, copy, file.journal.archives)
            good = verify(copy, None, file.journal.archives, beside(journal))
            kept = {name: path for name, path in places(table, file).items() if _is_kept(name, path)}
            files = {**kept, **{f"archive/{each.name}": each for each in archives}}
            files["journal"] = copy
            said = (good.table, good.epoch, good.rows, good.head.hex(), stamp_now().text(), __version__, moved_by)
            new.unlink(missing_ok=True)
            placing.may_be_made(new)
            key = load_or_make_key(Path(file.journal.signing_key))
            write_backup(new, Backup(*said, tuple(files), seal.salt, None), files, key, seal)
        if moved_by is not None:
            placing.set_aside(lambda: set_aside(journal), journal)  # refused where the table was started meanwhile
        new.rename(to)
        sync_folder(to)
    print(f"{to}: table {good.table}, {good.rows} rows of epoch {good.epoch}, {len(archives)} archives; read back.")
    print(
        "The passphrase seals the keys inside. Keep it apart from the backup: without it nobody can restore the table."
    )
    if moved_by is not None:
        print("This machine is no table any more: its journal is set aside.")
        print("On the new machine: tablectl restore FILE")
    return 0


def _is_kept(name: str, path: Path) -> bool:
    """Tell whether a backup of a table includes the file `name`, which lies at `path`. Every file is included, except a
    TLS certificate, key or revocation list that this user cannot read."""
    return name not in ("ca", "certificate", "private_key", "crl") or os.access(path, os.R_OK)


@contextmanager
def _unwritten(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        do = "Name a new file in a folder with room, and run this as root or as the table's user."
        raise TableError("backup_unwritable", f"The backup {to} was not made: {error.strerror or error}.", do) from None


def _locked(journal: Path) -> JournalFile:
    """Open the journal and lock its file, so that no table can start on it. Raises TableError `table_runs` if a table
    already runs on the journal."""
    try:
        return JournalFile(journal)
    except TableError as error:
        if error.code != "journal_in_use":
            raise
        do = "Stop the table: sudo systemctl stop table-controller. Without --move it may run during a backup."
        raise TableError("table_runs", "The table runs, and a table that is moved must not go on.", do) from None


class _Unpacked(Struct, frozen=True):
    """A backup of a table whose files are unpacked in a temporary folder. `files` holds the path of each file, by its
    name in the backup. `public_key` is the table's public key."""

    source: Path
    says: Backup
    files: Mapping[str, Path]
    public_key: bytes

    def secrets(self, seal: Seal | None) -> dict[str, bytes]:
        """Return the private keys in the backup by name, decrypted with `seal`. Raises TableError `passphrase_wrong`,
        or `backup_damaged` if the signing key in the backup belongs to another table."""
        found = {name: opened(self.says, name, self.files[name], seal) for name in SECRETS & self.files.keys()}
        try:
            good = SigningKey(found["key"]).public == self.public_key
        except ValueError:
            good = False
        if not good:
            raise damaged(self.source, "the key in it did not sign its journal")
        return found


@contextmanager
def _unpacked(source: Path, *, unsigned: bool) -> Iterator[_Unpacked]:
    """Unpack a backup of a table into a temporary folder for the length of a `with` block, and check the backup. Every
    row of the journal and of its archives is read. The rows must agree with the backup's own description, and the
    table's key must have signed that description.

    With `unsigned` a backup without a signature is accepted too. Raises TableError `backup_damaged`, `backup_unsigned`,
    `backup_unreadable`.
    """
    with ExitStack() as ends:
        waiting = ends.enter_context(ExitStack())
        waiting.enter_context(waited_for("Unpacking the backup, and checking every row"))
        try:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
            says, files = read_backup(source.absolute(), folder)
            (folder / "archives").mkdir()
            for name in files:
                if name.startswith("archive/"):
                    files[name] = files[name].rename(folder / "archives" / Path(name).name)
        except OSError as error:
            do = "Name what `tablectl backup` wrote, and make room in /var/tmp."
            what = f"{source} cannot be unpacked: {error.strerror or error}."
            raise TableError("backup_unreadable", what, do) from None
        try:
            good = verify(files["journal"], folder / "archives")
            public_key = read_origin(files["journal"]).public_key
        except TableError as error:
            raise damaged(source, error.what.rstrip(".")) from None
        if (says.table, says.epoch, says.rows, says.head) != (good.table, good.epoch, good.rows, good.head.hex()):
            why = f"it says {says.rows} rows of {says.table}/{says.epoch}, and its journal is another"
            raise damaged(source, why)
        if says.says is None and not unsigned:
            do = "Did an earlier version make this backup, and was it kept safe since? Then repeat with --unsigned."
            raise TableError("backup_unsigned", f"The backup {source} has no signature.", do)
        if says.says is not None and not signature_holds(says.says, public_key):
            raise damaged(source, "what it says of itself is not what the table's key signed")
        waiting.close()
        yield _Unpacked(source, says, files, public_key)


def verify_backup(source: Path, passphrase_file: Path | None, as_json: bool = False) -> int:
    """Check a complete backup of a table without restoring it, and print what it holds. Without a passphrase file the
    private keys in it are not decrypted. Raises the same TableErrors as `restore` for a bad backup."""
    with _unpacked(source, unsigned=True) as backup:
        says, files = backup.says, backup.files
        if says.salt is None or passphrase_file is not None:
            backup.secrets(None if says.salt is None else Seal(known_passphrase(passphrase_file), says.salt))
    archives = sum(name.startswith("archive/") for name in files)
    if as_json:
        report = BackupReport(
            table=says.table,
            epoch=says.epoch,
            rows=says.rows,
            at=says.at,
            version=says.version,
            files=len(files),
            archives=archives,
            moved_by=says.moved_by,
            signed_by=None if says.salt is None else fingerprint(backup.public_key),
            passphrase_opens=None if says.salt is None or passphrase_file is None else True,
        )
        print_report(report)
        return 0
    moved = f", moved by {says.moved_by}" if says.moved_by is not None else ""
    print(f"{source}: table {says.table}, {says.rows} rows of epoch {says.epoch}, all good{moved}.")
    print(f"It was made at {says.at} by version {says.version}, with {len(files)} files, {archives} archives.")
    if says.salt is None:
        print("It is not signed, and its key is not sealed: an earlier version wrote it. Make a new backup.")
        return 0
    print(f"It is signed by the key of fingerprint {fingerprint(backup.public_key)}. The pit must show the same.")
    if passphrase_file is None:
        print("The keys inside are sealed. Whether a passphrase opens them, --passphrase-file FILE tells.")
    else:
        print("The passphrase opens the keys inside, and the key is this table's.")
    return 0


def restore(
    source: Path, by: str | None, table: Path | None, passphrase_file: Path | None, *, unsigned: bool = False
) -> int:
    """Restore the backup in the file `source`, so that this machine becomes the table that was backed up. If the backup
    was not made with `--move`, the old machine may have gone on after it. A new epoch then begins, and `by` names the
    person who decides so.

    `table` is the path where the table's file is or belongs. Without it, the default table's file is meant, or
    /etc/table-controller/table.toml if this machine has no table's file. If this machine has a table's file already,
    that file says where every other file belongs. If only the backup has one, every file belongs in the folder of the
    table's file or in /var/lib/table-controller. With `unsigned` a backup without a signature is restored too.

    If the restore fails, the machine is as it was before. Raises TableError: `backup_damaged`, `backup_unreadable`,
    `backup_unsigned`, `passphrase_wrong`, `restore_begins_anew`, `restore_in_the_way`, `restore_outside`,
    `restore_failed`, `journal_in_use`.
    """
    table = _place_of_table() if table is None else table.absolute()
    told: list[str] = []
    try:
        with _unpacked(source, unsigned=unsigned) as backup:
            says = backup.says
            if says.moved_by is None and by is None:
                raise _begins_anew(says)
            secrets = backup.secrets(None if says.salt is None else Seal(known_passphrase(passphrase_file), says.salt))
            with Placing() as placing, waited_for("Placing the files, and checking every row"):
                laid = _place(placing, backup, secrets, table, told)
                section = load(table).file.journal
                good = verify(laid, section.archives)
                told += [f"{laid}: {good.rows} rows of epoch {good.epoch}, all good.", *_of_shoe(laid, says)]
                if says.moved_by is None and by is not None:
                    _begin_anew(placing, table, by)
    except OSError as error:
        do = "Stop the table, and run the same command again with sudo. Nothing was changed on this machine."
        raise TableError("restore_failed", f"{source} was not restored: {error}.", do) from None
    print("\n".join(told))
    if says.moved_by is not None:
        print(f"The table goes on where it was when {says.moved_by} moved it, at {says.at}.")
    print("Check this machine: sudo tablectl doctor. Then start the table:")
    print("  sudo systemctl enable --now table-controller")
    return 0


def _begins_anew(says: Backup) -> TableError:
    what = f"The backup of {says.at} is a copy: table {says.table} may have gone on after it."
    do = (
        "Is the old machine's memory card still good? Put the card into the new machine instead. Is it "
        "lost? Run the same command with --by NAME: then a new epoch begins, which the pit must adopt."
    )
    return TableError("restore_begins_anew", what, do)


def _place_of_table() -> Path:
    """Return the path of this machine's table file. If the machine has none, return the path where the file belongs.
    Raises TableError `no_table` if the machine has several."""
    if os.environ.get(VARIABLE) or any(CONFIGURATION.glob("*.toml")):
        return default_table("restore").absolute()
    return CONFIGURATION / "table.toml"


def _place(placing: Placing, backup: _Unpacked, secrets: Mapping[str, bytes], table: Path, lines: list[str]) -> Path:
    """Copy every file of the backup to its place on this machine, and return the path of the restored journal.

    If the backup was not made with `--move`, its journal gets another file name than the table's own journal. A power
    cut in the middle of the restore then cannot leave a table that continues the copied journal.
    """
    says, files = backup.says, backup.files
    file = load_table_file(table if table.exists() else files["table.toml"])
    where = places(table, file)
    journal, archives = where["journal"], file.journal.archives
    laid = journal if says.moved_by is not None else Path(f"{journal}.of-backup-{says.epoch}")
    former = {} if says.salt is not None else {str(path): path for path in where.values()}
    where |= {"journal": laid, **{name: archives / Path(name).name for name in files if name.startswith("archive/")}}
    targets = {name: path for name in files if (path := where.get(name) or former.get(name)) is not None}
    targets = {name: to for name, to in targets.items() if name not in _CONFIGURED or not _is_same(files[name], to)}
    _check_inside(table, targets)
    _check_free(says, file, secrets["key"], lines, placing)
    owner = journal.parent
    placing.make_folder(owner, None)
    for name, to in sorted(targets.items(), key=lambda target: target[0] == "journal"):  # last: all else is there then
        if name in _CONFIGURED:
            _configure(placing, files[name], to, lines)
        elif name.startswith("archive/") or name in ("key", "key.journals", "journal") or not to.exists():
            placing.put(secrets.get(name, files[name]), to, owner)
    placing.may_be_made(*(laid.with_name(laid.name + ending) for ending in ("-wal", "-shm")))
    return laid


def _check_inside(table: Path, targets: Mapping[str, Path]) -> None:
    """Raise TableError `restore_outside` if a file of the backup would be written to a place that is not allowed, or if
    two files would be written to one place. `targets` maps the name of a file in the backup to the path to which it
    would be written.

    If this machine already has a table file, every path that the file names is allowed. If the table's file comes from
    the backup, none of its paths is trusted: every file must belong below the folder of the table's file, or below
    /var/lib/table-controller. In both cases no symbolic link may lead elsewhere.
    """
    folders = [Path(os.path.realpath(each)) for each in (table.parent, _STATE)]
    own = table.exists()
    for path in targets.values():
        real = Path(os.path.realpath(path.parent))
        inside = any(folder == real or folder in real.parents for folder in folders)
        straight = own and real == Path(os.path.normpath(path.parent))
        if not path.is_absolute() or not (inside or straight):
            what = f"{path} would be written, which is in neither of {', '.join(map(str, folders))}."
            do = (
                "Was this table kept there? Then first put its file in place by hand, look at it, and repeat with "
                "--table TABLE.toml. `tar -xzOf FILE table.toml` prints it."
            )
            raise TableError("restore_outside", what, do)
    if len({*targets.values()}) != len(targets):
        do = "Correct the table's file, so that no two of its paths are one."
        raise TableError("restore_outside", f"Two files of the backup have one place by {table}.", do)


def _is_same(one: Path, other: Path) -> bool:
    return other.is_file() and member_of("", one) == member_of("", other)


def _configure(placing: Placing, source: Path, to: Path, lines: list[str]) -> None:
    """Write the backup's table file or game file to the path `to`. If a different file lies at `to` already, that file
    stays, and the backup's file is written beside it with the ending .restored."""
    if to.exists():
        lines.append(f"{to} is there already and stays. The backup's file lies beside it as {to.name}.restored.")
        to = to.with_name(f"{to.name}.restored")
    placing.put(source, to, None, 0o644)


def _check_free(says: Backup, file: TableFile, key_before: bytes, lines: list[str], placing: Placing) -> None:
    """Set aside an older or a damaged journal of this machine, so that the restored journal can take its place. Raises
    TableError if this machine has a good journal that must not be replaced, if it has another table's key, or if a
    table runs on the journal."""
    journal, key = Path(os.path.realpath(file.journal.path)), Path(file.journal.signing_key)
    do = "Is this the right machine? Then move that file to another folder, keep it, and run the same command again."
    if key.exists() and key.read_bytes() != key_before:
        raise TableError("restore_in_the_way", f"This machine has another table's key, {key}.", do)
    placing.may_be_made(*(journal.with_name(journal.name + ending) for ending in ("-wal", "-shm")))  # by reading it
    if journal.exists():
        JournalFile(journal).close()  # raises TableError where a table runs on the journal
        try:
            there = verify(journal, None, file.journal.archives)
        except TableError as error:
            if error.code != "journal_damaged":
                what = f"{error.what} So the table may have dealt on it since the backup was made."
                raise TableError("restore_in_the_way", what, do) from None
        else:
            # A move that was broken off once its journal lay in its place: that journal has told nothing since.
            repeated = says.moved_by is not None and there.head.hex() == says.head
            if (there.table, there.epoch) != (says.table, says.epoch) or (there.rows >= says.rows and not repeated):
                what = (
                    f"{journal} is a good journal of table {there.table}, epoch {there.epoch}, with {there.rows} rows. "
                    f"The backup is of table {says.table}, epoch {says.epoch}, with {says.rows} rows."
                )
                raise TableError("restore_in_the_way", what, do)
    elif not journal.parent.exists():
        return
    was_there = journal.exists()
    # Without a journal only a write-ahead log may be left: SQLite would take it for the new journal's log.
    aside = placing.set_aside(lambda: set_aside(journal), journal)
    if was_there:
        lines.append(f"The journal that was here is kept as {aside}.")


def _begin_anew(placing: Placing, table: Path, by: str) -> None:
    """Begin a new journal, and with it a new epoch, for a table that was restored from a copy. `by` names the person
    who decided that."""
    section = load(table).file.journal
    journal, note = Path(section.path), note_of(Path(section.signing_key))
    beside_it = [path.with_name(path.name + ending) for path in (journal,) for ending in ("", "-wal", "-shm")]
    placing.may_be_made(*beside_it, note.with_name(f"{note.name}.new"))
    new_journal(table, by)
    for path in (journal, note):
        for_owner(path, journal.parent)


def _of_shoe(journal: Path, says: Backup) -> list[str]:
    """Return lines of text that tell a person whether a shoe was open when the backup was made, and what to do now with
    that shoe's cards."""
    try:
        shoe = open_shoe(journal)
    except TableError:
        return ["No shoe was open."]
    told = f"Shoe {shoe.number} was open, in round {shoe.round or 0}."
    if says.moved_by is None:
        return [
            told,
            "The new journal does not know that shoe. Settle the round on the felt and write it down, take the",
            "cards out, and announce a new shoe. The pit's log has what the table said after the backup.",
        ]
    return [
        told,
        "The table did not hear the shoe meanwhile: it stops at its start, and asks for a count of the cards.",
    ]
