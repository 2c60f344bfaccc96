"""What a table sends in an evening, made by hand: signed events, numbered in order, with the fields a pit goes by."""

from __future__ import annotations

import base64
import json

from controller.keys import SigningKey

EPOCH = "ab12cd"
KEY = SigningKey(bytes(32))
PRICE_CENTS = 500


def _bytes(message: dict[str, object]) -> bytes:
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class TableEvening:
    """One table's stream. Each call is the next event; `sent` holds them all."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.sent: list[bytes] = []
        self.round = 0

    def state(self, head_seq: int | None = None) -> bytes:
        """Its retained state: that it has sent everything, or has so much."""
        message = {"online": True, "table": self.table, "epoch": EPOCH, "public_key": KEY.public.hex()}
        return _bytes(message | {"head_seq": len(self.sent) if head_seq is None else head_seq})

    def lock(self, *seats: int, price_cents: int = PRICE_CENTS) -> bytes:
        """The next hand's wagers."""
        self.round += 1
        return self.say("wagers_locked", royal9_seats=[*seats], royal9_price_cents=price_cents)

    def void(self, *seats: int) -> bytes:
        return self.say("void", royal9_seats=[*seats], simulated=False)

    def finish(self, *winners: tuple[int, str]) -> bytes:
        """The hand's round, with the winning seats and their tiers."""
        return self.say("round", simulated=False, royal9=_tiers(winners))

    def hit(self, seat: int, tier: str, won: str | int) -> bytes:
        """A winning wager: a meter, or fixed cents."""
        progressive = {"meter": won} if isinstance(won, str) else None
        fixed = {"cents": won} if isinstance(won, int) else None
        return self.say("hit", seat=seat, tier=tier, progressive=progressive, fixed=fixed)

    def award(self, hit: bytes, step: str, cents: int, by: str = "pit") -> bytes:
        """The table's word on a step of the award for one of its hits."""
        told = json.loads(hit)
        return self.say(
            "award", award=f"{self.table}.1", hit=told["id"], seat=told["seat"], step=step, cents=cents, by=by
        )

    def correction(self, before: tuple[tuple[int, str], ...], now: tuple[tuple[int, str], ...]) -> bytes:
        return self.say("correction", royal9=_tiers(now), royal9_before=_tiers(before))

    def say(self, event_type: str, **fields: object) -> bytes:
        """Any event of the hand."""
        seq = len(self.sent) + 1
        message: dict[str, object] = {"shoe": 1, "round": self.round} | fields
        message |= {"type": event_type, "contract": 1, "table": self.table, "epoch": EPOCH, "seq": seq}
        message |= {"id": f"{self.table}/{EPOCH}/{seq}", "chain": f"{seq:064x}"}
        message |= {"at": "2026-01-01T20:00:00.000Z", "clock_synchronised": True}
        signature = base64.b64encode(KEY.sign(_bytes(message))).decode()
        self.sent.append(_bytes(message | {"signature": signature}))
        return self.sent[-1]


def _tiers(winners: tuple[tuple[int, str], ...]) -> list[dict[str, object]]:
    return [{"seat": seat, "tier": tier} for seat, tier in winners]
