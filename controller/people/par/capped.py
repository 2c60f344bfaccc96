"""What a bet is worth by the amount of the wager, where the house pays at most so much for one wager.

A sheet's odds are for wagers that are paid in full. A greater wager loses as often and wins less for each unit.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from controller.people.par.odds import Odds
from controller.rules.game.bets import Bet
from controller.rules.game.wagers import WagerRules


class Capped(Struct, frozen=True):
    """The bet at its greatest wager. Amounts are cents."""

    pays_at_most_cents: int
    in_full_to_cents: int
    """The greatest amount for which every row is paid in full."""

    greatest_cents: int
    edge: Fraction
    """The part of the greatest wager that the house keeps on average."""


def capped(bet: Bet, odds: Odds, wagers: WagerRules) -> Capped | None:
    """None where every pay is paid in full, or where nobody knows how often each row decides."""
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
    """What the limit takes from a wager of so many cents on average, for each unit staked."""
    most = Fraction(bet.pays_at_most_cents or 0, cents)
    lost = Fraction()
    for row, outcome in zip(bet.rows, odds.outcomes, strict=False):  # the last outcome has no row
        if row.pays is not None:
            charged = row.commission_taken or row.commission_owed or Fraction()
            lost += outcome.ways * max(row.pays - most, Fraction()) * (1 - charged)
    return lost / odds.deals
