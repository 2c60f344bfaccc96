"""Dragon Bonus: the side bet that a hand, Player's or Banker's, wins with a natural or by a wide margin (sheet 000)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from controller.game.baccarat import Done, Outcome


@dataclass(frozen=True, slots=True)
class DragonBonusPays:
    """The pay table. Pays are "to one": what is won for each unit wagered, the wager itself returned besides."""

    natural_win_pays: int
    """For a win with a natural, whatever the margin."""

    margin_pays: dict[int, int]
    """For any other win: its margin in points to what it pays. A margin not listed loses."""


class Result(Enum):
    """What becomes of a wager."""

    WIN = "win"
    PUSH = "push"
    LOSE = "lose"


@dataclass(frozen=True, slots=True)
class DragonBonus:
    """What becomes of the wagers on each hand; `pays_to_one` goes to the one that won, None when neither did."""

    player: Result
    banker: Result
    pays_to_one: int | None


def dragon_bonus(pays: DragonBonusPays, done: Done) -> DragonBonus:
    """Settle a complete hand by the pay table: naturals that tie push, and any other tie loses."""
    if done.outcome is Outcome.TIE:
        both = Result.PUSH if done.natural else Result.LOSE
        return DragonBonus(both, both, None)
    # A natural outranks every other hand, so where there is one and no tie, it is the winner's.
    pays_to_one = pays.natural_win_pays if done.natural else pays.margin_pays.get(done.margin)
    winner = Result.LOSE if pays_to_one is None else Result.WIN
    if done.outcome is Outcome.PLAYER:
        return DragonBonus(winner, Result.LOSE, pays_to_one)
    return DragonBonus(Result.LOSE, winner, pays_to_one)
