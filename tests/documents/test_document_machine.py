"""Runs the commands that the documents give for the machine of a table or a pit. They are typed at a pretended machine,
in the order of a machine's life, from the installation on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.people.cli.client import status_of
from tests.documents.blocks import DOCUMENTS, NOTES, ROOT, blocks
from tests.documents.machine import PASSPHRASE, Machine, machine
from tests.support.brokers import needs_mosquitto
from tests.support.waiting import eventually_now


def test_a_house_makes_its_ca_and_puts_its_files_in_place() -> None:
    """Some of the documents' commands need neither a running table nor a running pit: those that make a house's
    certificates, and those that put its files in place. All of these commands work."""
    with machine() as at:
        (at.root / "config").symlink_to(ROOT / "config")
        _certificates(at)
        _machines_of_a_pit(at)
        examples = "/usr/share/doc/table-controller/examples/"
        at.said(f"mkdir -p {examples} && cp config/pit.toml {examples}")
        at.type("pit-care.md", "service")
        assert (at.root / "etc/table-pit/environment").read_text() == "BROKER=broker.pit:8883\n"
        at.said("mkdir -p /etc/systemd /etc/rsyslog.d")
        for name in ("upload", "rsyslog"):
            at.type("logs.md", name)
        assert "jsonf" in (at.root / "etc/rsyslog.d/table.conf").read_text()


def _certificates(at: Machine) -> None:
    (own,) = (
        block.text for block in blocks(ROOT / "docs" / "broker.md") if block.kind == "ini" and "[house]" in block.text
    )
    house = at.root / "house"
    house.mkdir()
    (house / "ca.cnf").write_text(own, "utf-8")
    at.type("broker.md", "ca", folder="house")
    at.type("broker.md", "issue", folder="house")
    at.said("openssl verify -CAfile house/ca.crt house/royal9-01.crt")
    at.type("broker.md", "revoke", folder="house")
    revoked = "cat house/ca.crt house/ca.crl > list && ! openssl verify -crl_check -CAfile list house/royal9-01.crt"
    assert "certificate revoked" in at.said(revoked)
    at.said(
        "tablectl certs tls broker.pit royal9-01 pit pit-page && mkdir -p /etc/mosquitto new && cp tls/royal9-01.* new/"
    )
    at.type("broker.md", "broker")
    at.type("broker.md", "certificate")
    assert (at.root / "etc/table-controller/tls/royal9-01.key").stat().st_mode & 0o777 == 0o600


def _machines_of_a_pit(at: Machine) -> None:
    at.said("tablectl certs machines 10.20.0.1 10.20.0.2 10.20.0.3")
    at.type("ha.md", "networks")
    at.type("ha.md", "certificates")
    assert (at.root / "etc/patroni/tls/machine.key").stat().st_mode & 0o777 == 0o600
    at.said("pitctl machines config/ha made && cp made/one/* /root/files/")
    at.type("ha.md", "files")


def test_each_block_for_the_machine_is_typed_there() -> None:
    source = Path(__file__).read_text("utf-8")
    typed = re.findall(r'at\.(?:type|serve)\("([^"]+)", "([^"]+)"', source)
    typed += [("logs.md", name) for name in ("upload", "rsyslog")]
    marked = [(page.name, block.machine) for page in DOCUMENTS for block in blocks(page) if block.machine]
    assert sorted(set(typed)) == sorted(marked)


def test_a_block_that_is_run_elsewhere_or_not_at_all_says_where_or_why() -> None:
    for page in DOCUMENTS:
        for block in blocks(page):
            for named_file in re.findall(r"tests/[a-z_/0-9]+(?:\.py)?", f"{block.not_run} {block.run_by}"):
                assert (ROOT / named_file).exists(), f"{page.name}, line {block.line}: there is no {named_file}"
            if block.run_by:
                assert page.name in (ROOT / block.run_by).read_text("utf-8"), (
                    f"{block.run_by} does not read {page.name}"
                )
        notes = re.findall(r"^<!-- (.*?) -->\n```(?:sh|practice)$", page.read_text("utf-8"), re.M)
        strange = [each for each in notes if each != "proof" and each.partition(": ")[0] not in NOTES]
        assert strange == [], page.name


@needs_mosquitto
@pytest.mark.proof
def test_a_tables_life_from_its_first_start_to_another_machine() -> None:
    with machine() as at:
        at.switch_on()
        _first_start(at)
        _hits(at)
        _the_pits_record(at)
        _backups_of_the_pit(at)
        _backups_of_the_table(at)
        _stopped(at)
        _the_shoes_wire(at)


def _first_start(at: Machine) -> None:
    assert "waits for a new shoe" in at.type("set-up.md", "start")
    assert "No mistakes" in at.type("set-up.md", "check")
    at.serve("supervisor.md", "watch", "waits for", times=2)
    at.serve("screen.md", "screen", "The screen is at http://127.0.0.1:")
    at.serve("screen.md", "screen-for-others", "The screen is at http://0.0.0.0:")
    assert "faults: " in at.type("care.md", "doctor")
    at.said("tablectl certs tls broker.pit royal9-01")
    at.said("mkdir -p new /etc/table-controller/tls && cp tls/royal9-01.* new/")
    at.type("broker.md", "renew")
    assert "No mistakes" in at.type("stopped.md", "status")


def _hit(at: Machine, number: int) -> None:
    """Deal one more hit of seat 2, and wait until the pit has the hit's award. `number` is the award's number."""
    at.do("cover 2")
    eventually_now(lambda: status_of(at.table).pit.fresh and 2 in status_of(at.table).sensors)
    at.do("tap deal")
    at.becomes("wagers_locked")
    at.do("draw KH 2C 9H 5D")
    eventually_now(lambda: f"royal9-01.{number}" in at.said("pitctl award list --all"))
    at.do("uncover 2")
    at.said("tablectl reset-hit 2 --by Smith")


def _hits(at: Machine) -> None:
    at.do("tap new_shoe", "draw 3H 8C KD 2S")
    at.becomes("wagers_open")
    _hit(at, 1)
    assert "royal9-01.1  paid" in at.type("pit.md", "hit")
    assert at.type("pit.md", "slip").startswith("slip 1  royal9-01.1")
    assert "unseen cards" in at.type("odds.md", "composition")
    _hit(at, 2)
    at.do("cut")
    eventually_now(lambda: "cut_card_misplaced" in at.said("pitctl award list --json"), within_s=20)
    doubted = {"royal9-01.1": "royal9-01.2"}
    assert "royal9-01.2  verified" in at.type("pit.md", "doubts", doubted)


def _the_pits_record(at: Machine) -> None:
    assert "no alarms are kept" in at.type("pit-care.md", "alarms")
    assert "you are practice:Lee" in at.type("pit-care.md", "roles")
    at.type("head-office.md", "log")
    _two_houses(at)
    told = at.type("head-office.md", "check", ends=1)  # a pit for practice is no house's
    assert told.startswith("north: ")
    assert "\nsouth: " in told
    assert "cosigns with the public key" in at.type("head-office.md", "cosign", ends=1)
    of_table = {"TABLE": "royal9-01", "JOURNAL": str(at.journal), "LOG": "of-table.log"}
    assert "the pit's log agrees from event 1 to its last" in at.type("pit.md", "compare", of_table)
    key = at.type("ha.md", "key")
    assert key.strip() in at.said("tablectl pit-key")


def _two_houses(at: Machine) -> None:
    """Make the logs of two houses, north and south, for the head office. The two logs hold the same lines, and the log
    of south is split into two files."""
    lines = (at.root / "north.log").read_text("utf-8").splitlines(keepends=True)
    (at.root / "south-1.log").write_text("".join(lines[:3]), "utf-8")
    (at.root / "south-2.log").write_text("".join(lines[3:]), "utf-8")
    (at.root / "keys.txt").write_text(f"north pit {at.said('pitctl key')}", "utf-8")


def _backups_of_the_pit(at: Machine) -> None:
    at.said("tablectl close-shoe --by Smith --yes")
    at.do("tap new_shoe", "new-shoe", "draw 3H 8C KD 2S")
    at.becomes("wagers_open")
    at.type("pit-care.md", "backup", answers=[PASSPHRASE, PASSPHRASE])
    at.type("pit-care.md", "timer")
    assert "It is signed by the key" in at.type("pit-care.md", "verify")
    _hit(at, 3)
    _hit(at, 4)
    awards = at.events("award")
    for award in ("royal9-01.3", "royal9-01.4"):
        at.said(f"pitctl award verify {award} && pitctl award pay {award}")
    eventually_now(lambda: at.events("award") >= awards + 4)
    at.stop_pit()
    at.ledger.unlink()
    assert "is as it was at" in at.type("pit-care.md", "restore")
    at.start_pit()
    eventually_now(lambda: at.said("pitctl award list").count("was paid") >= 2)
    log = at.root / "pit.log"
    eventually_now(lambda: "every adopted table is heard" in log.read_text("utf-8").rpartition("the pit's key")[2])
    told = {"recall AWARD": "recall royal9-01.3", "dismiss AWARD": "dismiss royal9-01.4"}
    assert "royal9-01.3" in at.type("pit.md", "recall", told)
    at.stop_pit()
    assert "the pit's new key" in at.type("ha.md", "rotate")
    at.said(f"cp {at.ledger}.key ledger.key")
    at.type("ha.md", "second-key")
    at.start_pit()


def _backups_of_the_table(at: Machine) -> None:
    at.type("replace.md", "backup", answers=[PASSPHRASE, PASSPHRASE])
    assert "all good" in at.type("replace.md", "verify")
    at.type("replace.md", "passphrase")
    at.type("replace.md", "timer")
    at.said("systemctl stop table-controller && rm -r /var/lib/table-controller/*")  # a new card
    assert "all good" in at.type("replace.md", "restore", answers=[PASSPHRASE])
    at.said("rm /media/usb/royal9-01.backup")
    at.type("replace.md", "move", answers=[PASSPHRASE, PASSPHRASE])
    at.said("rm -r /var/lib/table-controller/*")  # another machine
    assert "The table goes on where it was" in at.type("replace.md", "moved", answers=[PASSPHRASE])
    at.said("systemctl stop table-controller && rm -r /var/lib/table-controller/*")
    assert "[journal]" in at.type("replace.md", "look")
    assert "all good" in at.type("replace.md", "elsewhere", answers=[PASSPHRASE])


def _stopped(at: Machine) -> None:
    told = at.type("stopped.md", "new-journal")
    epoch, shown = re.findall(r"epoch (\w+), public key", told), re.findall(r"fingerprint is (.*?)\. The pit", told)
    adopted = {"EPOCH": epoch[0], "FINGERPRINT": shown[0]}
    assert "royal9-01" in at.type("stopped.md", "adopt", adopted)


def _the_shoes_wire(at: Machine) -> None:
    at.serve("wire.md", "live", "Recording into shoe.wire")
    at.said("rm shoe.wire && systemctl stop table-controller")
    at.serve("wire.md", "record", "Recording into shoe.wire", {"/dev/ttyUSB0": f"{at.root}/shoe"})
    (at.root / "shoe.wire").write_text("1.204 shoe 2A 30 44 33 44\n", "utf-8")
    at.serve("wire.md", "replay", "Waiting until a program opens", {"/tmp/shoe": f"{at.root}/again"})
