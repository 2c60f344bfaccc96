"""Manages the installed versions of the program on a table's or a pit's machine, and the switch from one version to
another.

In /opt/table-controller each version has a link with its name, to a folder of its own. The link `current` names the
version that runs. The link `before` names the version that ran before. The program of that older version does the
switch, because it is known to work. The file `next` says which version is requested ("0.2.0", or "0.2.0 now"). It stays
until the switch is finished, also through a power cut. The file `told` says how the last switch ended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from controller import __version__
from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.face.reports import VersionsReport, VersionTold
from controller.contract.face.table import BETWEEN_SHOES
from controller.daemon.config import load
from controller.daemon.config.table_file import JournalSection
from controller.people.cli.client import status_of
from controller.people.cli.files import default_table
from controller.people.cli.rehearsal import LATEST_ROWS, rehearse
from controller.people.cli.told import print_report

FOLDER = Path("/opt/table-controller")
PACKAGED = Path("/usr/lib/table-controller")
"""Where the package installs a folder that is named after its version. dpkg removes that folder with the next version.
"""
TABLE, PIT, SWITCH = "table-controller.service", "table-pit.service", "table-controller-switch.service"
_SERVICES = (TABLE, PIT)
"""The services that must become ready again. A pit is switched at any time: its tables keep their events meanwhile."""
_PAGES = ("table-screen.service", "table-pit-page.service")
_ACCOUNT: str | None = "table-controller"
_CREDENTIALS = f"/run/credentials/{TABLE}/"
_POLL_S = 5.0

_LEFT_OPEN = "import sys, pathlib, controller.people.cli.composition as c; c.open_shoe(pathlib.Path(sys.argv[1]))"
"""A program that fails where this journal holds no open shoe. It also fails where the running version cannot read the
journal: such a version never ends the shoe, so nothing waits for that end."""


class Versions:
    """The versions of the program that are installed in `folder`. `systemctl` is a function that runs systemctl with
    the given words, and returns whether it succeeded."""

    def __init__(self, folder: Path = FOLDER, systemctl: Callable[..., bool] | None = None) -> None:
        self.folder = folder
        self._systemctl = systemctl or _systemctl

    def installed(self) -> list[str]:
        """Return the names of all installed versions of the program."""
        names = {path.parents[1].name for path in self.folder.glob("[!.]*/bin/tablectl")}
        return sorted(names - {"current", "before"})

    def link(self, name: str) -> str | None:
        """Return the version of the program to which the link `current` or `before` points, or None if there is no such
        link."""
        path = self.folder / name
        return path.readlink().name if path.is_symlink() else None

    def asked(self) -> tuple[str | None, bool]:
        """Return two values: the version of the program that a person has requested (None if nothing is requested), and
        whether the switch may happen while a shoe is open."""
        try:
            version, _, now = (self.folder / "next").read_text("utf-8").strip().partition(" ")
        except FileNotFoundError:
            return None, False
        return version, now == "now"

    def told(self) -> str:
        """Return the sentence that says how the last switch of versions ended. It is empty before the first switch."""
        path = self.folder / "told"
        return path.read_text("utf-8").strip() if path.is_file() else ""

    def ask_for(self, version: str, now: bool) -> None:
        """Record that a person requests this version of the program. With `now` the switch may happen while a shoe is
        open. Raises TableError `version_unknown`, `not_root`."""
        if version not in self.installed():
            what = f"Version {version} of the program is not installed; {' and '.join(self.installed()) or 'none'} is."
            raise TableError(
                "version_unknown", what, "Name an installed version, or first install the package of that version."
            )
        self._write("next", f"{version} now" if now else version)

    def switch(
        self,
        shoe_is_open: Callable[[], bool],
        unfit: Callable[[Path], str | None],
        rehearsed: Callable[[Path], str] = lambda _version: "",
    ) -> bool:
        """Switch to the requested version of the program once no shoe is open, or at once if the request says so. If
        that version does not become ready, go back to the old one. Returns True if the requested version runs at the
        end, or will run once the machine's service is started, or if no version was requested.

        `unfit` is a function of a version's folder: it returns why that version cannot run this table, or None.
        `rehearsed` is a function of a version's folder too: it returns in words how the rehearsal went, or raises
        TableError. In both cases of refusal nothing is switched. The version that the link `before` names needs no
        rehearsal. If `current` names the requested version already, an earlier switch was interrupted. This call then
        finishes that switch, and starts the services that the machine starts at boot.
        """
        wanted, now = self.asked()
        ran = self._services("is-enabled")
        said: dict[str, str] = {}
        while wanted is not None and wanted != self.link("current"):
            try:
                if wanted not in said and wanted != self.link("before"):
                    said[wanted] = rehearsed(self.folder / wanted)
            except TableError as error:
                return self._end(f"Version {wanted} is not taken, so {self.link('current')} stays. {error}", False)
            if not now and shoe_is_open():
                time.sleep(_POLL_S)
                wanted, now = self.asked()
                continue
            if (why := unfit(self.folder / wanted)) is not None:
                return self._end(f"Version {wanted} is not fit, so {self.link('current')} stays. {why}", False)
            ran = self._services("is-active")
            for unit in ran:
                self._systemctl("stop", unit)
            self._point("before", self.link("current") or wanted)
            self._point("current", wanted)
        if wanted is None:
            return True
        for unit in ran:
            if not self._systemctl("start", unit):  # this returns once the program is ready, or has failed
                return self._go_back(wanted, ran, _last_words(unit))
        runs = "runs" if ran else "will run when the table or the pit is started"
        return self._end(f"Version {wanted} {runs}. {said.get(wanted, '')}".rstrip(), True)

    def _services(self, are: str) -> list[str]:
        return [unit for unit in _SERVICES if self._systemctl(are, "--quiet", unit)]

    def _go_back(self, wanted: str, ran: Sequence[str], last_words: str) -> bool:
        back = self.link("before") or wanted
        for unit in ran:
            self._systemctl("stop", unit)
        self._point("current", back)
        ready = [self._systemctl("start", unit) for unit in ran]
        so = "runs again" if all(ready) else "was started again, and did not become ready either"
        return self._end(f"Version {wanted} did not become ready, so {back} {so}. {last_words}", False)

    def _end(self, outcome: str, done: bool) -> bool:
        for page in _PAGES:
            self._systemctl("try-restart", page)
        self._write("told", outcome)
        (self.folder / "next").unlink(missing_ok=True)
        print(outcome)
        return done

    def _point(self, name: str, version: str) -> None:
        """Point the symbolic link `name` at the directory of `version`. The switch is atomic: a reader finds either the
        old version or the new one."""
        new = self.folder / f".{name}"
        new.unlink(missing_ok=True)
        new.symlink_to(version)
        new.replace(self.folder / name)
        self._synced()

    def _write(self, name: str, text: str) -> None:
        try:
            new = self.folder / f".{name}"
            with new.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.folder / name)
            self._synced()
        except PermissionError as error:
            do = "Repeat the same command with sudo before it."
            raise TableError("not_root", f"Only root may switch versions: {error}.", do) from error

    def _synced(self) -> None:
        """Sync the folder of the versions, so that renamed links and files are safe on the disk."""
        sync_folder(self.folder / "next")


def versions(as_json: bool = False) -> int:
    """Print which versions of the program are installed, which version runs, and how the last switch ended."""
    report = _report(Versions())
    if as_json:
        print_report(report)
        return 0
    if not report.installed:
        print(f"The package has installed no version on this machine: {FOLDER} has none.")
        print(f"This program is version {report.this_program}, and runs from {Path(sys.argv[0]).absolute()}.")
    for each in report.installed:
        when = "now" if each.requested == "now" else "once no shoe is open"
        notes = [
            *(["runs"] if each.runs else []),
            *(["the version before; `tablectl rollback` returns to it"] if each.is_before else []),
            *([f"requested: runs {when}"] if each.requested else []),
        ]
        print(f"{each.version:<12} {', '.join(notes)}".rstrip())
    if report.last_switch is not None:
        print(f"The last switch: {report.last_switch}")
    return 0


def _report(there: Versions) -> VersionsReport:
    current, before, (wanted, now) = there.link("current"), there.link("before"), there.asked()
    installed = tuple(
        VersionTold(
            version=version,
            runs=version == current,
            is_before=version == before != current,
            requested=("now" if now else "between_shoes") if version == wanted else None,
        )
        for version in there.installed()
    )
    return VersionsReport(this_program=__version__, installed=installed, last_switch=there.told() or None)


def update(version: str | None, now: bool, rehearse_only: bool = False) -> int:
    """Request a version of the program, and switch to it once no shoe is open, or at once with `now`. Without
    `version`, the version of the package that was installed last is requested. With `rehearse_only` nothing is
    requested and nothing is switched: the version only computes the events of the table's complete past again, as a
    test.

    Raises TableError `version_unknown`, and the error of a rehearsal that fails.
    """
    wanted = version or max((path.name for path in PACKAGED.glob("*")), default=None)
    if wanted is None:
        do = "Install the package, or name an installed version: tablectl update VERSION"
        raise TableError("version_unknown", "No package has brought a version of the program to this machine.", do)
    if not rehearse_only:
        return _switch_to(Versions(), wanted, now)
    folder = next((each for each in (FOLDER / wanted, Path(wanted)) if (each / "bin" / "tablectl").is_file()), None)
    if folder is None:
        do = "Name an installed version, or a folder that holds bin/tablectl."
        raise TableError("version_unknown", f"There is no version {wanted} of the program to rehearse.", do)
    print(_rehearsed(folder, None) or "This machine has no table, and so no past.")
    return 0


def rollback(now: bool) -> int:
    """Request the version of the program that ran before the present one, and switch to it. With `now` the switch may
    happen while a shoe is open. Raises TableError `no_version_before`."""
    there = Versions()
    before = there.link("before")
    if before is None or before == there.link("current"):
        what = f"There is no version before the one that runs; installed: {', '.join(there.installed()) or 'none'}."
        raise TableError("no_version_before", what, "To run another version: tablectl update VERSION")
    return _switch_to(there, before, now)


def switch() -> int:
    """Switch to the version of the program that a person has requested. The systemd unit table-controller-switch runs
    this function. Returns 0 if the switch succeeded, else 1."""
    return 0 if Versions().switch(_shoe_is_open, _unfit, _rehearsed) else 1


def _switch_to(there: Versions, version: str, now: bool) -> int:
    there.ask_for(version, now)
    if not Path("/run/systemd/system").is_dir():  # a disk image is being made, and nothing runs
        return 0 if there.switch(lambda: False, lambda _version: None) else 1
    if not now and version != there.link("current") and _shoe_is_open():
        _systemctl("start", "--no-block", SWITCH)
        print(f"Version {version} will run once the open shoe has ended. At once: tablectl update --now {version}")
        return 0
    done = _systemctl("start", SWITCH)
    print(there.told(), file=sys.stdout if done else sys.stderr)
    return 0 if done else 1


def _shoe_is_open() -> bool:
    """Tell whether this machine's table has an open shoe. If the table is stopped, its journal is read. If the table
    runs but does not answer, the result is True, to be safe."""
    try:
        table = default_table("update")
    except TableError:
        return False
    try:
        phase = status_of(table).face.phase
    except TableError as error:
        return error.code != "table_not_running" or _left_open(Path(load(table).file.journal.path))
    return phase not in BETWEEN_SHOES


def _left_open(journal: Path) -> bool:
    """Tell whether a stopped table's journal holds an open shoe. The answer is False too if the running version cannot
    read the journal.

    The journal is read under the table's own account. If root read it, SQLite would make files that the table could not
    open.
    """
    command = [sys.executable, "-I", "-c", _LEFT_OPEN, str(journal)]
    return subprocess.run(command, user=_ACCOUNT, capture_output=True, check=False).returncode == 0


class _OfTable(msgspec.Struct, frozen=True):
    journal: JournalSection


def _rehearsed(version: Path, most_rows: int | None = LATEST_ROWS) -> str:
    """Let this version of the program compute the events of the table's past again, and return in a sentence how that
    went. Returns an empty text if there is no table or no journal yet.

    Only the journal's section of the table's file is read, because the rest may be written for the new version already.
    The running version compares the events, because it alone knows which events it has sent. Raises TableError if an
    event differs, if the rehearsal fails, or if the journal cannot be read.
    """
    try:
        table = default_table("update")
    except TableError:
        return ""
    try:
        kept = msgspec.toml.decode(table.read_text("utf-8"), type=_OfTable).journal
    except (msgspec.DecodeError, OSError, UnicodeDecodeError) as error:
        what = f"{table} does not say where the journal is: {error}."
        raise TableError("rehearsal_failed", what, "Correct [journal] in that file.") from error
    journal = Path(kept.path)
    if not journal.is_file():
        return ""
    if os.geteuid() != 0 or not FOLDER.is_dir():
        return rehearse(version, journal, kept.archives, most_rows, None, None)
    running = str((FOLDER / "current").resolve() / "bin" / "python3")
    return rehearse(version, journal, kept.archives, most_rows, _ACCOUNT, "nobody", running)


def _unfit(version: Path) -> str | None:
    """Return why this version of the program cannot run this machine's table, in the version's own words, or None if it
    can.

    The version's own `tablectl` does the checks under the table's account, before anything is stopped.
    """
    try:
        table = str(default_table("update"))
    except TableError:
        return None
    check = _asked(version, "check", table)
    if check.returncode != 0 and not _lacks_credentials_alone(check.stderr):
        return check.stderr.strip()
    journal = _asked(version, "verify")
    return journal.stderr.strip() if journal.stderr.startswith("journal_too_new") else None


def _lacks_credentials_alone(refusal: str) -> bool:
    """Tell whether every mistake in `refusal` (the output of `tablectl check`) is a credential file that only the
    table's systemd unit may read. Such a file can be tried only when the table starts. If the table then fails to
    start, the switch of versions goes back to the old version."""
    mistakes = [line for line in refusal.splitlines()[1:] if not line.startswith(" ")]
    return bool(mistakes) and all(f"'{_CREDENTIALS}" in line and "cannot be read" in line for line in mistakes)


def _asked(version: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(version / "bin" / "tablectl"), *words]
    return subprocess.run(command, user=_ACCOUNT, capture_output=True, text=True, check=False)


def _systemctl(*words: str) -> bool:
    return subprocess.run(["systemctl", *words], check=False).returncode == 0


def _last_words(unit: str) -> str:
    """Return the last five lines that this systemd unit wrote into the system's log, with a heading. Returns an empty
    text if there are none."""
    command: Sequence[str] = ("journalctl", "--unit", unit, "--lines", "5", "--output", "cat", "--no-pager")
    if shutil.which(command[0]) is None:
        return ""
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"The log of {unit} ends:\n{lines}" if lines else ""
