"""The cards that a shoe can still deal."""

from __future__ import annotations

from collections.abc import Mapping

from controller.rules.game.cards import DECK, Card

Shoe = Mapping[Card, int]
"""Each card in the shoe, and how many of that card there are."""


def fresh(decks: int) -> Shoe:
    """A shoe of this number of whole decks."""
    return dict.fromkeys(DECK, decks)
