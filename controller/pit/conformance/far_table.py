"""A simulated table, against which the conformance kit tests a pit. The table sends the events that a check asks for,
signed as a real table signs its events.

The events are the examples of the contract, in which a check may replace fields.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.face.state import Links, State
from controller.contract.keys import SigningKey
from controller.contract.old_events import NEW_IN_4
from controller.contract.pit_words import AckWord, AwardStep, MetersWord
from controller.contract.signing import signed
from controller.contract.state import offline_state, online_state
from controller.contract.topics import Topics
from controller.pit.conformance.wire import NO_CHAIN, Address, Heard, Message, Wire, now_text

LOCK_CENTS = 500
"""The price of a wager that `lock` locks, where no other price is given."""

_NAMED_SPOTS_SINCE = 3
SPOT = "kit"
"""The progressive bet on which the kit's seats wager."""


class FarTable:
    """A simulated table for the conformance tests of pits: its id, its epoch (the random name of its journal), its key,
    and the events that it has made so far, as bytes."""

    def __init__(self, address: Address, table: str, key: SigningKey | None = None) -> None:
        self.topics = Topics(address.root, table)
        self.table = table
        self.epoch = os.urandom(5).hex()
        self.key = key or SigningKey(os.urandom(32))
        self.made: list[bytes] = []
        self.shoe, self.round = 1, 0
        self._boot = 0
        self._address = address
        self.come()

    @property
    def next_seq(self) -> int:
        """The number that the table's next event will have, counted from 1."""
        return len(self.made) + 1

    def come(self) -> None:
        """Connect to the broker with the next boot number, and publish the table's state, as a table does each time its
        program starts."""
        self._boot += 1
        self.connect()

    def connect(self) -> None:
        """Connect to the broker, and publish the table's state with an unchanged boot number, as a table does when its
        network was interrupted."""
        on = self.topics
        topics = (on.ack, on.award, on.meters, on.pit_key, on.cosigned)
        self.wire = Wire(self._address, topics, (self.topics.state, offline_state(self.table, self.epoch, self._boot)))
        self.say_state()

    def go(self) -> None:
        """Publish that the table is offline, and disconnect from the broker."""
        self.wire.say(self.topics.state, offline_state(self.table, self.epoch, self._boot), retain=True)
        self.wire.close()

    def say_state(self, key: SigningKey | None = None) -> None:
        """Publish the table's state. With `key`, the state contains this key as the table's own, as the state of an
        impostor would."""
        self.wire.say(self.topics.state, self.state(key), retain=True)

    def state(self, key: SigningKey | None = None) -> bytes:
        """Return the bytes of the table's present state. With `key`, the state contains this key as the table's own, as
        the state of an impostor would."""
        now = State(
            version="conformance",
            program_digest=NO_CHAIN,
            config_digest=NO_CHAIN,
            digest=NO_CHAIN,
            public_key=(key or self.key).public.hex(),
            phase="wagers_open",
            shoe=self.shoe,
            round=self.round or None,
            next_round=self.round + 1,
            fault=None,
            links=Links(shoe=True, journal=True),
            meters=(),
            pit="well",
            head_seq=len(self.made),
            unacknowledged=0,
            oldest_unacknowledged_at=None,
            broker=f"{self._address.host}:{self._address.port}",
            online=True,
            table=self.table,
            epoch=self.epoch,
            boot=self._boot,
            contract=CONTRACT_VERSION,
        )
        return online_state(now)

    # Making events.

    def event(
        self, body: Mapping[str, object], seq: int | None = None, signer: SigningKey | None = None, **other: object
    ) -> bytes:
        """Return the bytes of an event with this body. The event gets the number `seq`; if `seq` is None, it gets the
        next number. The event is neither sent nor added to the table's events.

        `other` gives fields that replace fields of the event. The event is signed by the table's key, or by `signer` if
        one is given.
        """
        seq = seq or self.next_seq
        message: Message = {
            "id": f"{self.table}/{self.epoch}/{seq}",
            "contract": CONTRACT_VERSION,
            "table": self.table,
            "epoch": self.epoch,
            "seq": seq,
            "at": now_text(),
            "clock_synchronised": True,
            "shoe": self.shoe,
            "round": None,
            "chain": self.chain_of(seq),
            **body,
        }
        return signed({**message, **other}, signer or self.key)

    def make(self, body: Mapping[str, object], **other: object) -> bytes:
        """Make the table's next event from this body, add its bytes to the list `made`, and return them. `other` gives
        fields that replace fields of the event. The event is not sent."""
        self.made.append(self.event({**body, **other}))
        return self.made[-1]

    def chain_of(self, seq: int) -> str:
        """Return the text that event number `seq` of this table has in its field `chain`: a hash in hexadecimal. For
        `seq` 0 these are 64 zeros."""
        return hashlib.sha256(f"{self.table}/{self.epoch}/{seq}".encode()).hexdigest() if seq else NO_CHAIN

    def reset(self) -> Message:
        """Return the body of an event that changes no meter: a person reset the hit of seat 1."""
        return {"type": "hit_reset", "seats": [1], "by": "Kit"}

    def lock(
        self,
        meter: str,
        seats: Sequence[int],
        price_cents: int = LOCK_CENTS,
        refused: Sequence[int] = (),
        also: Sequence[str] = (),
        spots: Sequence[str] = (SPOT,),
    ) -> Message:
        """Begin the next round, and return the body of the event that locks its wagers.

        Each seat in `seats` has a progressive wager of `price_cents`. A part of each wager is added to the meter
        `meter` and to each meter in `also`. The wagers of the seats in `refused` are refused. The event lists the same
        bet once for each of the `spots`.
        """
        self.round += 1
        bet = {"price_cents": price_cents, "meters": [meter, *also], "refused_seats": list(refused)}
        bet |= {"seats": list(seats), "refusal": "pit_stale" if refused else None}
        return {
            "type": "wagers_locked",
            "round": self.round,
            "by": "dealer",
            "progressive": [{"spot": spot, **bet} for spot in spots],
            "wagers": [],
            "refused": [],
            "in_play": [],
            "actives": None,
            "told": None,
        }

    def shoe_closed(self) -> Message:
        """Return the body of the event that closes the shoe. As long as a table has locked wagers, the pit makes the
        awards of other tables wait. The closed shoe ends that wait."""
        return {
            "type": "shoe_closed",
            "reason": "closed_early",
            "by": "Kit",
            "rounds": self.round,
            "wagered_rounds": self.round,
            "cards_left": 400,
            "commission_owed": [],
        }

    def void(self, seats: Sequence[int]) -> Message:
        """Return the body of the event that voids the round: the round ends without an outcome, and the seats in
        `seats` get their wagers back."""
        return {
            "type": "void",
            "round": self.round,
            "by": "Kit",
            "witness": None,
            "reason": "misdeal",
            "simulated": False,
            "progressive": [{"spot": SPOT, "seats": list(seats)}],
            "settlement": None,
            "hands": [],
            "held": [],
            "awards": [],
            "would_settle": None,
        }

    def dealt(self, seats: Sequence[int], winners: Sequence[int]) -> Message:
        """Return the body of the event that ends a dealt round, in which Banker wins with a natural. Each seat in
        `seats` has a progressive wager. The wagers of the seats in `winners` win."""
        return {
            "type": "round",
            "round": self.round,
            "outcome": "banker",
            **_HANDS,
            "natural": True,
            "margin": 4,
            "pairs": {"player": False, "banker": False},
            "simulated": False,
            "final_round": False,
            "cards_left": 400,
            "dragon_bonus": None,
            "progressive": [{"spot": SPOT, "seats": list(seats)}],
            "awards": [{"spot": SPOT, "seat": seat, "tier": "kit"} for seat in winners],
            "actives": None,
            "settlement": None,
            "not_read": [],
        }

    def hit(self, seat: int, won: tuple[str, str, int] | int) -> Message:
        """Return the body of the event that reports a hit of the seat in the present round. `won` is a fixed amount in
        cents, or three values: the meter, the share of the meter that was won (such as "1:10"), and the level in cents
        that the table showed."""
        progressive, fixed = None, None
        if isinstance(won, int):
            fixed = {"cents": won}
        else:
            meter, share, shown_cents = won
            progressive = {"meter": meter, "share": share, "shown_cents": shown_cents}
        bet = {"spot": SPOT, "seat": seat, "tier": "kit", "progressive": progressive, "fixed": fixed}
        return {"type": "hit", "round": self.round, **_HANDS, **bet, "not_read": [], "doubts": []}

    def award(self, step: AwardStep) -> Message:
        """Return the body of the event in which the table repeats a step of an award. The pit learns from the event
        that the step is in the table's journal."""
        fields = ("award", "hit", "seat", "tier", "meter", "cents", "step", "by")
        return {"type": "award", "round": self.round, "spot": SPOT, **{name: getattr(step, name) for name in fields}}

    # Sending them, and hearing.

    def send(self, *bodies: Mapping[str, object]) -> int:
        """Make an event from each body, and send the events to the pit. Returns the number of the last event."""
        self.wire.send(self.topics.event, [self.make(body) for body in bodies])
        return len(self.made)

    def send_bytes(self, *payloads: bytes) -> None:
        """Send these bytes unchanged on the topic of the table's events. The bytes may be no event at all, or an event
        that was sent before."""
        self.wire.send(self.topics.event, payloads)

    def acks(self, since: int = 0) -> list[AckWord]:
        """Return the pit's acknowledgements for this table's epoch (its journal). Only messages in the list of received
        messages from index `since` onwards count."""
        came = [AckWord.read(heard.message) for heard in self.wire.heard[since:] if heard.topic == self.topics.ack]
        return [ack for ack in came if ack is not None and ack.epoch == self.epoch]

    def acked(self) -> int:
        """Return the number of the event that the pit's last acknowledgement for this table's epoch (its journal)
        names; 0 if no acknowledgement has come."""
        for heard in reversed(self.wire.heard):
            ack = AckWord.read(heard.message) if heard.topic == self.topics.ack else None
            if ack is not None and ack.epoch == self.epoch:
                return ack.seq
        return 0

    def steps(self, since: int = 0) -> list[AwardStep]:
        """Return the steps of awards that the pit has sent to this table. Only messages in the list of received
        messages from index `since` onwards count."""
        came = [AwardStep.read(heard.message) for heard in self.wire.heard[since:] if heard.topic == self.topics.award]
        return [step for step in came if step is not None]

    def meters(self, since: int = 0) -> list[MetersWord]:
        """Return the pit's messages on the levels of its meters. Only messages in the list of received messages from
        index `since` onwards count."""
        came = [
            MetersWord.read(heard.message) for heard in self.wire.heard[since:] if heard.topic == self.topics.meters
        ]
        return [word for word in came if word is not None]

    def heard_on(self, topic: str, since: int = 0) -> list[Heard]:
        """Return every message that was received on `topic`. Only messages in the list of received messages from index
        `since` onwards count."""
        return [heard for heard in self.wire.heard[since:] if heard.topic == topic]


def in_words_of(contract: int, body: Message) -> Message:
    """Return an event's body in the form that an earlier version of the contract, `contract`, gave it.

    Up to version 2, the only progressive bet was `royal9`, and its hits won whole meters. Up to version 3, the field
    `final_round` was called `last_hand`.
    """
    was: dict[str, Any] = {
        "last_hand" if name == "final_round" else name: value
        for name, value in body.items()
        if name not in NEW_IN_4.get(str(body["type"]), {})
    }
    if contract >= _NAMED_SPOTS_SINCE:
        return was
    match was:
        case {"type": "wagers_locked", "progressive": [bet]}:
            was |= {"royal9_seats": bet["seats"], "royal9_price_cents": bet["price_cents"]}
            was |= {name: bet[name] for name in ("refused_seats", "refusal")}
            del was["progressive"]
        case {"type": "void", "progressive": [bet]}:
            was |= {"royal9_seats": bet["seats"]}
            del was["progressive"]
        case {"type": "round", "progressive": [bet], "awards": list(awards)}:
            won = [{name: award[name] for name in ("seat", "tier")} for award in awards]
            was |= {"royal9_seats": bet["seats"], "royal9": won}
            del was["progressive"], was["awards"]
        case {"type": "hit", "progressive": progressive}:
            del was["spot"]
            if progressive is not None:
                was["progressive"] = {name: progressive[name] for name in ("meter", "shown_cents")}
        case {"type": "award"}:
            del was["spot"]
    return was


_HANDS: Message = {"player": {"cards": ["2S", "3D"], "total": 5}, "banker": {"cards": ["KH", "9H"], "total": 9}}
