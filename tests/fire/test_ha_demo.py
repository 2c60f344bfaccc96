"""Tests of a pit on three machines with the configuration files of config/ha: the programs accept these files, and the
pit goes on when a machine stops."""

from __future__ import annotations

import ssl
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import psycopg
import pytest

from controller.people.cli.certs import BenchCa
from tests.fire.ha_demo import CONFIG, NAMES, House, missing, play
from tests.pit.postgresql import needs_postgresql
from tests.support.network import HERE, Network, needs_keepalived, needs_namespaces


def test_the_primarys_lock_is_taken_by_etcds_second_protocol() -> None:
    """Patroni must use version 2 of etcd's protocol for the lock of the primary database. With version 3, Patroni 3.0.2
    took the lock from its holder after a network cut, and acknowledged events were lost."""
    patroni, etcd = ((CONFIG / name).read_text("utf-8").splitlines() for name in ("patroni.yml", "etcd"))
    assert [line for line in patroni if line.startswith("etcd")] == ["etcd:"]
    assert "ETCD_ENABLE_V2=true" in etcd


@pytest.mark.proof
@pytest.mark.parametrize(
    "address", [None, pytest.param("10.20.0", marks=(needs_namespaces, needs_keepalived))], ids=["loopback", "dropped"]
)
@needs_postgresql
@pytest.mark.skipif(missing() != [], reason=f"needs Debian's packages with: {', '.join(missing())}")
def test_the_leaders_machine_stops_nothing_is_lost_and_only_the_progressive_wager_pauses(
    address: str | None, figure: Callable[[str], None]
) -> None:
    said: list[str] = []
    network = None if address is None else Network(*NAMES, HERE, network=address)
    with tempfile.TemporaryDirectory(prefix="ha-demo-") as folder, network or nullcontext():
        without_s, rounds, refused = play(Path(folder), 10.0, said.append, network)
    assert said[-1].endswith("0 lost, 0 doubled, and the account balances")
    assert min(rounds, refused) > 0, said
    figure(
        f"the leader's machine of three lost: {without_s:.1f} s without acknowledgements, {rounds} rounds dealt"
        f" meanwhile, {refused} locks without the progressive wager, which was taken before and after; {said[-1]}"
    )


@pytest.mark.proof
@needs_postgresql
@pytest.mark.skipif(missing() != [], reason=f"needs Debian's packages with: {', '.join(missing())}")
def test_each_door_of_the_machines_is_shut_to_whoever_is_on_their_network(tmp_path: Path) -> None:
    """etcd, Patroni and PostgreSQL refuse a client that does not have the machines' certificate, even if it is on their
    network. etcd and Patroni answer a client that has the certificate."""
    with tempfile.TemporaryDirectory(prefix="ha-doors-") as folder, ExitStack() as ends:
        house = House(Path(folder), 1.0, ends, None)
        house.begin()
        tables = BenchCa()  # the CA of the tables is another
        for name, pem in zip(("crt", "key"), tables.issue("royal9-01"), strict=True):
            (tmp_path / f"table.{name}").write_bytes(pem)
        stranger, table, ours = (ssl.create_default_context(cafile=house.folder / "tls" / "ca.crt") for _ in range(3))
        table.load_cert_chain(tmp_path / "table.crt", tmp_path / "table.key")
        ours.load_cert_chain(house.folder / "tls" / "machine.crt", house.folder / "tls" / "machine.key")
        evil = b'{"postgresql": {"parameters": {"archive_command": "true"}}}'
        for machine in house.machines.values():
            doors = (
                Request(f"https://{machine.address}:{house.ports[8008]}/config", evil, method="PATCH"),
                Request(f"https://{machine.address}:{house.ports[8008]}/restart", b"{}", method="POST"),
                Request(f"https://{machine.address}:{house.ports[8008]}/cluster"),
                Request(f"https://{machine.address}:{house.ports[2379]}/v2/keys/thief?value=1", b"", method="PUT"),
                Request(f"https://{machine.address}:{house.ports[2379]}/v2/keys/service/pit/leader"),
                Request(f"https://{machine.address}:{house.ports[2380]}/members"),
            )
            for door in doors:
                assert [_shut(door, who) for who in (stranger, table)] == [True, True], door.full_url
                plain = Request(door.full_url.replace("https:", "http:"), door.data, method=door.get_method())
                assert _shut(plain, None), plain.full_url
            assert not any(_shut(door, ours) for door in doors if door.get_method() == "GET"), "they are doors"
        at, port = house.machines["one"].address, house.ports[5432]
        for way in ("sslmode=disable user=leader dbname=pit", "sslmode=disable user=postgres dbname=postgres"):
            with pytest.raises(psycopg.OperationalError, match="no encryption"):
                psycopg.connect(f"host={at} port={port} password=any {way}")
        for way in ("user=leader dbname=postgres", "user=reader dbname=template1", "user=leader dbname=replication"):
            with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
                psycopg.connect(f"host={at} port={port} password=any {way}")
        socket = ["setpriv", "--reuid=nobody", "--clear-groups", "psql", f"host={folder}/one port={port} user=postgres"]
        another = subprocess.run([*socket, "--command", "SELECT 1"], capture_output=True, text=True, cwd="/")
        assert "Peer authentication failed" in another.stderr, another


def _shut(door: Request, who: ssl.SSLContext | None) -> bool:
    """Tell whether a server refuses the request `door`. `who` has the client's TLS settings, with or without a client
    certificate."""
    try:
        with urlopen(door, timeout=5, context=who) as said:
            return bool(said.status >= 400)
    except HTTPError as refusal:
        return refusal.code in (400, 401, 403)
    except (URLError, OSError):
        return True
