"""Checks the pit from the Debian package: its service with a ledger in a file and in PostgreSQL, and the update of the
service."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from controller import __version__
from tests.deploy.clean_debian import lacking
from tests.deploy.packaged import Table, another
from tests.pit.postgresql import Server, needs_postgresql, new_folder
from tests.support.waiting import eventually_now

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(lacking() != "", reason=f"this machine lacks {lacking()}"),
]

NEXT, BROKEN = "9.1.0", "9.2.0"
_PREPARED = """
tablectl certs /root/tls broker.pit pit pit-page
install -d /etc/table-pit/tls
cp /usr/share/doc/table-controller/examples/pit.toml /etc/table-pit/pit.toml
install -m 644 /root/tls/ca.crt /root/tls/pit.crt /root/tls/pit-page.crt /etc/table-pit/tls/
install -m 600 /root/tls/pit.key /root/tls/pit-page.key /etc/table-pit/tls/
"""


def _without_its_pit(program: Path) -> None:
    (program / "pit" / "reference" / "service.py").write_text("raise SystemExit(3)\n", "utf-8")


def _running(pit: Table) -> tuple[str, str, str]:
    """Return which version of the program each of three processes runs: the pit, the pit's page and a table. A text is
    empty if its process does not run."""
    return pit.runs("table-pit"), pit.runs("table-pit-page"), pit.runs()


@pytest.fixture
def pit(table: Table, package: Path) -> Table:
    """A machine on which the pit's service is prepared as the pit's page says. No table is set up on that machine."""
    table.install(package)
    for line in _PREPARED.strip().splitlines():
        table.machine.run(*line.split())
    return table


def test_an_update_restarts_the_pit_and_goes_back_where_the_pit_is_not_ready(
    pit: Table, package: Path, tmp_path: Path
) -> None:
    pit.machine.run("systemctl", "enable", "--now", "table-pit", "table-pit-page")
    assert pit.runs("table-pit") == __version__
    told = pit.install(another(package, NEXT, tmp_path))
    assert f"Version {NEXT} runs." in told
    eventually_now(lambda: _running(pit) == (NEXT, NEXT, ""))
    pit.install(another(package, BROKEN, tmp_path, _without_its_pit))
    told = pit.machine.run("tablectl", "versions").stdout
    assert f"Version {BROKEN} did not become ready, so {NEXT} runs again." in told
    eventually_now(lambda: _running(pit) == (NEXT, NEXT, ""))


@needs_postgresql
def test_a_ledger_in_postgresql_needs_nothing_but_the_package(pit: Table) -> None:
    folder = new_folder()
    server = Server(folder / "one", pit.machine.on_its_network, "127.0.0.1")
    here = "BROKER=broker.pit:8883\nLEDGER=postgresql://postgres@127.0.0.1/postgres\n"
    (pit.machine.root / "etc" / "table-pit" / "environment").write_text(here, "utf-8")
    pit.machine.run(*["install", "-d", "-o", "table-pit", "-g", "table-pit", "-m", "700", "/var/lib/table-pit"])
    made = pit.machine.run("pitctl", "key").stdout.strip()
    try:
        server.begin()
        server.start()
        pit.machine.run("systemctl", "start", "table-pit")
        logged = ("journalctl", "--unit", "table-pit", "--no-pager")
        eventually_now(lambda: f"the pit's key has the fingerprint {made}" in pit.machine.run(*logged).stdout)
        assert server.query("SELECT count(*) FROM leadership WHERE until > clock_timestamp()") == [(1,)]
        assert "the account balances" in pit.machine.run("pitctl", "account").stdout
        pit.machine.run("systemctl", "start", "table-pit-page")
    finally:
        server.stop()
        shutil.rmtree(folder)
