"""A stand-in for the table on which a simulated game is dealt. A test chooses the stand-in's cards and the players'
calls beforehand."""

from __future__ import annotations

from collections.abc import Sequence


class StackedFelt:
    """A table that deals the cards of `cards` in their order, and answers each choice with the next call of `calls`.
    `happened` lists what the game asked for.

    At the end of a round `used_up` must be True, which means that no card and no call is left.
    """

    def __init__(self, cards: str, calls: str = "") -> None:
        self._cards = cards.split()
        self._calls = calls.split()
        self.happened: list[str] = []

    @property
    def used_up(self) -> bool:
        """Tell whether the game has asked for every card and every call."""
        return not self._cards and not self._calls

    def card(self, to: str) -> str:
        """Add to `happened` that a card is dealt to `to`, and return the next of the fixed cards."""
        self.happened.append(f"card {to}")
        return self._cards.pop(0)

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Add to `happened` that the seat may choose, and return the next of the fixed calls."""
        self.happened.append(f"seat {seat}, {points} points: {' '.join(options)}")
        assert self._calls[0] in options
        return self._calls.pop(0)

    def reveal(self, *hands: str) -> None:
        """Add to `happened` that the cards of these hands are turned up."""
        self.happened.append(f"reveal {' '.join(hands)}")
