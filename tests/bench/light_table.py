"""A table without a table: only what the pit and the broker see of one, on the real wire.

It signs and chains real events of Royal 9 rounds, and delivers them as a table does, by the very `Delivery`: nothing
before the pit's last word is known, a window, sent again where the pit is silent. Nothing is kept on a disk. It has no
thread of its own: whoever has many of them turns their sockets.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes

from controller.clock import stamp_now
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import CONTRACT_VERSION, GENESIS, chain_head, seal
from controller.contract.events import Event
from controller.contract.pit_words import AckWord
from controller.contract.topics import Topics
from controller.delivery.guarantee import Delivery, Phase
from controller.delivery.mqtt_link import user_properties
from controller.keys import SigningKey
from tests.bench.core import numbered
from tests.bench.floor import at_once

_ROUNDS_A_SHOE = 80
_STALE_AFTER_S = 10.0


class LightTable:
    """Table `number`. `round_events` are a round's, and come again with every round's own number.

    `delays_s` are the rounds' times from their events' publishing to the pit's acknowledgement.
    """

    def __init__(self, number: int, port: int, round_events: Sequence[Event]) -> None:
        self._id = f"light-{number}"
        self._topics = Topics("pit/v1", self._id)
        self._key = SigningKey(os.urandom(32))
        self._epoch = secrets.token_hex(5)
        self._head = GENESIS
        self._round_events = round_events
        self._rounds = 0
        self._waiting: dict[int, tuple[str, str, bytes]] = {}  # type, chain and body, by seq
        self._published_s = 0.0
        self._state_mid: int | None = None
        self._delivery = Delivery(self._epoch, 0, 0, _STALE_AFTER_S)
        self.delays_s: list[float] = []
        self.when_done: Callable[[], None] = lambda: None
        """Called when the pit has acknowledged all there is."""
        self._client = Client(
            CallbackAPIVersion.VERSION2, client_id=f"table-{self._id}", protocol=MQTTProtocolVersion.MQTTv5
        )
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_publish = self._on_publish
        self._client.on_message = self._on_message
        self._client.on_socket_open = at_once
        self._client.connect("127.0.0.1", port)

    @property
    def streams(self) -> bool:
        """Whether the pit's last word is known, and events may go."""
        return self._delivery.phase is Phase.STREAMING

    @property
    def socket(self) -> socket.socket:
        """To be turned by: `turn` when it has something."""
        found = self._client.socket()
        assert isinstance(found, socket.socket)
        return found

    def turn(self) -> None:
        """Take in what has come."""
        self._client.loop_read()
        self._write()

    def keep(self) -> None:
        """To be called some times a second: what time alone brings."""
        self._client.loop_misc()
        self._send_due()

    def play_round(self) -> None:
        """A round is over: lock and round go to the pit."""
        shoe, round_ = divmod(self._rounds, _ROUNDS_A_SHOE)
        self._rounds += 1
        stamp = stamp_now()
        for event in numbered(1 + shoe, 1 + round_, self._round_events):
            seq, chain = self._delivery.head_seq + 1, self._head
            body = seal(event, self._id, self._epoch, seq, stamp, chain, self._key)
            self._head = chain_head(chain, b"", [body], os.urandom(16))
            self._waiting[seq] = event.TYPE, chain.hex(), body
            self._delivery.committed(seq, time.monotonic())
        self._published_s = time.monotonic()
        self._send_due()

    def close(self) -> None:
        """Leave the broker."""
        self._client.disconnect()

    def _send_due(self) -> None:
        for seq in self._delivery.due(time.monotonic()):
            type_, _, body = self._waiting[seq]
            properties = user_properties(PacketTypes.PUBLISH, type=type_)
            self._client.publish(self._topics.event, body, qos=1, properties=properties)
        self._write()

    def _write(self) -> None:
        while self._client.want_write():
            self._client.loop_write()

    def _on_connect(self, *_: Any) -> None:
        topics = self._topics
        self._client.subscribe([(topic, 1) for topic in (topics.ack, topics.award, topics.wager, topics.meters)])

    def _on_subscribe(self, *_: Any) -> None:
        self._delivery.connected()
        state = {
            "online": True,
            "contract": CONTRACT_VERSION,
            "table": self._id,
            "epoch": self._epoch,
            "boot": 1,
            "public_key": self._key.public.hex(),
        }
        self._state_mid = self._client.publish(self._topics.state, canonical(state), qos=1, retain=True).mid

    def _on_publish(self, _client: Client, _data: Any, mid: int, *_: Any) -> None:
        if mid == self._state_mid:
            self._delivery.nothing_retained(time.monotonic())

    def _on_message(self, _client: Client, _data: Any, message: Any) -> None:
        if message.topic != self._topics.ack:
            json.loads(message.payload)  # the levels
            return
        ack, now_s = AckWord.read(parse_object(message.payload)), time.monotonic()
        if ack is None or ack.seq <= self._delivery.acked_seq:
            return  # what it says again
        _, own_chain, _ = self._waiting[ack.seq]
        assert self._delivery.acked(ack, own_chain, now_s) is None, "the pit acknowledged another chain"
        for seq in [seq for seq in self._waiting if seq <= ack.seq]:
            del self._waiting[seq]
        if not self._delivery.unacknowledged:
            self.delays_s.append(now_s - self._published_s)
            self.when_done()
