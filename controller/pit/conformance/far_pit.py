"""A simulated pit, against which the conformance kit tests a table. The pit takes the table's events in order and
acknowledges them, unless a check tells it to behave otherwise.

The pit does not count wagers or hits: the tests set the meters' levels that it announces. The meters are those that the
table's own events name.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from controller.contract.events import Win
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord, AwardStep, MetersWord, PitKeyWord, Rotation, Word
from controller.contract.topics import Topics
from controller.pit.conformance.wire import NO_CHAIN, Address, Heard, Message, Wire, at_text, now_text

_METERS_EVERY_S = 0.4


class FarPit:
    """A simulated pit that serves one table, for the conformance tests of tables.

    `taken` holds the table's events that the pit has committed, in order: event number n has index n-1. `heard` holds
    every message that came from the table, repeats included. While `acks` is False, the pit acknowledges nothing. While
    `says_meters` is False, it announces no levels of meters. `changed` holds the numbers of the events that came a
    second time with other bytes.
    """

    def __init__(self, address: Address, table: str) -> None:
        self.topics = Topics(address.root, table)
        self.table = table
        self.key = SigningKey(os.urandom(32))
        self.rotations: tuple[Rotation, ...] = ()
        self.heard: list[Heard] = []
        self.taken: list[Message] = []
        self.changed: list[int] = []
        self.acks = self.says_meters = True
        self.levels: dict[str, int] = {}
        self.win: Win | None = None
        self._bodies: list[bytes] = []
        self._seq = 0
        self._address = address
        self._here = threading.Event()
        self._closing = threading.Event()
        self.come()
        self._metering = threading.Thread(target=self._keep_saying_meters, name="meters", daemon=True)
        self._metering.start()

    def come(self) -> None:
        """Connect to the broker, and announce the pit's key, as a pit does each time its program starts. If the pit has
        committed events and `acks` is True, it also repeats its last acknowledgement."""
        topics = (self.topics.state, self.topics.event, self.topics.checkpoint)
        self.wire = Wire(self._address, topics, qos=2, stands=self._stands, hears=self._hears)
        self._here.set()

    def go(self) -> None:
        """Disconnect the simulated pit from the broker, until `come` connects it anew."""
        self._here.clear()
        self.wire.close()

    def close(self) -> None:
        """Disconnect the simulated pit from the broker for good, and end its thread."""
        self._closing.set()
        self._metering.join()
        self.go()

    def wait(self, holds: Callable[[], bool], within_s: float) -> bool:
        """Wait at most `within_s` seconds until `holds` returns True, and return whether it did. `holds` is called
        after each message from the table."""
        return self.wire.wait(holds, within_s)

    # What the table said.

    @property
    def states(self) -> list[Message]:
        """Every state message that the table has sent, repeats included, in the order of arrival."""
        return [heard.message for heard in self.heard if heard.topic == self.topics.state]

    @property
    def state(self) -> Message:
        """The last state message that the table has sent; an empty dictionary before the first one."""
        return next((each.message for each in reversed(self.heard) if each.topic == self.topics.state), {})

    def sent(self, since: int = 0) -> list[Message]:
        """Return the events that the table has sent, repeats included. Only messages in the list `heard` from index
        `since` onwards count."""
        return [heard.message for heard in self.heard[since:] if heard.topic == self.topics.event]

    def numbers(self, since: int = 0) -> list[int]:
        """Return the numbers of the events that the table has sent, repeats included. Only messages in the list `heard`
        from index `since` onwards count."""
        return [seq for event in self.sent(since) if isinstance(seq := event.get("seq"), int)]

    def events_of(self, type_: str, after: int = 0) -> list[Message]:
        """Return the committed events of the type `type_` whose number is higher than `after`."""
        return [event for event in self.taken[after:] if event.get("type") == type_]

    def bodies(self, numbers: range) -> list[bytes]:
        """Return the bytes of the committed events that have these numbers."""
        return self._bodies[numbers.start - 1 : numbers.stop - 1]

    def forget(self, count: int) -> list[bytes]:
        """Forget the last `count` committed events, as a pit does whose database was restored from a backup. Returns
        the bytes of the forgotten events."""
        lost = self._bodies[-count:]
        del self.taken[-count:], self._bodies[-count:]
        return lost

    # What the pit says.

    def ack(self, seq: int | None = None) -> AckWord:
        """Return an acknowledgement of event number `seq`, or, without `seq`, of the last committed event. The
        acknowledgement is not sent."""
        seq = len(self.taken) if seq is None else seq
        chain = str(self.taken[seq - 1].get("chain")) if 0 < seq <= len(self.taken) else NO_CHAIN
        return AckWord(self.table, str(self.state.get("epoch", "")), seq, chain, now_text())

    def speak(self) -> None:
        """Acknowledge events and announce the meters' levels from now on, and send one acknowledgement immediately."""
        self.acks = self.says_meters = True
        self.say_ack()

    def say_ack(self, word: AckWord | None = None) -> None:
        """Send the acknowledgement `word`, or, without `word`, an acknowledgement of the last committed event."""
        word = word or self.ack()
        self.say(self.topics.ack, word, retain=True)

    def step(self, event: Message, amount_cents: int, step: str = "pending") -> AwardStep:
        """Return the pit's message about a step (such as "pending" or "paid") of the award for the hit in `event`. The
        message gets the next sequence number, and is not sent."""
        progressive = event["progressive"]
        meter = progressive["meter"] if isinstance(progressive, dict) else None
        seq = self._next_seq()
        return AwardStep(
            f"{self.table}.{event['seq']}",
            str(event["id"]),
            self.table,
            int(str(event["seat"])),
            str(event["tier"]),
            meter,
            amount_cents,
            step,
            "Kit",
            at_text(seq),
            seq,
        )

    def say(self, topic: str, word: Word, key: SigningKey | None = None, retain: bool = False) -> None:
        """Publish the pit's message `word` on the topic, signed by the pit's key, or by `key` if one is given."""
        self.wire.say(topic, word.payload(key or self.key), retain)

    def meters_word(self) -> MetersWord:
        """Return the pit's next message with the levels of the meters. The message is not sent."""
        seq = self._next_seq()
        return MetersWord(seq, at_text(seq), dict(self.levels), self.win)

    def wins(self, meter: str, cents: int) -> Win:
        """Pretend that another table has won the meter, and return that win. From now on, each of the pit's messages on
        the meters contains the win."""
        seq = self._next_seq()
        self.win = Win(seq, at_text(seq), f"{self.table}-other", f"{self.table}-other.1", "kit", "kit", meter, cents, 1)
        return self.win

    def say_key(self, key: SigningKey | None = None) -> None:
        """Announce the pit's public key. With `key`, announce that key instead, in a message that `key` has signed."""
        offered, rotations = (self.key, self.rotations) if key is None else (key, ())
        word = PitKeyWord(offered.public.hex(), now_text(), rotations)
        self.say(self.topics.pit_key, word, offered, retain=True)

    def hand_over(self) -> SigningKey:
        """Replace the pit's key by a new one, have the former key sign this change, and announce the new key. Returns
        the former key."""
        former = self.rotate()
        self.say_key()
        return former

    def rotate(self) -> SigningKey:
        """Replace the pit's key by a new one, and have the former key sign this change. The pit announces the new key
        only at its next connection to the broker. Returns the former key."""
        former, new = self.key, SigningKey(os.urandom(32))
        self.rotations += (Rotation.by(former.public.hex(), former, new.public.hex()),)
        self.key = new
        return former

    def _next_seq(self) -> int:
        self._seq = max(self._seq + 1, time.time_ns() // 1_000_000)
        return self._seq

    def _keep_saying_meters(self) -> None:
        while not self._closing.wait(_METERS_EVERY_S):
            if self._here.is_set() and self.says_meters and self.levels:
                self.wire.send(self.topics.meters, [self.meters_word().payload(self.key)], retain=True)

    # What the pit hears, in the connection's thread.

    def _stands(self, wire: Wire) -> None:
        word = PitKeyWord(self.key.public.hex(), now_text(), self.rotations)
        wire.send(self.topics.pit_key, [word.payload(self.key)], retain=True)
        if self.taken and self.acks:
            wire.send(self.topics.ack, [self.ack().payload(self.key)], retain=True)

    def _hears(self, wire: Wire, heard: Heard) -> None:
        self.heard.append(heard)
        if heard.topic != self.topics.event:
            return
        event = heard.message
        seq = event.get("seq")
        if not isinstance(seq, int):
            return
        if 0 < seq <= len(self.taken) and self._bodies[seq - 1] != heard.payload:
            self.changed.append(seq)
        elif seq == len(self.taken) + 1:
            self.taken.append(event)
            self._bodies.append(heard.payload)
        if self.acks:
            wire.send(self.topics.ack, [self.ack().payload(self.key)], retain=True)
