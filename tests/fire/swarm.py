"""A stress test with several hundred simulated tables in one process, at two brokers, while the pit's two machines
suffer faults.

A table here is only a client of the broker. It keeps what it has sent, connects to the second broker if it hears no
pit, and reports each step of an award. The judge (`swarm_judge`) gets everything that was seen.
"""

from __future__ import annotations

import json
import random
import selectors
import signal
import socket
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from controller.contract.canonical import parse_object
from controller.contract.keys import signature_holds
from controller.contract.pit_words import AckWord, MetersWord
from controller.daemon.delivery.guarantee import Delivery
from tests.fire.cell import Cell
from tests.fire.swarm_judge import Ack, Seen
from tests.fire.terms import Written
from tests.model.walk import NotAWalkError, Note, Walk, noted
from tests.pit.evening import EPOCH, TableEvening
from tests.support.light_wire import STALE_AFTER_S, LightWire
from tests.support.network import HERE, both_ways

TERMS: Written = {"grand": (250_000, "1:7", "1:11", 300_000), "fortune": (25_000, "2:17", "1:19", 25_000)}
"""None of what a wager gives is whole cents."""
MACHINES = ("one", "two")

_ROUND_EVERY_S = 8.0
_MOST_WAITING = 20  # events, until another round is dealt
_NO_PIT_S = 5.0  # without a word of a pit, a table tries the other broker
_DIAL_AGAIN_S = 1.0
_STATE_EVERY_S = 2.0
_LISTENERS = 8  # tables that note the levels
_KEEP_EVERY_S = 0.25
_TURN_S = 0.05
_BETWEEN_S = 0.5, 4.0
_FROZEN_S = 3.5, 9.0  # a leader may be followed after three seconds
_CUT_S = 2.0, 14.0
_SKEWS_S = 0, 0, -20, -3600, 40


class WalkedDelivery(Delivery):
    """The event delivery of a simulated table. Each of its calls is checked against a model of the contract's rules."""

    walk: Walk
    strange: list[str]
    """The first step that no walk has; empty while there is none."""

    def judge(self, note: Note) -> None:
        """Check the next call of the event delivery against the model of the contract's rules. The first call that does
        not fit is added to `strange`."""
        if note.what == "started":
            self.walk, self.strange = Walk(), []
        if not self.strange:
            try:
                self.walk.take(note)
            except NotAWalkError as error:
                self.strange.append(f"{note}: {error}")


noted(WalkedDelivery, lambda delivery, note: WalkedDelivery.judge(cast("WalkedDelivery", delivery), note))


class SwarmTable(LightWire):
    """One of the several hundred simulated tables, which keeps every event that it has made. `brokers` are the
    addresses of both brokers. `pit_key` is the pit's public key. What the table sees is added to `seen`."""

    def __init__(
        self, name: str, brokers: Sequence[tuple[str, int]], pit_key: bytes, luck: random.Random, seen: Seen
    ) -> None:
        super().__init__(name, EPOCH)
        self.delivery = self.walked = WalkedDelivery(EPOCH, 0, 0, STALE_AFTER_S)
        self.evening = TableEvening(name, TERMS)
        self.deals = True
        self.wrong: list[str] = []
        self._brokers, self._at = brokers, luck.randrange(len(brokers))
        self._pit_key = pit_key
        self._luck = luck
        self._seen = seen
        self._listens = len(seen.sent) < _LISTENERS
        seen.sent[name], seen.acks[name] = self.evening.sent, []
        self._hits: dict[str, bytes] = {}
        self._step = 0  # the number of the last step that it took
        self._pit_heard_s = 0.0
        self._deal_at_s = time.monotonic() + luck.uniform(0, _ROUND_EVERY_S)
        self._state_at_s = 0.0

    @property
    def rests(self) -> bool:
        """True if the pit has acknowledged every event of the table."""
        return not self.delivery.unacknowledged

    def attend(self, now_s: float, dark_until_s: dict[int, float]) -> None:
        """Do what is due at this table now: connect to a broker, deal a round, or publish the state. `dark_until_s`
        maps the index of a broker to the time before which no new connection to it is tried."""
        if self.socket is not None and now_s - self._pit_heard_s > _NO_PIT_S:
            self.lose_connection()
        if self.socket is None:
            if now_s < dark_until_s.get(self._at, 0.0):
                self._at = (self._at + 1) % len(self._brokers)
                return
            try:
                self.connect(*self._brokers[self._at])
            except OSError:
                dark_until_s[self._at] = time.monotonic() + _DIAL_AGAIN_S
                self.close()
                return
            self._pit_heard_s = time.monotonic()
        if self.deals and now_s >= self._deal_at_s and self.delivery.unacknowledged < _MOST_WAITING:
            self._deal_at_s = now_s + _ROUND_EVERY_S
            self._deal()
        self.keep()
        if now_s >= self._state_at_s:
            self._state_at_s = now_s + _STATE_EVERY_S
            self.say_state()

    def lose_connection(self) -> None:
        """End the table's connection. The table makes its next connection to the other broker of the two."""
        self.close()
        self._at = (self._at + 1) % len(self._brokers)

    def state(self) -> bytes:
        """Return the bytes of the table's state for the pit."""
        return self.evening.state()

    def heard(self, kind: str, payload: bytes, retained: bool) -> None:
        """Handle a message from the pit: an acknowledgement, a step of an award, or the levels of the meters."""
        super().heard(kind, payload, retained)
        if not retained:
            self._pit_heard_s = time.monotonic()
        if kind == "ack":
            self._heed(payload)
        elif kind == "award":
            self._take(json.loads(payload))
        elif kind == "meters" and self._listens:
            self._note_levels(payload)

    def _note_levels(self, payload: bytes) -> None:
        message = parse_object(payload)
        said = MetersWord.read(message)
        if said is None or not signature_holds(message, self._pit_key):
            self.wrong.append(f"{self.table} heard the levels {payload!r}, which are not the pit's")
        elif self._seen.levels.setdefault(said.seq, dict(said.meters)) != said.meters:
            self.wrong.append(f"the pit said two words with the number {said.seq}")

    def _heed(self, payload: bytes) -> None:
        message = parse_object(payload)
        said = AckWord.read(message)
        if said is None or not signature_holds(message, self._pit_key):
            self.wrong.append(f"{self.table} heard the ack {payload!r}, which is not the pit's")
            return
        self._seen.acks[self.table].append(Ack(said.at, said.seq, said.chain))
        before = self.delivery.acked_seq
        own = f"{said.seq:064x}" if 0 < said.seq <= len(self.evening.sent) else None
        found = self.delivery.acked(said, own, time.monotonic())
        if self.delivery.acked_seq < before or type(found).__name__ == "Behind":
            self.wrong.append(f"{self.table} was at {before}, and heard {said}")
        self.keep()

    def _take(self, step: dict[str, Any]) -> None:
        if step["seq"] <= self._step:
            return
        self._step = step["seq"]
        if step["step"] == "paid":
            self._seen.told[step["award"]] += 1
        self._add(self.evening.award(self._hits[step["hit"]], step["step"], step["cents"], step["by"]))

    def _deal(self) -> None:
        seats = sorted(self._luck.sample(range(1, 8), self._luck.randint(1, 4)))
        self._add(self.evening.lock(*seats, price_cents=self._luck.choice((333, 500, 777))))
        fate = self._luck.random()
        if fate < 0.1:
            self._add(self.evening.void(*seats))
        elif fate < 0.97:
            self._add(self.evening.finish())
        else:
            winners, meter = seats[: self._luck.randint(1, 2)], self._luck.choice([*TERMS])
            self._add(self.evening.finish(*((seat, "banker_personal") for seat in winners)))
            for seat in winners:
                hit = self.evening.hit(seat, "banker_personal", meter)
                self._hits[json.loads(hit)["id"]] = hit
                self._add(hit)

    def _add(self, body: bytes) -> None:
        self.add(json.loads(body)["type"], body)


class Swarm:
    """All the simulated tables of the test, which run in one thread."""

    def __init__(self, cell: Cell, count: int, seed: int) -> None:
        self.seen = Seen()
        at = [(cell.network.address(machine), cell.brokers[machine].port) for machine in MACHINES]
        self.tables = [
            SwarmTable(f"t-{number}", at, cell.key, random.Random(f"{seed} {number}"), self.seen)
            for number in range(count)
        ]
        self._selector = selectors.DefaultSelector()
        self._lines: dict[SwarmTable, socket.socket | None] = {}  # the connections that the selector knows
        self._dark_until_s: dict[int, float] = {}
        self._kept_s = 0.0
        self.longest_wait_s = 0.0
        """The longest time in which no table heard of progress while events waited."""
        self._acked, self._progress_s = -1, time.monotonic()

    def acked(self) -> int:
        """Return the number of events that the pit has acknowledged, summed over all tables."""
        return sum(table.delivery.acked_seq for table in self.tables)

    def turn_until(self, holds: Callable[[], object], most_s: float) -> bool:
        """Run all tables until the condition holds, for at most `most_s` seconds. Returns whether it held in time."""
        until_s = time.monotonic() + most_s
        while not (held := bool(holds())) and time.monotonic() < until_s:
            self._turn()
            if (acked := self.acked()) != self._acked or all(table.rests for table in self.tables):
                self._acked, self._progress_s = acked, time.monotonic()
            self.longest_wait_s = max(self.longest_wait_s, time.monotonic() - self._progress_s)
        return held

    def stop_dealing(self) -> None:
        """Let all tables run on without dealing further rounds."""
        for table in self.tables:
            table.deals = False

    def close(self) -> None:
        """Disconnect all tables from the brokers."""
        for table in self.tables:
            table.close()
        self._selector.close()

    def _turn(self) -> None:
        for key, _ in self._selector.select(_TURN_S):
            self._try(key.data, key.data.turn)
        now_s = time.monotonic()
        if now_s - self._kept_s > _KEEP_EVERY_S:
            self._kept_s = now_s
            for table in self.tables:
                self._try(table, lambda table=table: table.attend(now_s, self._dark_until_s))  # type: ignore[misc]

    def _try(self, table: SwarmTable, do: Callable[[], None]) -> None:
        try:
            do()
        except OSError:
            table.lose_connection()
        known = self._lines.get(table)
        if known is not table.socket:
            if known is not None:
                self._selector.unregister(known)
            if table.socket is not None:
                self._selector.register(table.socket, selectors.EVENT_READ, table)
            self._lines[table] = table.socket


class Troubles:
    """The faults that a stress test causes on the pit's machines: faults of programs, of the network and of databases.
    Each of these three kinds has a thread of its own, until `over` is set. `suffered` counts the faults.

    The same seed gives the same faults, of the same length. What the programs are doing at those moments still differs.
    """

    def __init__(self, cell: Cell, seed: int) -> None:
        self.cell = cell
        self.over = threading.Event()
        self.suffered: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._wires = threading.Lock()  # a database is copied over a whole network
        lanes = {
            "programs": (
                self._killed,
                self._killed,
                self._zombie,
                self._clock,
                self._broker_killed,
                self._broker_frozen,
            ),
            "wires": (self._cut, self._cut, self._cut_off),
            "databases": (self._primary, self._cancelled),
        }
        self._threads = [
            threading.Thread(target=self._befall, args=(random.Random(f"{seed} {name}"), lane), name=name)
            for name, lane in lanes.items()
        ]

    def begin(self) -> None:
        """Start the threads that cause the troubles."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Cause no more faults, and wait until the last one has passed."""
        self.over.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    @property
    def are_over(self) -> bool:
        """True if the last of the caused faults has passed."""
        return not any(thread.is_alive() for thread in self._threads)

    def _befall(self, luck: random.Random, lane: Sequence[Callable[[random.Random], None]]) -> None:
        while not self.over.wait(luck.uniform(*_BETWEEN_S)):
            trouble = luck.choice(lane)
            try:
                trouble(luck)
            except Exception:  # noqa: BLE001  # whatever it is, the judge is to see it
                self.wrong.append(traceback.format_exc())
                return
            self.suffered[trouble.__name__.strip("_")] += 1

    def _killed(self, luck: random.Random) -> None:
        self.cell.signal_pit(luck.choice(MACHINES), signal.SIGKILL)

    def _zombie(self, luck: random.Random) -> None:
        """Freeze the leading pit for so long that the second pit becomes the leader. When the frozen pit wakes up, two
        pits believe that they lead."""
        machine = self.cell.leader() or luck.choice(MACHINES)
        with self._stopped(lambda number: self.cell.signal_pit(machine, number)):
            self.over.wait(luck.uniform(*_FROZEN_S))

    def _clock(self, luck: random.Random) -> None:
        """Change the clock of a machine, to a wrong or to the right time. Kill the machine's pit, so that the pit
        starts anew with the changed clock."""
        machine = luck.choice(MACHINES)
        self.cell.skew_s[machine] = luck.choice(_SKEWS_S)
        self.cell.signal_pit(machine, signal.SIGKILL)

    def _broker_killed(self, luck: random.Random) -> None:
        broker = self.cell.brokers[luck.choice(MACHINES)]
        broker.kill()
        self.over.wait(luck.uniform(0.0, 2.0))
        broker.start()

    def _broker_frozen(self, luck: random.Random) -> None:
        broker = self.cell.brokers[self.cell.leader() or luck.choice(MACHINES)]
        with self._stopped(broker.process.send_signal):
            self.over.wait(luck.uniform(*_CUT_S))

    def _cut(self, luck: random.Random) -> None:
        """Drop the network packets between the two machines, or between one machine and the tables, for a while. They
        are dropped in one direction or in both."""
        ways = both_ways(*luck.choice([MACHINES, (MACHINES[0], HERE), (MACHINES[1], HERE)]))
        with self._wires, self.cell.network.cut(*luck.choice([ways, ways[:1], ways[1:]])):
            self.over.wait(luck.uniform(*_CUT_S))

    def _cut_off(self, luck: random.Random) -> None:
        with self._wires, self.cell.network.cut_off(luck.choice(MACHINES)):
            self.over.wait(luck.uniform(*_CUT_S))

    def _primary(self, luck: random.Random) -> None:
        """Stop the primary database for good, as if its machine and its disk were lost, and promote the standby to the
        primary."""
        with self._wires:
            self.cell.primary.stop()
            self.cell.standby.promote()
            self.cell.replace_primary()
        self.over.wait(luck.uniform(*_FROZEN_S))

    def _cancelled(self, luck: random.Random) -> None:
        """Keep the standby database from confirming any commit for a while, and cancel the commits that wait for it."""
        with self._wires, self.cell.silent_standby():
            self.over.wait(luck.uniform(1.0, 3.0))
            self.cell.cancel_commits()

    @contextmanager
    def _stopped(self, tell: Callable[[signal.Signals], None]) -> Iterator[None]:
        tell(signal.SIGSTOP)
        try:
            yield
        finally:
            tell(signal.SIGCONT)
