"""A table's end of the connection to the broker, light enough for a thousand of them in one process.

Events are delivered by the product's own `Delivery`, as a real table delivers them. Nothing is sent before the pit's
last acknowledgement is known, a window limits how many events are on the way, and events are sent again if the pit is
silent. Nothing is kept on a disk. This module writes the MQTT packets itself, because a client library would use more
of the machine than the pit does. There is no thread: a program with many connections calls `turn` for the sockets that
have data.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

from controller.contract.topics import Topics
from controller.daemon.delivery.guarantee import Delivery, Phase
from tests.link.hostile import CONNECT, PUBLISH, SUBSCRIBE, length, packet, text

STALE_AFTER_S = 10.0
_CONNECT_S = 1.0
_SEND_S = 1.0  # a broker that stands still for so long, and whose buffers are full, has ended the connection
_CLEAN_START, _NO_KEEPALIVE, _AT_LEAST_ONCE = b"\2", b"\0\0", b"\1"
_PUBACK = 0x40
_USER_PROPERTY = b"\x26"
_READ_BYTES = 65_536


class LightWire:
    """The connection of the table `table`, which sends events in `epoch`. `waiting` holds the events that are not
    acknowledged, by number, as pairs of type and body.

    `sent` counts how often an event went to the broker. An event that was sent again counts again.
    """

    def __init__(self, table: str, epoch: str) -> None:
        self.table = table
        self.topics = Topics("pit/v1", table)
        self.delivery = Delivery(epoch, 0, 0, STALE_AFTER_S)
        self.waiting: dict[int, tuple[str, bytes]] = {}
        self.sent = 0
        self.socket: socket.socket | None = None
        """The connection; None while there is none."""

    # What another kind of table does in its own way.

    def state(self) -> bytes:
        """Return the table's state message for the pit. A subclass must implement this."""
        raise NotImplementedError

    def heard(self, kind: str, payload: bytes, retained: bool) -> None:
        """Take in a message of the pit. `kind` is the last part of the message's topic."""
        if kind == "pit-key" and not retained:
            self.delivery.pit_came(time.monotonic())
            self.keep()

    # The connection.

    def connect(self, host: str, port: int) -> None:
        """Connect to the broker. Raises OSError if that fails."""
        self._unread, self._packets, self._state_number = b"", 0, 0
        self._on_the_way: dict[int, int] = {}  # by a packet's number, the event's
        self.socket = socket.create_connection((host, port), timeout=_CONNECT_S)
        self.socket.settimeout(_SEND_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol = text(b"MQTT") + b"\5" + _CLEAN_START + _NO_KEEPALIVE + length(0)
        self._say(packet(CONNECT, protocol + text(f"table-{self.table}".encode())))

    def close(self) -> None:
        """Close the connection to the broker."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None
            self.delivery.disconnected(time.monotonic())

    def turn(self) -> None:
        """Read and process what the broker has sent. Raises OSError if the connection has ended."""
        assert self.socket is not None
        if not (came := self.socket.recv(_READ_BYTES)):
            raise ConnectionError(f"the broker ended the connection of {self.table}")
        self._unread += came
        for first, body in self._packets_read():
            match first & 0xF0:
                case 0x20:  # CONNACK
                    topics = self.topics
                    wanted = (topics.ack, topics.award, topics.wager, topics.meters, topics.pit_key)
                    asked = b"".join(text(topic.encode()) + _AT_LEAST_ONCE for topic in wanted)
                    self._say(packet(SUBSCRIBE | 2, self._next_number() + length(0) + asked))
                case 0x90:  # SUBACK
                    self.delivery.connected()
                    self._state_number = self.say_state()
                case 0x40:  # PUBACK
                    self._answered(int.from_bytes(body[:2]), body[2] if len(body) > 2 else 0)
                case 0x30:  # PUBLISH
                    self._hear(first, body)

    def keep(self) -> None:
        """Send the events that are due now. Call this several times a second. Raises OSError if the connection has
        ended."""
        for seq in self.delivery.due(time.monotonic()):
            type_, body = self.waiting[seq]
            self.sent += 1
            number = self._publish(self.topics.event, body, _USER_PROPERTY + text(b"type") + text(type_.encode()))
            self._on_the_way[number] = seq

    def add(self, type_: str, body: bytes) -> None:
        """Add one more event of the table. The next `keep` sends it."""
        seq = self.delivery.head_seq + 1
        self.waiting[seq] = type_, body
        self.delivery.committed(seq, time.monotonic())

    def say_state(self) -> int:
        """Publish the table's state. Returns the packet's number."""
        return self._publish(self.topics.state, self.state(), retain=True)

    def _answered(self, number: int, reason_code: int) -> None:
        now_s = time.monotonic()
        if number == self._state_number and self.delivery.phase is Phase.ASKING:
            self.delivery.nothing_retained(now_s)
        elif (seq := self._on_the_way.pop(number, None)) is not None:
            self.delivery.published(seq, reason_code, now_s)

    def _publish(self, topic: str, payload: bytes, properties: bytes = b"", retain: bool = False) -> int:
        number = self._next_number()
        head = text(topic.encode()) + number + length(len(properties)) + properties
        self._say(packet(PUBLISH | 2 | retain, head + payload))
        return int.from_bytes(number)

    def _next_number(self) -> bytes:
        self._packets = self._packets % 0xFFFF + 1
        return self._packets.to_bytes(2)

    def _say(self, data: bytes) -> None:
        if self.socket is not None:
            self.socket.sendall(data)

    def _packets_read(self) -> Iterator[tuple[int, bytes]]:
        """Yield the complete MQTT packets that have come, each as a pair of its first byte and its body."""
        while len(self._unread) > 1:
            size, at = 0, 1
            while True:
                if at == len(self._unread):
                    return
                digit = self._unread[at]
                size |= (digit & 127) << 7 * (at - 1)
                at += 1
                if digit < 128:
                    break
            if len(self._unread) < at + size:
                return
            first, body, self._unread = self._unread[0], self._unread[at : at + size], self._unread[at + size :]
            yield first, body

    def _hear(self, first: int, body: bytes) -> None:
        after_topic = 2 + int.from_bytes(body[:2])
        topic, payload_at = body[2:after_topic], after_topic
        if first & 6:
            self._say(packet(_PUBACK, body[after_topic : after_topic + 2]))
            payload_at += 2
        payload_at += 1 + body[payload_at]  # its properties, of which a word of the pit has few
        self.heard(topic.decode().rpartition("/")[2], body[payload_at:], bool(first & 1))
