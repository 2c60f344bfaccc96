"""The rules one table plays by: what its game file and its seats say, as the pure core reads them.

A shoe is played to its end under the rules it opened with, so these travel inside the `ShoeOpened` fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from controller.game.baccarat import Tableau
from controller.game.dragon_bonus import DragonBonusPays
from controller.game.royal9 import PersonalK9, Royal9

LockOn = Literal["deal", "first_card"]
DrawnInError = Literal["simulated_hand", "burn", "next_card"]


@dataclass(frozen=True, slots=True)
class ShoeRules:
    """The shoe's procedure: decks in it, the burn, the cutting card's place, and a card nobody needs (sheet 000)."""

    decks: int
    burn_counts_first_card: bool
    cut_card_from_end: int
    fewest_cards_to_open: int
    drawn_in_error: DrawnInError


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat and the King and 9 printed at it."""

    number: int
    k9: PersonalK9


@dataclass(frozen=True, slots=True)
class TableRules:
    """Everything the fold needs to know of its table."""

    table: str  # the table's id: in every topic and event
    game: str  # the game's name on its sheet
    lock_on: LockOn
    seats: tuple[Seat, ...]
    shoe: ShoeRules
    tableau: Tableau
    dragon_bonus: DragonBonusPays
    royal9: Royal9
