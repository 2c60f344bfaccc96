"""Settlement: what goes back to every bettor when a hand ends, to the cent.

A pure function of the wagers that stood and how the hand ended. Each wager is settled by itself; only the two active
seats of Baccarat Royal play each other. Money is whole cents, odds are exact fractions, and whatever does not divide
goes through the table's `Rounding`, once a wager.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Literal

from controller.game import baccarat_royal, lucky9
from controller.game.bets import Bet, Finished, bet_on, deciding
from controller.game.hands import Hand, SeatHands
from controller.game.lucky9 import Lucky9
from controller.game.play import HALF_LOST, LOST, PUSHED, Result, Verdict, won
from controller.game.seating import Actives
from controller.game.wagers import STAKE, Wager

Direction = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Rounding:
    """Where money does not divide: to whole units, which every wager is a multiple of. The defaults are choices.

    Up is in the player's favour for a pay, and in the house's for a commission. The half of a stake that goes back
    after a tie in Baccarat Royal is rounded as a pay.
    """

    unit_cents: int = 1
    pays: Direction = "up"
    commission: Direction = "up"

    def pay(self, exact: Fraction) -> int:
        """What is paid where `exact` cents are due."""
        return self._to_unit(exact, self.pays)

    def charge(self, exact: Fraction) -> int:
        """What is charged where `exact` cents of commission are due."""
        return self._to_unit(exact, self.commission)

    def _to_unit(self, exact: Fraction, direction: Direction) -> int:
        units = exact / self.unit_cents
        return self.unit_cents * (ceil(units) if direction == "up" else floor(units))


@dataclass(frozen=True, slots=True)
class Settled:
    """One wager settled, or the wager on one of the hands of a split seat, each an equal wager of its own."""

    wager: Wager
    hand: int | None
    """The number of a split seat's hand, from 1 at the left; None where the seat did not split."""

    result: Result
    stake_back_cents: int
    """What of the stake goes back. A Royal 9 that wins loses its stake all the same: its award is the whole pay."""

    pays_cents: int
    """What is won besides the stake. A progressive's amount is not known here, so 0: see `meter`."""

    commission_cents: int = 0
    """Commission taken from the pay."""

    owed_cents: int = 0
    """Commission that the seat owes from now on."""

    meter: str | None = None
    """The progressive meter that the pit awards, apart from the money here."""

    @property
    def returned_cents(self) -> int:
        """What goes back to the bettor's circle in all."""
        return self.stake_back_cents + self.pays_cents - self.commission_cents


@dataclass(frozen=True, slots=True)
class Totals:
    """A settlement's money in cents: what was staked is returned, the house's, or commission taken."""

    staked: int
    returned: int
    house: int
    """Lost to the house less what it pays, so less than nothing in a hand it loses; progressive awards are apart."""

    commission: int
    """Taken from pays."""

    commission_owed: int
    """Not money that has moved: what the seats owe from now on."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """Every wager of a hand, settled: the traditional ones first, then the optional (sheet 000), each by seat."""

    settled: tuple[Settled, ...]
    totals: Totals
    owed: tuple[tuple[int, int], ...]
    """Cents that each seat's commission ledger grows by, in the order of seats: the seated player answers for the
    back bettor behind him (sheet 001)."""


def balanced(settlement: Settlement) -> bool:
    """Whether the money adds up: wager by wager, in the totals, and between the totals and the seats' ledgers."""
    totals, settled = settlement.totals, settlement.settled
    return (
        all(0 <= one.stake_back_cents <= one.wager.cents for one in settled)
        and all(0 <= one.commission_cents + one.owed_cents <= one.pays_cents for one in settled)
        and totals.staked == sum(one.wager.cents for one in settled)
        and totals.returned == sum(one.returned_cents for one in settled)
        and totals.staked == totals.returned + totals.house + totals.commission
        and totals.commission_owed == sum(cents for _, cents in settlement.owed)
    )


def settle_punto_banco(
    bets: Sequence[Bet], rounding: Rounding, seen_at: Callable[[int], Finished], wagers: Sequence[Wager]
) -> Settlement:
    """A hand of punto banco, as each seat's bettors see it: what is printed at the seat may decide.

    Raises ValueError for a wager that the game does not have.
    """
    return _settlement(bets, (_by_rows(bets, rounding, seen_at(wager.seat), wager) for wager in wagers))


def settle_baccarat_royal(
    bets: Sequence[Bet],
    rounding: Rounding,
    actives: Actives,
    seen_at: Callable[[int], Finished],
    wagers: Sequence[Wager],
) -> Settlement:
    """A round of Baccarat Royal: the active seats play each other for the smaller of their stakes.

    The excess goes back (choice), and so does a stake that the other seat has none against. Raises ValueError for a
    wager the game does not have, and for a stake of a seat that is not active.
    """
    stakes = {wager.seat: wager.cents for wager in wagers if wager.spot == STAKE}
    played = min(stakes.get(actives.player, 0), stakes.get(actives.banker, 0))
    roles = {actives.player: Hand.PLAYER, actives.banker: Hand.BANKER}

    def settle(wager: Wager) -> Settled:
        if wager.spot != STAKE:
            return _by_rows(bets, rounding, seen_at(wager.seat), wager)
        if wager.back or wager.seat not in roles:
            raise _not_a_wager(wager)
        outcome = seen_at(wager.seat).done.outcome
        return _stake(rounding, wager, played, baccarat_royal.active_verdict(outcome, roles[wager.seat]))

    return _settlement(bets, map(settle, wagers))


def settle_lucky9(
    game: Lucky9, bets: Sequence[Bet], rounding: Rounding, wagers: Sequence[Wager], done: SeatHands
) -> Settlement:
    """A round of Lucky 9. The wager on a seat's hand, given once, lies on every hand that the seat has split into.

    Raises ValueError for a wager the game does not have, and for a seat that was not in play.
    """

    def settle(wager: Wager) -> list[Settled]:
        if wager.seat not in done.first_two:
            raise _not_a_wager(wager)
        match wager.spot:
            case lucky9.HAND:
                return [
                    _settled(
                        rounding,
                        wager,
                        lucky9.hand_verdict(game, hand, done.dealer),
                        hand.number if hand.from_split else None,
                    )
                    for hand in done.hands
                    if hand.seat == wager.seat
                ]
            case lucky9.TIE:
                return [_settled(rounding, wager, lucky9.tie_verdict(game, done, wager.seat))]
            case lucky9.BONUS:
                first_two = done.first_two[wager.seat]
                return [_settled(rounding, wager, lucky9.bonus_verdict(game, first_two, done.dealer_up))]
            case _:
                raise _not_a_wager(wager)

    return _settlement(bets, (one for wager in wagers for one in settle(wager)))


def returned(bets: Sequence[Bet], wagers: Sequence[Wager]) -> Settlement:
    """Every wager goes back: the hand is void."""
    return _settlement(bets, (Settled(wager, None, Result.RETURNED, wager.cents, 0) for wager in wagers))


def _by_rows(bets: Sequence[Bet], rounding: Rounding, finished: Finished, wager: Wager) -> Settled:
    """A wager settled by the row of its bet that decides. An award's stake never goes back, and what a meter awards is
    the pit's to pay."""
    bet = bet_on(bets, wager.spot)
    if bet is None or not bet.rows:
        raise _not_a_wager(wager)
    row = deciding(bet, finished)
    if row is None:
        return _settled(rounding, wager, LOST)
    if row.award is not None:
        return Settled(wager, None, Result.WON, 0, row.cents or 0, meter=row.meter)
    if row.pays is None:
        return _settled(rounding, wager, _VERDICTS[row.result])
    settled = _settled(rounding, wager, won(row.pays))
    parts = (row.commission_taken or Fraction(), row.commission_owed or Fraction())
    taken, owed = (rounding.charge(settled.pays_cents * part) for part in parts)
    return replace(settled, commission_cents=taken, owed_cents=owed)


_VERDICTS = {"push": PUSHED, "half": HALF_LOST, "lose": LOST, None: LOST}


def _stake(rounding: Rounding, wager: Wager, played_cents: int, verdict: Verdict) -> Settled:
    """An active seat's stake, of which `played_cents` play and the rest goes back."""
    if not played_cents:
        return Settled(wager, None, Result.RETURNED, wager.cents, 0)
    played = _settled(rounding, replace(wager, cents=played_cents), verdict)
    return replace(played, wager=wager, stake_back_cents=played.stake_back_cents + wager.cents - played_cents)


def _settled(rounding: Rounding, wager: Wager, verdict: Verdict, hand: int | None = None) -> Settled:
    """A wager that keeps or loses its stake by the verdict, and is paid by it."""
    match verdict.result:
        case Result.LOST:
            back = 0
        case Result.HALF_LOST:
            back = rounding.pay(Fraction(wager.cents, 2))
        case Result.WON | Result.PUSHED | Result.RETURNED:
            back = wager.cents
    return Settled(wager, hand, verdict.result, back, rounding.pay(wager.cents * verdict.to_one))


def _settlement(bets: Sequence[Bet], settled: Iterable[Settled]) -> Settlement:
    place = {bet.spot: (bet.optional, number) for number, bet in enumerate(bets)}

    def order(each: Settled) -> tuple[bool, int, bool, int, int]:
        optional, number = place[each.wager.spot]
        return optional, each.wager.seat, each.wager.back, number, each.hand or 0

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
