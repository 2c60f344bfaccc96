"""Settlement: what goes back to every bettor when a hand ends, to the cent.

A pure function of the wagers that stood and how the hand ended. Each wager is settled by itself; only the two active
seats of Baccarat Royal play each other. Money is whole cents, odds are exact fractions, and whatever does not divide
goes through the table's `Rounding`, once a wager.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Literal

from controller.game import baccarat, baccarat_royal, lucky9
from controller.game.baccarat import Hand, Outcome
from controller.game.baccarat_royal import Actives, BaccaratRoyal
from controller.game.dragon_bonus import DragonBonusPays, dragon_bonus
from controller.game.dragon_bonus import Result as DragonResult
from controller.game.lucky9 import Lucky9
from controller.game.play import LOST, PUSHED, Result, Verdict, won
from controller.game.royal9 import Award
from controller.game.wagers import TRADITIONAL, Spot, Wager

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
class PuntoBancoPays:
    """What the traditional wagers pay to one, and the commission on what a Banker wager wins."""

    player: Fraction
    banker: Fraction
    tie: Fraction
    banker_commission: Fraction
    """The part of the win that is charged: 1/20 for five in a hundred."""

    commission: Literal["taken", "owed"]
    """Taken from the pay (sheet 000), or owed by the seat and collected later (sheets 001, 004)."""


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
    pays: PuntoBancoPays,
    rounding: Rounding,
    dragon_bonus_pays: DragonBonusPays | None,
    royal9_awards: Mapping[int, Award | None],
    wagers: Sequence[Wager],
    done: baccarat.Done,
) -> Settlement:
    """A hand of punto banco. `royal9_awards` has every seat with a Royal 9 wager: its award, None where it lost.

    Raises ValueError for a wager that the game, or this table of it, does not have.
    """

    def settle(wager: Wager) -> Settled:
        match wager.spot:
            case Spot.ROYAL9 if wager.seat in royal9_awards:
                return _royal9(wager, royal9_awards[wager.seat])
            case Spot.DRAGON_PLAYER | Spot.DRAGON_BANKER if dragon_bonus_pays is not None:
                return _settled(rounding, wager, _dragon_verdict(dragon_bonus_pays, wager.spot, done))
            case Spot.PLAYER | Spot.TIE:
                return _settled(rounding, wager, _traditional_verdict(pays, wager.spot, done.outcome))
            case Spot.BANKER:
                return _banker(pays, rounding, wager, done.outcome)
            case _:
                raise _not_a_wager(wager)

    return _settlement(map(settle, wagers))


def settle_baccarat_royal(
    game: BaccaratRoyal, rounding: Rounding, actives: Actives, wagers: Sequence[Wager], outcome: Outcome
) -> Settlement:
    """A round of Baccarat Royal: the active seats play each other for the smaller of their stakes.

    The excess goes back (choice), and so does a stake that the other seat has none against. Raises ValueError for a
    wager the game does not have, and for a stake of a seat that is not active.
    """
    stakes = {wager.seat: wager.cents for wager in wagers if wager.spot is Spot.STAKE}
    played = min(stakes.get(actives.player, 0), stakes.get(actives.banker, 0))
    roles = {actives.player: Hand.PLAYER, actives.banker: Hand.BANKER}

    def settle(wager: Wager) -> Settled:
        if wager.spot is not Spot.STAKE:
            return _settled(rounding, wager, baccarat_royal.gambler_verdict(game, wager.spot, outcome))
        if wager.back or wager.seat not in roles:
            raise _not_a_wager(wager)
        return _stake(rounding, wager, played, baccarat_royal.active_verdict(outcome, roles[wager.seat]))

    return _settlement(map(settle, wagers))


def settle_lucky9(game: Lucky9, rounding: Rounding, wagers: Sequence[Wager], done: lucky9.Done) -> Settlement:
    """A round of Lucky 9. The wager on a seat's hand, given once, lies on every hand that the seat has split into.

    Raises ValueError for a wager the game does not have, and for a seat that was not in play.
    """

    def settle(wager: Wager) -> list[Settled]:
        if wager.seat not in done.first_two:
            raise _not_a_wager(wager)
        match wager.spot:
            case Spot.HAND:
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
            case Spot.TIE:
                return [_settled(rounding, wager, lucky9.tie_verdict(game, done, wager.seat))]
            case Spot.LUCKY9_BONUS:
                first_two = done.first_two[wager.seat]
                return [_settled(rounding, wager, lucky9.bonus_verdict(game, first_two, done.dealer_up))]
            case _:
                raise _not_a_wager(wager)

    return _settlement(one for wager in wagers for one in settle(wager))


def returned(wagers: Sequence[Wager]) -> Settlement:
    """Every wager goes back: the hand is void."""
    return _settlement(Settled(wager, None, Result.RETURNED, wager.cents, 0) for wager in wagers)


def _traditional_verdict(pays: PuntoBancoPays, spot: Spot, outcome: Outcome) -> Verdict:
    to_one = {Spot.PLAYER: pays.player, Spot.BANKER: pays.banker, Spot.TIE: pays.tie}
    if spot.value == outcome.value:
        return won(to_one[spot])
    return PUSHED if outcome is Outcome.TIE else LOST


def _banker(pays: PuntoBancoPays, rounding: Rounding, wager: Wager, outcome: Outcome) -> Settled:
    """A Banker wager, and the commission on what it wins."""
    settled = _settled(rounding, wager, _traditional_verdict(pays, Spot.BANKER, outcome))
    commission = rounding.charge(settled.pays_cents * pays.banker_commission)
    if pays.commission == "taken":
        return replace(settled, commission_cents=commission)
    return replace(settled, owed_cents=commission)


def _dragon_verdict(pays: DragonBonusPays, spot: Spot, done: baccarat.Done) -> Verdict:
    bonus = dragon_bonus(pays, done)
    result = bonus.player if spot is Spot.DRAGON_PLAYER else bonus.banker
    if result is DragonResult.WIN and bonus.pays_to_one is not None:
        return won(bonus.pays_to_one)
    return PUSHED if result is DragonResult.PUSH else LOST


def _royal9(wager: Wager, award: Award | None) -> Settled:
    """A Royal 9 wager: its stake never goes back, and a progressive award is the pit's to pay."""
    if award is None:
        return Settled(wager, None, Result.LOST, 0, 0)
    return Settled(wager, None, Result.WON, 0, award.cents or 0, meter=award.meter)


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


def _settlement(settled: Iterable[Settled]) -> Settlement:
    ordered = tuple(sorted(settled, key=_order))
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


_SPOTS = tuple(Spot)


def _order(settled: Settled) -> tuple[bool, int, bool, int, int]:
    wager = settled.wager
    return wager.spot not in TRADITIONAL, wager.seat, wager.back, _SPOTS.index(wager.spot), settled.hand or 0


def _not_a_wager(wager: Wager) -> ValueError:
    return ValueError(f"seat {wager.seat} has no wager on {wager.spot.value} in this game")
