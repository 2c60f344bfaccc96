"""Settles wagers: computes to the cent what goes back to every bettor when a round ends.

Settlement is a pure function of the wagers that counted and of the finished round. Each wager is settled by itself;
only the wagers of two active seats are set against each other. Money is whole cents and odds are exact fractions. If an
amount is not a whole number of cents, the table's `Rounding` decides, once for each wager.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from controller.rules.game.bets import Bet, Finished, Row, bet_on, deciding, deciding_of
from controller.rules.game.play import Result
from controller.rules.game.wagers import Wager

Direction = Literal["up", "down"]


class Rounding(Struct, frozen=True, forbid_unknown_fields=True):
    """How an amount is rounded to a multiple of the unit, if it is not a multiple already. Every wager is a multiple of
    the unit. The rule sheets do not say how to round, so the defaults are this program's choice.

    Rounding up is in the player's favour for a payment, and in the house's favour for a commission. The half of a stake
    that goes back after a tie in Baccarat Royal is rounded like a payment.
    """

    unit_cents: int = 1
    """Money is rounded to a multiple of this, each wager by itself."""

    pays: Direction = "up"
    """How a pay is rounded. `"up"` is in the player's favour."""

    commission: Direction = "up"
    """How a commission is rounded. `"up"` is in the house's favour."""

    def pay(self, exact: Fraction) -> int:
        """Round an amount that is owed to a player, in cents, and return what is paid."""
        return self._to_unit(exact, self.pays)

    def charge(self, exact: Fraction) -> int:
        """Round a commission, in cents, and return what is charged."""
        return self._to_unit(exact, self.commission)

    def _to_unit(self, exact: Fraction, direction: Direction) -> int:
        units = exact / self.unit_cents
        return self.unit_cents * (ceil(units) if direction == "up" else floor(units))


class Settled(Struct, frozen=True):
    """One settled wager. If a seat has split, each of its hands has an equal wager, and each of these is settled by
    itself."""

    wager: Wager
    hand: int | None
    """The number of a split seat's hand, from 1 at the left; None where the seat did not split."""

    result: Result
    stake_back_cents: int
    """How much of the stake goes back. A wager that wins an award loses its stake, unless the bet's awards return
    it."""

    pays_cents: int
    """What is won beside the stake. 0 for an award of a meter: the table does not know its amount, see `meter`."""

    commission_cents: int = 0
    """Commission taken from the pay."""

    owed_cents: int = 0
    """Commission that the seat owes from now on."""

    meter: str | None = None
    """The progressive meter from which the pit pays the award. No amount here contains that award."""

    @property
    def returned_cents(self) -> int:
        """Return the cents that the bettor gets back: the stake, if it goes back, and the win less its commission."""
        return self.stake_back_cents + self.pays_cents - self.commission_cents


class Totals(Struct, frozen=True):
    """The sums over all wagers of a round, in cents. What was staked equals what is returned, plus what the house
    keeps, plus the commission taken."""

    staked: int
    returned: int
    house: int
    """What the house wins less what it pays, without commission and without awards of meters. Negative for a round that
    the house loses."""

    commission: int
    """Commission taken from pays."""

    commission_owed: int
    """What the seats owe from now on. This money has not moved yet."""


class Settlement(Struct, frozen=True):
    """All settled wagers of a round: first the traditional wagers, then the optional wagers (sheet 000), each group
    sorted by seat."""

    settled: tuple[Settled, ...]
    totals: Totals
    owed: tuple[tuple[int, int], ...]
    """By seat, the cents that its owed commission grows by. The seated player owes for the back bettor behind the seat
    too (sheet 001)."""


def settle(
    bets: Sequence[Bet], rounding: Rounding, seen_at: Callable[[int], Sequence[Finished]], wagers: Sequence[Wager]
) -> Settlement:
    """Settle a round's wagers by the pay tables of their bets. The function `seen_at` takes a seat's number. It returns
    the finished round in the form in which that seat's bets are judged, once for each hand that the seat has.

    If the two active seats have unequal stakes, `Bet.unequal_stakes` says how much of each stake counts. If only one of
    the active seats has a stake, that stake goes back. Raises ValueError for a wager that the game, or its seat, does
    not have.
    """

    def settled(wager: Wager) -> Iterable[Settled]:
        bet, seen = bet_on(bets, wager.spot), seen_at(wager.seat)
        if bet is None or not seen:
            raise _not_a_wager(wager)
        if bet.between_actives:
            if wager.back or not any("own" in names for names in seen[0].names):
                raise _not_a_wager(wager)
            stakes = [other.cents for other in wagers if other.spot == bet.spot]
            most = wager.cents if bet.unequal_stakes == "house_covers" else min(stakes)
            return [_stake(rounding, bet, wager, most if len(stakes) == 2 else 0, deciding(bet, seen[0]))]
        if bet.each_hand:
            return [settled_by_row(rounding, bet, wager, deciding(bet, one), one.number) for one in seen]
        return [settled_by_row(rounding, bet, wager, deciding_of(bet, seen))]

    return _settlement(bets, (one for wager in wagers for one in settled(wager)))


def result_of(row: Row | None) -> Result:
    """Return the result of a wager that the pay-table row `row` decides. If `row` is None, the wager is lost."""
    if row is None:
        return Result.LOST
    return Result.WON if row.result is None else _RESULTS[row.result]


def returned(bets: Sequence[Bet], wagers: Sequence[Wager]) -> Settlement:
    """Return the settlement of a round without a result, in which every wager goes back to its bettor."""
    return _settlement(bets, (Settled(wager, None, Result.RETURNED, wager.cents, 0) for wager in wagers))


def settled_by_row(rounding: Rounding, bet: Bet, wager: Wager, row: Row | None, hand: int | None = None) -> Settled:
    """Settle a wager by the pay-table row that decides it. If the row gives an award, the award is the whole pay. An
    award of a meter counts as 0 here, because the pit pays it. `hand` numbers the hand of a seat that has split."""
    result = result_of(row)
    if row is not None and row.award is not None:
        back = wager.cents if bet.awards_return_stake else 0
        return Settled(wager, hand, result, back, row.cents or 0, meter=row.meter)
    match result:
        case Result.LOST:
            back = 0
        case Result.HALF_LOST:
            back = rounding.pay(Fraction(wager.cents, 2))
        case Result.WON | Result.PUSHED | Result.RETURNED:  # pragma: no branch: the last result
            back = wager.cents
    if row is None or row.pays is None:
        return Settled(wager, hand, result, back, 0)
    pays = rounding.pay(wager.cents * row.pays)
    if bet.pays_at_most_cents is not None:
        pays = min(pays, bet.pays_at_most_cents)
    taken, owed = (rounding.charge(pays * (part or Fraction())) for part in (row.commission_taken, row.commission_owed))
    return Settled(wager, hand, result, back, pays, taken, owed)


_RESULTS = {"push": Result.PUSHED, "half": Result.HALF_LOST, "lose": Result.LOST}


def _stake(rounding: Rounding, bet: Bet, wager: Wager, played_cents: int, row: Row | None) -> Settled:
    """Settle the stake of an active seat. Only `played_cents` of the stake can win or lose, and the rest goes back."""
    if not played_cents:
        return Settled(wager, None, Result.RETURNED, wager.cents, 0)
    played = settled_by_row(rounding, bet, replace(wager, cents=played_cents), row)
    return replace(played, wager=wager, stake_back_cents=played.stake_back_cents + wager.cents - played_cents)


def _settlement(bets: Sequence[Bet], settled: Iterable[Settled]) -> Settlement:
    place = {bet.spot: (bet.optional, number) for number, bet in enumerate(bets)}

    def order(settled: Settled) -> tuple[bool, int, bool, int, int]:
        optional, number = place[settled.wager.spot]
        return optional, settled.wager.seat, settled.wager.back, number, settled.hand or 0

    ordered = tuple(sorted(settled, key=order))
    owed: Counter[int] = Counter()
    for one in ordered:
        owed[one.wager.seat] += one.owed_cents
    return Settlement(ordered, _totals(ordered), tuple(sorted((+owed).items())))


def _totals(settled: Sequence[Settled]) -> Totals:
    return Totals(
        staked=sum(one.wager.cents for one in settled),
        returned=sum(one.returned_cents for one in settled),
        house=sum(one.wager.cents - one.stake_back_cents - one.pays_cents for one in settled),
        commission=sum(one.commission_cents for one in settled),
        commission_owed=sum(one.owed_cents for one in settled),
    )


def _not_a_wager(wager: Wager) -> ValueError:
    return ValueError(f"seat {wager.seat} has no wager on {wager.spot} in this game")
