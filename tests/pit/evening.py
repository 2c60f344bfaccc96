"""Events of a table, made by hand for the pit's tests: signed, numbered in order, and with the fields that a pit
reads."""

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
    """The stream of events that one table sends to the pit. Most methods make the next event, and `sent` holds all
    events so far. The wagers on the table's progressive bet add money to the `meters`."""

    def __init__(self, table: str, meters: Iterable[str] = ("big", "small")) -> None:
        self.table = table
        self.meters = [*meters]
        self.sent: list[bytes] = []
        self.shoe, self.round = 1, 0
        self.at = "2026-01-01T20:00:00.000Z"  # by the table's clock

    def state(self, head_seq: int | None = None) -> bytes:
        """Return the table's state message, which a broker would retain. The message names `head_seq` as the number of
        the table's last event. Without `head_seq` the true number is used."""
        message = {"online": True, "table": self.table, "epoch": EPOCH, "public_key": KEY.public.hex()}
        return _bytes(message | {"head_seq": len(self.sent) if head_seq is None else head_seq})

    def lock(self, *seats: int, price_cents: int = PRICE_CENTS) -> bytes:
        """Make the event that closes the betting of the next round, with progressive wagers at these seats."""
        return self.lock_on((SPOT, seats, price_cents, self.meters))

    def lock_on(self, *bets: tuple[str, Sequence[int], int, Sequence[str]], word: bytes | None = None) -> bytes:
        """Make the event that closes the betting of the next round. Each item of `bets` has a bet's spot, its seats,
        its price in cents, and the meters that it feeds. `word` is the pit's signed message with the meter levels that
        the table showed."""
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
        """Make the event that voids the present round. Each item of `bets` has a bet's spot and the seats whose wagers
        on it are voided."""
        return self.say("void", progressive=[{"spot": spot, "seats": [*seats]} for spot, seats in bets])

    def finish(self, *winners: tuple[int, str]) -> bytes:
        """Make the event of the finished round. Each item of `winners` is a winning seat and the tier (the class of
        award) that the seat won."""
        return self.say("round", simulated=False, awards=_tiers(winners))

    def hit(
        self, seat: int, tier: str, won: str | int, share: str = "1:1", spot: str = SPOT, doubts: Sequence[str] = ()
    ) -> bytes:
        """Make the event of a winning wager. `won` is the name of a meter, of which the wager wins the fraction
        `share`, or an amount in cents. `doubts` are the codes by which the table says why it doubts the round."""
        progressive = {"meter": won, "share": share} if isinstance(won, str) else None
        fixed = {"cents": won} if isinstance(won, int) else None
        won_as = {"progressive": progressive, "fixed": fixed}
        return self.say("hit", spot=spot, seat=seat, tier=tier, doubts=[*doubts], **won_as)

    def award(self, hit: bytes, step: str, cents: int, by: str = "pit") -> bytes:
        """Make the event by which the table reports a step of an award. The event `hit` is the award's hit. `step` is,
        for example, "paid", `cents` is the award's amount, and `by` is the name of the person who took the step, or
        "pit"."""
        told = json.loads(hit)
        return self.say(
            "award", award=f"{self.table}.1", hit=told["id"], seat=told["seat"], step=step, cents=cents, by=by
        )

    def correction(self, before: tuple[tuple[int, str], ...], now: tuple[tuple[int, str], ...]) -> bytes:
        return self.say("correction", awards=_tiers(now), awards_before=_tiers(before))

    def say(self, event_type: str, **fields: object) -> bytes:
        """Make an event of any type in the present round, with these fields."""
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
