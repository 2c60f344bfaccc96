"""The cards a shoe can still deal: how many of each are in it."""

from __future__ import annotations

from collections.abc import Mapping

from controller.game.cards import DECK, Card

Shoe = Mapping[Card, int]
"""Each card that is in the shoe, and how many of it there are."""


def fresh(decks: int) -> Shoe:
    """A shoe of so many whole decks."""
    return dict.fromkeys(DECK, decks)
