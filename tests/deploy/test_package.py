"""Installs the Debian package in a clean Debian, updates it, rolls it back, removes it and restores it. The table's
journal survives all of that."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from controller import __version__
from controller.basics.digest import program_digest
from controller.daemon.record.journal_form import SCHEMA_VERSION
from drivers.sim.pins import PinsPage
from tests.deploy.clean_debian import ROOT, alone, lacking, make_package
from tests.deploy.packaged import STATE, Table, another, clean_table
from tests.support.waiting import eventually_now

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(lacking() != "", reason=f"this machine lacks {lacking()}"),
]

NEXT, BROKEN = "9.1.0", "9.2.0"


def _cannot_start(program: Path) -> None:
    (program / "daemon" / "app.py").write_text("raise SystemExit(3)\n", "utf-8")


def _kept_on_disk(table: Table, words: str) -> str:
    """Log these words on the machine. Return the lines of the system's log on the disk that contain them."""
    table.machine.run("logger", "--tag", "probe", words)
    table.machine.run("journalctl", "--sync")
    of_disk = ("journalctl", "--directory=/var/log/journal", "--output=cat", f"--grep={words}")
    return table.machine.run(*of_disk, check=False).stdout.replace("-- No entries --\n", "")


@pytest.mark.parametrize("release", ["bookworm", "trixie"], indirect=True)
def test_installed_without_network_the_table_plays_under_its_unit(table: Table, package: Path) -> None:
    table.machine.run("mkdir", "-p", "/var/log/journal")
    table.machine.run("journalctl", "--flush")
    assert "said before" in _kept_on_disk(table, "said before"), "this Debian keeps its log on the disk"
    table.install(package)
    table.machine.run("systemctl", "restart", "systemd-journald")
    assert _kept_on_disk(table, "said after") == "", "the package has the log kept in memory, from the next start on"
    assert table.machine.run("systemctl", "is-enabled", "table-logins").stdout == "enabled\n"
    own = table.machine.root / "etc/systemd/system/table-logins.service.d/boot.conf"
    own.parent.mkdir()  # a container's boot id is a mount that these two hide: journalctl would ask for the host's boot
    own.write_text("[Service]\nProtectKernelTunables=no\nProtectControlGroups=no\n", "utf-8")
    table.machine.run("systemctl", "daemon-reload")
    table.machine.run("systemctl", "restart", "table-logins")
    table.machine.run("logger", "--priority", "authpriv.notice", "--tag", "sudo", "Ann became root")
    logins = "/var/lib/table-controller/logins/logins"
    eventually_now(lambda: "Ann became root" in table.machine.run("cat", logins, check=False).stdout)
    assert table.machine.run("tablectl", "--version").stdout.split() == ["tablectl", __version__]
    assert table.machine.run("dpkg", "--verify", "table-controller").stdout == ""
    assert table.machine.run("systemctl", "is-enabled", "table-controller", check=False).stdout == "disabled\n"
    loads = "import sys; sys.path.append(sys.prefix + '/pins/{}'); import {}"
    python = ("/opt/table-controller/current/bin/python3", "-I", "-c")
    table.machine.run(*python, loads.format("rpi_lgpio", "lgpio"))
    no_pi = table.machine.run(*python, loads.format("rpi_gpio", "RPi.GPIO"), check=False)
    assert "RuntimeError: This module can only be run on a Raspberry Pi!" in no_pi.stderr, "its C code was loaded"
    table.set_up()
    table.open_a_shoe()
    assert table.runs() == __version__
    assert json.loads(table.status())["program_digest"] == program_digest(), "the package is the checkout's"
    rows = json.loads(table.machine.run("tablectl", "doctor", "--json", check=False).stdout)
    assert not {"check_failed", "program_changed", "library_changed", "unit_failed"} & {row["code"] for row in rows}
    well = [row["verdict"] for row in rows if row["part"] in ("program", "configuration", "units", "key", "journal")]
    assert set(well) == {"ok", "absent"}, rows  # absent: its screen and its monitor
    units = ("table-controller", "table-screen", "table-controller-switch", "table-pit", "table-pit-page")
    for unit in units:
        table.machine.run("systemd-analyze", "security", "--threshold=20", f"{unit}.service")
        table.machine.run("systemd-analyze", "verify", f"/lib/systemd/system/{unit}.service")
    table.machine.run("sh", "-c", "kill -9 $(systemctl show -P MainPID table-controller)")
    eventually_now(lambda: '"wagers_open"' in table.status())
    assert table.journal().rows > 4


@pytest.mark.parametrize(
    ("release", "architecture", "wrong"), [("buster", "amd64", "buster"), ("trixie", "armhf", "armhf")]
)
def test_for_what_no_package_is_made_is_told_before_anything_is_fetched(
    release: str, architecture: str, wrong: str
) -> None:
    command, asked = [str(ROOT / "tools" / "package.sh"), release], os.environ | {"ARCHITECTURES": architecture}
    run = subprocess.run(command, env=asked, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"No package is made for {wrong}. There are: ")


def test_two_runs_in_one_checkout_make_their_packages_one_after_the_other(tmp_path: Path) -> None:
    with alone(ROOT / "build" / "package.lock"):
        command, asked = [str(ROOT / "tools" / "package.sh")], os.environ | {"DIST": str(tmp_path)}
        with subprocess.Popen(command, env=asked, stdout=subprocess.PIPE, text=True) as second:
            assert second.stdout is not None
            assert second.stdout.readline() == "Waiting until another run has made its packages here\n"
            second.kill()


def test_set_up_by_answers_the_table_runs_within_its_networks_and_is_reported(table: Table, package: Path) -> None:
    table.install(package)
    table.plug_in()
    told = table.asked("setup.networks = '10.20.0.0/16'")
    eventually_now(lambda: table.runs() == __version__)
    assert table.machine.run("systemctl", "is-enabled", "table-controller").stdout == "enabled\n"
    allowed = table.machine.run("systemctl", "show", "-P", "IPAddressAllow", "table-controller").stdout
    assert {"10.20.0.0/16", "127.0.0.0/8"} <= set(allowed.split())
    assert "::/0" in table.machine.run("systemctl", "show", "-P", "IPAddressDeny", "table-controller").stdout
    key = (
        table.machine.run("tablectl", "setup", "--verify", "/root/report.html").stdout.split("the key ")[1].strip(".\n")
    )
    assert f"The table's key: {key}." in told
    table.open_a_shoe()
    refused = table.machine.run("tablectl", "setup", "--answers", "/root/answers", check=False)
    assert "shoe_is_open" in refused.stderr


def test_a_table_is_moved_to_another_machine_inside_a_shoe(package: Path, tmp_path: Path) -> None:
    with clean_table(tmp_path, "old", tmp_path / "old-state") as old:
        old.install(package)
        old.set_up()
        old.open_a_shoe()
        secret = ("--passphrase-file", "/root/passphrase")
        old.machine.run("sh", "-c", "umask 77; echo four words nobody guesses > /root/passphrase")
        copy = old.machine.run("tablectl", "backup", "/root/copied", *secret).stdout
        assert "read back" in copy
        old.machine.run("systemctl", "disable", "--now", "table-controller")
        old.machine.run("tablectl", "backup", "/root/moved", "--move", "--by", "Smith", *secret)
        old.machine.run("systemctl", "start", "table-controller", check=False)
        eventually_now(lambda: "journal_lost" in old.machine.log())
        with clean_table(tmp_path, "new", tmp_path / "new-state") as new:
            new.install(package)
            for name in ("moved", "passphrase"):
                shutil.copy(old.machine.root / "root" / name, new.machine.root / "root" / name)
            begun = new.machine.run("tablectl", "restore", "/root/moved", *secret).stdout
            assert "Shoe 1 was open" in begun
            new.plug_in()
            new.machine.run("systemctl", "enable", "--now", "table-controller")
            eventually_now(lambda: '"wagers_open"' in new.status())
            assert new.journal().epoch in begun
            assert '"shoe_unheard"' in new.status()
            logins = STATE / "logins"  # of its own service, and no file of the table's
            pruned = ("-path", str(logins), "-prune", "-o")
            others = new.machine.run("find", str(STATE), *pruned, "!", "-user", "table-controller", "-print").stdout
            assert others == ""


def test_an_update_waits_for_the_end_of_the_shoe_and_rollback_returns(
    table: Table, package: Path, tmp_path: Path
) -> None:
    table.install(package)
    table.set_up()
    table.open_a_shoe()
    begun = table.journal()
    told = table.install(another(package, NEXT, tmp_path))
    assert f"Version {NEXT} will run once the open shoe has ended." in told
    assert table.runs() == __version__
    assert "requested: runs once no shoe is open" in table.machine.run("tablectl", "versions").stdout
    table.draw("KS", "2D", "9S", "3C")
    eventually_now(lambda: len(table.machine.run("tablectl", "rounds").stdout.splitlines()) == 1)
    table.close_the_shoe()
    eventually_now(lambda: table.runs() == NEXT)
    assert table.journal().epoch == begun.epoch
    eventually_now(lambda: table.status() != "")
    assert f"Version {__version__} runs." in table.machine.run("tablectl", "rollback").stdout
    assert table.runs() == __version__
    table.open_a_shoe()
    went_on = table.journal()
    assert (went_on.epoch, went_on.rows > begun.rows) == (begun.epoch, True)


def test_a_version_that_does_not_become_ready_is_left_by_itself(table: Table, package: Path, tmp_path: Path) -> None:
    table.install(package)
    table.set_up()
    eventually_now(lambda: table.runs() == __version__)
    table.install(another(package, BROKEN, tmp_path, _cannot_start))
    assert (
        f"Version {BROKEN} did not become ready, so {__version__} runs again."
        in table.machine.run("tablectl", "versions").stdout
    )
    assert table.runs() == __version__


def _another_cell(program: Path) -> None:
    """Change one cell of the tableau in the installed program: Banker stands on six if Player drew a six."""
    game = program / "rules" / "game" / "baccarat.py"
    text = game.read_text("utf-8")
    cell = "    player, banker = hands(tableau, dealt)\n    hand = _next_hand(tableau, player, banker)\n"
    assert text.count(cell) == 1
    stands = "    if hand is Hand.BANKER and [str(card)[0] for card in player[2:]] == ['6']:\n        hand = None\n"
    game.write_text(text.replace(cell, cell + stands), "utf-8")


def test_a_version_is_rehearsed_on_the_tables_own_past_and_one_with_another_cell_of_drawing_is_not_taken(
    table: Table, package: Path, tmp_path: Path
) -> None:
    table.install(package)
    table.set_up()
    table.open_a_shoe()
    table.draw("2S", "2D", "3S", "4D", "6H", "7C")
    eventually_now(lambda: len(table.machine.run("tablectl", "rounds").stdout.splitlines()) == 1)
    table.close_the_shoe()
    rows = table.journal().rows
    table.install(another(package, BROKEN, tmp_path, _another_cell))
    told = table.machine.run("tablectl", "versions").stdout
    assert f"Version {BROKEN} is not taken, so {__version__} stays. told_differently: Shoe 1, round 1 (row " in told
    assert f"the table told: nothing. Version {BROKEN} would tell: round, player 2S 3S 6H = 1  banker 2D 4D = 6" in told
    assert (table.runs(), table.journal().rows) == (__version__, rows)
    again = table.machine.run("tablectl", "update", "--rehearse", BROKEN, check=False)
    assert "told_differently: Shoe 1, round 1" in again.stderr
    table.install(another(package, NEXT, tmp_path))
    eventually_now(lambda: table.runs() == NEXT)
    assert "1 shoe with" in table.machine.run("tablectl", "versions").stdout
    others = table.machine.run("find", str(STATE), "-name", "journal*", "!", "-user", "table-controller").stdout
    assert others == "", "a file of SQLite's for root would keep the journal from the table"


def test_a_version_that_cannot_read_the_journal_is_refused_with_its_words(
    table: Table, package: Path, tmp_path: Path
) -> None:
    table.install(package)
    table.set_up()
    table.install(another(package, NEXT, tmp_path))
    assert table.runs() == NEXT
    table.machine.run("systemctl", "stop", "table-controller")
    newer = f"import sqlite3; sqlite3.connect('{STATE}/journal').execute('PRAGMA user_version = {SCHEMA_VERSION + 1}')"
    table.machine.run("python3", "-c", newer)
    refused = table.machine.run("tablectl", "rollback", check=False)
    assert refused.returncode == 1
    assert "journal_too_new" in refused.stderr
    assert table.machine.run("readlink", "/opt/table-controller/current").stdout.strip() == NEXT


def test_removed_and_installed_again_the_table_goes_on_with_its_journal(table: Table, package: Path) -> None:
    table.install(package)
    table.set_up()
    table.open_a_shoe()
    begun = table.journal()
    table.machine.run("apt-get", "purge", "-y", "-q", "table-controller")
    assert not (table.machine.root / "opt" / "table-controller").exists()
    assert table.machine.run("systemctl", "is-active", "table-controller", check=False).stdout.strip() == "inactive"
    assert not any(PinsPage(table.state / "header").output(bcm) for bcm in range(2, 28)), "every lamp is dark"
    assert table.journal().rows >= begun.rows, "a purge leaves the casino's record"
    table.install(package)
    table.set_up()
    eventually_now(lambda: table.journal().rows > begun.rows)
    assert table.journal().epoch == begun.epoch


def test_a_slot_flipped_inside_a_shoe_goes_on_with_that_shoe(package: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with clean_table(tmp_path, "slot-a", state) as a:
        a.install(package)
        a.set_up()
        a.open_a_shoe()
        begun = a.journal()
    with clean_table(tmp_path, "slot-b", state) as b:  # the power was cut, and the image's other system boots
        b.install(another(package, NEXT, tmp_path))
        (state / "shoe").unlink(missing_ok=True)
        b.set_up()
        eventually_now(lambda: b.runs() == NEXT and '"wagers_open"' in b.status())
        flipped = b.journal()
        assert (flipped.epoch, flipped.rows > begun.rows) == (begun.epoch, True)


def test_a_private_key_that_is_roots_alone_comes_as_a_credential_also_to_an_update(
    table: Table, package: Path, tmp_path: Path
) -> None:
    table.install(package)
    table.set_up()
    tls, etc = "/etc/table-controller/tls", table.machine.root / "etc"
    table.machine.run("tablectl", "certs", tls, "broker.pit", "royal9-01")
    credential = "/run/credentials/table-controller.service/table.key"
    file = etc / "table-controller" / "table.toml"
    pem = f'ca = "{tls}/ca.crt"\ncertificate = "{tls}/royal9-01.crt"\nprivate_key = "{credential}"\n'
    file.write_text(file.read_text("utf-8").replace("[pit]\n", f"[pit]\n{pem}"), "utf-8")
    as_told = f"[Service]\nLoadCredential=table.key:{tls}/royal9-01.key\n"
    (etc / "systemd" / "system" / "table-controller.service.d" / "override.conf").write_text(as_told)
    table.machine.run("systemctl", "daemon-reload")
    table.machine.run("systemctl", "restart", "table-controller")
    table.machine.run("runuser", "-u", "table-controller", "--", "tablectl", "check")
    assert table.machine.run(
        "runuser", "-u", "table-controller", "--", "cat", f"{tls}/royal9-01.key", check=False
    ).returncode
    assert f"Version {NEXT} runs." in table.install(another(package, NEXT, tmp_path))
    assert table.runs() == NEXT
    table.open_a_shoe()


def test_a_signed_repository_installs_the_package_and_an_altered_one_does_not(
    table: Table, package: Path, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    environment = {"GNUPGHOME": str(keys), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    name = "house@example.org"
    key = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign"]
    subprocess.run(key, env=environment, check=True, capture_output=True)
    folder = table.machine.root / "srv" / "tables"
    folder.mkdir()
    shutil.copy(package, folder)
    subprocess.run([str(ROOT / "tools" / "repository.sh"), str(folder), name], env=environment, check=True)
    source = "deb [signed-by=/srv/tables/table-controller.gpg] file:/srv/tables bookworm main\n"
    (table.machine.root / "etc" / "apt" / "sources.list").write_text(source)
    table.machine.run("apt-get", "update")
    table.machine.run("apt-get", "install", "-y", "table-controller")
    assert table.machine.run("tablectl", "--version").stdout.split() == ["tablectl", __version__]
    release = folder / "dists" / "bookworm" / "InRelease"
    release.write_text(release.read_text().replace("Suite: bookworm", "Suite: another"))
    altered = table.machine.run("apt-get", "update", "--error-on=any", check=False)
    assert altered.returncode != 0
    assert "BADSIG" in altered.stdout + altered.stderr


def test_two_builds_of_one_commit_are_the_same_bytes(package: Path, tmp_path: Path) -> None:
    again = make_package(tmp_path)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(package.read_bytes()).digest()
