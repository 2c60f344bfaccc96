"""The bets of the shipped games, and helpers that decide them on a finished round."""

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
    """Return the bet on this spot."""
    found = bet_on(bets, spot)
    assert found is not None, spot
    return found


def comes_to(bet: Bet, done: TwoHands, own: PersonalK9 | None = None, others: Sequence[PersonalK9] = ()) -> str:
    """Return what a wager on the bet comes to: "lose", "push", "half", an award's name, or what it pays to one."""
    return decided(bet, Finished(done, NATURAL, own, others))


def decided(bet: Bet, finished: Finished) -> str:
    """Return what a wager on the bet comes to in a finished round as a seat sees it, in the words of `comes_to`."""
    row = deciding(bet, finished)
    if row is None:
        return "lose"
    return row.award or row.result or f"{row.pays or Fraction()}"


def dragon_bonus(bets: Sequence[Bet], done: TwoHands) -> tuple[str, str]:
    """Return what a wager on Dragon Bonus comes to, first on Player's hand and then on Banker's."""
    return comes_to(bet(bets, "dragon_player"), done), comes_to(bet(bets, "dragon_banker"), done)
