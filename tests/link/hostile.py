"""A hostile MQTT 5 broker for tests. It writes raw packets, so that it can misbehave in ways in which Mosquitto, a real
broker, never would."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CONNECT, PUBLISH, SUBSCRIBE, PINGREQ = 0x10, 0x30, 0x80, 0xC0
PATIENCE_S = 20.0


def packet(first: int, body: bytes) -> bytes:
    """Build an MQTT packet: its first byte, the length of its body, and its body."""
    return bytes([first]) + length(len(body)) + body


def length(value: int) -> bytes:
    """Encode a number as MQTT's variable byte integer."""
    said = b""
    while value > 127:
        said, value = said + bytes([value & 127 | 128]), value >> 7
    return said + bytes([value])


def text(value: bytes) -> bytes:
    """Encode these bytes as an MQTT string."""
    return len(value).to_bytes(2, "big") + value


def publish(topic: bytes, payload: bytes, qos: int = 0, properties: bytes = b"", retain: bool = False) -> bytes:
    """Build an MQTT PUBLISH packet. If the QoS requires a packet identifier, the identifier is 1."""
    number = b"\0\1" if qos else b""
    return packet(PUBLISH | qos << 1 | retain, text(topic) + number + length(len(properties)) + properties + payload)


class Line:
    """A client's connection to the hostile test broker, seen from the broker's side."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        line.settimeout(PATIENCE_S)

    def hears(self) -> tuple[int, bytes]:
        """Read the client's next MQTT packet, and return its type and its body. Raises OSError if the client
        has gone."""
        first = self._exactly(1)[0]
        size = shift = 0
        while True:
            digit = self._exactly(1)[0]
            size |= (digit & 127) << shift
            shift += 7
            if digit < 128:
                return first & 0xF0, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._line.recv(size - len(data))
            if not more:
                raise ConnectionError
            data += more
        return data

    def says(self, data: bytes) -> None:
        """Send these bytes to the client. Raises OSError if the client has gone."""
        self._line.sendall(data)

    def greets(self, properties: bytes = b"") -> bytes:
        """Accept the client's connection and its subscriptions, as a proper broker does. `properties` are the MQTT
        properties of the broker's answer to the connection. Returns the body of the client's CONNECT packet."""
        _, connect = self.hears()
        self.says(packet(0x20, b"\0\0" + length(len(properties)) + properties))
        of_own_acks = True  # by which the pit begins
        while of_own_acks:
            _, subscribe = self.hears()
            topics = subscribe[3:].count(b"/")  # at least as many codes as topics
            self.says(packet(0x90, subscribe[:2] + b"\0" + bytes([1] * max(1, topics))))
            of_own_acks = b"/+/ack" in subscribe
        return connect

    def serves(self) -> None:
        """Answer the client's messages and pings as a proper broker does, until the client goes."""
        while True:
            kind, body = self.hears()
            if kind == PUBLISH:
                after_topic = 2 + int.from_bytes(body[:2], "big")
                self.says(packet(0x40, body[after_topic : after_topic + 2]))
            elif kind == PINGREQ:
                self.says(packet(0xD0, b""))


class HostileBroker:
    """A test broker that runs one of the functions `acts` on each connection, in order, and repeats the last function
    for further connections. `connections` counts the connections so far."""

    def __init__(self, *acts: Callable[[Line], None]) -> None:
        self._acts = acts
        self.connections = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._server.accept()
                act = self._acts[min(self.connections, len(self._acts) - 1)]
                self.connections += 1
                with line, contextlib.suppress(OSError):
                    act(Line(line))

    def close(self) -> None:
        """Stop listening for new connections."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@contextmanager
def hostile_broker(*acts: Callable[[Line], None]) -> Iterator[HostileBroker]:
    """Run a hostile test broker while the `with` block runs. The functions `acts` handle its connections, one after
    another."""
    broker = HostileBroker(*acts)
    try:
        yield broker
    finally:
        broker.close()


def honest(line: Line) -> None:
    """Serve one client's connection as a proper broker does, until the client goes."""
    line.greets()
    line.serves()
