"""The conformance checks of a pit at which people change a meter's terms (such as its limit or the price of its wagers)
or close a meter."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from controller.contract.bounds import MOST_WAGER_CENTS
from controller.contract.pit_words import AwardStep
from controller.pit.conformance.checking import BrokenError, Checks
from controller.pit.conformance.deeds import NotTriedError
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.pit_kit import (
    Holding,
    PitKit,
    a_meter,
    committed,
    level,
    levels,
    repeated,
    win,
)
from controller.pit.conformance.wire import Message

_MORE_CENTS = 1_000
_SEATS = (1, 2, 3, 4, 5, 6, 7)
_PRICE_CENTS, _OTHER_PRICE_CENTS = 700, 500

CHECKS: Checks[PitKit] = Checks()
_clause = CHECKS.clause


@_clause("P45")
def _terms_wait(kit: PitKit) -> None:
    kit.limited = _limited(kit)


def _limited(kit: PitKit) -> tuple[FarTable, str, int, Fraction]:
    """Have people set a limit for a meter's level. Check that the limit has no effect until the meter is won, and win
    the meter.

    Returns the table, the meter, the limit in cents, and the part of a wager that the pit adds to the meter.
    """
    table = kit.new_table()
    meter = a_meter(table)
    share = kit.share(table, meter)
    limit_cents = level(table, meter) + _MORE_CENTS
    kit.deeds.do("limit", meter=meter, limit_cents=str(limit_cents))

    def beyond(what: str) -> None:
        """Make a wager that brings the meter above its new limit, and check that the pit adds the whole share of the
        wager. The limit has no effect before the meter is won. `what` names in the error's text what happened before.
        """
        holds = Holding(table, meter)
        price_cents = ceil((max(0, limit_cents - level(table, meter)) + _MORE_CENTS) / share)
        table.send(table.lock(meter, (1,), price_cents))
        committed(table)
        holds.moved(share * price_cents, f"{what} of a meter whose new limit waits, and a wager beyond that limit")

    beyond("the approval of a limit")
    _win(table, meter, "1:10")
    beyond("a hit of a tenth")
    kit.restart(table)
    beyond("a restart")
    won = _win(table, meter)
    if won.cents <= limit_cents:
        raise BrokenError(f"A limit of {limit_cents} cents was to wait until {meter} is won. The win is {won.cents}.")
    return table, meter, limit_cents, share


@_clause("P46")
def _limit(kit: PitKit) -> None:
    table, meter, limit_cents, share = kit.limited or _limited(kit)

    def must_show(what: str) -> None:
        if (now_cents := level(table, meter)) != limit_cents:
            raise BrokenError(f"After {what} {meter} shows {now_cents} cents, and must show its limit {limit_cents}.")

    price_cents = min(MOST_WAGER_CENTS, ceil(5 * limit_cents / share / len(_SEATS)))
    table.send(table.lock(meter, _SEATS, price_cents))
    committed(table)
    must_show("wagers that fill it five times")
    table.send(table.void((7,)))
    committed(table)
    must_show("a void")
    won = _win(table, meter)
    if won.cents != limit_cents:
        raise BrokenError(f"{meter} showed its limit of {limit_cents} cents, and the hit won {won.cents}.")
    must_show("a win, where its overflow fills it again,")
    kit.restart(table)
    must_show("a restart")
    _win(table, meter)
    must_show("a second win, where the overflow of before the restart fills it again,")


@_clause("P47")
def _price(kit: PitKit) -> None:
    table, other = kit.new_table(), kit.new_table()
    meter = a_meter(table)
    kit.deeds.do("price", meter=meter, price_cents=str(_PRICE_CENTS))
    what = f"a wager of {_OTHER_PRICE_CENTS} cents on {meter}, whose one price is {_PRICE_CENTS},"
    _must_wait(table, table.lock(meter, (1,), _OTHER_PRICE_CENTS), what)
    other.send(other.lock(meter, (1,), _PRICE_CENTS))
    committed(other)
    kit.deeds.do("price", meter=meter, price_cents=str(_OTHER_PRICE_CENTS))
    table.round -= 1
    table.send(table.lock(meter, (1,), _OTHER_PRICE_CENTS))
    committed(table)


@_clause("P48")
def _closed(kit: PitKit) -> None:
    table = kit.new_table()
    a_meter(table)
    _, meter, into, *_ = [*sorted(levels(table)), "", ""]
    if not into:
        raise NotTriedError("the pit has fewer than three meters: give the pit a third one")
    won = _win(table, meter, "1:10")
    if kit.deeds.refusal("close", meter=meter, into=into) is None:
        raise BrokenError(f"The pit let people close {meter} while award {won.award} of it was not decided on.")
    kit.decide("verify", table, won)
    kit.decide("pay", table, won)
    before = levels(table)
    kit.deeds.do("close", meter=meter, into=into)
    table.send(table.reset())
    committed(table)
    now = levels(table)
    if meter in now:
        raise BrokenError(f"{meter} is closed, and the word on the meters has it still.")
    due_cents = before[meter] + before[into]
    if not due_cents <= now[into] <= due_cents + 1:  # two parts of a cent can make one
        raise BrokenError(f"{meter} had {before[meter]} cents and {into} {before[into]}. Now {into} has {now[into]}.")
    _must_wait(table, table.lock(meter, (1,)), f"a wager on {meter}, which is closed,")


def _win(table: FarTable, meter: str, share: str = "1:1") -> AwardStep:
    """Lock the wagers of a new round, and end the round with a hit of seat 1 that wins this share of the meter ("1:1"
    is all of it). Returns the award."""
    table.send(table.lock(meter, (1,)))
    return win(table, meter, share)


def _must_wait(table: FarTable, body: Message, what: str) -> None:
    """Send an event with this body, and the event after it. Raises BrokenError if the pit commits either of them.
    `what` describes the first event in the error's text."""
    for payload in (table.event(body), table.event(table.reset(), table.next_seq + 1)):
        since = len(table.wire.heard)
        table.send_bytes(payload)
        repeated(table, since, f"{what} or the event after it,")
