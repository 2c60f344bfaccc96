"""A table without a table: only what the pit and the broker see of one, on the real wire.

It signs and chains real events of Royal 9 rounds, and delivers them as a table does, by the very `Delivery`: nothing
before the pit's last word is known, a window, sent again where the pit is silent. After its events it says its state,
as a table does. Nothing is kept on a disk, and the packets are written here: a client library would take more of the
machine than the pit that is measured. It has no thread of its own: whoever has many of them turns their sockets.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence

from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import CONTRACT_VERSION, GENESIS, chain_head, seal
from controller.contract.events import Event
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord
from controller.contract.topics import Topics
from controller.daemon.clock import stamp_now
from controller.daemon.delivery.guarantee import Delivery, Phase
from tests.bench.core import numbered
from tests.link.hostile import CONNECT, PUBLISH, SUBSCRIBE, length, packet, text

_ROUNDS_A_SHOE = 80
_STALE_AFTER_S = 10.0
_CLEAN_START, _NO_KEEPALIVE, _AT_LEAST_ONCE = b"\2", b"\0\0", b"\1"
_PUBACK = 0x40
_USER_PROPERTY = b"\x26"
_READ_BYTES = 65_536


class LightTable:
    """Table `number`. `round_events` are a round's, and come again with every round's own number.

    `delays_s` are the times from each play's publishing to the pit's acknowledgement. `sent` counts the events that
    went to the broker, those among them that went again.
    """

    def __init__(self, number: int, port: int, round_events: Sequence[Event]) -> None:
        self._id = f"light-{number}"
        self._topics = Topics("pit/v1", self._id)
        self._key = SigningKey(os.urandom(32))
        self._epoch = secrets.token_hex(5)
        self._head = GENESIS
        self._round_events = round_events
        self._waiting: dict[int, tuple[str, str, bytes]] = {}  # type, chain and body, by seq
        self._played_s: dict[int, float] = {}  # when the play was published whose last event has this number
        self._packets = 0
        self._state_number = 0
        self._delivery = Delivery(self._epoch, 0, 0, _STALE_AFTER_S)
        self._unread = b""
        self._adopted = False
        self._levels_s: float | None = None  # when the pit's own word on the levels came last
        self.delays_s: list[float] = []
        self.sent = 0
        self.when_done: Callable[[], None] = lambda: None
        """Called when the pit has acknowledged all there is."""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol = text(b"MQTT") + b"\5" + _CLEAN_START + _NO_KEEPALIVE + length(0)
        self._say(packet(CONNECT, protocol + text(f"table-{self._id}".encode())))

    @property
    def streams(self) -> bool:
        """Whether the pit has adopted the table, and events may go."""
        return self._adopted and self._delivery.phase is Phase.STREAMING

    @property
    def events(self) -> int:
        """How many events it has said."""
        return self._delivery.head_seq

    @property
    def unacknowledged(self) -> int:
        """How many of them the pit has not acknowledged."""
        return self._delivery.unacknowledged

    @property
    def acknowledged(self) -> int:
        """How many of them the pit has acknowledged."""
        return self._delivery.acked_seq

    def levels_since(self, since_s: float) -> bool:
        """Whether the pit has said its levels since then."""
        return self._levels_s is not None and self._levels_s >= since_s

    def bets(self, now_s: float) -> bool:
        """Whether progressives can be bet on: the levels were said lately, and the pit keeps up."""
        return self.levels_since(now_s - _STALE_AFTER_S) and self._delivery.fresh(now_s)

    def turn(self) -> None:
        """Take in what has come. Raises ConnectionError where the broker has hung up."""
        if not (came := self.socket.recv(_READ_BYTES)):
            raise ConnectionError(f"the broker ended the connection of {self._id}")
        self._unread += came
        for first, body in self._packets_read():
            match first & 0xF0:
                case 0x20:  # CONNACK
                    topics = self._topics
                    wanted = (topics.ack, topics.award, topics.wager, topics.meters, topics.pit_key)
                    asked = b"".join(text(topic.encode()) + _AT_LEAST_ONCE for topic in wanted)
                    self._say(packet(SUBSCRIBE | 2, self._next_number() + length(0) + asked))
                case 0x90:  # SUBACK
                    self._delivery.connected()
                    self._state_number = self._say_state()
                case 0x40 if int.from_bytes(body[:2]) == self._state_number:  # PUBACK
                    self._delivery.nothing_retained(time.monotonic())
                case 0x30:  # PUBLISH
                    self._hear(first, body)

    def keep(self) -> None:
        """To be called some times a second: what time alone brings."""
        for seq in self._delivery.due(time.monotonic()):
            type_, _, body = self._waiting[seq]
            self.sent += 1
            self._publish(self._topics.event, body, _USER_PROPERTY + text(b"type") + text(type_.encode()))

    def play(self, events: int) -> None:
        """So many of a round's events go to the pit, and then the table's state."""
        for _ in range(events):
            round_, place = divmod(self._delivery.head_seq, len(self._round_events))
            shoe, of_shoe = divmod(round_, _ROUNDS_A_SHOE)
            (event,) = numbered(1 + shoe, 1 + of_shoe, self._round_events[place : place + 1])
            seq, chain = self._delivery.head_seq + 1, self._head
            body = seal(event, self._id, self._epoch, seq, stamp_now(), chain, self._key)
            self._head = chain_head(chain, b"", [body], os.urandom(16))
            self._waiting[seq] = event.TYPE, chain.hex(), body
            self._delivery.committed(seq, time.monotonic())
        self._played_s[self._delivery.head_seq] = time.monotonic()
        self.keep()
        self._say_state()

    def close(self) -> None:
        """Leave the broker."""
        self.socket.close()

    def _say_state(self) -> int:
        """Say the table's state. Returns the packet's number."""
        state = {
            "online": True,
            "contract": CONTRACT_VERSION,
            "table": self._id,
            "epoch": self._epoch,
            "boot": 1,
            "public_key": self._key.public.hex(),
            "head_seq": self._delivery.head_seq,
            "unacknowledged": self._delivery.unacknowledged,
        }
        return self._publish(self._topics.state, canonical(state), retain=True)

    def _publish(self, topic: str, payload: bytes, properties: bytes = b"", retain: bool = False) -> int:
        number = self._next_number()
        head = text(topic.encode()) + number + length(len(properties)) + properties
        self._say(packet(PUBLISH | 2 | retain, head + payload))
        return int.from_bytes(number)

    def _next_number(self) -> bytes:
        self._packets = self._packets % 0xFFFF + 1
        return self._packets.to_bytes(2)

    def _say(self, data: bytes) -> None:
        self.socket.sendall(data)

    def _packets_read(self) -> Iterator[tuple[int, bytes]]:
        """The whole packets that have come: their first bytes and their bodies."""
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
        retained = bool(first & 1)
        if topic != self._topics.ack.encode():
            if topic == self._topics.meters.encode() and not retained:
                self._levels_s = time.monotonic()
            if topic == self._topics.pit_key.encode() and not retained:
                self._delivery.pit_came(time.monotonic())
                self.keep()
            return
        payload_at += 1 + body[payload_at]  # its properties, of which an ack has few
        ack, now_s = AckWord.read(parse_object(body[payload_at:])), time.monotonic()
        self._adopted = True
        if ack is None or ack.seq <= self._delivery.acked_seq:
            return  # what it says again
        _, own_chain, _ = self._waiting[ack.seq]
        assert self._delivery.acked(ack, own_chain, now_s) is None, "the pit acknowledged another chain"
        for seq in [seq for seq in self._waiting if seq <= ack.seq]:
            del self._waiting[seq]
        for seq in [seq for seq in self._played_s if seq <= ack.seq]:
            self.delays_s.append(now_s - self._played_s.pop(seq))
        if self._delivery.unacknowledged:
            self.keep()
        else:
            self.when_done()
