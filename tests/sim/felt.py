"""A felt for tests, whose cards and calls are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence


class StackedFelt:
    """Deals these cards in their order, and makes these calls. `happened` is what the game asked for.

    At the end of a hand no card and no call may be left: `used_up`.
    """

    def __init__(self, cards: str, calls: str = "") -> None:
        self._cards = cards.split()
        self._calls = calls.split()
        self.happened: list[str] = []

    @property
    def used_up(self) -> bool:
        """Whether every card and every call was asked for."""
        return not self._cards and not self._calls

    def card(self, to: str) -> str:
        """Deal the next card."""
        self.happened.append(f"card {to}")
        return self._cards.pop(0)

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Make the next call."""
        self.happened.append(f"seat {seat}, {points} points: {' '.join(options)}")
        assert self._calls[0] in options
        return self._calls.pop(0)

    def reveal(self, *hands: str) -> None:
        """Note that these cards are turned up."""
        self.happened.append(f"reveal {' '.join(hands)}")
