"""Checks what a stranger can do at a table's machine: with an account outside of the table's group, and as root."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from drivers.sim.pins import PinsPage
from tests.deploy.clean_debian import lacking
from tests.deploy.packaged import STATE, Table
from tests.support.waiting import eventually_now

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(lacking() != "", reason=f"this machine lacks {lacking()}"),
]

_TABLE, _PROGRAM = "/etc/table-controller/table.toml", "/opt/table-controller/current"
_FAULT_LAMP = 26


def _found(table: Table) -> dict[str, str]:
    """Return the warnings and faults that `tablectl doctor` finds on the table's machine, by their codes."""
    rows = json.loads(table.machine.run("tablectl", "doctor", "--json", check=False).stdout)
    return {row["code"]: row["verdict"] for row in rows if row["verdict"] in ("warning", "fault")}


@pytest.fixture
def played(table: Table, package: Path) -> Table:
    """A machine with an installed table, at which a shoe is open."""
    table.install(package)
    table.set_up()
    table.open_a_shoe()
    return table


def test_an_account_without_the_group_reaches_nothing_of_the_table(played: Table) -> None:
    rows = played.journal().rows
    for attempt in (
        "tablectl status",
        "tablectl test-hit 3 --by Ann",
        "tablectl close-shoe --by Ann --yes",
        "tablectl update",
        "tablectl backup /tmp/backup",
        "tablectl setup --answers /root/answers",
        f"cat {STATE}/journal",
        f"cat {STATE}/key",
        f"tee {_TABLE}",
        f"tee {_PROGRAM}/bin/tablectl",
        "systemctl stop table-controller",
        "ln -sfn 9.9.9 /opt/table-controller/next",
    ):
        tried = played.machine.run("runuser", "-u", "nobody", "--", *shlex.split(attempt), check=False)
        assert tried.returncode != 0, attempt
        assert "Traceback" not in tried.stderr, tried.stderr
    assert '"wagers_open"' in played.status()
    assert played.journal().rows == rows
    assert not _found(played).keys() & {"program_changed", "library_changed", "configuration_changed"}


def test_a_changed_file_is_found_told_and_written_down_and_an_edited_journal_does_not_start(played: Table) -> None:
    machine = played.machine
    machine.run("sed", "-i", "s/^\\[pins\\]$/[pins]\\ndebounce_ms = 45/", _TABLE)
    machine.run("sh", "-c", f"echo '# changed' >> $(ls {_PROGRAM}/lib/*/site-packages/drivers/gpio.py)")
    machine.run("sh", "-c", f"echo '# changed' >> $(ls {_PROGRAM}/lib/*/site-packages/serial/__init__.py)")
    found = _found(played)
    assert {found[code] for code in ("program_changed", "library_changed")} == {"fault"}
    assert found["configuration_changed"] == "warning"
    machine.run("systemctl", "restart", "table-controller")
    eventually_now(lambda: '"up":true' in played.status().replace(" ", ""))
    log = machine.run("journalctl", "-u", "table-controller", "--no-pager").stdout
    assert "alarm: program_changed" in log
    assert "alarm: configuration_changed" in log
    machine.run("systemctl", "stop", "table-controller")
    forges = "UPDATE fact SET salt = zeroblob(16) WHERE kind = 'ShoeOpened' RETURNING row"
    opened = (
        f"import sqlite3; d = sqlite3.connect('{STATE}/journal'); print(*d.execute({forges!r}).fetchone()); d.commit()"
    )
    row = machine.run("python3", "-c", opened).stdout.strip()
    assert machine.run("systemctl", "start", "table-controller", check=False).returncode != 0
    unit = dict(
        line.split("=", 1)
        for line in machine.run(
            "systemctl", "show", "-p", "ExecMainStatus,ActiveState", "table-controller"
        ).stdout.split()
    )
    assert unit == {"ExecMainStatus": "78", "ActiveState": "failed"}, "nobody starts it again and again"
    assert "journal_damaged" in machine.run("journalctl", "-u", "table-controller", "--no-pager").stdout
    assert PinsPage(played.state / "header").output(_FAULT_LAMP), "whoever stands at the table sees it"
    verified = machine.run("tablectl", "verify", check=False)
    assert verified.returncode == 1
    assert f"row {row}" in verified.stdout + verified.stderr
