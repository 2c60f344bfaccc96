"""A simulated pit, which acknowledges a table's events and publishes levels of meters, and which can be told to fail as
a real pit may.

The program is written from the contract: it commits events in order, and publishes a retained acknowledgement after
each event. Twice a second it publishes the levels, retained and with rising numbers. The pit publishes its key first,
and signs all messages with that key. Use the simulated pit for tests only, because its private key is in this file.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from controller.basics.errors import TableError
from drivers.sim.signing import canonical, public_hex, signed

_BEFORE_THE_FIRST = "0" * 64
_SAY_LEVELS_EVERY_S = 0.5
_PATIENCE_S = 5.0
_KEY = Ed25519PrivateKey.from_private_bytes(b"the simulated pit's key, no other"[:32])

LEVELS = {"personal_vs_personal": 1_000_000, "banker_personal": 500_000, "player_personal": 250_000}
"""The levels that this pit says, in cents."""


class SimulatedPit:
    """A simulated pit of one table on an MQTT broker, which keeps its data in memory only. `on_event` is called with
    every event that the pit commits, in paho's thread.

    `topic` is the table's topic. The topic of the levels is below the same root.
    """

    def __init__(self, host: str, port: int, topic: str, on_event: Callable[[dict[str, Any]], None]) -> None:
        self._address = host, port
        self._topic = topic
        self._told = on_event
        self._lock = threading.Lock()
        self._chains: list[str] = []
        self._epoch: str | None = None
        self._speaks = True
        self._client: Client | None = None
        self._levels_seq = time.time_ns() // 1_000_000  # grows across restarts too
        self.come()
        threading.Thread(target=self._keep_saying_levels, daemon=True).start()

    def come(self) -> None:
        """Connect to the broker, and return as soon as the broker delivers the table's events. The pit's return makes
        the table send the events that the pit missed.

        Raises TableError `sim_broker` if there is no broker, and `sim_broker_refused` if the broker refuses this pit.
        """
        self.gone()
        host, port = self._address
        refusals: queue.SimpleQueue[str] = queue.SimpleQueue()  # "" means not refused
        client = self._new_client(refusals)
        try:
            client.connect(host, port)
        except (OSError, ValueError) as error:  # ValueError: the text cannot be a host
            raise TableError("sim_broker", f"No broker at {host}:{port}: {error}.", "Start it first.") from None
        self._client = client
        client.loop_start()
        try:
            why = refusals.get(timeout=_PATIENCE_S)
        except queue.Empty:
            why = "no answer"
        if why:
            self.gone()
            what = f"The broker at {host}:{port} does not let the simulated pit in: {why}."
            do = "Allow clients without a name and without TLS, or use another broker; the broker's log tells more."
            raise TableError("sim_broker_refused", what, do)
        key = {"public_key": public_hex(_KEY), "rotations": []}
        client.publish(f"{self._root()}/pit-key", _signed(key), qos=1, retain=True)

    def _new_client(self, refusals: queue.SimpleQueue[str]) -> Client:
        """Return an MQTT client that puts a text into `refusals` after it has connected: the reason why the broker
        refuses it, or an empty text if the broker accepts it."""
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)

        def on_connect(_client: Client, _data: object, _flags: object, reason: ReasonCode, _: object) -> None:
            if reason.is_failure:
                refusals.put(str(reason))
            else:
                client.subscribe(f"{self._topic}/event", qos=1)

        def on_subscribe(_client: Client, _data: object, _mid: int, reasons: list[ReasonCode], _: object) -> None:
            refusals.put(str(reasons[0]) if reasons[0].is_failure else "")

        client.on_connect = on_connect
        client.on_subscribe = on_subscribe
        client.on_disconnect = lambda *_: refusals.put("it hung up")
        client.on_message = self._heard
        return client

    def gone(self) -> None:
        """Disconnect the simulated pit from the broker."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            with suppress(AttributeError):  # where paho's thread ends by itself meanwhile
                client.loop_stop()

    def silent(self) -> None:
        """Commit events without acknowledging them, and publish no levels, from now on."""
        self._speaks = False

    def speak(self) -> None:
        """Acknowledge events and publish levels from now on. The last committed event is acknowledged immediately."""
        self._speaks = True
        self._acknowledge()

    def forget(self, seq: int) -> None:
        """Forget all events after number `seq`, as a pit does that was restored from an old copy.

        Raises ValueError if fewer than `seq` events are committed.
        """
        with self._lock:
            if not 0 <= seq <= len(self._chains):
                raise ValueError(f"{len(self._chains)} events are committed")
            del self._chains[seq:]
        self._acknowledge()

    def claim(self, seq: int) -> None:
        """Send a false acknowledgement of event number `seq`, even if that event never came. The acknowledgement has a
        chain value that belongs to no event.

        Raises ValueError if the pit is not connected to the broker. Raises ValueError too if no event has come yet that
        names the table's epoch (the random name of its journal).
        """
        if self._client is None or self._epoch is None:
            raise ValueError("the pit is not on the broker" if self._client is None else "no event has come yet")
        self._say(seq, "f" * 64)

    def _keep_saying_levels(self) -> None:
        topic = f"{self._root()}/meters"
        while True:
            client = self._client
            if self._speaks and client is not None:
                self._levels_seq += 1
                word = {"seq": self._levels_seq, "meters": LEVELS}
                client.publish(topic, _signed(word), qos=1, retain=True)
            time.sleep(_SAY_LEVELS_EVERY_S)

    def _heard(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        event = json.loads(message.payload)
        with self._lock:
            if event["epoch"] != self._epoch:
                self._epoch, self._chains = event["epoch"], []
            taken = event["seq"] == len(self._chains) + 1
            if taken:
                self._chains.append(event["chain"])
        if taken:
            self._told(event)
        self._acknowledge()

    def _acknowledge(self) -> None:
        with self._lock:
            seq, chain = len(self._chains), self._chains[-1] if self._chains else _BEFORE_THE_FIRST
        if self._speaks:
            self._say(seq, chain)

    def _say(self, seq: int, chain: str) -> None:
        if self._client is not None and self._epoch is not None:
            table = self._topic.rpartition("/")[2]
            word = {"table": table, "epoch": self._epoch, "seq": seq, "chain": chain}
            self._client.publish(f"{self._topic}/ack", _signed(word), qos=1, retain=True)

    def _root(self) -> str:
        return self._topic.rpartition("/")[0]


def _signed(word: dict[str, Any]) -> bytes:
    """Return the message as canonical JSON with the simulated pit's signature."""
    return canonical(signed(word, _KEY))
