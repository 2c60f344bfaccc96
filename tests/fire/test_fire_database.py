"""Stress tests of two pits on a replicated database: whatever is killed, frozen or cut, each event is committed once,
in order.

The two pits, the primary database, its synchronous standby and the broker are processes, each on a machine of its own
(a Linux network namespace). The tables are clients in the test itself, which keep what they have sent, repeat what is
not acknowledged, and report each step of an award.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
import pytest

from controller.pit.reference.ledger import Ledger
from tests.fire.cell import Cashier, Cell
from tests.fire.swarm import TERMS
from tests.fire.terms import settings
from tests.pit.evening import TableEvening
from tests.pit.postgresql import needs_postgresql, rows, servers
from tests.support.brokers import Peer, needs_mosquitto
from tests.support.network import HERE, Network, both_ways, needs_namespaces
from tests.support.waiting import PATIENCE_S

TROUBLES = {
    "leader": 25,
    "frozen": 10,
    "asleep": 2,
    "primary": 15,
    "broker": 25,
    "table": 20,
    "cancelled": 10,
    "unheard": 8,
    "apart": 8,
    "split": 3,
    "offline": 8,
}
"""How often what happens: a kill of the leading pit, of the primary, of the broker, a table's loss of all but its
journal; the leader stands still for longer than it may, or for a minute; commits wait for a silent standby, and are
cancelled.

The last four are packets that are dropped between two machines, in one direction or in both: between the leader and the
primary, until another pit leads; between the primary and its standby, for a while, or until the standby is the primary
beside a primary that runs on; between the broker and the tables, or the leader, for a while."""

_TABLES, _EVENTS = 4, 5_000
_WINDOW = 50
_AGAIN_S = 1.0
_ASLEEP_S = 60.0
_CUT_S = 2.0, 14.0  # a commit waits for its replica for 10 seconds
_BETWEEN_EVENTS = _EVENTS // sum(TROUBLES.values())
_DATABASES = "one", "two"
_PITS = {"pit-1": "broker", "pit-2": "broker"}


@dataclass
class FarTable:
    """A simulated table: its journal, the number of the last event that the pit has acknowledged, and the steps of
    awards that the pit has sent (`told`)."""

    name: str
    broker: tuple[str, int]
    luck: random.Random
    acked: int = 0
    highest_acked: int = 0
    deals: bool = True
    told: dict[str, list[tuple[str, int, str]]] = field(default_factory=lambda: defaultdict(list))
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evening = TableEvening(self.name, TERMS)
        self._hits: dict[str, bytes] = {}
        self._step = 0  # the number of the last step that it took
        self._sent_at_s = 0.0
        self.connect()

    def connect(self) -> None:
        """Connect to the broker like a restarted program, which has its journal and has forgotten everything else."""
        host, port = self.broker
        self._peer = Peer(port, f"pit/v1/{self.name}/ack", f"pit/v1/{self.name}/award", host=host)
        self._peer._client.reconnect_delay_set(1, 1)
        self.acked = 0

    def close(self) -> None:
        self._peer.close()

    def turn(self) -> None:
        """Handle the messages that have come, deal a round unless too many events wait, and send what is not
        acknowledged."""
        begin = len(self.evening.sent)
        for message in self._peer.so_far():
            said = json.loads(message.payload)
            if message.topic.endswith("/ack"):
                self._heed(said)
            else:
                self._take(said)
        if self.deals and len(self.evening.sent) - self.acked < _WINDOW - 10:
            self._deal()
        now_s = time.monotonic()
        if now_s - self._sent_at_s > _AGAIN_S:
            begin, self._sent_at_s = self.acked, now_s
            self._say("state", self.evening.state(), retain=True)
        for body in self.evening.sent[begin : self.acked + _WINDOW]:
            self._say("event", body)

    def _say(self, kind: str, body: bytes, retain: bool = False) -> None:
        if self._peer._client.is_connected():
            self._peer._client.publish(f"pit/v1/{self.name}/{kind}", body, qos=1, retain=retain)

    def _heed(self, ack: dict[str, Any]) -> None:
        if ack["seq"] > len(self.evening.sent) or (ack["seq"] and int(ack["chain"], 16) != ack["seq"]):
            self.wrong.append(f"{self.name} was acknowledged {ack}")
        self.acked = ack["seq"]
        self.highest_acked = max(self.highest_acked, self.acked)

    def _take(self, step: dict[str, Any]) -> None:
        if step["seq"] <= self._step:
            return
        self._step = step["seq"]
        self.told[step["award"]].append((step["step"], step["cents"], step["by"]))
        self.evening.award(self._hits[step["hit"]], step["step"], step["cents"], step["by"])

    def _deal(self) -> None:
        seats = sorted(self.luck.sample(range(1, 8), self.luck.randint(1, 4)))
        self.evening.lock(*seats)
        fate = self.luck.random()
        if fate < 0.1:
            self.evening.void(*seats)
        elif fate < 0.97:  # each award is told to its table step by step: more would wait for minutes at the end
            self.evening.finish()
        else:
            winners = seats[: self.luck.randint(1, 2)]
            meter = self.luck.choice([*TERMS])
            self.evening.finish(*((seat, "banker_personal") for seat in winners))
            for seat in winners:
                body = self.evening.hit(seat, "banker_personal", meter)
                self._hits[json.loads(body)["id"]] = body


class Fire:
    """One stress test in which tables deal, a cashier decides on awards, and faults of pits, databases, broker and
    network come one after the other."""

    def __init__(self, cell: Cell, seed: int) -> None:
        self.cell = cell
        broker = cell.network.address("broker"), cell.brokers["broker"].port
        self.tables = [FarTable(f"t-{n}", broker, random.Random(f"{seed} {n}")) for n in range(_TABLES)]
        self.without_acks_s: dict[str, list[float]] = defaultdict(list)
        self._luck = random.Random(seed)
        self._acked, self._acked_at_s = 0, time.monotonic()
        self._longest_s = 0.0  # of the times without an acknowledgement since the last trouble began

    def acked(self) -> int:
        return sum(table.highest_acked for table in self.tables)

    def turn_until(self, holds: Callable[[], object]) -> None:
        """Run the simulated tables until `holds` returns a true value. Raises AssertionError if no event is
        acknowledged for too long."""
        while not holds():
            for table in self.tables:
                table.turn()
            silent_s = time.monotonic() - self._acked_at_s
            self._longest_s = max(self._longest_s, silent_s)
            if self.acked() > self._acked:
                self._acked, self._acked_at_s = self.acked(), time.monotonic()
            assert silent_s < PATIENCE_S, (self.cell.folder / "pits.log").read_text()[-3000:]
            time.sleep(0.02)

    def befall(self, trouble: str) -> None:
        """Cause the fault of this name, and run the simulated tables until events are acknowledged again."""
        self._longest_s = 0.0
        with ThreadPoolExecutor(1) as beside:
            struck = beside.submit(getattr(self, f"_{trouble}"))
            self.turn_until(struck.done)
            struck.result()
        promised = {table.name: table.highest_acked for table in self.tables}
        if trouble in ("primary", "split"):
            has = dict(rows(self.cell.url, "SELECT table_id, max(seq) FROM event GROUP BY table_id"))
            assert all(has.get(name, 0) >= seq for name, seq in promised.items()), "acknowledged, and not there"
        before = self.acked()
        self.turn_until(lambda: self.acked() >= before + _BETWEEN_EVENTS)
        self.without_acks_s[trouble].append(self._longest_s)

    def _leader(self) -> None:
        self.cell.signal_leader(signal.SIGKILL)

    def _frozen(self) -> None:
        machine, frozen = self.cell.signal_leader(signal.SIGSTOP)
        self.cell.await_leader_beside(machine)
        os.kill(frozen, signal.SIGCONT)

    def _asleep(self) -> None:
        _, sleeper = self.cell.signal_leader(signal.SIGSTOP)
        time.sleep(_ASLEEP_S)
        os.kill(sleeper, signal.SIGCONT)

    def _primary(self) -> None:
        self.cell.primary.stop()
        self.cell.standby.promote()
        self.cell.replace_primary()

    def _broker(self) -> None:
        self.cell.brokers["broker"].kill()
        self.cell.brokers["broker"].start()

    def _table(self) -> None:
        table = self._luck.choice(self.tables)
        table.close()
        table.connect()

    def _cancelled(self) -> None:
        with self.cell.silent_standby():
            while not self.cell.cancel_commits():
                time.sleep(0.02)

    def _unheard(self) -> None:
        leader = self.cell.some_leader()
        with self._cut(leader, self.cell.primary.folder.name):
            self.cell.await_leader_beside(leader)

    def _apart(self) -> None:
        with self._cut(self.cell.primary.folder.name, self.cell.standby.folder.name):
            time.sleep(self._luck.uniform(*_CUT_S))

    def _split(self) -> None:
        with self.cell.network.cut(*both_ways(*_DATABASES)):
            self.cell.standby.promote()
            time.sleep(self._luck.uniform(*_CUT_S))
            self.cell.primary.stop()
        self.cell.replace_primary()

    def _offline(self) -> None:
        with self._cut("broker", self._luck.choice([HERE, self.cell.some_leader()])):
            time.sleep(self._luck.uniform(*_CUT_S))

    def _cut(self, one: str, other: str) -> AbstractContextManager[None]:
        """Return a context manager. While its `with` block runs, the packets between the two machines are dropped, in
        one direction or in both."""
        ways = both_ways(one, other)
        return self.cell.network.cut(*self._luck.choice([ways, ways[:1], ways[1:]]))


@pytest.mark.proof
@needs_namespaces
@needs_postgresql
@needs_mosquitto
def test_with_a_replicated_ledger_nothing_is_lost_doubled_or_paid_twice(
    request: pytest.FixtureRequest, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    seed = request.config.getoption("--fire-seed")
    print(f"the fire's seed is {seed}")
    play(seed, TROUBLES, tmp_path, figure)


def play(seed: int, troubles: dict[str, int], folder: Path, figure: Callable[[str], None]) -> None:
    """Run one stress test with as many faults of each kind as `troubles` says, judge the result, and call `figure` with
    a line of its figures."""
    order = [trouble for trouble, count in troubles.items() for _ in range(count)]
    random.Random(seed).shuffle(order)
    with ExitStack() as ends:
        network = ends.enter_context(Network(*_DATABASES, *_PITS, "broker", HERE))
        databases = ends.enter_context(servers(*_DATABASES, network=network))
        cell = Cell(folder, network, databases, _PITS, ends, settings(TERMS))
        fire = Fire(cell, seed)
        for table in fire.tables:
            ends.callback(table.close)
        cashier = Cashier(cell, seed)
        cashier.start()
        ends.callback(cashier.over.set)
        began_s = time.monotonic()
        fire.turn_until(lambda: fire.acked() > 0)
        for trouble in order:
            fire.befall(trouble)
        for table in fire.tables:
            table.deals = False
        fire.turn_until(lambda: cashier.paid.total())
        cashier.over.set()
        fire.turn_until(lambda: not cashier.is_alive())
        fire.turn_until(lambda: _is_settled(cell, fire))
        events = _judge(cell, fire, cashier)
        waits = ", ".join(f"{name} {median(s):.1f} s ({max(s):.1f})" for name, s in fire.without_acks_s.items())
        figure(
            f"PostgreSQL with a synchronous standby: {events} events, {len(order)} troubles"
            f" ({', '.join(f'{count} {name}' for name, count in troubles.items())}), {cashier.decided} decisions;"
            f" without acknowledgements, median and longest: {waits}; {time.monotonic() - began_s:.0f} s; 0 lost,"
            " 0 doubled, 0 paid twice"
        )


def _is_settled(cell: Cell, fire: Fire) -> bool:
    if any(table.acked < len(table.evening.sent) for table in fire.tables):
        return False
    with suppress(psycopg.Error):
        return rows(cell.url, "SELECT count(*) FROM step WHERE heard = 0") == [(0,)]
    return False


def _judge(cell: Cell, fire: Fire, cashier: Cashier) -> int:
    """Judge the result of a stress test, and return the number of events. Raises AssertionError if something is wrong,
    for example if an event is lost."""
    assert [wrong for table in fire.tables for wrong in table.wrong] == []
    for table in fire.tables:
        kept = rows(cell.url, "SELECT seq, body FROM event WHERE table_id = ? ORDER BY number", table.name)
        assert kept == list(enumerate(table.evening.sent, 1)), f"{table.name}: lost, doubled, changed or out of order"
    with closing(Ledger(cell.url)) as ledger:
        account, awards = ledger.account(), ledger.awards()
    assert account.findings == ()
    assert cell.head_office_findings() == []
    paid = {award.id: award.cents for award in awards if award.step == "paid"}
    assert all(times == 1 for times in cashier.paid.values()), "paid twice"
    assert cashier.paid.keys() <= paid.keys(), "paid, and not so in the ledger"
    assert account.paid_cents == sum(paid.values())
    postings = rows(cell.url, "SELECT award FROM posting WHERE why = 'paid'")
    assert len(postings) == len(set(postings)) == len(paid)
    for table in fire.tables:
        for award, steps in table.told.items():
            assert sum(step == "paid" for step, *_ in steps) <= 1, f"{award} was told as paid twice"
    return sum(len(table.evening.sent) for table in fire.tables)
