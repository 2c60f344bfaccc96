"""What a game needs from the dealer, and what the dealer needs from a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field

from drivers.sim.bets import Won
from drivers.sim.cashier import Paid
from drivers.sim.wagers import Bets


class Felt(Protocol):
    """Where one round is dealt. Each method does at the table what it is named for, and returns when that is done."""

    def card(self, to: str) -> str:
        """Deal the next card to "player", "banker", "dealer" or a seat ("seat_3"). Returns that card."""

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Let the player of `seat`, who has so many points, choose. Returns the option that the dealer has called."""

    def reveal(self, *hands: str) -> None:
        """Turn up the cards that lie face down in these hands, and press `reveal`."""


class Dealt(Struct, frozen=True):
    """A complete round. `told` is what the account writes of the round, `owed` the commission by seat.
    `awards` are the awards that were won, and `paid` what became of each wager.

    `outcome` is "player", "banker" or "tie"; None where every seat has an outcome of its own.
    """

    outcome: str | None
    told: dict[str, object]
    owed: dict[int, int] = field(default_factory=dict)
    awards: Sequence[Won] = ()
    paid: Sequence[Paid] = ()


class Game(Protocol):
    """A game as its sheet says that it is dealt, judged and paid."""

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round. `bets` is None for a round without wagers."""
