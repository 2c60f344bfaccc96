"""Checks the promises of the systemd units: the table is restarted without limit, a stuck table is killed, and the
lamps go dark however the table ends."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from configparser import ConfigParser
from pathlib import Path
from string import Template
from types import MappingProxyType

import pytest

from controller.people.pit_page.__main__ import parser as page_parser
from controller.pit.reference.__main__ import parser as pit_parser
from controller.pit.reference.commands.options import OF_THE_PACKAGE_CONTROL, OF_THE_PACKAGE_KEY
from controller.pit.reference.machines import write_files
from controller.pit.reference.roles import ROLES
from tests.support.unit_filter import read_unit
from tests.support.waiting import eventually_now

ROOT = Path(__file__).resolve().parents[1]
UNIT = ROOT / "systemd" / "table-controller.service"
SCREEN = ROOT / "systemd" / "table-screen.service"
KIOSK = ROOT / "systemd" / "table-kiosk.service"
PIT = ROOT / "systemd" / "table-pit.service"
LOGINS = ROOT / "systemd" / "table-logins.service"
PIT_PAGE = ROOT / "systemd" / "table-pit-page.service"
HA = ROOT / "config" / "ha"
PITCTL = ROOT / "debian" / "pitctl.sh"
UNITS = sorted((ROOT / "systemd").glob("*.service"))
SYSUSERS = ROOT / "systemd" / "table-controller.sysusers"
TABLECTL = "/opt/table-controller/current/bin/tablectl"
PYTHON = "/opt/table-controller/current/bin/python3"
TABLE_FILE = "/etc/table-controller/table.toml"


@pytest.fixture(scope="module")
def unit() -> ConfigParser:
    return read_unit(UNIT)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("Service", "Type", "notify"),
        ("Service", "NotifyAccess", "main"),
        ("Service", "WatchdogSec", "10"),
        ("Service", "WatchdogSignal", "SIGKILL"),
        ("Service", "Restart", "always"),
        ("Service", "RestartSec", "1"),
        ("Unit", "StartLimitIntervalSec", "0"),
        ("Service", "RestartPreventExitStatus", str(os.EX_CONFIG)),
        ("Service", "ExecStart", f"{TABLECTL} run {TABLE_FILE}"),
        ("Service", "ExecStopPost", f"{TABLECTL} dark {TABLE_FILE}"),
        ("Service", "LimitCORE", "0"),
        ("Install", "WantedBy", "multi-user.target"),
    ],
)
def test_the_promise_is_written_down(unit: ConfigParser, section: str, key: str, value: str) -> None:
    assert unit[section][key] == value


def test_a_table_waits_for_no_network(unit: ConfigParser) -> None:
    assert {"After", "Wants", "Requires", "BindsTo"}.isdisjoint(unit["Unit"])


def test_the_pins_and_a_shoe_plugged_in_later_stay_in_reach(unit: ConfigParser) -> None:
    assert unit["Service"]["SupplementaryGroups"].split() == ["gpio", "dialout"]
    assert {"PrivateDevices", "ProtectClock", "ProcSubset"}.isdisjoint(unit["Service"])
    allowed = unit["Service"]["DeviceAllow"].splitlines()
    # The numbers are the kernel's: USB serial, ACM modems, the board's own UART (admin-guide/devices.txt).
    assert {"char-188 rw", "char-166 rw", "char-204 rw", "char-gpiochip rw", "/dev/gpiomem rw"} <= set(allowed)


def test_the_account_is_made(unit: ConfigParser) -> None:
    lines = [line.split() for line in SYSUSERS.read_text("utf-8").splitlines() if not line.startswith("#")]
    users = [unit["Service"]["User"], read_unit(PIT)["Service"]["User"]]
    roles = [["g", f"pit-{role}"] for role in ROLES]
    gpio = [["g", "gpio"]]  # Debian has dialout
    assert [line[:2] for line in lines] == [*gpio, *(["u", user] for user in users), *roles]


def test_whoever_decides_at_the_pit_reaches_its_socket_and_is_seen_by_it() -> None:
    pit = read_unit(PIT)["Service"]
    assert f"--control {OF_THE_PACKAGE_CONTROL} " in pit["ExecStart"]
    assert Path("/run", pit["RuntimeDirectory"]) == OF_THE_PACKAGE_CONTROL.parent
    assert pit["RuntimeDirectoryMode"] == "0755", "who may not decide is refused by the pit, which keeps that"
    assert pit["ProtectProc"] == "default", "the pit looks by which account whoever asks has logged in"
    assert "--practice" not in pit["ExecStart"]


def test_the_example_table_keeps_its_files_where_the_service_may_write(unit: ConfigParser) -> None:
    table = tomllib.loads((ROOT / "config" / "tables" / "royal9.toml").read_text("utf-8"))
    state = Path("/var/lib", unit["Service"]["StateDirectory"])
    runtime = Path("/run", unit["Service"]["RuntimeDirectory"])
    assert Path(table["journal"]["path"]).parent == state
    assert Path(table["journal"]["signing_key"]).parent == state
    assert Path(table["control"]["socket"]).parent == runtime


def test_the_screen_can_reach_the_feed_and_nothing_else_of_the_table(unit: ConfigParser) -> None:
    screen = read_unit(SCREEN)["Service"]
    assert screen["ExecStart"].startswith(f"{TABLECTL} screen {TABLE_FILE} ")
    assert screen["DynamicUser"] == "yes"
    assert {"User", "Group", "SupplementaryGroups"}.isdisjoint(screen)
    assert screen["InaccessiblePaths"] == f"-/var/lib/{unit['Service']['StateDirectory']}"
    assert unit["Service"]["RuntimeDirectoryMode"] == "0751", "others pass through, and see no names"


def test_logins_and_sudo_are_kept_on_the_disk_each_line_before_the_next(
    unit: ConfigParser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unit table-logins writes each login and each use of sudo to the disk before it reads the next line. A power
    cut therefore cannot hide who became root.

    A fake `journalctl` prints two lines, and then waits as on a quiet system.
    """
    logins = read_unit(LOGINS)["Service"]
    assert Path(logins["StateDirectory"]).parent == Path(unit["Service"]["StateDirectory"])
    assert "User" not in logins, "the table's account cannot change it"
    said, kept = tmp_path / "said", tmp_path / "logins"
    kept.write_text("of the boot before\n", "utf-8")
    fake = tmp_path / "journalctl"
    fake.write_text(f'#!/bin/sh\necho "$@" > {said}\necho sudo: Ann\necho login: Bob\nexec sleep 60\n', "utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    with subprocess.Popen(shlex.split(logins["ExecStart"]), start_new_session=True) as runs:
        eventually_now(lambda: "Bob" in kept.read_text("utf-8"))
        os.killpg(runs.pid, signal.SIGKILL)
    assert kept.read_text("utf-8") == "of the boot before\nsudo: Ann\nlogin: Bob\n"
    assert "dsync" in logins["ExecStart"], "a line is on the disk before the next is read"
    asked = said.read_text("utf-8").split()
    assert {"--facility=auth,authpriv", "--follow", "--boot"} <= {*asked}


def test_the_kiosk_reaches_the_page_and_the_monitor_and_nothing_of_the_table(unit: ConfigParser) -> None:
    kiosk, screen = read_unit(KIOSK)["Service"], read_unit(SCREEN)["Service"]
    at = kiosk["ExecStart"].split()[2].removeprefix("http://").rstrip("/")
    assert screen["ExecStart"].endswith(f"--listen {at}")
    assert kiosk["DynamicUser"] == "yes"
    assert kiosk["IPAddressAllow"] == "localhost"
    kept = {f"-/var/lib/{unit['Service']['StateDirectory']}", f"-/run/{unit['Service']['RuntimeDirectory']}"}
    assert set(kiosk["InaccessiblePaths"].split()) == kept


def test_a_kiosk_that_is_started_again_knows_which_hits_it_has_shown() -> None:
    """The unit of the kiosk (the browser on the table's monitor) keeps the browser's profile across restarts, because
    the page stores in it which hits it has shown. Without that setting, systemd would empty the runtime directory."""
    kiosk = read_unit(KIOSK)["Service"]
    profile = re.findall(r"--user-data-dir=(\S+)", kiosk["ExecStart"])
    assert [Path(each).parent for each in profile] == [Path("/run", kiosk["RuntimeDirectory"])]
    assert kiosk.get("RuntimeDirectoryPreserve") == "restart"


def test_a_kiosk_that_was_killed_starts_again_under_another_name_of_its_machine(tmp_path: Path) -> None:
    """The kiosk (the browser on the table's monitor) starts again after it was killed, even if the machine got another
    name meanwhile. A killed Chromium leaves a lock that names its machine, and refuses a profile that another machine
    has locked."""
    kiosk = read_unit(KIOSK)["Service"]
    profile = Path(kiosk["RuntimeDirectory"], *re.findall(r"--user-data-dir=/run/[^/]+/(\S+)", kiosk["ExecStart"]))
    lock = tmp_path / profile / "SingletonLock"
    lock.parent.mkdir(parents=True)
    lock.symlink_to("another-machine-1234")
    for _ in range(2):  # there is none at the first start
        words = kiosk.get("ExecStartPre", "true").replace("/run/", f"{tmp_path}/")
        assert subprocess.run(shlex.split(words)).returncode == 0
        assert not lock.is_symlink()


def test_the_pits_page_can_read_the_ledger_and_neither_write_nor_sign() -> None:
    pit, page = read_unit(PIT)["Service"], read_unit(PIT_PAGE)["Service"]
    ledger = _asked(PIT, pit_parser).ledger
    assert ledger.parent == Path("/var/lib", pit["StateDirectory"])
    assert _asked(PIT_PAGE, page_parser).ledger == ledger
    assert (page["User"], page["ProtectSystem"]) == (pit["User"], "strict")
    assert {"StateDirectory", "ReadWritePaths"}.isdisjoint(page)
    assert page["InaccessiblePaths"] == f"-{ledger}.key -{ledger.with_name('pgpass')}"


@pytest.mark.parametrize(("unit", "parser"), [(PIT, pit_parser), (PIT_PAGE, page_parser)], ids=["pit", "page"])
def test_what_a_unit_of_the_pit_starts_is_a_command_that_there_is(
    unit: Path, parser: Callable[[], ArgumentParser]
) -> None:
    asked = _asked(unit, parser)
    assert asked.broker == ("broker.pit", 8883)
    assert str(asked.private_key) == f"/run/{read_unit(unit)['Service']['LoadCredential'].partition(':')[0]}"


def test_pit_page_and_commands_have_a_role_each_in_the_ledger_of_two_machines(tmp_path: Path) -> None:
    write_files(HA, tmp_path / "machines")
    one = tmp_path / "machines" / "one"
    both, of_page, of_people = (
        _environment((one / name).read_text("utf-8"))
        for name in ("environment", "environment.page", "environment.people")
    )
    files = {unit: read_unit(unit)["Service"]["EnvironmentFile"].splitlines() for unit in (PIT, PIT_PAGE)}
    assert files[PIT] == ["-/etc/table-pit/environment"]
    assert files[PIT_PAGE] == [
        *files[PIT],
        "-/etc/table-pit/environment.page",
    ]  # systemd: the later line has the last word
    pit, page = _asked(PIT, pit_parser, both), _asked(PIT_PAGE, page_parser, both | of_page)
    assert (pit.ledger, pit.replicated, page.ledger) == (both["LEDGER"], True, of_page["LEDGER"])
    roles = re.findall(r"^CREATE ROLE (\w+)", (HA / "roles.sql").read_text("utf-8"), re.MULTILINE)
    verified = "sslmode=verify-full&sslrootcert=/etc/table-pit/tls/machines-ca.crt"
    ledgers = [each["LEDGER"] for each in (both, of_people, of_page)]
    assert ledgers == [f"postgresql://{role}@10.20.0.1,10.20.0.2/pit?{verified}" for role in roles]
    passwords = (one / "pgpass").read_text("utf-8") + (one / "pgpass.page").read_text("utf-8")
    assert [line.split(":")[2:4] for line in passwords.splitlines()] == [["pit", role] for role in roles]
    assert pit.signing_key == OF_THE_PACKAGE_KEY
    assert Path(both["PGPASSFILE"]).parent == OF_THE_PACKAGE_KEY.parent
    hidden = {path.removeprefix("-") for path in read_unit(PIT_PAGE)["Service"]["InaccessiblePaths"].split()}
    assert {both["PGPASSFILE"], of_people["PGPASSFILE"]} <= hidden
    assert of_page["PGPASSFILE"] not in hidden
    # `pitctl`, with its file in the place of the machine's, and in Python's place a program that shows what it is told.
    command = tmp_path / "pitctl"
    command.write_text(PITCTL.read_text("utf-8").replace("/etc/table-pit/environment", str(tmp_path / "file")), "utf-8")
    command.write_text(command.read_text("utf-8").replace("runuser -u table-pit -- ", ""), "utf-8")
    told = tmp_path / "python3"
    told.write_text('#!/bin/sh\necho "$LEDGER" "$PGPASSFILE" "$@"\n', "utf-8")
    told.chmod(0o755)
    shipped, theirs = ((one / name).read_text("utf-8") for name in ("environment", "environment.people"))
    for file, people, given in (
        (shipped, theirs, f"{of_people['LEDGER']} {of_people['PGPASSFILE']}"),
        (shipped, "", f"{both['LEDGER']} {both['PGPASSFILE']}"),
        (f'LEDGER="{both["LEDGER"]}"\n', "", f"{both['LEDGER']} "),
        (f"  LEDGER='{both['LEDGER']}' \n", "", f"{both['LEDGER']} "),  # systemd takes this line too
        ("", "", " "),
    ):
        (tmp_path / "file").write_text(file, "utf-8")
        (tmp_path / "file.people").write_text(people, "utf-8")
        shown = subprocess.run(
            ["sh", str(command), "account"], capture_output=True, text=True, env={"PATH": os.defpath}
        )
        assert shown.stdout == f"{given} -I -m controller.pit.reference account\n"


def _environment(lines: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines.splitlines() if line and not line.startswith("#"))


def _asked(
    unit: Path, parser: Callable[[], ArgumentParser], more: Mapping[str, str] = MappingProxyType({})
) -> Namespace:
    """Return the options with which a systemd unit of the pit starts its program. `more` holds variables of the unit's
    environment file."""
    service = read_unit(unit)["Service"]
    given = dict(word.split("=", 1) for word in service["Environment"].split()) | {"CREDENTIALS_DIRECTORY": "/run"}
    _, _, _, module, *words = Template(service["ExecStart"]).substitute({**given, **more}).split()
    assert f"{module}.__main__" == parser.__module__
    return parser().parse_args(words)


def _complaints(unit: str, folder: Path, name: str = UNIT.name) -> list[str]:
    """Return what systemd complains about in this unit. Complaints about the machine's other units, which systemd reads
    too, are left out."""
    copy = folder / name
    copy.write_text(
        unit.replace(TABLECTL, "/bin/true").replace(PYTHON, "/bin/true"), "utf-8"
    )  # it wants programs that are there
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line for line in run.stderr.splitlines() if Path(name).stem in line]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_rates_a_unit_as_little_exposed(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)]  # in tenths
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_itself_finds_nothing_wrong(tmp_path: Path) -> None:
    good = UNIT.read_text("utf-8")
    assert _complaints(good, tmp_path) == []
    assert _complaints(good.replace("WatchdogSec=10", "WatchdogSec=ten"), tmp_path) != []
    for each in (SCREEN, KIOSK, PIT, PIT_PAGE):
        assert _complaints(each.read_text("utf-8"), tmp_path, each.name) == []
