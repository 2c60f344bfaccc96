"""Computes what the simulated house pays and takes for each wager, in whole cents. Fractions of a cent are rounded as
the game file says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from drivers.sim.house import CENTS_UP, Rounding
from drivers.sim.wagers import Wager


class Paid(Struct, frozen=True):
    """The outcome of one wager, in cents. `back` is the part of the stake that the bettor gets back. `pays` is what the
    house pays in addition. `commission` is what the house takes of the win.

    If `later` is True, the commission is only owed now, and collected another time. `hand` is the number of the hand at
    a seat that has split its hand. `meter` names the meter from which the pit pays.
    """

    wager: Wager
    result: str
    back: int
    pays: int = 0
    commission: int = 0
    hand: int | None = None
    meter: str | None = None
    later: bool = False


def win(
    wager: Wager,
    to: int,
    one: int = 1,
    most: int | None = None,
    *,
    commission: Fraction | None = None,
    later: bool = False,
    hand: int | None = None,
    rounding: Rounding = CENTS_UP,
) -> Paid:
    """Return the outcome of a wager that wins at odds of `to` to `one`. The house pays at most `most` cents.

    `commission` is the fraction of the win that the house takes. If `later` is True, the commission is only owed now.
    `hand` is the number of the hand at a seat that has split its hand.
    """
    pays = _rounded(Fraction(wager.cents * to, one), rounding.unit_cents, rounding.pays)
    if most is not None and pays > most:
        pays = most
    charged = _rounded(pays * (commission or Fraction()), rounding.unit_cents, rounding.commission)
    return Paid(wager, "won", wager.cents, pays, charged, hand, later=later)


def lose(wager: Wager, hand: int | None = None) -> Paid:
    """Return the outcome of a wager that loses: the house takes all of it. `hand` is the number of the hand at a seat
    that has split its hand."""
    return Paid(wager, "lost", 0, hand=hand)


def half(wager: Wager, rounding: Rounding, hand: int | None = None) -> Paid:
    """Return the outcome of a wager of which the bettor loses one half and gets the other half back. `hand` is the
    number of the hand at a seat that has split its hand."""
    return Paid(wager, "half_lost", _rounded(Fraction(wager.cents, 2), rounding.unit_cents, rounding.pays), hand=hand)


def push(wager: Wager, hand: int | None = None) -> Paid:
    """Return the outcome of a wager that neither wins nor loses: the bettor gets all of it back. `hand` is the number
    of the hand at a seat that has split its hand."""
    return Paid(wager, "pushed", wager.cents, hand=hand)


def settlement(paid: Sequence[Paid]) -> dict[str, object]:
    """Return the outcomes of a round's wagers and their totals, as a JSON object for the simulation's record."""
    taken = sum(each.commission for each in paid if not each.later)
    staked = sum(each.wager.cents for each in paid)
    returned = sum(_returned(each) for each in paid)
    return {
        "wagers": [
            each.wager.as_json()
            | {
                "hand": each.hand,
                "result": each.result,
                "pays_cents": each.pays,
                "commission_cents": each.commission,
                "returned_cents": _returned(each),
                "meter": each.meter,
            }
            for each in paid
        ],
        "totals": {
            "staked_cents": staked,
            "returned_cents": returned,
            "house_cents": staked - returned - taken,
            "commission_taken_cents": taken,
            "commission_owed_cents": sum(owed(paid).values()),
        },
    }


def owed(paid: Sequence[Paid]) -> dict[int, int]:
    """Return the commission that each seat owes after a round: a dictionary from the seat's number to cents. The amount
    includes the commission of the back bettors (who stand behind the seat), because the seated player owes it for them.
    """
    by_seat: Counter[int] = Counter()
    for each in paid:
        by_seat[each.wager.seat] += each.commission if each.later else 0
    return dict(+by_seat)


def _returned(paid: Paid) -> int:
    return paid.back + paid.pays - (0 if paid.later else paid.commission)


def _rounded(cents: Fraction, unit: int, direction: str) -> int:
    return unit * (-(-cents // unit) if direction == "up" else cents // unit)
