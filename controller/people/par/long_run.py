"""What a progressive bet keeps for the house in the long run, by the pit's settings for the bet's meters (starting
amount, contribution, reserve).

Whatever goes on a meter, or into its reserve, is paid to bettors in the end. Each wager therefore costs the house its
fixed pays, what the wager gives to meters and reserves, and the part of new starting amounts (seeds) that the reserves
do not cover.

A meter's limit changes nothing here. What comes in at the limit goes into the overflow, and from there onto the next
level of the meter. It is paid to bettors all the same, and a seed costs what it costs without a limit.

Each bet is counted by itself, with one wager a round. More wagers in a round, or other bets on the same meter, only
share the cost of a seed. The house therefore never keeps less than the figure given here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct

from controller.people.par.odds import Odds
from controller.pit.reference.meters import Terms
from controller.rules.game.bets import Bet


class Filling(Struct, frozen=True):
    """What one progressive meter costs for each wager on a bet. Every figure is a fraction of the wager's price."""

    meter: str
    given: Fraction
    """What the wager gives to the meter and to its reserve."""

    seeds: Fraction
    """What the new seeds cost: the seed, as often as the bet wins the whole meter."""

    from_house: Fraction
    """What of the seeds the house pays. The most that it can be, where a full reserve may begin a meter higher than at
    its seed: the reserve then has less for the seeds after that."""


class LongRun(Struct, frozen=True):
    """What a progressive bet keeps for the house and pays to bettors in the long run, at the seats in `seats`."""

    spot: str
    seats: tuple[str, ...]
    edge: Fraction
    """The part of each price that the house keeps. Negative: the house gives money away."""

    fillings: tuple[Filling, ...]
    often: tuple[tuple[str, Fraction], ...]
    """Each award, and how often a wager wins it."""

    @property
    def given(self) -> Fraction:
        """Return the fraction of the wager's price that goes to meters and their reserves."""
        return sum((each.given for each in self.fillings), Fraction())


def long_run(bet: Bet, odds: Odds, terms: Mapping[str, Terms]) -> LongRun:
    """Return what a progressive bet keeps for the house in the long run. `terms` holds the pit's settings for each
    meter (starting amount, contribution, reserve) and must have each meter of the bet. `odds` must have counted
    outcomes."""
    often = [Fraction(outcome.ways, odds.deals) for outcome in odds.outcomes]
    rows = [*zip(bet.rows, often, strict=False)]  # the last outcome is the lost wager, which has no row
    price_cents = bet.price_cents
    assert price_cents is not None, "a bet with awards has a price"
    whole = {
        meter: sum((part for row, part in rows if row.meter == meter and row.share == 1), Fraction())
        for meter in bet.meters
    }
    fillings = tuple(_filling(meter, won, price_cents, terms[meter]) for meter, won in whole.items())
    spent = sum((each.given + each.from_house for each in fillings), Fraction())
    awards = tuple((row.award, part) for row, part in rows if row.award is not None)
    return LongRun(bet.spot, odds.seats, odds.edge({}) - spent, fillings, awards)


def _filling(meter: str, won: Fraction, price_cents: int, terms: Terms) -> Filling:
    seeds = won * terms.seed_cents / price_cents
    lacking = max(seeds - terms.reserve, Fraction())
    if won and terms.reseed_at_most_cents > terms.seed_cents and terms.reserve:
        lacking = max(lacking, _most_lacking(won, price_cents, terms))
    return Filling(meter, terms.contribution + terms.reserve, seeds, lacking)


def _most_lacking(won: Fraction, price_cents: int, terms: Terms) -> Fraction:
    """Return what the house itself pays, on average, towards new starting amounts (seeds) of a meter, if each hit
    empties the meter's reserve. The result is a fraction of the wager's price. `won` is the fraction of wagers that win
    the meter.

    Each wager adds `each` to the reserve, and `mean` is what all wagers between two hits add on average. For the first
    k wagers after a hit, the reserve holds less than a full seed. `missed` is the fraction of wagers that do not win
    the meter. On average a seed therefore lacks `seed - mean + missed ** k * (mean + k * each - seed)`. The power is
    rounded up, in its tenth digit.
    """
    each = terms.reserve * price_cents
    mean = each / won
    many = terms.seed_cents // each
    missed = Fraction(float(1 - won) ** many * (1 + 1e-9))
    return won * (terms.seed_cents - mean + missed * (mean + many * each - terms.seed_cents)) / price_cents
