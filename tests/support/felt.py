"""A round of punto banco as it was truly dealt on the felt, whatever the table heard of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from drivers.sim import rules


@dataclass
class FeltRound:
    """A round of punto banco in which each card lies on the side to which the rules of drawing deal it. `cards_left` is
    how many cards a person who watches the shoe counts in it."""

    shoe: int = 0
    round: int = 0
    seats: Sequence[int] = ()
    player: list[str] = field(default_factory=list)
    banker: list[str] = field(default_factory=list)
    simulated: bool = False
    voided: bool = False
    cards_left: int = 0

    @property
    def side(self) -> rules.Side | None:
        """Return the side, Player or Banker, that the next card goes to; None once the round is over."""
        return rules.next_side(self.player, self.banker)

    def take(self, card: str) -> tuple[rules.Side, int]:
        """Deal the next card. Returns its side, and its number on that side, from 1."""
        side = self.side
        assert side is not None, f"the round is over, and nobody draws {card}"
        on = self.player if side == "player" else self.banker
        on.append(card)
        return side, len(on)

    @property
    def cards(self) -> list[str]:
        """Return the round's cards in the order in which they were drawn: Player, Banker, Player, Banker, then Player's
        third card and Banker's."""
        (p1, p2, *p3), (b1, b2, *b3) = ([*cards, "", ""][: max(2, len(cards))] for cards in (self.player, self.banker))
        return [card for card in (p1, b1, p2, b2, *p3, *b3) if card]

    def shown(self, hands: Mapping[str, Sequence[str]]) -> int:
        """Return how many cards of this round a table shows in `hands`, by the hand's name. Raises AssertionError if a
        shown card does not lie where it was dealt."""
        assert hands["player"] == self.player[: len(hands["player"])], "Player's hand is shown as it never was"
        assert hands["banker"] == self.banker[: len(hands["banker"])], "Banker's hand is shown as it never was"
        return len(hands["player"]) + len(hands["banker"])


def dealt(cards: Iterable[str], says: rules.Drawing = rules.USUAL) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return Player's hand and Banker's, as the drawing rules deal these cards. The round may be unfinished."""
    hands: dict[str, tuple[str, ...]] = {"player": (), "banker": ()}
    for card in cards:
        side = rules.next_side(hands["player"], hands["banker"], says)
        if side is None:
            break
        hands[side] += (card,)
    return hands["player"], hands["banker"]
