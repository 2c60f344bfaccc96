"""The bets of the shipped games, and helpers that settle them on a finished round."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from controller.daemon.config import load
from controller.rules.game.bets import Bet, Finished, bet_on, deciding
from controller.rules.game.cards import PersonalK9
from controller.rules.game.hands import TwoHands
from tests.support.tables import TABLES

NATURAL = (8, 9)


def bets_of(table: str) -> tuple[Bet, ...]:
    """Return the bets that an example table takes."""
    return load(TABLES / f"{table}.toml").rules.bets


def bet(bets: Sequence[Bet], spot: str) -> Bet:
    """Return the bet that is played on this spot of the layout."""
    found = bet_on(bets, spot)
    assert found is not None, spot
    return found


def comes_to(bet: Bet, done: TwoHands, own: PersonalK9 | None = None, others: Sequence[PersonalK9] = ()) -> str:
    """Return how a wager on the bet ends in the round `done`: "lose", "push", "half", an award's name, or the pay to
    one, as text. `own` and `others` are the K9 cards (king and nine) printed at the bettor's seat and at the other
    seats."""
    return decided(bet, Finished(done, NATURAL, own, others))


def decided(bet: Bet, finished: Finished) -> str:
    """Return how a wager on the bet ends in a finished round: "lose", "push", "half", an award's name, or the pay to
    one, as text."""
    row = deciding(bet, finished)
    if row is None:
        return "lose"
    return row.award or row.result or f"{row.pays or Fraction()}"


def dragon_bonus(bets: Sequence[Bet], done: TwoHands) -> tuple[str, str]:
    """Return how a wager on Dragon Bonus ends, as a text for Player's hand and a text for Banker's."""
    return comes_to(bet(bets, "dragon_player"), done), comes_to(bet(bets, "dragon_banker"), done)
