"""The simulated broker between the tables and their pit, and what can go wrong with messages on the way.

The broker is written from the contract and uses none of the table's own code. A random generator with a seed decides
what happens to each message. For this reason the same actions always meet the same mishaps.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from drivers.devices import BrokerListener
from tests.simulation.hearing import Hearing
from tests.simulation.pit import LedgerPit

_LATENCY_S = 0.004
_LATE_S = 1.3
_PIT_COMES_BACK_S = 0.5
_REFUSED, _NOBODY = 0x87, 0x10


@dataclass
class Weather:
    """The probability (0 to 1) of each mishap of a message: that it is lost, doubled or late."""

    lost: float = 0.0
    doubled: float = 0.0
    late: float = 0.0


class Network:
    """The simulated broker. While `refuses` is True, its access list refuses the tables' events. `retained` holds its
    retained messages."""

    def __init__(self, loop: asyncio.AbstractEventLoop, root: str, pit: LedgerPit, seed: str) -> None:
        self._loop = loop
        self._luck = random.Random(f"{seed} network")
        self._root = root
        self.weather = Weather()
        self.up = True
        self.refuses = False
        self.retained: dict[str, bytes] = {}
        self._clients: dict[str, Client] = {}  # connected, by table
        self._messages = 0
        self.pit = pit
        self._pit_connected = False
        pit.say = self._said
        self._pit_connects()

    # Its fortunes.

    def restart(self, forgets: bool) -> None:
        """Restart the broker: every connection ends. If `forgets` is True, the broker's retained messages are gone. The
        pit reconnects by itself."""
        self.go_down()
        if forgets:
            self.retained.clear()
        self.come_up()

    def go_down(self) -> None:
        """Stop the broker: every connection ends, and none can be made."""
        self.up = self._pit_connected = False
        for table in tuple(self._clients):
            self.drop(table)

    def come_up(self) -> None:
        """Start the broker again."""
        if not self.up:
            self.up = True
            self._loop.call_later(_PIT_COMES_BACK_S, self._pit_connects)

    def drop(self, table: str) -> None:
        """End a table's connection to the broker."""
        client = self._clients.pop(table, None)
        if client is not None:
            client.end()

    # The pit's side.

    def start_pit(self) -> None:
        """Start the pit again, and let it connect."""
        self.pit.start()
        self._pit_connects()

    def crash_pit(self) -> None:
        """End the pit's program, and lose what it had not committed."""
        self.pit.crash()
        self._pit_connected = False

    def stray(self, table: str, kind: str, payload: bytes) -> None:
        """Bring a table a message of the given kind, such as "ack", that the pit did not send."""
        self._to_table(table, self._topic(table, kind), payload)

    def state(self, table: str) -> dict[str, object]:
        """Return the last state message of a table, which the broker retains."""
        state: dict[str, object] = json.loads(self.retained.get(self._topic(table, "state"), b"{}"))
        return state

    def _pit_connects(self) -> None:
        if self.up and self.pit.up and not self._pit_connected:
            self._pit_connected = True
            for topic, payload in tuple(self.retained.items()):
                if topic.endswith("/state"):
                    self.pit.receive(topic.split("/")[-2], "state", payload)
            self.pit.connected()

    def _said(self, table: str | None, kind: str, payload: bytes, retain: bool) -> None:
        """Publish a message of the pit to the table `table`, or to all tables if it is None."""
        if not self._pit_connected:
            return
        topic = self._topic(table, kind)
        if retain:
            self.retained[topic] = payload
        for name in tuple(self._clients) if table is None else (table,):
            self._to_table(name, topic, payload)

    def _topic(self, table: str | None, kind: str) -> str:
        return f"{self._root}/{kind}" if table is None or kind == "meters" else f"{self._root}/{table}/{kind}"

    def _to_table(self, table: str, topic: str, payload: bytes, retained: bool = False) -> None:
        client = self._clients.get(table)
        if client is not None:
            for delay_s in self._fates():
                self._loop.call_later(delay_s, client.message, client.connection, topic, payload, retained)

    # The tables' side.

    def connected(self, client: Client) -> None:
        """Connect a table to the broker, and bring the table the retained messages."""
        self._clients[client.table] = client
        for topic in (self._topic(client.table, "ack"), self._topic(None, "meters")):
            if topic in self.retained:
                self._to_table(client.table, topic, self.retained[topic], retained=True)

    def published(self, client: Client, token: int, topic: str, payload: bytes, retain: bool) -> None:
        """Publish a message of a table. While the connection lasts, no state message is lost; event messages may be."""
        connection = client.connection
        if topic == self._topic(client.table, "state"):
            assert retain
            self.retained[topic] = payload
            self._loop.call_later(_LATENCY_S, self._to_pit, client.table, "state", payload)
            self._loop.call_later(2 * _LATENCY_S, client.answered, connection, token, 0)
            return
        assert topic == self._topic(client.table, "event")
        assert not retain, "an event is never retained"
        if self.refuses:
            self._loop.call_later(_LATENCY_S, client.answered, connection, token, _REFUSED)
            return
        for delay_s in self._fates():
            self._loop.call_later(delay_s, self._to_pit, client.table, "event", payload)
        for delay_s in self._fates()[:1]:
            reason_code = 0 if self._pit_connected else _NOBODY
            self._loop.call_later(delay_s, client.answered, connection, token, reason_code)

    def _to_pit(self, table: str, kind: str, payload: bytes) -> None:
        if self._pit_connected:
            self.pit.receive(table, kind, payload)

    def _fates(self) -> list[float]:
        """Return the seconds after which each copy of a message arrives. The list is empty for a lost message."""
        luck, weather = self._luck, self.weather
        if luck.random() < weather.lost:
            return []
        copies = 2 if luck.random() < weather.doubled else 1
        late_s = luck.uniform(0.0, _LATE_S) if luck.random() < weather.late else 0.0
        self._messages += 1  # what is not late keeps its order; moments that are equal would not
        return [_LATENCY_S + late_s + self._messages * 1e-6 % 0.002] * copies


class Client:
    """A table's connection to the simulated broker, with the interface `drivers.devices.Broker`. `hearing` is told of
    every message in both directions."""

    address, has_others = "127.0.0.1:1883", False

    def __init__(self, network: Network, table: str, hearing: Hearing, on_death: Callable[[], None]) -> None:
        self.table = table
        self.dead = False
        self.dies_at_publish = 0  # the power goes at this many publishes from now
        self.sent: list[bytes] = []  # everything published, events and states
        self.connection = 0  # counts them
        self._network = network
        self._hearing = hearing
        self._on_death = on_death
        self._listener: BrokerListener | None = None  # while a connection stands
        self._ended = asyncio.Event()
        self._tokens = 0

    async def run(self, listener: BrokerListener) -> None:
        """Connect to the broker, and connect again after each end of the connection."""
        while True:
            while not self._network.up:  # noqa: ASYNC110  # a real client polls, too
                await asyncio.sleep(0.3)
            self._listener = listener
            self._ended.clear()
            self._hearing.connected()
            listener.broker_connected()
            self._network.connected(self)
            await self._ended.wait()
            listener.broker_disconnected("the connection is gone")
            await asyncio.sleep(0.2)

    def publish(self, topic: str, payload: bytes, retain: bool = False, event_type: str | None = None) -> int | None:
        """Publish a message and return its token (its number). If the table is not connected, return None."""
        if self._listener is None or self.dead:
            return None
        if self.dies_at_publish and topic.endswith("event"):
            self.dies_at_publish -= 1
            if not self.dies_at_publish:
                self._on_death()
                return None
        assert (event_type is None) == retain
        self._tokens += 1
        self.sent.append(payload)
        if not retain:
            self._hearing.published(payload)
        self._network.published(self, self._tokens, topic, payload, retain)
        return self._tokens

    def drop(self, why: str, move: bool = False) -> None:
        """Raise AssertionError, because nothing here gives the table a reason to end the connection."""
        raise AssertionError(why)

    def often_cut(self) -> str:
        """Return an empty text, because the connection is never cut often."""
        return ""

    def end(self) -> None:
        """End the connection. All messages that were on their way to the table are lost."""
        self._listener = None
        self.connection += 1
        if not self.dead:
            self._hearing.disconnected()
        self._ended.set()

    def answered(self, connection: int, token: int, reason_code: int) -> None:
        """Bring the table the broker's answer to a message that the table published."""
        if self._listener is not None and not self.dead and connection == self.connection:
            self._hearing.answered(reason_code)
            self._listener.broker_answered(token, reason_code)

    def message(self, connection: int, topic: str, payload: bytes, retained: bool) -> None:
        """Bring the table a message from the broker."""
        if self._listener is not None and not self.dead and connection == self.connection:
            self._hearing.message(topic.rpartition("/")[2], payload)
            self._listener.broker_message(topic, payload, retained)
