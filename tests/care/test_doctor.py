"""Checks of `tablectl doctor`, which examines a table's machine: it reports each trouble by a code, and reports none
for a sound machine."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.contract.face.status import Standing, Status
from controller.contract.face.table import PublicFault
from controller.contract.keys import load_or_make_key
from controller.daemon.clock import most_wrong_ms
from controller.daemon.config.table_file import PitSection
from controller.daemon.record.epochs import open_journal
from controller.people.care import board, keeping, libraries, links, program
from controller.people.care.doctor import examine, of_table
from controller.people.care.machine import Machine
from controller.people.care.row import Row, Verdict
from controller.people.cli.certs import BenchCa
from controller.people.cli.main import main
from controller.people.cli.programs import python, simulated_table
from drivers import shoe as shoes
from drivers.devices import LampWiring
from tests.care.pi import NOW, PORT, Pi
from tests.support.tables import TableUnderTest
from tests.support.told import healthy


@pytest.fixture
def pi(tmp_path: Path) -> Pi:
    return Pi(tmp_path)


def _rows(pi: Pi) -> list[Row]:
    file = pi.config.file
    return [
        *links.shoe_port(pi.machine, file.shoe),
        *links.shoes_plug(pi.machine, file.shoe),
        *board.header(pi.machine, file.pins, file.shoe),
        *keeping.disk(pi.machine, file.journal),
        *keeping.clock(pi.machine),
        *board.power(pi.machine),
        *board.heat(pi.machine),
        *board.media(pi.machine),
        *program.system(pi.machine),
        *program.units(pi.machine),
    ]


def _bad(rows: list[Row]) -> dict[str, Verdict]:
    assert all(row.do for row in rows if row.verdict in (Verdict.WARNING, Verdict.FAULT)), rows
    return {row.code: row.verdict for row in rows if row.verdict in (Verdict.WARNING, Verdict.FAULT)}


def test_a_sound_machine_has_neither_fault_nor_warning(pi: Pi) -> None:
    rows = _rows(pi)
    assert _bad(rows) == {}
    assert {row.part for row in rows if row.verdict is Verdict.OK} == {
        *("shoe's port", "shoe's plug", "pins", "disk", "clock", "power", "temperature", "media", "system", "units")
    }


def test_a_table_that_cannot_notice_a_plug_pulled_at_the_shoe_says_so(pi: Pi) -> None:
    shoe = pi.config.file.shoe
    beetek = replace(shoe, driver=shoes.brand("beetek"))
    for blind, cards in ((replace(shoe, ask="off"), "ten reports"), (beetek, "any number of cards")):
        (row,) = links.shoes_plug(pi.machine, blind)
        assert (row.verdict, row.code) == (Verdict.WARNING, "plug_unseen")
        assert cards in row.says
    (row,) = links.shoes_plug(pi.machine, replace(beetek, present="input"))
    assert row.verdict is Verdict.OK


@pytest.mark.parametrize("line", ["cts", "dsr", "dcd"])
def test_a_port_that_cannot_tell_its_modem_line_is_a_fault_with_the_ways_out(pi: Pi, line: Any) -> None:
    """If a serial port cannot report the state of its modem line, `tablectl doctor` reports a fault and says what to
    do. The port in this test is a pseudo-terminal, which has no modem lines."""
    far, near = os.openpty()
    try:
        named = Path(os.ttyname(near))
        shoe = replace(pi.config.file.shoe, driver=shoes.brand("beetek"), port=str(named), present=line)
        (row,) = links.shoes_plug(replace(pi.machine, root=Path("/")), shoe)
    finally:
        os.close(far)
        os.close(near)
    assert (row.verdict, row.code) == (Verdict.FAULT, "modem_line_unreadable")
    assert 'present = "input"' in row.do


def _wired(pi: Pi, bcm: int) -> None:
    """Add the lamp `tie` to the table's configuration, wired to the pin `bcm`."""
    file = pi.config.file
    pins = replace(file.pins, lamps=file.pins.lamps | {"tie": LampWiring(bcm, "high")})
    pi.config = replace(pi.config, file=replace(file, pins=pins))


def _moved(pi: Pi, port: str) -> None:
    file = pi.config.file
    pi.config = replace(pi.config, file=replace(file, shoe=replace(file.shoe, port=port)))


def _holding(pi: Pi, words: str) -> None:
    pi.write("/proc/812/cmdline", words.replace(" ", "\0"))
    pi.link("/proc/812/fd/5", str(pi.machine.at("/dev/ttyUSB0")))


def _unplugged(pi: Pi) -> None:
    pi.remove(PORT)
    pi.link("/dev/serial/by-id/usb-Prolific-if00-port0", "../../ttyUSB0")


THROTTLED = "/sys/devices/platform/soc/soc:firmware/get_throttled"
PINMUX = "/sys/kernel/debug/pinctrl/fe200000.gpio-pinctrl-bcm2711/pinmux-pins"
MOUNTS = "/proc/self/mountinfo"
ROOT = "21 1 179:2 / / {} - {} {} {}\n"
LIFE = "/sys/block/mmcblk0/device/life_time"
RP1 = "/sys/module/pinctrl_rp1/parameters/persist_gpio_outputs"


def _pi_5(pi: Pi) -> None:
    pi.write("/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    pi.write(RP1, "N\n")


def _on_smart_disk(pi: Pi, passed: bool) -> None:
    pi.remove(LIFE)
    pi.write("/sys/block/mmcblk0/device/type", "")
    pi.says["smartctl"] = json.dumps({"smart_status": {"passed": passed}})


def _unit(**changed: str) -> str:
    is_ = {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled", "NRestarts": "0"} | changed
    return "\n".join(f"{name}={value}" for name, value in is_.items())


MODPROBE = "/usr/lib/modprobe.d/table-controller.conf"

TROUBLES: dict[str, tuple[Verdict, Callable[[Pi], object]]] = {
    "port_missing": (Verdict.FAULT, _unplugged),
    "port_refused": (Verdict.FAULT, lambda pi: pi.machine.at("/dev/ttyUSB0").chmod(0o600)),
    "port_taken": (Verdict.FAULT, lambda pi: _holding(pi, "/usr/bin/minicom -D /dev/ttyUSB0")),
    "port_not_by_id": (Verdict.WARNING, lambda pi: _moved(pi, "/dev/ttyUSB0")),
    "no_header": (Verdict.FAULT, lambda pi: pi.remove("/proc/device-tree/model")),
    "pin_unfit": (Verdict.WARNING, lambda pi: _wired(pi, 8)),
    "pin_given_away": (Verdict.FAULT, lambda pi: pi.write("/boot/firmware/config.txt", "dtparam=spi=on\n")),
    "pin_held_by_kernel": (
        Verdict.FAULT,
        lambda pi: pi.write(PINMUX, "pin 16 (gpio16): fe204000.spi (GPIO UNCLAIMED) function alt3 group gpio16\n"),
    ),
    "pins_let_go": (Verdict.WARNING, _pi_5),
    "disk_read_only": (Verdict.FAULT, lambda pi: pi.write(MOUNTS, ROOT.format("ro", "ext4", "/dev/root", "ro"))),
    "state_not_kept": (
        Verdict.FAULT,
        lambda pi: pi.write(MOUNTS, ROOT.format("rw", "overlay", "overlay", "rw,lowerdir=/media,upperdir=/media/rw")),
    ),
    "disk_errors": (Verdict.WARNING, lambda pi: pi.write("/sys/fs/ext4/mmcblk0p2/errors_count", "3\n")),
    "disk_worn": (Verdict.WARNING, lambda pi: pi.write(LIFE, "0x02 0x09\n")),
    "disk_worn_out": (Verdict.FAULT, lambda pi: pi.write(LIFE, "0x0b 0x01\n")),
    "disk_fails": (Verdict.FAULT, lambda pi: _on_smart_disk(pi, passed=False)),
    "clock_not_synchronised": (Verdict.WARNING, lambda pi: _at(pi, NOW.at_ms, synchronised=False)),
    "clock_not_set": (Verdict.WARNING, lambda pi: _clock_set(pi, hours_ago=25)),
    "clock_wrong": (Verdict.FAULT, lambda pi: _at(pi, 1_000, synchronised=False)),
    "under_voltage": (Verdict.FAULT, lambda pi: pi.write(THROTTLED, "50005\n")),
    "under_voltage_was": (Verdict.WARNING, lambda pi: pi.write(THROTTLED, "10000\n")),
    "throttled": (Verdict.WARNING, lambda pi: pi.write(THROTTLED, "80000\n")),
    "warm": (Verdict.WARNING, lambda pi: pi.write("/sys/class/thermal/thermal_zone0/temp", "72000\n")),
    "too_hot": (Verdict.FAULT, lambda pi: pi.write("/sys/class/thermal/thermal_zone0/temp", "81000\n")),
    "usb_storage_open": (Verdict.WARNING, lambda pi: pi.write(MODPROBE, "#install uas /bin/false\n")),
    "boots_elsewhere": (Verdict.WARNING, lambda pi: pi.says.update({"rpi-eeprom-config": "[all]\nBOOT_ORDER=0xf41\n"})),
    "system_changed": (Verdict.FAULT, lambda pi: pi.says.update(dpkg="??5??????   /usr/bin/python3.11\n")),
    "unit_failed": (Verdict.FAULT, lambda pi: pi.says.update(systemctl=_unit(ActiveState="failed"))),
    "unit_not_enabled": (Verdict.WARNING, lambda pi: pi.says.update(systemctl=_unit(UnitFileState="disabled"))),
    "unit_restarts": (Verdict.WARNING, lambda pi: pi.says.update(systemctl=_unit(NRestarts="4"))),
    "unit_stopped": (Verdict.WARNING, lambda pi: pi.says.update(systemctl=_unit(ActiveState="inactive"))),
}


def _at(pi: Pi, at_ms: int, synchronised: bool) -> None:
    pi.machine = replace(pi.machine, now=lambda: replace(NOW, at_ms=at_ms, synchronised=synchronised))


def _clock_set(pi: Pi, hours_ago: int) -> None:
    path = "/run/systemd/timesync/synchronized"
    pi.write(path, "")
    at_s = NOW.at_ms / 1000 - 3_600 * hours_ago
    os.utime(pi.machine.at(path), (at_s, at_s))
    pi.machine = replace(pi.machine, most_wrong_ms=lambda: 70 * hours_ago)


def test_when_the_clock_was_set_and_how_wrong_it_can_be_is_told(pi: Pi) -> None:
    _clock_set(pi, hours_ago=23)
    assert any("last 82800 s ago. It is wrong by 1610 ms at most." in row.says for row in _rows(pi))
    _clock_set(pi, hours_ago=25)
    assert any("last set 25 hours ago. It is wrong by 1750 ms at most." in row.says for row in _rows(pi))


def test_the_kernel_says_by_how_much_its_clock_can_be_wrong() -> None:
    """The program asks the kernel for the largest possible error of its clock. The answer is at most 16 s, the largest
    value that the kernel ever reports."""
    wrong_ms = most_wrong_ms()
    assert wrong_ms is None or 0 <= wrong_ms <= 16_000


@pytest.mark.parametrize("code", TROUBLES)
def test_a_trouble_is_told_by_its_code_and_no_other_is(code: str, pi: Pi) -> None:
    verdict, spoil = TROUBLES[code]
    spoil(pi)
    assert _bad(_rows(pi)) == {code: verdict}


@pytest.mark.parametrize("console", ["serial0,115200", "ttyAMA0,115200", "ttyS0,115200"])
def test_a_console_on_the_header_is_a_fault_where_a_lamp_or_the_shoe_is_there(console: str, pi: Pi) -> None:
    pi.write("/proc/cmdline", f"console=tty1 console={console} root=PARTUUID=1-02\n")
    assert _bad(_rows(pi)) == {}
    _wired(pi, 14)
    assert _bad(_rows(pi)) == {"pin_unfit": Verdict.WARNING, "console_on_header": Verdict.FAULT}
    pi.config = pi._config()
    name = console.partition(",")[0]
    pi.write(f"/dev/{name}", "")
    pi.machine.at(f"/dev/{name}").chmod(0o666)
    _moved(pi, f"/dev/{name}")
    assert _bad(_rows(pi)) == {"console_on_header": Verdict.FAULT}


@pytest.mark.parametrize(
    "run",
    [
        "/opt/python /opt/table-controller/current/bin/tablectl run",
        " ".join(python("-m", "controller.people.cli.main", "run")),  # a practice table
    ],
)
def test_the_table_itself_may_hold_its_port(run: str, pi: Pi) -> None:
    _holding(pi, f"{run} /etc/table-controller/table.toml")
    assert _bad(_rows(pi)) == {}


def test_on_a_bench_it_is_this_user_who_may_open_the_port(pi: Pi) -> None:
    pi.machine.at("/dev/ttyUSB0").chmod(0o600)
    pi.remove("/etc/passwd")
    assert _bad(_rows(pi)) == {}


def test_each_package_is_compared_once_and_a_kernel_has_a_commands_time_to_itself(pi: Pi) -> None:
    libraries = [f"python3-{number}" for number in range(20)]
    kernels = ["linux-image-6.6", "linux-image-6.12"]
    pi.says["dpkg-query"] = "".join(f"ii  {package}\n" for package in (*kernels, *libraries))
    compared: list[list[str]] = []

    def run(command: Sequence[str]) -> str | None:
        compared.extend([[*command[2:]]] if command[0] == "dpkg" else [])
        return pi.says[command[0]]

    (row,) = program.system(replace(pi.machine, run=run))
    assert (row.verdict, "22 Debian packages" in row.says) == (Verdict.OK, True)
    assert sorted(package for group in compared for package in group) == sorted((*kernels, *libraries))
    assert [group for group in compared if {*kernels} & {*group}] == [[kernel] for kernel in kernels]
    assert all(compared), "without a name dpkg compares every package of the machine"


def test_a_changed_file_is_told_where_another_package_takes_too_long(pi: Pi) -> None:
    """A changed file is reported even if the check of another package takes too long. Otherwise somebody could change
    the interpreter and hide the change by making a file of another package huge."""
    pi.says["dpkg-query"] = "ii  linux-image-6.12\nii  python3.11\n"

    def run(command: Sequence[str]) -> str | None:
        slow = command[0] == "dpkg" and "linux-image-6.12" in command
        return None if slow else {**pi.says, "dpkg": "??5??????   /usr/bin/python3.11\n"}[command[0]]

    rows = [*program.system(replace(pi.machine, run=run))]
    assert (rows[0].verdict, rows[0].code) == (Verdict.FAULT, "system_changed")
    assert rows[1].verdict is Verdict.ABSENT
    assert "linux-image-6.12" in rows[1].says


def test_a_table_without_a_screen_is_not_warned_of_its_screen(pi: Pi) -> None:
    """The doctor gives no warning about the screen's units if they were never enabled. It warns only about the unit of
    the table and the unit that records logins, because these must run. In this test every unit is disabled and stopped.
    """
    pi.says["systemctl"] = _unit(ActiveState="inactive", UnitFileState="disabled")
    rows = [*program.units(pi.machine)]
    assert [row.verdict for row in rows] == [Verdict.WARNING, Verdict.ABSENT, Verdict.ABSENT, Verdict.WARNING]


def test_a_port_that_is_gone_tells_which_adapters_are_there(pi: Pi) -> None:
    _unplugged(pi)
    (row,) = links.shoe_port(pi.machine, pi.config.file.shoe)
    assert "usb-Prolific-if00-port0" in row.says


def test_a_bench_and_an_empty_machine_tell_what_is_not_there(tmp_path: Path) -> None:
    pi = Pi(tmp_path / "pi")
    bare = replace(pi.machine, root=tmp_path / "bare", run=lambda _command: None)
    rows = [*of_table(bare, pi.config), *board.power(bare), *board.heat(bare), *board.media(bare)]
    rows += [*program.system(bare), *program.units(bare)]
    assert "check_failed" not in {row.code for row in rows}
    absent = {row.part for row in rows if row.verdict is Verdict.ABSENT}
    assert {"power", "temperature", "media", "system", "units", "disk", "journal"} <= absent


def test_a_check_that_breaks_is_told_and_the_others_are_made(pi: Pi) -> None:
    pi.write(MOUNTS, "no such form\n")
    rows = [*of_table(pi.machine, pi.config)]
    (broken,) = [row for row in rows if row.code == "check_failed"]
    assert "ValueError" in broken.says
    assert "journal" in {row.part for row in rows}


# The record.


def _record(pi: Pi) -> dict[str, Verdict]:
    return _bad([*keeping.record(pi.machine, pi.config.file.journal, pi.config.file.table.id)])


@pytest.fixture
def kept(pi: Pi) -> tuple[Path, Path]:
    """Begin a journal and its signing key, as the program does at its first start, and return their paths."""
    file = pi.config.file
    path, key = pi.machine.at(file.journal.path), pi.machine.at(file.journal.signing_key)
    open_journal(path, key, file.table.id)[1].close()
    return path, key


def test_a_sound_record_is_told(pi: Pi, kept: tuple[Path, Path]) -> None:
    assert _record(pi) == {}


def test_each_trouble_of_the_record_is_told(pi: Pi, kept: tuple[Path, Path]) -> None:
    journal, key = kept
    whole, secret = journal.read_bytes(), key.read_bytes()
    key.chmod(0o644)
    assert _record(pi) == {"signing_key_unusable": Verdict.FAULT}
    key.unlink()
    assert _record(pi) == {"key_gone": Verdict.FAULT}
    load_or_make_key(key)
    assert _record(pi) == {"journal_of_another_key": Verdict.FAULT}
    key.write_bytes(secret)
    journal.unlink()
    assert _record(pi) == {"journal_lost": Verdict.FAULT}
    journal.write_bytes(whole[:100] + bytes(4000) + whole[4100:])
    assert _record(pi) == {"journal_damaged": Verdict.FAULT}
    journal.unlink()
    note = key.with_name(key.name + ".journals")
    note.write_bytes(b"")
    open_journal(journal, key, "another-7")[1].close()
    assert _record(pi) == {"journal_of_another_table": Verdict.FAULT}


def _archived(pi: Pi, journal: Path, days_ago: int, *sizes: int) -> list[Path]:
    """Make archive files of these sizes, written `days_ago` days ago, and let the journal name them. Return their
    paths."""
    folder = pi.machine.at(pi.config.file.journal.archives)
    folder.mkdir(exist_ok=True)
    files = []
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("DELETE FROM archive")
        for number, size in enumerate(sizes):
            file = folder / f"{number}.archive"
            file.write_bytes(b"")
            os.truncate(file, size)  # a hole: a test needs no disk of that size
            at_s = NOW.at_ms / 1000 - 86_400 * days_ago
            os.utime(file, (at_s, at_s))
            row = (number * 10 + 1, number * 10 + 10, 1, 0, bytes(32), bytes(32), str(file))
            db.execute(f"INSERT INTO archive ({_ARCHIVE}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            files.append(file)
    return files


_ARCHIVE = "first_row, last_row, first_seq, last_seq, head_before, head_after, path"


def test_each_archive_is_there_and_the_disk_has_room_for_the_houses_term(pi: Pi, kept: tuple[Path, Path]) -> None:
    journal, _ = kept
    files = _archived(pi, journal, 300, 1_000, 1_000)
    assert _record(pi) == {}
    section = pi.config.file.journal
    pi.config = replace(pi.config, file=replace(pi.config.file, journal=replace(section, keep_years=5)))
    assert _record(pi) == {}
    files[0].unlink()
    assert _record(pi) == {"archive_missing": Verdict.FAULT}
    much = 10 * (free := os.statvfs(journal)).f_bavail * free.f_frsize
    _archived(pi, journal, 300, much)
    assert _record(pi) == {"records_outgrow_disk": Verdict.WARNING}
    _archived(pi, journal, 20, much)
    assert _record(pi) == {}, "twenty days say nothing of a pace"


# The broker and the certificates.


@contextmanager
def _broker(
    ca: BenchCa, folder: Path, valid: timedelta, refuses: bytes = b"", newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
) -> Iterator[int]:
    """Act as a broker that accepts one TLS connection on this machine, and yield the port. `valid` is how long its
    certificate is valid. `newest` is the newest TLS version that it speaks. Client certificates in the revocation list
    `refuses` are refused."""
    for ending, pem in zip(("crt", "key"), ca.issue("127.0.0.1", valid), strict=True):
        (folder / f"broker.{ending}").write_bytes(pem)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "broker.crt", folder / "broker.key")
    context.maximum_version = newest
    if refuses:
        context.load_verify_locations(cadata=ca.certificate.decode())
        (folder / "ca.crl").write_bytes(refuses)
        context.load_verify_locations(folder / "ca.crl")
        context.verify_mode, context.verify_flags = ssl.CERT_REQUIRED, ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                with listener.accept()[0] as line, context.wrap_socket(line, server_side=True):
                    pass
            except OSError:
                pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def _pit(folder: Path, ca: BenchCa, port: int, valid: timedelta = timedelta(days=365)) -> PitSection:
    certificate, key = ca.issue("royal9-01", valid)
    for name, pem in (("ca.crt", ca.certificate), ("own.crt", certificate), ("own.key", key)):
        (folder / name).write_bytes(pem)
    (folder / "own.key").chmod(0o600)
    return PitSection(
        "127.0.0.1", port=port, ca=f"{folder}/ca.crt", certificate=f"{folder}/own.crt", private_key=f"{folder}/own.key"
    )


def _link(pi: Pi, pit: PitSection) -> dict[str, Verdict]:
    machine = replace(pi.machine, root=Path("/"))
    return _bad([*links.broker(machine, pit, "royal9-01"), *links.certificates(machine, pit, "royal9-01")])


@pytest.mark.parametrize(
    ("broker_days", "own_days", "same_ca", "told"),
    [
        (365, 365, True, {}),
        (10, 365, True, {"broker_certificate_ends": Verdict.WARNING}),
        (365, 10, True, {"certificate_ends": Verdict.WARNING}),
        (365, -1, True, {"certificate_unusable": Verdict.FAULT}),
        (365, 365, False, {"broker_untrusted": Verdict.FAULT}),
        (-1, 365, True, {"broker_untrusted": Verdict.FAULT}),
    ],
    ids=["good", "broker's ends", "own ends", "own expired", "another CA", "broker's expired"],
)
def test_the_broker_and_the_certificates(
    broker_days: int, own_days: int, same_ca: bool, told: dict[str, Verdict], pi: Pi, tmp_path: Path
) -> None:
    ca = BenchCa()
    with _broker(ca if same_ca else BenchCa(), tmp_path, timedelta(days=broker_days)) as port:
        assert _link(pi, _pit(tmp_path, ca, port, timedelta(days=own_days))) == told


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2], ids=["TLS 1.3", "TLS 1.2"])
def test_a_broker_that_refuses_the_tables_certificate(newest: ssl.TLSVersion, pi: Pi, tmp_path: Path) -> None:
    ca = BenchCa()
    pit = _pit(tmp_path, ca, 0)
    revoked = ca.revoke((tmp_path / "own.crt").read_bytes())
    with _broker(ca, tmp_path, timedelta(days=365), revoked, newest) as port:
        assert _link(pi, replace(pit, port=port)) == {"certificate_refused": Verdict.FAULT}


def test_a_broker_that_is_away_a_key_open_to_others_and_a_line_in_the_clear(pi: Pi, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    pit = _pit(tmp_path, BenchCa(), port)
    (tmp_path / "own.key").chmod(0o644)
    assert _link(pi, pit) == {"broker_unreachable": Verdict.FAULT, "key_open": Verdict.FAULT}
    (row,) = links.certificates(pi.machine, PitSection("broker.pit"), "royal9-01")
    assert row.code == "no_tls"
    (row,) = links.certificates(pi.machine, PitSection("127.0.0.2"), "royal9-01")
    assert row.verdict is Verdict.ABSENT, "nobody else hears this machine speak with itself"


# The running program, and the command.


def _status(**changed: Any) -> Status:
    return healthy(TableUnderTest().face, **changed)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"face": {"fault": PublicFault("1-1", "shoe_unheard", {}, (), 0)}}, "shoe_unheard"),
        ({"shoe": {"up": False, "why": "unplugged", "bad_bytes": {}}}, "shoe_down"),
        ({"shoe": {"up": True, "why": "", "bad_bytes": {"parity": 3}}}, "shoe_noise"),
        ({"pit": {"standing": Standing("no_pit")}}, "no_pit"),
        ({"journal": {"error": "the disk is full"}}, "journal_failed"),
        ({"recognition": {"expected": True, "key": None, "not_believed": {}}}, "recognition_key_due"),
    ],
)
def test_what_a_running_table_says_of_itself(changed: dict[str, Any], code: str) -> None:
    assert _bad([*program.running(_status())]) == {}
    assert _bad([*program.running(_status(recognition={"expected": False, "key": None, "not_believed": {}}))]) == {}
    assert [*_bad([*program.running(_status(**changed))])] == [code]


def test_a_table_that_does_not_run_is_a_warning(pi: Pi) -> None:
    (row,) = program.running(TableError("table_not_running", "No table listens.", "Start it."))
    assert row.verdict is Verdict.WARNING


def test_a_configuration_with_mistakes_and_none_at_all_are_faults(pi: Pi, tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text("[table]\nid = 7\n")
    assert "config_invalid" in _bad([*examine(pi.machine, table, None)])
    assert _bad([*examine(pi.machine, None, None)]) == {"no_table": Verdict.FAULT}


def test_a_mistake_is_placed_as_check_places_it(pi: Pi, tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text('[table]\ngame = "game.toml"\n[[seats]]\nnumber = "1"\n')
    (told,) = (row.says for row in examine(pi.machine, table, None) if "'1' is not a whole number" in row.says)
    assert "seats entry 1, number: " in told


def test_the_command_tells_rows_and_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = tuple(program.system(Machine(Path("/"))))
    monkeypatch.setattr(program, "system", lambda _: compared)  # read once
    monkeypatch.setattr(program, "changed", cache(libraries.changed))
    table = simulated_table(tmp_path, 1)
    assert main(["doctor", str(table)]) == 1
    assert "what to do: Plug the shoe's adapter in" in capsys.readouterr().out
    assert main(["doctor", str(table), "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert {row["verdict"] for row in rows} <= {verdict.value for verdict in Verdict}
    assert "port_missing" in {row["code"] for row in rows}
