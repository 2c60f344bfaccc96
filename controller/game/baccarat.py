"""Punto banco: who takes the next card, and how a hand ends.

The rules of drawing are a `Tableau`, a table's data (sheet 000, "Player … Banker …"); nothing here knows a number of
it. Everything is recomputed from the cards dealt so far, so a hand has no state but its cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from controller.game.cards import Card, total


class Hand(Enum):
    """One of the two hands of a round."""

    PLAYER = "player"
    BANKER = "banker"


class Outcome(Enum):
    """Which hand came closer to nine, or neither."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Tableau:
    """The rules of drawing. Totals and third cards' point values are 0 to 9; the order within a row means nothing.

    Raises ValueError unless the naturals are the highest totals and every lower one has its row of third cards.
    """

    natural: tuple[int, ...]
    """Two-card totals of either hand on which nobody draws."""

    player_draws_on: tuple[int, ...]
    """Player's two-card totals that take a third card."""

    banker_draws_on_when_player_stands: tuple[int, ...]
    """Banker's two-card totals that take a third card when Player took none."""

    banker_draws_on_third_card: dict[int, tuple[int, ...]]
    """When Player drew: Banker's two-card total to the values of Player's third card on which Banker draws."""

    def __post_init__(self) -> None:
        if [*sorted(self.banker_draws_on_third_card), *sorted(self.natural)] != list(range(10)):
            raise ValueError("the tableau needs one row of third cards for each Banker total below the naturals")


@dataclass(frozen=True, slots=True)
class Draw:
    """The hand is not complete: the next card goes to `hand`."""

    hand: Hand


@dataclass(frozen=True, slots=True)
class Done:
    """A complete hand: each side's two or three cards in the order dealt, and how it ended."""

    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    outcome: Outcome
    natural: bool
    """Ended by a natural: one hand or both, on two cards, so nobody drew."""

    @property
    def player_total(self) -> int:
        """Player's points, 0 to 9."""
        return total(self.player)

    @property
    def banker_total(self) -> int:
        """Banker's points, 0 to 9."""
        return total(self.banker)

    @property
    def margin(self) -> int:
        """The points between the two hands, 0 to 9, whoever won."""
        return abs(self.player_total - self.banker_total)

    @property
    def player_pair(self) -> bool:
        """Player's first two cards are of one rank (a ten and a king are not)."""
        return self.player[0].rank == self.player[1].rank

    @property
    def banker_pair(self) -> bool:
        """Banker's first two cards are of one rank."""
        return self.banker[0].rank == self.banker[1].rank


def next_step(tableau: Tableau, dealt: Sequence[Card]) -> Draw | Done:
    """What follows once the cards `dealt`, in order from the hand's first, are on the layout.

    Raises ValueError when they are more than the hand takes.
    """
    player, banker = hands(tableau, dealt)
    hand = _next_hand(tableau, player, banker)
    if hand is not None:
        return Draw(hand)
    return Done(player, banker, _outcome(total(player), total(banker)), _has_natural(tableau, player, banker))


def as_it_lies(tableau: Tableau, player: Sequence[Card], banker: Sequence[Card]) -> Done:
    """A hand judged by the cards on the felt alone, whether or not the tableau would have drawn them.

    Raises ValueError unless each side has two or three cards.
    """
    if not (2 <= len(player) <= 3 and 2 <= len(banker) <= 3):
        raise ValueError("each hand has two or three cards")
    sides = tuple(player), tuple(banker)
    natural = len(player) == len(banker) == 2 and _has_natural(tableau, *sides)
    return Done(*sides, _outcome(total(player), total(banker)), natural)


def hands(tableau: Tableau, dealt: Sequence[Card]) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Player's and Banker's cards of a hand, complete or not, `dealt` in order from its first card.

    Raises ValueError when they are more than the hand takes.
    """
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    for card in dealt:
        match _next_hand(tableau, player, banker):
            case Hand.PLAYER:
                player += (card,)
            case Hand.BANKER:
                banker += (card,)
            case None:
                raise ValueError(f"the hand was complete before {card}")
    return player, banker


def _next_hand(tableau: Tableau, player: tuple[Card, ...], banker: tuple[Card, ...]) -> Hand | None:
    """The hand that the next card goes to; None when both have all they take."""
    if len(banker) < 2:  # the first four cards alternate, Player's first
        return Hand.PLAYER if len(player) == len(banker) else Hand.BANKER
    if len(banker) == 3 or _has_natural(tableau, player, banker):
        return None
    if total(player[:2]) in tableau.player_draws_on:
        if len(player) == 2:
            return Hand.PLAYER
        banker_draws = player[2].points in tableau.banker_draws_on_third_card[total(banker)]
    else:
        banker_draws = total(banker) in tableau.banker_draws_on_when_player_stands
    return Hand.BANKER if banker_draws else None


def _has_natural(tableau: Tableau, player: tuple[Card, ...], banker: tuple[Card, ...]) -> bool:
    """Either hand's first two cards are a natural."""
    return total(player[:2]) in tableau.natural or total(banker[:2]) in tableau.natural


def _outcome(player_total: int, banker_total: int) -> Outcome:
    if player_total == banker_total:
        return Outcome.TIE
    return Outcome.PLAYER if player_total > banker_total else Outcome.BANKER
