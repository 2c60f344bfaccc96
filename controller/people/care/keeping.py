"""The checks of what a table must not lose: the disk with the journal, the journal and its signing key, the archives,
and the clock that gives the journal's rows their times."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.daemon.config.table_file import JournalSection
from controller.daemon.record.journal_reading import archives_of, read_open_shoe, read_origin
from controller.people.care.machine import Machine, Mount
from controller.people.care.row import Row, absent, fault, ok, warning
from controller.table.facts import ProgramMeasured, ShoeOpened

_IN_MEMORY = ("tmpfs", "ramfs", "overlay", "aufs")
_LITTLE_BYTES, _LEAST_BYTES = 500_000_000, 50_000_000
_WORN, _WORN_OUT = 9, 11  # tenths of its life that an eMMC has used; 11: its whole life
_SET_AT = "/run/systemd/timesync/synchronized"
"""systemd-timesyncd touches this file each time it has set the clock."""

_AN_HOUR_MS = 3_600_000
_A_DAY_MS = 24 * _AN_HOUR_MS  # Mississippi 8-4.5(a)4: each clock is set once in 24 hours
_DAYS_OF_A_PACE = 30  # of fewer days nobody can say how fast a table's records grow
_DAYS_OF_A_YEAR = 365.25
_EARLIEST_MS = 1_700_000_000_000  # November 2023: a clock that shows an earlier time is wrong


def disk(machine: Machine, journal: JournalSection) -> Iterator[Row]:
    """Check that the journal's disk keeps its files when the power goes, has free space, and reports no errors."""
    mount = machine.mount_of(Path(journal.path))
    if mount is None:
        yield absent("disk", "The kernel does not say which disk holds the journal.")
        return
    if mount.kind in _IN_MEMORY:
        says = f"{journal.path} is on {mount.kind} ({mount.at}), in memory: a restart loses the journal and the key."
        do = "Put its folder on a partition of its own; or end the overlay: sudo raspi-config nonint do_overlayfs 1"
        yield fault("disk", "state_not_kept", says, do)
    elif "ro" in mount.options:
        says = f"{mount.at}, with the journal, is read-only. The kernel makes a disk read-only when the disk fails."
        yield fault("disk", "disk_read_only", says, "Replace the card: docs/care.md, the disk. Look first: sudo dmesg")
    yield from _room(machine, Path(journal.path))
    yield from _health(machine, mount)


def _room(machine: Machine, path: Path) -> Iterator[Row]:
    folder = next((each for each in machine.at(path).parents if each.exists()), machine.root)
    try:
        room = os.statvfs(folder)
    except OSError as error:
        yield absent(
            "disk", f"The free space beside the journal cannot be read: {error.strerror}.", "sudo tablectl doctor"
        )
        return
    free = room.f_bavail * room.f_frsize
    says = f"{free // 1_000_000} MB are free beside {path}."
    do = "See what fills the disk: sudo du -xh / | sort -h | tail. The archives may be moved to another disk."
    if free < _LEAST_BYTES:
        yield fault("disk", "disk_full", says, do)
    elif free < _LITTLE_BYTES:
        yield warning("disk", "disk_fills", says, do)
    else:
        yield ok("disk", says)


def _health(machine: Machine, mount: Mount) -> Iterator[Row]:
    """Check what the disk and its file system report about their own health: ext4's count of errors, an eMMC's wear, or
    SMART."""
    replace = "Replace the disk soon, between shoes: docs/care.md, the disk."
    partition = machine.at(f"/sys/dev/block/{mount.device}").resolve()
    whole = partition.parent if (partition / "partition").exists() else partition
    errors = machine.number(Path("/") / "sys/fs/ext4" / partition.name / "errors_count")
    if errors:
        says = f"The file system on {partition.name} has met {errors} errors."
        yield warning("disk", "disk_errors", says, replace)
    life_time = machine.text(f"/sys/block/{whole.name}/device/life_time")
    if life_time:
        used = max((int(each, 16) for each in life_time.split()), default=0)
        says = f"{whole.name} has used at most {used * 10} % of the life it was made for."
        if used >= _WORN_OUT:
            yield fault("disk", "disk_worn_out", f"{whole.name} has used up the life it was made for.", replace)
        elif used >= _WORN:
            yield warning("disk", "disk_worn", says, replace)
        else:
            yield ok("disk", says)
        return
    if machine.text(f"/sys/block/{whole.name}/device/type") == "SD":
        yield absent(
            "disk", f"{whole.name} is an SD card, and no SD card reports its wear.", "Replace the card every year."
        )
        return
    smart = machine.run(["smartctl", "--json", "--health", f"/dev/{whole.name}"]) if whole.name != mount.device else ""
    passed = None
    with suppress(ValueError, KeyError, TypeError):
        passed = json.loads(smart or "")["smart_status"]["passed"]
    if passed is None:
        yield absent("disk", "This user cannot read the health of the disk under the journal.")
    elif passed:
        yield ok("disk", f"{whole.name} reports that it is sound (SMART).")
    else:
        yield fault("disk", "disk_fails", f"{whole.name} says that it will fail (SMART).", replace)


def record(machine: Machine, journal: JournalSection, table: str) -> Iterator[Row]:
    """Check that the journal and its signing key exist and belong together, and that the rows of the journal's last
    shoe are unbroken."""
    path, key_path = machine.at(journal.path), machine.at(journal.signing_key)
    try:
        begun, has_key = path.is_file() and path.stat().st_size > 0, key_path.is_file()
        if not has_key and not begun:
            yield absent("journal", "This table was never started: its first start makes its key and journal.")
            return
        if not has_key:
            says = f"The journal {journal.path} has lost its key {journal.signing_key}."
            yield fault("key", "key_gone", says, "Restore the key from the backup: docs/replace.md.")
            return
        if not os.access(key_path, os.R_OK):
            raise PermissionError
        key = load_or_make_key(key_path)
        yield ok("key", f"{journal.signing_key} is there, for the table's account alone.")
        if not begun:
            do = "Put the journal back, or begin a new one, which the pit must adopt: docs/stopped.md."
            yield fault("journal", "journal_lost", f"The journal {journal.path} is missing, but its key is there.", do)
            return
        origin, rows = read_origin(path), sum(1 for _ in read_open_shoe(path))
    except PermissionError:
        yield absent("journal", "Only root and the table's account may read the journal.", "sudo tablectl doctor")
        return
    except TableError as error:
        part = "key" if error.code == "signing_key_unusable" else "journal"
        yield fault(part, error.code, error.what, error.do)
        return
    if origin.table != table:
        do = "Put this table's own journal there. A second table needs a journal of its own: docs/stopped.md."
        says = f"{journal.path} is the journal of {origin.table}, and this table is {table}."
        yield fault("journal", "journal_of_another_table", says, do)
    elif origin.public_key != key.public:
        says = f"{journal.path} was signed by another key than {journal.signing_key}."
        yield fault("journal", "journal_of_another_key", says, "Restore journal and key together: docs/stopped.md.")
    else:
        says = f"The last shoe's {rows} rows in {journal.path} are unbroken. `tablectl verify` reads all shoes."
        yield ok("journal", says)
        yield from _records(machine, journal)


def _records(machine: Machine, journal: JournalSection) -> Iterator[Row]:
    """Check that every archive file that the journal names exists, and that the disk has room for records of as many
    years as the house wants to keep."""
    path = machine.at(journal.path)
    named = archives_of(path, machine.at(journal.archives))
    if missing := [archive.name for archive in named if not archive.is_file()]:
        says = f"{len(missing)} of {len(named)} archives are missing, the first of them {missing[0]}."
        yield fault("records", "archive_missing", says, f"Bring them back from the backup into {journal.archives}.")
        return
    if not named:
        yield ok("records", "No shoe has gone to an archive yet: every record is in the journal.")
        return
    sizes = [archive.stat() for archive in named]
    days = (machine.now().at_ms - 1000 * min(size.st_mtime for size in sizes)) / _A_DAY_MS
    says = f"{len(named)} archives of {int(days)} days hold every shoe that the journal no longer has. None is missing."
    years = journal.keep_years
    if years is None or days < _DAYS_OF_A_PACE:
        yield ok("records", says)
        return
    room = os.statvfs(path)
    bytes_a_day = sum(size.st_size for size in sizes) / days
    enough_for = (days + room.f_bavail * room.f_frsize / bytes_a_day) / _DAYS_OF_A_YEAR
    if enough_for < years:
        says = f"At this pace the disk is full after {enough_for:.1f} years, and records are kept for {years} years."
        do = "Copy the archives to another machine and give the table a larger disk: docs/care.md, the records."
        yield warning("records", "records_outgrow_disk", says, do)
    else:
        yield ok("records", f"{says} The disk has room for the {years} years that records are kept.")


def noted(machine: Machine, journal: JournalSection) -> ProgramMeasured | None:
    """Return the program and the configuration that the journal names as the last ones to run. Return None if the
    journal cannot be read or names none."""
    try:
        facts = [row.fact for row in read_open_shoe(machine.at(journal.path))]
    except (TableError, OSError):
        return None
    kept = [fact.measured if isinstance(fact, ShoeOpened) else fact for fact in facts]
    return next((fact for fact in reversed(kept) if isinstance(fact, ProgramMeasured)), None)


def clock(machine: Machine) -> Iterator[Row]:
    """Check that a time server sets the clock. Without a time server the table still deals, but marks the times of its
    journal rows as not synchronised."""
    stamp = machine.now()
    do = "Write NTP=SERVER into /etc/systemd/timesyncd.conf; then sudo systemctl restart systemd-timesyncd"
    if stamp.at_ms < _EARLIEST_MS:
        says = f"The clock says {stamp.text()}, which cannot be right. No certificate is valid at that time."
        yield fault("clock", "clock_wrong", says, do)
    elif not stamp.synchronised:
        says = f"No time server sets this machine's clock. The clock says {stamp.text()}."
        yield warning("clock", "clock_not_synchronised", says, do)
    elif (set_ms := machine.touched_ms(_SET_AT)) is not None and stamp.at_ms - set_ms > _A_DAY_MS:
        says = f"The clock was last set {(stamp.at_ms - set_ms) // _AN_HOUR_MS} hours ago{_wrong_by(machine)}."
        yield warning("clock", "clock_not_set", says, "See why the time server does not answer: timedatectl status")
    else:
        last = "" if set_ms is None else f", last {max(0, stamp.at_ms - set_ms) // 1000} s ago"
        yield ok("clock", f"It is {stamp.text()}, and a time server sets the clock{last}{_wrong_by(machine)}.")


def _wrong_by(machine: Machine) -> str:
    """Return a text for the end of a sentence that says by how much the clock can be wrong. Return an empty text if
    that is not known."""
    wrong_ms = machine.most_wrong_ms()
    return "" if wrong_ms is None else f". It is wrong by {wrong_ms} ms at most"
