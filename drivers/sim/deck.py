"""The cards of a simulated shoe: shuffled decks, with the cut card among them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from drivers.sim import rules

CUT = "CUT"


class Deck:
    """The cards of one simulated shoe, in the order in which they are drawn. The cut card lies `cut_card_from_end`
    cards before the end.

    `slips` says whether the dealer may draw a card in error from this shoe.
    """

    def __init__(self, cards: Sequence[str], cut_card_from_end: int, *, slips: bool = True) -> None:
        at = len(cards) - cut_card_from_end
        self.slips = slips
        self._next = list(reversed([*cards[:at], CUT, *cards[at:]]))

    @property
    def cards_left(self) -> int:
        """The number of cards that are still in the shoe, without the cut card."""
        return len(self._next) - (CUT in self._next)

    def draw(self) -> str:
        """Remove the next card from the shoe and return it, such as `KS`. For the cut card, return the constant CUT."""
        return self._next.pop()


def shuffled(seed: int, decks: int) -> Iterator[list[str]]:
    """Yield lists of shuffled cards without end, one list for each shoe. A shoe has `decks` decks of 52 cards."""
    rng = random.Random(f"{seed} cards")
    while True:
        cards = [rank + suit for rank in rules.RANKS for suit in rules.SUITS] * decks
        rng.shuffle(cards)
        yield cards


def shuffled_decks(seed: int, decks: int, cut_card_from_end: int) -> Iterator[Deck]:
    """Yield shuffled shoes without end. Each has `decks` decks of 52 cards and a cut card."""
    return (Deck(cards, cut_card_from_end) for cards in shuffled(seed, decks))
