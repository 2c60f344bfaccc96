"""The cards of the simulated house: shuffled decks, and the cut card in them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from drivers.sim import rules

CUT = "CUT"


class Deck:
    """The cards of one shoe in their order, with the cut card `cut_card_from_end` cards before the end.

    `slips`: whether the dealer may draw a card in error.
    """

    def __init__(self, cards: Sequence[str], cut_card_from_end: int, *, slips: bool = True) -> None:
        at = len(cards) - cut_card_from_end
        self.slips = slips
        self._next = list(reversed([*cards[:at], CUT, *cards[at:]]))

    @property
    def cards_left(self) -> int:
        """How many cards are still in the shoe, without the cut card."""
        return len(self._next) - (CUT in self._next)

    def draw(self) -> str:
        """The next card, or CUT."""
        return self._next.pop()


def shuffled(seed: int, decks: int) -> Iterator[list[str]]:
    """The cards of shoe after shoe without end, each of so many 52-card decks."""
    rng = random.Random(f"{seed} cards")
    while True:
        cards = [rank + suit for rank in rules.RANKS for suit in rules.SUITS] * decks
        rng.shuffle(cards)
        yield cards


def shuffled_decks(seed: int, decks: int, cut_card_from_end: int) -> Iterator[Deck]:
    """Shoe after shoe without end, each of so many 52-card decks."""
    return (Deck(cards, cut_card_from_end) for cards in shuffled(seed, decks))
