"""Checks that a technician can turn a clean machine into a table, at the machine's terminal, with the broker and the
pit of a house."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deploy.clean_debian import ROOT, lacking
from tests.deploy.packaged import STATE, Table
from tests.setup.technician import Technician
from tests.support.brokers import Broker, needs_mosquitto
from tests.support.waiting import eventually_now

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(lacking() != "", reason=f"this machine lacks {lacking()}"),
    needs_mosquitto,
]

_BROKER = "10.20.0.5"
_PIT = ("/opt/table-controller/current/bin/python3", "-m", "controller.pit.reference")
_LEDGER = ("--ledger", "/root/ledger")
_LAMPS = dict(zip(range(16, 25), ["seat_2", "seat_1", "seat_3", "player", "tie", "banker", "draw_player",
                                  "draw_banker", "fault"], strict=True))  # fmt: skip
_DEALERS_PACE_S = 0.3
"""Between two cards. Cards that come faster than the table's `fastest_card_ms` are no dealer's, and stop the table."""
_INPUTS = {"seat_1": 4, "seat_2": 6, "seat_3": 5, "deal": 27, "new_shoe": 11, "key": 3}


@contextmanager
def _house(table: Table, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the broker of a house, as shipped, with certificates of a test CA, and the house's pit. The table's machine
    can reach both."""
    machine = table.machine
    machine.run("tablectl", "certs", "/root/tls", "broker.pit", "royal9-01", "pit", "bets")
    tls = machine.root / "root" / "tls"
    for name, file in (("ca.crt", "ca.crt"), ("broker.pit.crt", "broker.crt"), ("broker.pit.key", "broker.key")):
        (folder / file).write_bytes((tls / name).read_bytes())
    own = "install -o table-controller -m 600 /root/tls/royal9-01.key"
    for line in (
        "install -d /etc/table-controller/tls",
        "install -m 644 /root/tls/ca.crt /root/tls/royal9-01.crt /etc/table-controller/tls/",
        f"{own} /etc/table-controller/tls/",
    ):
        machine.run(*line.split())
    machine.run("sh", "-c", f"echo {_BROKER} broker.pit >> /etc/hosts")
    subprocess.run([*machine.on_its_network, "ip", "address", "add", f"{_BROKER}/32", "dev", "lo"], check=True)
    shipped = ROOT / "config" / "mosquitto"
    broker = Broker(folder, (shipped / "mosquitto.conf").read_text(), (shipped / "acl").read_text(), port=8883)
    broker.command = [*machine.on_its_network, *broker.command]
    run = ["run", "--broker", "broker.pit:8883", *_LEDGER, "--settings", "/root/pit.toml", "--practice"]
    run += ["--ca", "/root/tls/ca.crt", "--certificate", "/root/tls/pit.crt", "--private-key", "/root/tls/pit.key"]
    (machine.root / "root" / "pit.toml").write_text((ROOT / "config" / "pit.toml").read_text())
    with broker, (folder / "pit.log").open("wb") as log:
        pit = subprocess.Popen(machine.command(*_PIT, *run), stdout=log, stderr=log, cwd="/")
        try:
            yield pit
        finally:
            pit.terminate()
            pit.wait()


def test_a_technician_commissions_a_table_over_tls_and_it_plays(table: Table, package: Path, tmp_path: Path) -> None:
    table.install(package)
    table.plug_in()
    says = {
        "Game ": "royal9",
        "Seats ": "3",
        "Port of the shoe ": f"{STATE}/shoe",
        "Walk the wiring": "yes",
        "Pins of the lamps ": " ".join(map(str, _LAMPS)),
        "Host of the pit's broker ": "broker.pit",
        "Your name": "Smith",
        "Have you compared the pit's key": "yes",
        "File of the commissioning report ": "/root/report.html",
    }
    setup = table.machine.command("tablectl", "setup")
    plugs = (lambda: table.says("unplug-at-shoe"), lambda: table.says("plug-at-shoe"))
    with _house(table, tmp_path):
        broken = Technician(table.state, says, _LAMPS, _INPUTS, ("KS", "9H"), breaks_off="Port of the broker")
        assert broken.at_terminal(setup, table.draw, plugs) is None
        again = Technician(table.state, says, _LAMPS, _INPUTS)
        assert again.at_terminal(setup, table.draw, plugs) in (0, 1), (
            again.seen
        )  # 1: not ready, before the pit adopts it
        assert "The report is" in again.seen
        asked = {prompt.partition("[")[0] for prompt in again.asked}
        assert asked.isdisjoint(prompt.partition("[")[0] for prompt in broken.asked[:-1]), "nothing is asked twice"
        table.machine.run("systemctl", "is-active", "table-controller")
        status = json.loads(table.status())
        pit_key = table.machine.run(*_PIT, "key", *_LEDGER).stdout
        assert status["pit"]["key"]["pinned"] in pit_key
        assert f"The pit's key:   {status['pit']['key']['pinned']}." in again.seen
        assert f"The table's key: {status['key_fingerprint']}." in again.seen
        adopts = ("adopt", "royal9-01", status["pit"]["epoch"], status["key_fingerprint"])
        table.machine.run(*_PIT, *adopts, "--control", "/root/ledger.control", "--as", "Ann", "--with", "Bob")
        table.open_a_shoe()
        again.page.drive(_INPUTS["deal"], 0)
        eventually_now(lambda: '"wagers_locked"' in table.status())
        again.page.drive(_INPUTS["deal"], 1)
        for card in ("KS", "2D", "9S", "3C"):
            table.draw(card)
            time.sleep(_DEALERS_PACE_S)
        eventually_now(lambda: json.loads(table.status())["pit"]["acked_seq"] == 3)
        events = table.machine.run(*_PIT, "events", "royal9-01", *_LEDGER).stdout
        assert '"type":"round"' in events
        doctor = table.machine.run("tablectl", "doctor", "--json", check=False)
        assert doctor.returncode == 0, doctor.stdout
        assert again.page.output(next(bcm for bcm, name in _LAMPS.items() if name == "player"))
    table.machine.run("tablectl", "setup", "--verify", "/root/report.html")
