"""Stress tests with several hundred simulated tables at a pit on two machines, under many faults at the same time, and
tests of the stress test's own checks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psycopg
import pytest

from tests.conformance.defects import PIT_DEFECTS
from tests.fire.cell import Cashier, Cell
from tests.fire.reckoning import Books
from tests.fire.swarm import MACHINES, TERMS, Swarm, Troubles, WalkedDelivery
from tests.fire.swarm_judge import findings
from tests.fire.terms import exact, settings
from tests.pit.house import ROOT
from tests.pit.postgresql import needs_postgresql, rows, servers
from tests.support.brokers import Peer, needs_mosquitto
from tests.support.network import HERE, Network, needs_namespaces

_TABLES, _FIRE_S = 200, 150.0
_PEOPLE_S = 15.0  # in which people decide, once all is acknowledged
_SETTLE_S = 120.0  # at most, for each thing that must come to rest
_A_TROUBLE_EACH_S = 10.0  # at the least: most last for some seconds, and three go on at a time


def test_a_step_of_a_table_of_the_swarm_that_no_walk_has_is_told() -> None:
    delivery = WalkedDelivery("e", 0, 0, 10.0)
    delivery.committed(2, 0.0)
    delivery.connected()
    delivery.nothing_retained(0.0)
    assert [*delivery.due(1.0)] == [1, 2]
    assert delivery.strange == []
    delivery.acked_seq = 2
    delivery.disconnected(2.0)
    delivery.connected()
    (first,) = delivery.strange
    assert "should be OFFLINE with 0 acknowledged" in first


@pytest.mark.proof
@needs_namespaces
@needs_postgresql
@needs_mosquitto
def test_of_a_swarm_of_tables_nothing_is_lost_doubled_or_paid_twice(
    request: pytest.FixtureRequest, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    seed = request.config.getoption("--fire-seed")
    print(f"the swarm's seed is {seed}")
    found, told = play(seed, _TABLES, _FIRE_S, tmp_path)
    assert found == []
    figure(told)


@pytest.mark.proof
@needs_namespaces
@needs_postgresql
@needs_mosquitto
def test_the_judge_sees_a_pit_that_acknowledges_before_its_commit(
    request: pytest.FixtureRequest, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    (defect,) = (each for each in PIT_DEFECTS if each.name == "an ack comes half a second before its commit")
    (tmp_path / "copy").mkdir()
    home = defect.plant(tmp_path / "copy")
    found, _ = play(request.config.getoption("--fire-seed"), _TABLES // 5, _FIRE_S / 5, tmp_path, home)
    lost = [each for each in found if "was acknowledged, and later" in each]
    assert lost
    figure(f"{len(lost)} events were acknowledged and then not there, for example: {lost[0]}")


def play(seed: int, tables: int, fire_s: float, folder: Path, home: Path = ROOT) -> tuple[list[str], str]:
    """Run a stress test with this number of tables, in which faults are caused for `fire_s` seconds. Returns what the
    judge finds wrong, and a line with the figures of the test."""
    with ExitStack() as ends:
        network = ends.enter_context(Network(*MACHINES, HERE))
        databases = ends.enter_context(servers(*MACHINES, network=network))
        cell = Cell(folder, network, databases, {machine: machine for machine in MACHINES}, ends, settings(TERMS), home)
        swarm = Swarm(cell, tables, seed)
        ends.callback(swarm.close)
        cashier = Cashier(cell, seed)
        ends.callback(cashier.over.set)
        troubles = Troubles(cell, seed)
        ends.callback(troubles.end)
        began_s = time.monotonic()
        swarm.turn_until(lambda: swarm.acked() > tables, _SETTLE_S)
        cashier.start()
        troubles.begin()
        swarm.turn_until(lambda: False, fire_s)
        troubles.over.set()
        swarm.turn_until(lambda: troubles.are_over, _SETTLE_S)
        swarm.stop_dealing()
        calm_s = time.monotonic()
        swarm.turn_until(lambda: all(table.rests for table in swarm.tables), _SETTLE_S)
        swarm.turn_until(lambda: False, _PEOPLE_S)
        cashier.over.set()
        swarm.turn_until(lambda: not cashier.is_alive(), _SETTLE_S)
        settled = swarm.turn_until(lambda: _is_settled(cell, swarm), _SETTLE_S)
        settled_s = time.monotonic() - calm_s
        found = [*troubles.wrong, *(wrong for table in swarm.tables for wrong in table.wrong)]
        found += [f"{table.table}: {step}" for table in swarm.tables for step in table.walked.strange]
        if not settled:
            waiting = sum(table.delivery.unacknowledged for table in swarm.tables)
            found.append(f"all is calm, and {waiting} events or some steps still wait")
        seen = swarm.seen
        seen.paid = cashier.paid
        if troubles.suffered.total() < fire_s / _A_TROUBLE_EACH_S or not seen.levels or not seen.paid:
            found.append(f"too little happened: {troubles.suffered}, {len(seen.levels)} levels, {seen.paid} paid")
        if settled:
            found += findings(seen, Books(cell.url), exact(TERMS))
            found += _retained(cell, swarm)
            found += [f"head office: {what}" for what in cell.head_office_findings()]
        return found, (
            f"{tables} tables at a pit on two machines, {sum(map(len, seen.sent.values()))} events,"
            f" {troubles.suffered.total()} troubles, up to three at a time"
            f" ({', '.join(f'{count} {name}' for name, count in sorted(troubles.suffered.items()))});"
            f" {sum(map(len, seen.acks.values()))} acks and {len(seen.levels)} words on the meters judged,"
            f" {cashier.decided} decisions, {seen.paid.total()} awards paid; {swarm.longest_wait_s:.0f} s at most"
            f" without an ack, all acknowledged and told {settled_s:.0f} s after the last trouble;"
            f" {time.monotonic() - began_s:.0f} s; 0 lost, 0 doubled, 0 out of order, 0 paid twice, each level to the"
            " part of a cent"
        )


def _is_settled(cell: Cell, swarm: Swarm) -> bool:
    if not all(table.rests for table in swarm.tables):
        return False
    with suppress(psycopg.Error):
        return rows(cell.url, "SELECT count(*) FROM step WHERE heard = 0") == [(0,)]
    return False


def _retained(cell: Cell, swarm: Swarm) -> list[str]:
    """Return a text for each table with a wrong acknowledgement at the leader's broker. The acknowledgement that the
    broker retains must be for the table's last event."""
    leader = cell.some_leader()
    peer = Peer(cell.brokers[leader].port, "pit/v1/+/ack", host=cell.network.address(leader))
    heads = {table.table: len(table.evening.sent) for table in swarm.tables}
    came: dict[str, int] = {}

    def all_came() -> bool:
        for message in peer.so_far():
            said = json.loads(message.payload)
            came.setdefault(said["table"], said["seq"])
        return came.keys() >= heads.keys()

    with closing(peer):
        swarm.turn_until(all_came, _SETTLE_S)
    return [f"{table}: the broker retains the ack of {came.get(table)}, not {head}" for table, head in heads.items()
            if came.get(table) != head]  # fmt: skip
