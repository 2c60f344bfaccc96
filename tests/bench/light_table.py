"""A light table: a small simulation of only that part of a table that the pit and the broker see, over the real network
protocol.

It signs and chains real events of Royal 9 rounds. After its events it sends its state, as a table does.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence

from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import CONTRACT_VERSION, GENESIS, chain_head, seal
from controller.contract.events import Event
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord
from controller.daemon.clock import stamp_now
from controller.daemon.delivery.guarantee import Phase
from tests.bench.core import numbered
from tests.support.light_wire import STALE_AFTER_S, LightWire

_ROUNDS_A_SHOE = 80


class LightTable(LightWire):
    """A simulated table, of which only those parts exist that the pit and the broker see. `number` distinguishes the
    table from the others. `round_events` are the events of one round. Every round sends them, with the numbers of that
    round.

    `delays_s` are the times from the publishing of events to the pit's acknowledgement.
    """

    def __init__(self, number: int, port: int, round_events: Sequence[Event]) -> None:
        super().__init__(f"light-{number}", secrets.token_hex(5))
        self._key = SigningKey(os.urandom(32))
        self._head = GENESIS
        self._round_events = round_events
        self._chains: dict[int, str] = {}  # of the events that wait, by their numbers
        self._played_s: dict[int, float] = {}  # when the play was published whose last event has this number
        self._adopted = False
        self._levels_s: float | None = None  # when the pit's own word on the levels came last
        self.delays_s: list[float] = []
        self.when_done: Callable[[], None] = lambda: None
        """Called when the pit has acknowledged all there is."""
        self.connect("127.0.0.1", port)

    @property
    def line(self) -> socket.socket:
        """Return this table's connection to the broker."""
        assert self.socket is not None
        return self.socket

    @property
    def streams(self) -> bool:
        """Return whether the pit has adopted the table, so that events may be sent."""
        return self._adopted and self.delivery.phase is Phase.STREAMING

    @property
    def events(self) -> int:
        """Return how many events the table has made."""
        return self.delivery.head_seq

    @property
    def unacknowledged(self) -> int:
        """Return how many of the table's events the pit has not acknowledged."""
        return self.delivery.unacknowledged

    @property
    def acknowledged(self) -> int:
        """Return how many of the table's events the pit has acknowledged."""
        return self.delivery.acked_seq

    def levels_since(self, since_s: float) -> bool:
        """Tell whether the pit has sent the levels of its meters after the time `since_s`."""
        return self._levels_s is not None and self._levels_s >= since_s

    def bets(self, now_s: float) -> bool:
        """Tell whether the table may take progressive wagers at the time `now_s`. Return True if the pit sent its
        meters' levels lately and keeps up with the events."""
        return self.levels_since(now_s - STALE_AFTER_S) and self.delivery.fresh(now_s)

    def play(self, events: int) -> None:
        """Send the pit the table's next `events` events, and then the table's state."""
        for _ in range(events):
            round_, place = divmod(self.delivery.head_seq, len(self._round_events))
            shoe, of_shoe = divmod(round_, _ROUNDS_A_SHOE)
            (event,) = numbered(1 + shoe, 1 + of_shoe, self._round_events[place : place + 1])
            seq, chain = self.delivery.head_seq + 1, self._head
            body = seal(event, self.table, self.delivery.epoch, seq, stamp_now(), chain, self._key)
            self._head = chain_head(chain, b"", [body], os.urandom(16))
            self._chains[seq] = chain.hex()
            self.add(event.TYPE, body)
        self._played_s[self.delivery.head_seq] = time.monotonic()
        self.keep()
        self.say_state()

    def state(self) -> bytes:
        """Return a state message of the table, with only those fields that a pit reads."""
        return canonical(
            {
                "online": True,
                "contract": CONTRACT_VERSION,
                "table": self.table,
                "epoch": self.delivery.epoch,
                "boot": 1,
                "public_key": self._key.public.hex(),
                "head_seq": self.delivery.head_seq,
                "unacknowledged": self.delivery.unacknowledged,
            }
        )

    def heard(self, kind: str, payload: bytes, retained: bool) -> None:
        """Handle a message of the pit. An acknowledgement removes events from the list of waiting events. For a message
        with the meters' levels, its time is stored."""
        super().heard(kind, payload, retained)
        if kind == "meters" and not retained:
            self._levels_s = time.monotonic()
        if kind != "ack":
            return
        ack, now_s = AckWord.read(parse_object(payload)), time.monotonic()
        self._adopted = True
        if ack is None or ack.seq <= self.delivery.acked_seq:
            return  # what it says again
        assert self.delivery.acked(ack, self._chains[ack.seq], now_s) is None, "the pit acknowledged another chain"
        for seq in [seq for seq in self.waiting if seq <= ack.seq]:
            del self.waiting[seq], self._chains[seq]
        for seq in [seq for seq in self._played_s if seq <= ack.seq]:
            self.delays_s.append(now_s - self._played_s.pop(seq))
        if self.delivery.unacknowledged:
            self.keep()
        else:
            self.when_done()
