"""Royal 9: the progressive side bet on a face card with a 9, and on the King and 9 printed at the seat (sheet 000).

It looks at the first two cards of each hand, in either order. A Royal 9 is a natural, so such a hand has no others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from controller.game.cards import Card, Rank, Suit

_FACES = frozenset({Rank.JACK, Rank.QUEEN, Rank.KING})


@dataclass(frozen=True, slots=True)
class PersonalK9:
    """The King of one suit and the 9 of one suit printed at a seat. Sixteen exist, four of them suited."""

    king: Suit
    nine: Suit

    def __str__(self) -> str:
        return f"K{self.king.value} 9{self.nine.value}"

    @staticmethod
    def parse(text: str) -> PersonalK9:
        """The K9 that `text` names, `KS 9H` or `9H KS`. Raises ValueError when it names none."""
        suits = {card.rank: card.suit for card in map(Card.parse, text.split())}
        if len(text.split()) != 2 or suits.keys() != {Rank.KING, Rank.NINE}:
            raise ValueError(f"{text!r} is not a personal K9: write a King and a 9, for example KS 9H")
        return PersonalK9(suits[Rank.KING], suits[Rank.NINE])

    def matches(self, cards: Sequence[Card]) -> bool:
        """Whether the two `cards`, in either order, are this King and this 9."""
        first, second = cards
        return {first, second} == {Card(Rank.KING, self.king), Card(Rank.NINE, self.nine)}


class Tier(Enum):
    """A row of the sheet's pay table; the value is its code in game files and events."""

    PERSONAL_VS_PERSONAL = "personal_vs_personal"
    BANKER_PERSONAL = "banker_personal"
    PLAYER_PERSONAL = "player_personal"
    OTHER_IDENTICAL = "other_identical"
    SUITED_VS_SUITED = "suited_vs_suited"
    ROYAL_VS_ROYAL = "royal_vs_royal"
    SUITED_ROYAL = "suited_royal"
    ANY_ROYAL = "any_royal"


@dataclass(frozen=True, slots=True)
class Award:
    """What a tier pays: all of the progressive meter `meter`, or a fixed amount in cents.

    Raises ValueError unless it names exactly one of the two.
    """

    tier: Tier
    meter: str | None
    cents: int | None

    def __post_init__(self) -> None:
        if (self.meter is None) == (self.cents is None):
            raise ValueError(f"the award for {self.tier.value} needs either a meter or an amount")


@dataclass(frozen=True, slots=True)
class Royal9:
    """The bet: its one price in cents, and its awards in the order of the sheet, which is the order of judging."""

    price_cents: int
    awards: tuple[Award, ...]


def judge(
    royal9: Royal9,
    player_two: Sequence[Card],
    banker_two: Sequence[Card],
    own: PersonalK9,
    others: Collection[PersonalK9],
) -> Award | None:
    """The one award of a wager at the seat that `own` is printed at: the first whose condition holds, None for none.

    `others` are the K9s printed at the table's other seats, taken or empty. Raises ValueError unless each hand is
    given as its first two cards.
    """
    if len(player_two) != 2 or len(banker_two) != 2:
        raise ValueError("Royal 9 is judged on the first two cards of each hand")
    return next((award for award in royal9.awards if _HOLDS[award.tier](player_two, banker_two, own, others)), None)


def _both_are(k9: PersonalK9, player: Sequence[Card], banker: Sequence[Card]) -> bool:
    """Both hands are this one K9, from different decks."""
    return k9.matches(player) and k9.matches(banker)


def _royal(cards: Sequence[Card]) -> bool:
    """A Royal 9: a face card, which a ten is not, and a 9."""
    first, second = (card.rank for card in cards)
    return (first in _FACES and second == Rank.NINE) or (first == Rank.NINE and second in _FACES)


def _suited(cards: Sequence[Card]) -> bool:
    """A Royal 9 of one suit."""
    first, second = cards
    return _royal(cards) and first.suit == second.suit


_Condition = Callable[[Sequence[Card], Sequence[Card], PersonalK9, Collection[PersonalK9]], bool]

_HOLDS: dict[Tier, _Condition] = {
    Tier.PERSONAL_VS_PERSONAL: lambda player, banker, own, others: _both_are(own, player, banker),
    Tier.BANKER_PERSONAL: lambda player, banker, own, others: own.matches(banker),
    Tier.PLAYER_PERSONAL: lambda player, banker, own, others: own.matches(player),
    Tier.OTHER_IDENTICAL: lambda player, banker, own, others: any(_both_are(k9, player, banker) for k9 in others),
    Tier.SUITED_VS_SUITED: lambda player, banker, own, others: _suited(player) and _suited(banker),
    Tier.ROYAL_VS_ROYAL: lambda player, banker, own, others: _royal(player) and _royal(banker),
    Tier.SUITED_ROYAL: lambda player, banker, own, others: _suited(player) or _suited(banker),
    Tier.ANY_ROYAL: lambda player, banker, own, others: _royal(player) or _royal(banker),
}
