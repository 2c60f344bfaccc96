"""The broker and the pit at the other end of the network, and what goes wrong between them and the table.

Written from the contract and from nothing of the table's side of it. What a message suffers is drawn from a seeded
generator, so the same actions suffer the same.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from controller.devices import BrokerListener

_LATENCY_S = 0.004
_LATE_S = 1.3
_REFUSED, _NOBODY = 0x87, 0x10


@dataclass
class Weather:
    """How likely (0 to 1) each mishap is for one message."""

    lost: float = 0.0
    doubled: float = 0.0
    late: float = 0.0


class Pit:
    """Somebody's pit: commits the stream in order, acknowledges what it has committed, and can crash in between."""

    def __init__(self, table: str, say: Callable[[bytes], None], later: Callable[..., object]) -> None:
        self.ledger: list[bytes] = []  # committed, by seq - 1
        self.up = True
        self.commit_takes_s = 0.02
        self.alarms: list[str] = []
        self._table = table
        self._say = say
        self._later = later
        self._uncommitted: list[bytes] = []
        self._epoch: str | None = None
        self._life = 0

    def receive(self, body: bytes) -> None:
        """An event came."""
        message = json.loads(body)
        seq, self._epoch = message["seq"], self._epoch or message["epoch"]
        if (message["table"], message["epoch"]) != (self._table, self._epoch):
            self.alarms.append(f"{message['id']} is of another table or epoch")
            return
        known = [*self.ledger, *self._uncommitted]
        if seq <= len(known):
            if known[seq - 1] != body:
                self.alarms.append(f"{message['id']} came with another body")
            if seq <= len(self.ledger):
                self.acknowledge()
        elif seq == len(known) + 1:
            self._uncommitted.append(body)
            if len(self._uncommitted) == 1:
                self._later(self.commit_takes_s, self._commit, self._life)
        else:
            self.acknowledge()

    def acknowledge(self) -> None:
        """Say how far it has got."""
        if self._epoch is not None:
            chain = json.loads(self.ledger[-1])["chain"] if self.ledger else "00" * 32
            self._say(json.dumps({"epoch": self._epoch, "seq": len(self.ledger), "chain": chain}).encode())

    def crash(self) -> None:
        """Go back to what is committed."""
        self._uncommitted.clear()
        self._life += 1
        self.up = False

    def start(self) -> None:
        """Come back, and say how far it has got."""
        if not self.up:
            self.up = True
            self.acknowledge()

    def _commit(self, life: int) -> None:
        if life == self._life:
            self.ledger += self._uncommitted
            self._uncommitted.clear()
            self.acknowledge()


class Network:
    """The broker with the pit behind it. `refuses`: its access list turns the table's events away."""

    def __init__(self, loop: asyncio.AbstractEventLoop, root: str, table: str, seed: str) -> None:
        self._loop = loop
        self._luck = random.Random(f"{seed} network")
        self._topic = f"{root}/{table}"
        self.weather = Weather()
        self.up = True
        self.refuses = False
        self.retained_ack: bytes | None = None
        self.table_state: bytes | None = None
        self.sent: list[bytes] = []  # everything the table ever published, events and states
        self._client: Client | None = None
        self._messages = 0
        self.pit = Pit(table, self._acknowledged, loop.call_later)

    def restart(self, forgets: bool) -> None:
        """The broker restarts: every connection ends; what it retained may be gone. The pit reconnects by itself."""
        self.go_down()
        if forgets:
            self.retained_ack = None
        self.up = True
        self._loop.call_later(0.5, self._pit_reconnects)

    def go_down(self) -> None:
        """No connection stands and none can be made."""
        self.up = False
        self.drop_table()

    def come_up(self) -> None:
        """The broker can be reached again."""
        if not self.up:
            self.up = True
            self._pit_reconnects()

    def drop_table(self) -> None:
        """The table's connection ends."""
        if self._client is not None:
            self._client.end()
            self._client = None

    def stray_ack(self, seq: int) -> None:
        """A word of the pit for another epoch of this table, left over from another journal."""
        self._to_table(json.dumps({"epoch": "0ld0ld0ld0", "seq": seq, "chain": "ab" * 32}).encode())

    def connected(self, client: Client) -> None:
        """The table connected: it gets what is retained."""
        self._client = client
        if self.retained_ack is not None:
            self._to_table(self.retained_ack)

    def published(self, client: Client, token: int, topic: str, payload: bytes, retain: bool) -> None:
        """The table published. States are not lost while a connection stands; events may be."""
        self.sent.append(payload)
        if topic == f"{self._topic}/state":
            assert retain
            self.table_state = payload
            self._loop.call_later(2 * _LATENCY_S, client.answered, token, 0)
            return
        assert topic == f"{self._topic}/event"
        assert not retain, "an event is never retained"
        if self.refuses:
            self._loop.call_later(_LATENCY_S, client.answered, token, _REFUSED)
            return
        for delay_s in self._fates():
            self._loop.call_later(delay_s, self._to_pit, payload)
        for delay_s in self._fates()[:1]:
            self._loop.call_later(delay_s, client.answered, token, 0 if self.pit.up else _NOBODY)

    def _to_pit(self, payload: bytes) -> None:
        if self.pit.up and self.up:
            self.pit.receive(payload)

    def _acknowledged(self, payload: bytes) -> None:
        if self.up:
            self.retained_ack = payload
            self._to_table(payload)

    def _to_table(self, payload: bytes) -> None:
        for delay_s in self._fates():
            if self._client is not None:
                self._loop.call_later(delay_s, self._client.message, f"{self._topic}/ack", payload)

    def _pit_reconnects(self) -> None:
        if self.up and self.pit.up:
            self.pit.acknowledge()

    def _fates(self) -> list[float]:
        """After how many seconds each copy of a message arrives: none when it is lost."""
        luck, weather = self._luck, self.weather
        if luck.random() < weather.lost:
            return []
        copies = 2 if luck.random() < weather.doubled else 1
        late_s = luck.uniform(0.0, _LATE_S) if luck.random() < weather.late else 0.0
        self._messages += 1  # what is not late keeps its order; moments that are equal would not
        return [_LATENCY_S + late_s + self._messages * 1e-6 % 0.002] * copies


class Client:
    """The table's connection, as its runtime sees a broker (`controller.devices.Broker`)."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._listener: BrokerListener | None = None  # while a connection stands
        self._ended = asyncio.Event()
        self._tokens = 0
        self.dead = False
        self.dies_at_publish = 0  # the power goes at this many publishes from now
        self.on_death: Callable[[], None] = lambda: None

    async def run(self, listener: BrokerListener) -> None:
        """Keep connected."""
        while True:
            while not self._network.up:  # noqa: ASYNC110  # a real client polls, too
                await asyncio.sleep(0.3)
            self._listener = listener
            self._ended.clear()
            listener.broker_connected()
            self._network.connected(self)
            await self._ended.wait()
            listener.broker_disconnected("the connection is gone")
            await asyncio.sleep(0.2)

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish, when connected."""
        if self._listener is None or self.dead:
            return None
        if self.dies_at_publish and topic.endswith("event"):
            self.dies_at_publish -= 1
            if not self.dies_at_publish:
                self.dead = True
                self.on_death()
                return None
        assert (event_type is None) == retain
        self._tokens += 1
        self._network.published(self, self._tokens, topic, payload, retain)
        return self._tokens

    def end(self) -> None:
        """The connection is gone."""
        self._listener = None
        self._tokens += 1000  # answers of the old connection fit nothing
        self._ended.set()

    def answered(self, token: int, reason_code: int) -> None:
        """The broker answers for a publish."""
        if self._listener is not None and not self.dead:
            self._listener.broker_answered(token, reason_code)

    def message(self, topic: str, payload: bytes) -> None:
        """The broker delivers a message."""
        if self._listener is not None and not self.dead:
            self._listener.broker_message(topic, payload)
