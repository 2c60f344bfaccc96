"""A table's end of the wire without a table: it says what a check wants said, signed as a table's events are.

The events are the contract's own examples, with the fields that a check replaces.
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
    """A table on the wire: its id, its epoch, its key, and the events that it has made so far.

    `next_seq` numbers the next event. `chain_of(seq)` is the chain of the event that was made with that number.
    """

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
        """The number of the event that is made next."""
        return len(self.made) + 1

    def come(self) -> None:
        """Connect, and say the table's state, as at each start of a table's program."""
        self._boot += 1
        self.connect()

    def connect(self) -> None:
        """Connect, and say the table's state, as after a cut of the network: the program is the same."""
        on = self.topics
        topics = (on.ack, on.award, on.meters, on.pit_key, on.cosigned)
        self.wire = Wire(self._address, topics, (self.topics.state, offline_state(self.table, self.epoch, self._boot)))
        self.say_state()

    def go(self) -> None:
        """Say goodbye and leave."""
        self.wire.say(self.topics.state, offline_state(self.table, self.epoch, self._boot), retain=True)
        self.wire.close()

    def say_state(self, key: SigningKey | None = None) -> None:
        """Say the state; with another key, as a thief of the table's name would."""
        self.wire.say(self.topics.state, self.state(key), retain=True)

    def state(self, key: SigningKey | None = None) -> bytes:
        """The state as it is now; with another key, as a thief of the table's name would say it."""
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
        """The bytes of the next event, or of event `seq`, not sent and not remembered. `other` replaces fields.

        With `signer`, another key signs than the table's own.
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
        """The next event's bytes, remembered as made."""
        self.made.append(self.event({**body, **other}))
        return self.made[-1]

    def chain_of(self, seq: int) -> str:
        """The chain of event `seq`; 64 zeros at 0."""
        return hashlib.sha256(f"{self.table}/{self.epoch}/{seq}".encode()).hexdigest() if seq else NO_CHAIN

    def reset(self) -> Message:
        """An event that moves nothing: somebody saw to the hit of seat 1."""
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
        """Wagers of the next round are locked: these seats wager on a bet that feeds this meter, others are refused.

        The bet feeds the meters `also` too. With several `spots`, there is such a bet at each.
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
        """The shoe is over: no award waits for this table's locks any more."""
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
        """The round is over without an outcome: these seats' wagers go back."""
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
        """The round is dealt: Banker wins with a natural, and the bets of `winners` win."""
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
        """A hit of the round: of a meter (its name, the share, what was shown), or of a fixed amount in cents."""
        progressive, fixed = None, None
        if isinstance(won, int):
            fixed = {"cents": won}
        else:
            meter, share, shown_cents = won
            progressive = {"meter": meter, "share": share, "shown_cents": shown_cents}
        bet = {"spot": SPOT, "seat": seat, "tier": "kit", "progressive": progressive, "fixed": fixed}
        return {"type": "hit", "round": self.round, **_HANDS, **bet, "not_read": [], "doubts": []}

    def award(self, step: AwardStep) -> Message:
        """The table's echo of an award's step: the step is in the table's journal."""
        fields = ("award", "hit", "seat", "tier", "meter", "cents", "step", "by")
        return {"type": "award", "round": self.round, "spot": SPOT, **{name: getattr(step, name) for name in fields}}

    # Sending them, and hearing.

    def send(self, *bodies: Mapping[str, object]) -> int:
        """Make these events and send them; the number of the last."""
        self.wire.send(self.topics.event, [self.make(body) for body in bodies])
        return len(self.made)

    def send_bytes(self, *payloads: bytes) -> None:
        """Send bytes that are no event of this table's stream, or an event of the stream again."""
        self.wire.send(self.topics.event, payloads)

    def acks(self, since: int = 0) -> list[AckWord]:
        """The acks of this epoch that came, from message number `since` on."""
        came = [AckWord.read(heard.message) for heard in self.wire.heard[since:] if heard.topic == self.topics.ack]
        return [ack for ack in came if ack is not None and ack.epoch == self.epoch]

    def acked(self) -> int:
        """The number of the event that the last ack of this epoch names; 0 where none came."""
        for heard in reversed(self.wire.heard):
            ack = AckWord.read(heard.message) if heard.topic == self.topics.ack else None
            if ack is not None and ack.epoch == self.epoch:
                return ack.seq
        return 0

    def steps(self, since: int = 0) -> list[AwardStep]:
        """The awards' steps that came, from message number `since` on."""
        came = [AwardStep.read(heard.message) for heard in self.wire.heard[since:] if heard.topic == self.topics.award]
        return [step for step in came if step is not None]

    def meters(self, since: int = 0) -> list[MetersWord]:
        """The words on the meters that came, from message number `since` on."""
        came = [
            MetersWord.read(heard.message) for heard in self.wire.heard[since:] if heard.topic == self.topics.meters
        ]
        return [word for word in came if word is not None]

    def heard_on(self, topic: str, since: int = 0) -> list[Heard]:
        """Every message that came on a topic, from message number `since` on."""
        return [heard for heard in self.wire.heard[since:] if heard.topic == topic]


def in_words_of(contract: int, body: Message) -> Message:
    """The body of an event as a table said it under an earlier version of the contract.

    Until version 2 the one progressive bet was `royal9`, and its hits won whole meters. Until version 3 `final_round`
    was `last_hand`.
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
