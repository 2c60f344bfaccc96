"""The checks of the program: what the running table reports of itself, whether files of the program, its libraries or
the system were changed, and the table's systemd units."""

from __future__ import annotations

from collections.abc import Iterator

from controller import __version__
from controller.basics.digest import program_digest
from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.daemon.config import Config
from controller.people.care.libraries import changed
from controller.people.care.machine import Machine
from controller.people.care.row import Row, absent, fault, ok, warning
from controller.table.facts import ProgramMeasured

_TABLE = "table-controller.service"
_LOGINS = "table-logins.service"
_UNITS = {
    _TABLE: "the table",
    "table-screen.service": "the screen",
    "table-kiosk.service": "the monitor",
    _LOGINS: "the record of logins and sudo",
}
_EXECUTED = ("python3*", "libpython3*", "libc6", "systemd", "linux-image-*", "raspi-firmware", "rpi-eeprom")
_AT_ONCE = 8  # packages that one command compares
_LOG = "journalctl --unit {unit} --lines 30"


def running(status: Status | TableError) -> Iterator[Row]:
    """Report what the running table says about itself. `status` is its status, or the error of asking for it."""
    if isinstance(status, TableError):
        refused = status.code == "not_allowed"
        yield (
            absent("table", status.what, status.do)
            if refused
            else warning("table", status.code, status.what, status.do)
        )
        return
    open_fault = status.face.fault
    if open_fault is not None:
        says = f"The table has stopped: {open_fault.code}."
        yield fault("table", open_fault.code, says, "See what the table waits for: tablectl status")
    else:
        yield ok("table", f"The table runs version {status.version} and has no fault.")
    if not status.shoe.up:
        do = "Look at the shoe's power and cable, and at the row \"shoe's port\" of this list."
        yield fault("shoe", "shoe_down", f"The line to the shoe is down: {status.shoe.why}.", do)
    elif status.shoe.bad_bytes:
        count = sum(status.shoe.bad_bytes.values())
        do = "Look at the cable's plugs and shield; [shoe] baud must be the shoe's own speed."
        yield warning("shoe", "shoe_noise", f"The shoe's line brought {count} bad bytes since the start.", do)
    else:
        yield ok("shoe", f"The line is open: {status.shoe.why}.")
    yield _pit(status)
    if status.journal.error:
        do = 'Look at the rows "disk" of this list. Do not switch the table off: rows that wait are only in memory.'
        yield fault("journal", "journal_failed", f"The journal cannot be written: {status.journal.error}.", do)
    if status.recognition.key is not None:
        yield ok("wagers", f"Bet recognition's key is {status.recognition.key}. Compare that with what it shows.")
    elif status.recognition.expected:
        says = "No key of bet recognition is adopted at the table, so no wager from the network counts."
        do = "If bet recognition watches the table, two people adopt its key: tablectl recognition-key"
        yield warning("wagers", "recognition_key_due", says, do)


def _pit(status: Status) -> Row:
    """Return the row of the report about the table's link to its pit, as the table itself reports the link."""
    code = status.pit.standing.code
    if code in ("well", "listening"):
        return ok("pit", "The table hears its pit.")
    if code == "meter_unknown":
        says = "The pit has no such meter as the game's file names: {meters}. Progressive bets are refused."
        do = "Write [meters.NAME] into the pit's settings and start the pit again; or correct the name in {game}."
        return fault("pit", code, *(each.format(**status.pit.standing.details) for each in (says, do)))
    return warning("pit", code, f"The table and its pit: {code.replace('_', ' ')}.", "tablectl status")


def measured(config: Config, status: Status | None, noted: ProgramMeasured | None) -> Iterator[Row]:
    """Check that program and configuration are unchanged since the table started, that the house has approved the
    program, and that the libraries are as they were installed. `status` is the running table's status, or None if the
    table does not run. In that case the files are compared with `noted`, the program that, by the journal's rows, ran
    last."""
    program, configuration = program_digest(), config.digest
    if status is not None and status.version != __version__:
        says = f"Version {status.version} runs, and this is version {__version__}: the files are not compared."
        yield absent("program", says, "Run that version's check: /opt/table-controller/current/bin/tablectl doctor")
        return
    ran = noted if status is None else ProgramMeasured(status.version, status.program_digest, status.config_digest)
    since = "it was started" if status is not None else "the table last ran"
    if ran is not None and ran.version == __version__ and ran.program != program:
        do = "Compare `tablectl digest` here and at another table of this version. Then install the package again."
        yield fault("program", "program_changed", f"The program's files were changed since {since}.", do)
    elif (approved := config.file.program.approved) and program not in approved:
        do = "Install the approved program. Or have this one approved, and add its digest to [program] approved."
        yield fault("program", "program_not_approved", f"The house has not approved this program: {program}.", do)
    else:
        yield ok("program", f"Version {__version__}, digest {program[:16]}….")
    if ran is not None and ran.configuration != configuration:
        do = "Ask who changed the file. The next start takes the change: sudo systemctl restart table-controller"
        says = f"The table's file or its game's file was changed since {since}."
        yield warning("configuration", "configuration_changed", says, do)
    if spoiled := changed():
        says = f"{len(spoiled)} files are not as they were installed: {', '.join(spoiled[:3])}."
        yield fault("program", "library_changed", says, "Install the package again, and ask who was on this machine.")


def system(machine: Machine) -> Iterator[Row]:
    """Check that the files of the Python interpreter, C library, systemd, kernel and firmware are as Debian's packages
    installed them."""
    shown = machine.run(["dpkg-query", "--show", "--showformat=${db:Status-Abbrev} ${Package}\n", *_EXECUTED]) or ""
    packages = [line.split()[-1] for line in shown.splitlines() if line.startswith("ii ")]
    # dpkg reads its whole database at each start. A kernel's files are large, and a command has ten seconds.
    kernels = [package for package in packages if package.startswith("linux-image-")]
    others = [package for package in packages if package not in kernels]
    groups = [others[at : at + _AT_ONCE] for at in range(0, len(others), _AT_ONCE)]
    asked = (*groups, *([kernel] for kernel in kernels))
    compared = [(group, machine.run(["dpkg", "--verify", *group])) for group in asked]
    lines = [line.split() for _, said in compared for line in (said or "").splitlines()]
    if spoiled := sorted({words[-1] for words in lines if words and "c" not in words[1:-1]}):  # c: a settings file
        says = f"{len(spoiled)} files of Debian's packages are not as they were installed: {', '.join(spoiled[:3])}."
        yield fault("system", "system_changed", says, "Ask who was on this machine, and install Debian anew.")
    if not packages:
        yield absent("system", "Interpreter and kernel are not compared: there is no dpkg here, or it took too long.")
    elif unsaid := [package for group, said in compared if said is None for package in group]:
        yield absent("system", f"dpkg took too long to compare these packages: {', '.join(unsaid)}.")
    elif not spoiled:
        yield ok("system", f"Interpreter, kernel and firmware are those of {len(packages)} Debian packages.")


def units(machine: Machine) -> Iterator[Row]:
    """Check that systemd starts the table when the machine starts, and how often systemd had to restart the table by
    itself."""
    for unit, what in _UNITS.items():
        shown = machine.run(["systemctl", "show", unit, "--property=LoadState,ActiveState,UnitFileState,NRestarts"])
        is_ = dict(line.partition("=")[::2] for line in (shown or "").splitlines())
        if is_.get("LoadState") != "loaded":
            if unit == _TABLE:
                yield absent("units", f"systemd on this machine has no {unit}: {what} is started by hand.")
            continue
        log = _LOG.format(unit=unit)
        if is_["ActiveState"] == "failed":
            yield fault("units", "unit_failed", f"{what.capitalize()} ended and is not started again ({unit}).", log)
        elif is_["ActiveState"] == "active" and is_.get("UnitFileState") not in ("enabled", "static"):
            says = f"{what.capitalize()} runs, and does not start at power-up ({unit})."
            yield warning("units", "unit_not_enabled", says, f"sudo systemctl enable {unit}")
        elif int(is_.get("NRestarts") or 0):
            says = f"{what.capitalize()} was started again {is_['NRestarts']} times by itself ({unit})."
            yield warning("units", "unit_restarts", says, log)
        elif is_["ActiveState"] == "active":
            yield ok("units", f"{what.capitalize()} runs, and starts at power-up ({unit}).")
        elif is_.get("UnitFileState") == "disabled" and unit not in (_TABLE, _LOGINS):
            yield absent("units", f"{what.capitalize()} was never switched on ({unit}).")
        else:
            says = f"{what.capitalize()} does not run ({unit})."
            yield warning("units", "unit_stopped", says, f"sudo systemctl enable --now {unit}")
