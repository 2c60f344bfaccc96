"""The conformance kit's connection to the broker: an MQTT client that keeps every message it receives."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.envelope import GENESIS, Stamp
from controller.contract.wire.mqtt_link import await_thread, connect_properties
from controller.contract.wire.mqtt_tls import TlsFiles, client_context

_CONNECTED_WITHIN_S = 10.0

NO_CHAIN = GENESIS.hex()
"""The chain of an ack of no event."""

Message = dict[str, object]


class Heard(Struct, frozen=True):
    """An MQTT message that was received: its topic, its bytes, whether the broker had retained it, when it came
    (monotonic seconds), and its QoS.

    `type` is the text of the MQTT user property `type` of the message.
    """

    topic: str
    payload: bytes
    retained: bool
    at_s: float
    qos: int
    type: str | None

    @property
    def message(self) -> Message:
        """The JSON object that the message contains; an empty dictionary if it contains no JSON object."""
        return parse_object(self.payload)


class Address(Struct, frozen=True):
    """How to reach the MQTT broker: its host and port, the TLS files, and `root`, with which all topics begin. If
    `through` is given, the client connects to a proxy on that port of this machine, and the proxy leads to the broker.
    """

    host: str
    port: int
    root: str
    tls: TlsFiles | None = None
    through: int | None = None


class _Client(Client):
    """An MQTT client that may connect through a proxy on another port of this machine, and still checks that the TLS
    certificate names the broker."""

    through: int | None = None

    def _create_socket_connection(self) -> socket.socket:
        if self.through is None:
            return super()._create_socket_connection()
        return socket.create_connection(("127.0.0.1", self.through), timeout=_CONNECTED_WITHIN_S)


class Wire:
    """A connection to the MQTT broker, subscribed to `topics`. Each message that comes is added to the list `heard`.
    Raises TableError `no_broker` if the broker cannot be used.

    `stands` is called each time the connection is made, and `hears` is called with each message. Both run in the
    connection's thread. `qos` is the highest QoS at which the broker delivers. `will` is the topic and payload that the
    broker publishes if the connection breaks. The client reconnects by itself, and `stood` counts the connections.
    """

    def __init__(
        self,
        address: Address,
        topics: Sequence[str],
        will: tuple[str, bytes] | None = None,
        qos: int = 1,
        stands: Callable[[Wire], None] = lambda _: None,
        hears: Callable[[Wire, Heard], None] = lambda *_: None,
    ) -> None:
        self._address = address
        self._stands, self._hears = stands, hears
        self.heard: list[Heard] = []
        self._came = threading.Condition()
        self._up = threading.Event()
        self._client = _Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        self._client.through = address.through
        self._client.reconnect_delay_set(1, 2)
        self.stood = 0
        self._client.max_inflight_messages_set(1000)
        if address.tls is not None:
            self._client.tls_set_context(client_context(address.tls))
        if will is not None:
            self._client.will_set(*will, qos=1, retain=True)
        self._client.on_connect = lambda client, *_: client.subscribe([(topic, qos) for topic in topics])
        self._client.on_subscribe = self._subscribed
        self._client.on_socket_open = _without_delay
        self._client.on_message = self._hear
        try:
            self._client.connect(address.host, address.port, clean_start=True, properties=connect_properties())
        except OSError as error:
            raise _no_broker(address, str(error)) from error
        self._client.loop_start()
        if not self._up.wait(_CONNECTED_WITHIN_S):
            self.close()
            raise _no_broker(address, "the broker does not answer a subscription")

    def _subscribed(self, *_: object) -> None:
        self.stood += 1
        self._stands(self)
        self._up.set()

    def _hear(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        type_ = dict(getattr(message.properties, "UserProperty", ())).get("type")
        payload = bytes(message.payload)
        heard = Heard(message.topic, payload, message.retain, time.monotonic(), message.qos, type_)
        with self._came:
            self.heard.append(heard)
            self._hears(self, heard)
            self._came.notify_all()

    def wait(self, holds: Callable[[], bool], within_s: float) -> bool:
        """Wait at most `within_s` seconds until `holds` returns True, and return whether it did. `holds` is called
        after each message that comes."""
        with self._came:
            return self._came.wait_for(holds, within_s)

    def say(self, topic: str, payload: bytes, retain: bool = False) -> None:
        """Publish a message, and wait at most 10 seconds until the broker has it; a time-out raises nothing. Raises
        TableError `no_broker` if the client cannot publish."""
        try:
            self._client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(_CONNECTED_WITHIN_S)
        except RuntimeError as error:
            raise _no_broker(self._address, str(error)) from error

    def send(self, topic: str, payloads: Sequence[bytes], retain: bool = False) -> None:
        """Publish these messages one after the other without waiting for the broker in between, as a table does."""
        for payload in payloads:
            self._client.publish(topic, payload, qos=1, retain=retain)

    def close(self) -> None:
        """Disconnect from the broker with an MQTT DISCONNECT packet."""
        self._client.disconnect()
        await_thread(self._client)


def _without_delay(_client: Client, _data: object, line: Any) -> None:
    """Set the MQTT client's socket to send each packet immediately (TCP_NODELAY), as the contract asks of pit and
    table."""
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def first_heard(address: Address, topic: str, within_s: float) -> Heard | None:
    """Open a new connection to the broker, and return the first message that comes on the topic. Returns None if none
    comes within `within_s` seconds.

    If the broker has retained a message of the topic, this message comes first.
    """
    wire = Wire(address, [topic])
    try:
        wire.wait(lambda: bool(wire.heard), within_s)
    finally:
        wire.close()
    return wire.heard[0] if wire.heard else None


def _no_broker(address: Address, why: str) -> TableError:
    what = f"The broker {address.host}:{address.port} cannot be used: {why}."
    return TableError("no_broker", what, "Start the broker, or correct --broker and the certificates.")


def now_text() -> str:
    """Return the present time in UTC as RFC 3339 text, to the millisecond."""
    return at_text(time.time_ns() // 1_000_000)


def at_text(ms: int) -> str:
    """Convert a time in milliseconds since 1970 to the text that the field `at` of a message has."""
    return Stamp(ms, True).text()
