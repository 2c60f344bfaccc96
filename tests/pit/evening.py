"""A table's evening made by hand: a stream of signed events, numbered in order, with the fields that a pit reads."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence

from controller.contract.keys import SigningKey

EPOCH = "ab12cd"
KEY = SigningKey(bytes(32))
PRICE_CENTS = 500
SPOT = "royal9"


def _bytes(message: dict[str, object]) -> bytes:
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


ROYAL9_METERS = ("personal_vs_personal", "banker_personal", "player_personal")
"""The meters that the shipped Royal 9 bet awards."""


class TableEvening:
    """The stream of one table. Each call makes the next event, and `sent` holds all events. The table's bet feeds the
    `meters`."""

    def __init__(self, table: str, meters: Iterable[str] = ("big", "small")) -> None:
        self.table = table
        self.meters = [*meters]
        self.sent: list[bytes] = []
        self.shoe, self.round = 1, 0
        self.at = "2026-01-01T20:00:00.000Z"  # by the table's clock

    def state(self, head_seq: int | None = None) -> bytes:
        """Return the table's retained state message. It names the number of the last event sent, or `head_seq`."""
        message = {"online": True, "table": self.table, "epoch": EPOCH, "public_key": KEY.public.hex()}
        return _bytes(message | {"head_seq": len(self.sent) if head_seq is None else head_seq})

    def lock(self, *seats: int, price_cents: int = PRICE_CENTS) -> bytes:
        """Return the event that locks the next round's wagers at these seats."""
        return self.lock_on((SPOT, seats, price_cents, self.meters))

    def lock_on(self, *bets: tuple[str, Sequence[int], int, Sequence[str]], word: bytes | None = None) -> bytes:
        """Return the event that locks the next round's wagers. `bets` has each bet's spot, its seats, its price in
        cents, and the meters that it feeds. `word` is the pit's signed message whose levels the table showed."""
        self.round += 1
        locked = [
            {"spot": spot, "seats": [*seats], "price_cents": price_cents, "meters": [*meters]}
            for spot, seats, price_cents, meters in bets
        ]
        told = {} if word is None else {"told": {"word": json.loads(word), "ago_ms": 500}}
        return self.say("wagers_locked", progressive=locked, **told)

    def void(self, *seats: int) -> bytes:
        return self.void_on((SPOT, seats)) if seats else self.void_on()

    def void_on(self, *bets: tuple[str, Sequence[int]]) -> bytes:
        """Return the event that voids the round. `bets` has for each bet the seats that had a wager."""
        return self.say("void", progressive=[{"spot": spot, "seats": [*seats]} for spot, seats in bets])

    def finish(self, *winners: tuple[int, str]) -> bytes:
        """Return the event of the finished round, with the winning seats and their tiers."""
        return self.say("round", simulated=False, awards=_tiers(winners))

    def hit(
        self, seat: int, tier: str, won: str | int, share: str = "1:1", spot: str = SPOT, doubts: Sequence[str] = ()
    ) -> bytes:
        """Return the event of a winning wager, which wins a share of a meter or fixed cents. `doubts` are the table's
        doubts about the round."""
        progressive = {"meter": won, "share": share} if isinstance(won, str) else None
        fixed = {"cents": won} if isinstance(won, int) else None
        won_as = {"progressive": progressive, "fixed": fixed}
        return self.say("hit", spot=spot, seat=seat, tier=tier, doubts=[*doubts], **won_as)

    def award(self, hit: bytes, step: str, cents: int, by: str = "pit") -> bytes:
        """Return the table's event about a step of the award for the event `hit`."""
        told = json.loads(hit)
        return self.say(
            "award", award=f"{self.table}.1", hit=told["id"], seat=told["seat"], step=step, cents=cents, by=by
        )

    def correction(self, before: tuple[tuple[int, str], ...], now: tuple[tuple[int, str], ...]) -> bytes:
        return self.say("correction", awards=_tiers(now), awards_before=_tiers(before))

    def say(self, event_type: str, **fields: object) -> bytes:
        """Return an event of any type in the present round, with these fields."""
        seq = len(self.sent) + 1
        message: dict[str, object] = {"shoe": self.shoe, "round": self.round} | fields
        message = {"contract": 4} | message | {"type": event_type, "table": self.table, "epoch": EPOCH, "seq": seq}
        message |= {"id": f"{self.table}/{EPOCH}/{seq}", "chain": f"{seq:064x}"}
        message |= {"at": self.at, "clock_synchronised": True}
        signature = base64.b64encode(KEY.sign(_bytes(message))).decode()
        self.sent.append(_bytes(message | {"signature": signature}))
        return self.sent[-1]


def _tiers(winners: tuple[tuple[int, str], ...]) -> list[dict[str, object]]:
    return [{"spot": SPOT, "seat": seat, "tier": tier} for seat, tier in winners]
