"""A pit for tests. It subscribes to the table's messages, checks each of them against the contract, and acknowledges
events.

This pit is written from the contract alone (topics, schemas, signatures), so that it can contradict the table.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from jsonschema import Draft202012Validator
from msgspec.json import decode
from paho.mqtt.client import Client, MQTTMessage

from controller.basics.near import ended
from controller.bench.broker_certs import BETS, PIT, BrokerCerts, new_client, say_once
from controller.bench.daemon import comes_true
from controller.contract.face.state import Presence, State
from controller.contract.wire.mqtt_link import await_thread
from drivers.sim.pit import LEVELS
from drivers.sim.signing import canonical, public_hex, signature, signed

SCHEMAS = Path(__file__).parents[2] / "controller" / "contract" / "schemas"

Event = dict[str, Any]
EVENT_TYPES: list[str] = json.loads((SCHEMAS / "event.schema.json").read_text("utf-8"))["properties"]["type"]["enum"]
_ROOT = "pit/v1"
_SAY_LEVELS_EVERY_S = 0.5
PRIVATE_KEY = b"the hardware tests' pit has this"
"""The same in every run: a broker may retain an earlier run's messages."""


class FarPit:
    """A pit for tests that serves one table. `events` are all events that it has committed, in order. `wrong` has a
    line for each message that breaks the contract.

    The pit takes events only in the order of their numbers, so `events[n]` has the number n+1. If an event comes again
    with another body, `wrong` gets a line. A second MQTT client, the bet recognition, publishes the wagers, because
    with `certs` the broker lets no other client publish them. That client signs the wagers with `recognition_key`. Two
    people adopt its public key at the table (`recognition_hex`).
    """

    def __init__(
        self, broker_port: int, table_id: str, host: str = "127.0.0.1", certs: BrokerCerts | None = None
    ) -> None:
        self._topic = f"{_ROOT}/{table_id}"
        self._host, self._port, self._certs = host, broker_port, certs
        self._valid = {
            name: Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8")))
            for name in ("event", "state", "ack", "award", "meters", "pit_key", "wager")
        }
        self.key = Ed25519PrivateKey.from_private_bytes(PRIVATE_KEY)
        self.recognition_key = Ed25519PrivateKey.generate()
        self._wager_seq = 0
        self._rotations: list[dict[str, str]] = []
        self._speaks = True
        self._client: Client | None = None
        self._bodies: list[bytes] = []
        self._lock = threading.Lock()
        self._there = threading.Event()
        self.events: list[Event] = []
        self.repeats = 0
        self.states: list[State | Presence] = []
        self.wrong: list[str] = []
        self.levels = dict(LEVELS)
        self._levels_seq = time.time_ns() // 1_000_000
        self.come()

    # The events by type.

    def told(self, type_: str) -> list[Event]:
        """Return the committed events of one type, in order. Raises LookupError for a type that the contract does not
        have."""
        if type_ not in EVENT_TYPES:
            raise LookupError(f"No event has the type {type_!r}{ended(type_, EVENT_TYPES)}")
        return [event for event in self.events if event["type"] == type_]

    @property
    def types(self) -> list[str]:
        """Return the types of all committed events, in order."""
        return [event["type"] for event in self.events]

    @property
    def rounds(self) -> list[Event]:
        """Return the events of finished rounds, in order."""
        return self.told("round")

    @property
    def hits(self) -> list[Event]:
        """Return the events of winning wagers on progressive bets, in order."""
        return self.told("hit")

    @property
    def online(self) -> bool:
        """Tell whether the table's last state message said that it is connected; False before the first state."""
        return bool(self.states) and self.states[-1].online

    @property
    def state(self) -> State:
        """Return the last state that the table sent while it was connected. Raises LookupError before the first such
        state."""
        known = (state for state in reversed(self.states) if isinstance(state, State))
        if (last := next(known, None)) is None:
            raise LookupError("no state of a connected table has come")
        return last

    @property
    def recognition_hex(self) -> str:
        """Return the bet recognition's public key in hexadecimal, as people adopt it at the table."""
        return public_hex(self.recognition_key)

    # What a pit can do to a table.

    def silent(self) -> None:
        """Stop acknowledging events, but go on listening."""
        self._speaks = False

    def speak(self) -> None:
        """Begin to acknowledge events again. At once acknowledge the last event that the pit has taken."""
        self._speaks = True
        self._acknowledge()

    def gone(self) -> None:
        """Disconnect from the broker."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            await_thread(client)

    def come(self) -> None:
        """Connect to the broker. The table sends again what this pit missed."""
        client = new_client(self._certs, PIT)
        client.reconnect_delay_set(1, 1)
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        self._there.clear()
        self._client = client
        client.connect(self._host, self._port)
        client.loop_start()
        assert self._there.wait(10), "the test's own pit cannot reach the broker"
        threading.Thread(target=self._keep_saying_levels, args=[client], daemon=True).start()
        self._levels_said.wait_for_publish(10)  # from here on the broker retains no message of a former key

    def say(self, payload: bytes) -> None:
        """Publish these bytes as a retained message on the topic of the table's acknowledgements."""
        assert self._client is not None
        self._client.publish(f"{self._topic}/ack", payload, qos=1, retain=True).wait_for_publish(10)

    def forget(self) -> None:
        """Lose every committed event, like a pit that was restored from an old copy, and acknowledge event 0."""
        with self._lock:
            self.events.clear()
            self._bodies.clear()
        self._acknowledge()

    def say_on(self, topic: str, payload: bytes) -> None:
        """Publish these bytes on one of the table's topics, or on a topic of all tables."""
        if topic == "wager":
            say_once(self._host, self._port, self._certs, BETS, f"{self._topic}/wager", payload)
            return
        assert self._client is not None
        place = _ROOT if topic in ("meters", "pit-key") else self._topic
        self._client.publish(f"{place}/{topic}", payload, qos=1).wait_for_publish(10)

    def award(self, **fields: Any) -> None:
        """Publish a step of an award, signed, in the form of the contract. `fields` are the message's fields."""
        self.say_on("award", self.signed("award", **fields))

    def rotate(self) -> None:
        """Replace the pit's key by a new key, and sign the new key with the old. The pit publishes the new key when it
        connects next."""
        former, self.key = self.key, Ed25519PrivateKey.generate()
        handed_over = {"former": public_hex(former), "public_key": public_hex(self.key)}
        self._rotations.append(handed_over | {"signature": signature(handed_over, former)})

    def signed(self, kind: str, signer: Ed25519PrivateKey | None = None, **fields: Any) -> bytes:
        """Return a message of this pit, signed, in the form of the contract. The message has the present time unless
        `fields` give another. A message about the meters names no win unless `fields` give one."""
        message = signed({"win": None} | fields if kind == "meters" else fields, signer or self.key)
        self._valid[kind].validate(message)
        return json.dumps(message).encode()

    def wager(self, **seen: Any) -> bytes:
        """Publish a wager for the next round, as the client for bet recognition does, and return the published bytes.
        `seen` are the wager's fields. They may also replace the round, the number or the time."""
        assert comes_true(lambda: self.state.phase == "wagers_open", 10), "the table's state does not ask for wagers"
        state = self.state
        place = {"table": state.table, "epoch": state.epoch, "shoe": state.shoe, "round": state.next_round}
        self._wager_seq = max(self._wager_seq + 1, time.time_ns() // 1_000_000)
        said = place | {"back": False, "seq": self._wager_seq} | seen
        word = self.signed("wager", self.recognition_key, **said)
        self.say_on("wager", word)
        return word

    def _keep_saying_levels(self, client: Client) -> None:
        while self._client is client:
            if self._there.is_set():  # the pit publishes its key first
                self._say_levels(client)
            time.sleep(_SAY_LEVELS_EVERY_S)

    def _say_levels(self, client: Client) -> None:
        with self._lock:  # two threads say levels, in the order of their numbers
            self._levels_seq += 1
            body = self.signed("meters", seq=self._levels_seq, meters=self.levels)
            self._levels_said = client.publish(f"{_ROOT}/meters", body, qos=1, retain=True)

    # What the pit hears, in paho's thread.

    def _on_connect(self, client: Client, *_: Any) -> None:
        client.subscribe([(f"{self._topic}/state", 1), (f"{self._topic}/event", 1)])

    def _on_subscribe(self, client: Client, *_: Any) -> None:
        body = self.signed("pit_key", public_key=public_hex(self.key), rotations=self._rotations)
        client.publish(f"{_ROOT}/pit-key", body, qos=1, retain=True)
        if self.events:
            self._acknowledge()  # a restarted broker retains nothing
        self._say_levels(client)
        self._there.set()

    def _on_message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        try:
            if message.topic.endswith("/state"):
                self._heard_state(message)
            else:
                self._heard_event(message)
        except Exception as error:  # noqa: BLE001  # whatever fails on a message of the table, that message is wrong
            # Raised here, the error would end paho's thread: the test would see a silent pit, and no reason.
            self.wrong.append(f"{type(error).__name__}: {error} at {message.payload!r}")

    def _heard_state(self, message: MQTTMessage) -> None:
        self._valid["state"].validate(json.loads(message.payload))
        heard = decode(message.payload, type=Presence)
        self.states.append(decode(message.payload, type=State) if heard.online else heard)

    def _heard_event(self, message: MQTTMessage) -> None:
        body = bytes(message.payload)
        event = json.loads(body)
        seq = event["seq"]
        with self._lock:
            if seq <= len(self.events):
                self.repeats += 1
                if self._bodies[seq - 1] != body:
                    self.wrong.append(f"event {seq} came again with another body: {body!r}")
            elif seq == len(self.events) + 1:
                self._check(message, event)
                self.events.append(event)
                self._bodies.append(body)
        # An event further on is not taken. The ack says again which event is the last.
        self._acknowledge()

    def _check(self, message: MQTTMessage, event: Event) -> None:
        self._valid["event"].validate(event)
        seq, epoch = event["seq"], event["epoch"]
        if message.retain:
            self.wrong.append(f"event {seq} is retained")
        properties = dict(getattr(message.properties, "UserProperty", []))
        if properties != {"type": event["type"]}:
            self.wrong.append(f"event {seq} has the user properties {properties}")
        if event["id"] != f"{event['table']}/{epoch}/{seq}":
            self.wrong.append(f"event {seq} is called {event['id']}")
        if self.events and self.events[-1]["epoch"] != epoch:
            self.wrong.append(f"event {seq} is of another epoch, {epoch}")
        if event["seq"] > 1 and event["chain"] == "0" * 64 and self.events[-1]["chain"] != "0" * 64:
            self.wrong.append(f"event {seq} begins the chain anew")
        unsigned = {key: value for key, value in event.items() if key != "signature"}
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.state.public_key))
            key.verify(base64.b64decode(event["signature"]), canonical(unsigned))
        except InvalidSignature:
            self.wrong.append(f"the signature of event {seq} does not hold")

    def _acknowledge(self) -> None:
        client = self._client
        if not self._speaks or client is None:
            return
        with self._lock:
            epoch = self.states[-1].epoch if self.states else ""
            last = self.events[-1] if self.events else {"epoch": epoch, "chain": "0" * 64}
            ack = {"epoch": last["epoch"], "seq": len(self.events), "chain": last["chain"]}
            body = self.ack(**ack)  # in the lock: acks go out in the order of their events
            client.publish(f"{self._topic}/ack", body, qos=1, retain=True)

    def ack(self, **fields: Any) -> bytes:
        """Return a signed acknowledgement for the table, in the form of the contract. `fields` are its fields, except
        `table` and the signature."""
        return self.signed("ack", table=self._topic.rpartition("/")[2], **fields)
