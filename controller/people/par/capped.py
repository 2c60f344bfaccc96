"""The house edge of a bet if the house limits what it pays for one wager, such as $50,000 at most.

The odds on a par sheet are for wagers that are paid in full. A wager that is too great to be paid in full loses as
often, but wins less for each unit staked.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from controller.people.par.odds import Odds
from controller.rules.game.bets import Bet
from controller.rules.game.wagers import WagerRules


class Capped(Struct, frozen=True):
    """The house's limit on what it pays for one wager on a bet, and the house edge at the greatest wager that the table
    accepts. Amounts are in cents."""

    pays_at_most_cents: int
    in_full_to_cents: int
    """The greatest amount for which every row is paid in full."""

    greatest_cents: int
    edge: Fraction
    """The part of the greatest wager that the house keeps on average."""


def capped(bet: Bet, odds: Odds, wagers: WagerRules) -> Capped | None:
    """Return the house edge of a bet at the greatest wager that the table accepts, if the house limits what it pays for
    one wager. Returns None if the bet has no such limit, or if its outcomes are not counted."""
    pays = [row.pays for row in bet.rows if row.pays is not None]
    if bet.pays_at_most_cents is None or not pays or not odds.outcomes:
        return None
    greatest = wagers.most_wager_cents(bet)
    return Capped(
        bet.pays_at_most_cents,
        int(bet.pays_at_most_cents / max(pays)),
        greatest,
        odds.edge({}) + _lost_to_the_limit(bet, odds, greatest),
    )


def _lost_to_the_limit(bet: Bet, odds: Odds, cents: int) -> Fraction:
    """Return how much the bettor loses on average because the house limits what it pays for one wager. The result is a
    fraction of the wager of `cents`."""
    most = Fraction(bet.pays_at_most_cents or 0, cents)
    lost = Fraction()
    for row, outcome in zip(bet.rows, odds.outcomes, strict=False):  # the last outcome has no row
        if row.pays is not None:
            charged = row.commission_taken or row.commission_owed or Fraction()
            lost += outcome.ways * max(row.pays - most, Fraction()) * (1 - charged)
    return lost / odds.deals
