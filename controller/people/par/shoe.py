"""The cards that a shoe can still deal, stored as the number of each of the 52 cards."""

from __future__ import annotations

from collections.abc import Mapping

from controller.rules.game.cards import DECK, Card

Shoe = Mapping[Card, int]
"""Each card in the shoe, and how many of that card there are."""


def fresh(decks: int) -> Shoe:
    """Return the cards of a new shoe with this number of decks."""
    return dict.fromkeys(DECK, decks)
