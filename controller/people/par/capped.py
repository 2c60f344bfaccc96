"""The worth of a bet where the house limits what it pays for one wager, such as $50,000 at most.

The odds of a par sheet are for wagers that are paid in full. A greater wager loses as often and wins less for each
unit.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from controller.people.par.odds import Odds
from controller.rules.game.bets import Bet
from controller.rules.game.wagers import WagerRules


class Capped(Struct, frozen=True):
    """The limit of a bet's pay, and the house edge at the greatest wager. Amounts are cents."""

    pays_at_most_cents: int
    in_full_to_cents: int
    """The greatest amount for which every row is paid in full."""

    greatest_cents: int
    edge: Fraction
    """The part of the greatest wager that the house keeps on average."""


def capped(bet: Bet, odds: Odds, wagers: WagerRules) -> Capped | None:
    """Return what the bet is worth at its greatest wager. Returns None where every pay is paid in full, or where the
    bet's outcomes are not counted."""
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
    """Return how much the limit on pays lowers the bettor's average gain for each unit of a wager of `cents`."""
    most = Fraction(bet.pays_at_most_cents or 0, cents)
    lost = Fraction()
    for row, outcome in zip(bet.rows, odds.outcomes, strict=False):  # the last outcome has no row
        if row.pays is not None:
            charged = row.commission_taken or row.commission_owed or Fraction()
            lost += outcome.ways * max(row.pays - most, Fraction()) * (1 - charged)
    return lost / odds.deals
