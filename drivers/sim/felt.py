"""The interfaces between a simulated dealer and the rules of a game: what each needs from the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field

from drivers.sim.bets import Won
from drivers.sim.cashier import Paid
from drivers.sim.wagers import Bets


class Felt(Protocol):
    """The table on which one round is dealt, as a game sees it. Each method returns when its act is done at the
    table."""

    def card(self, to: str) -> str:
        """Deal the next card to "player", "banker", "dealer" or a seat ("seat_3"). Returns that card."""

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Let the player of `seat`, who has so many points, choose. Returns the option that the dealer has called."""

    def reveal(self, *hands: str) -> None:
        """Turn up the cards that lie face down in these hands, and press `reveal`."""


class Dealt(Struct, frozen=True):
    """A complete round. `told` is what the account writes of the round, and `owed` is the commission by seat, in cents.
    `awards` are the awards that were won, and `paid` has the outcome of each wager.

    `outcome` is "player", "banker" or "tie"; None where every seat has an outcome of its own.
    """

    outcome: str | None
    told: dict[str, object]
    owed: dict[int, int] = field(default_factory=dict)
    awards: Sequence[Won] = ()
    paid: Sequence[Paid] = ()


class Game(Protocol):
    """A game, which is dealt, judged and paid as its sheet says."""

    def deal(self, felt: Felt, bets: Bets | None) -> Dealt:
        """Deal a whole round and return its result. `bets` is None for a round without wagers."""
