"""The house's set-up of config/ha: what the programs themselves say of its files, and a machine that stops under it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.fire.ha_demo import CONFIG, NAMES, missing, play
from tests.pit.postgresql import needs_postgresql
from tests.support.network import HERE, Network, needs_keepalived, needs_namespaces


def test_the_primarys_lock_is_taken_by_etcds_second_protocol() -> None:
    """By the third, Patroni 3.0.2 took the lock from its holder after a cut: acknowledged events were lost."""
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
        without_s, hands, refused = play(Path(folder), 10.0, said.append, network)
    assert said[-1].endswith("0 lost, 0 doubled, and the account balances")
    assert min(hands, refused) > 0, said
    figure(
        f"the leader's machine of three lost: {without_s:.1f} s without acknowledgements, {hands} hands dealt"
        f" meanwhile, {refused} locks without the progressive wager, which was taken before and after; {said[-1]}"
    )
