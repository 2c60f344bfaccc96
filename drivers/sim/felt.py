"""The interface between the simulated dealer, who deals the cards, and a simulated game, which knows the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field

from drivers.sim.bets import Won
from drivers.sim.cashier import Paid
from drivers.sim.wagers import Bets


class Felt(Protocol):
    """The table on which one round is dealt, as a simulated game uses it: it deals cards, asks players and turns cards
    up. A method returns when this has been done at the table."""

    def card(self, to: str) -> str:
        """Deal the next card to "player", "banker", "dealer" or a seat (such as "seat_3"). Returns the card, such as
        `KS`."""

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Let the player of `seat` choose one of the options. The player's hand has `points` points. Returns the option
        that the dealer called."""

    def reveal(self, *hands: str) -> None:
        """Turn up the face-down cards of these hands ("player", "banker" or "dealer"), and press the table's button
        `reveal`."""


class Dealt(Struct, frozen=True):
    """A complete simulated round. `told` is what the simulation's record contains of the round. `owed` is the
    commission by seat, in cents. `awards` are the awards that were won. `paid` has the outcome of each wager.

    `outcome` is "player", "banker" or "tie", or None in a game in which each seat has an outcome of its own.
    """

    outcome: str | None
    told: dict[str, object]
    owed: dict[int, int] = field(default_factory=dict)
    awards: Sequence[Won] = ()
    paid: Sequence[Paid] = ()


class Game(Protocol):
    """A simulated game, which is dealt, judged and paid by its rule sheet."""

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round of the game and return its result. `bets` is None for a round without wagers."""
