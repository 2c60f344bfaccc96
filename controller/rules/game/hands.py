"""The types of a finished round: Player's cards against Banker's, or each seat's hands against the dealer's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum, StrEnum

from msgspec import Struct

from controller.rules.game.cards import Card, total
from controller.rules.game.play import Laid

PLAYER, BANKER, DEALER = "player", "banker", "dealer"
"""The names of the hands that do not belong to a seat."""


class Hand(StrEnum):
    """The name of one of the two hands in a round of punto banco or Baccarat Royal: Player's or Banker's."""

    PLAYER = PLAYER
    BANKER = BANKER


class Outcome(Enum):
    """The result of a round of two hands: which hand is closer to nine, or a tie."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"


class HandsError(ValueError):
    """The hands that people read cannot be a finished round of the game. `code` is the code with which the correction
    is refused."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class TwoHands(Struct, frozen=True):
    """A finished round of Player's hand and Banker's hand: the two or three cards of each hand in order, and how the
    round ended."""

    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    outcome: Outcome
    natural: bool
    """The round ended with a natural: one side or both, on two cards, so nobody drew."""

    @property
    def player_total(self) -> int:
        """The total of Player's hand, 0 to 9."""
        return total(self.player)

    @property
    def banker_total(self) -> int:
        """The total of Banker's hand, 0 to 9."""
        return total(self.banker)

    @property
    def margin(self) -> int:
        """The difference between Player's total and Banker's, 0 to 9, whoever won."""
        return abs(self.player_total - self.banker_total)

    @property
    def player_pair(self) -> bool:
        """True if Player's first two cards have the same rank. A ten and a King do not."""
        return self.player[0].rank == self.player[1].rank

    @property
    def banker_pair(self) -> bool:
        """True if Banker's first two cards have the same rank. A ten and a King do not."""
        return self.banker[0].rank == self.banker[1].rank

    @property
    def laid(self) -> tuple[Laid, ...]:
        """Player's and Banker's hands as they lie on the layout, with every card face up."""
        return _face_up(PLAYER, self.player), _face_up(BANKER, self.banker)


class SeatHand(Struct, frozen=True):
    """A finished hand of a seat, of two or three cards. `number` numbers the hands of one seat, from 1 at the left."""

    seat: int
    number: int
    cards: tuple[Card, ...]
    from_split: bool


class SeatHands(Struct, frozen=True):
    """A finished round of Lucky 9: every hand of the seats, in order, and the dealer's hand of two or three cards."""

    dealer: tuple[Card, ...]
    hands: tuple[SeatHand, ...]
    first_two: dict[int, tuple[Card, ...]]
    """Each seat's cards before any split or hit."""

    @property
    def outcome(self) -> None:
        """Always None, because at Lucky 9 each seat's hand has an outcome of its own."""
        return

    @property
    def laid(self) -> tuple[Laid, ...]:
        """Every hand as it lies on the layout, with every card face up: each seat's hands from left to right, then the
        dealer's."""
        theirs = (_face_up(seat_hand_name(hand.seat, hand.number), hand.cards, hand.seat) for hand in self.hands)
        return (*theirs, _face_up(DEALER, self.dealer))


Done = TwoHands | SeatHands
"""A complete round."""


def cards_of(done: Done) -> tuple[Card, ...]:
    """Return every card of a finished round."""
    return tuple(card for hand in done.laid for card in hand.cards)


def seat_hand_name(seat: int, number: int = 1) -> str:
    """Return the name of a seat's hand: "seat_3" for the leftmost hand of seat 3, then "seat_3_hand_2" and so on."""
    return f"seat_{seat}" if number == 1 else f"seat_{seat}_hand_{number}"


def as_it_lies(natural: Collection[int], player: Sequence[Card], banker: Sequence[Card]) -> TwoHands:
    """Return the finished round with these two hands. The cards are taken as they lie on the layout. Whether the rules
    would have drawn them is not checked.

    `natural` are the two-card totals that end a round. Raises HandsError `not_a_hand` if a hand does not have two or
    three cards.
    """
    if not (2 <= len(player) <= 3 and 2 <= len(banker) <= 3):
        raise HandsError("not_a_hand")
    ended = len(player) == len(banker) == 2 and (total(player) in natural or total(banker) in natural)
    return TwoHands(tuple(player), tuple(banker), closer_to_nine(player, banker), ended)


def two_hands_read(natural: Collection[int], hands: Mapping[str, tuple[Card, ...]]) -> TwoHands:
    """Return the finished round with the two hands that people read on the layout. `hands` maps the name of each hand
    to its cards. `natural` are the two-card totals that end a round.

    Raises HandsError `other_hands` if the hands are not Player's and Banker's, and `not_a_hand` if one of them does not
    have two or three cards.
    """
    if hands.keys() != {PLAYER, BANKER}:
        raise HandsError("other_hands")
    return as_it_lies(natural, hands[PLAYER], hands[BANKER])


Shape = tuple[int, int | None]
"""A hand as the rules of drawing see it: the total of its first two cards, and its third card's points or None."""

ANY_SHAPE: tuple[Shape, ...] = tuple((two, third) for two in range(10) for third in (None, *range(10)))
"""Every shape of a hand."""


def shape(cards: Sequence[Card]) -> Shape:
    """Return what the rules for third cards look at in a hand: the total of its first two cards, and the points of its
    third card (None if it has no third card)."""
    return total(cards[:2]), cards[2].points if len(cards) == 3 else None


def closer_to_nine(player: Sequence[Card], banker: Sequence[Card]) -> Outcome:
    """Return which of these two hands has a total closer to nine, or that their totals are equal."""
    if total(player) == total(banker):
        return Outcome.TIE
    return Outcome.PLAYER if total(player) > total(banker) else Outcome.BANKER


def _face_up(name: str, cards: tuple[Card, ...], seat: int | None = None) -> Laid:
    return Laid(name, cards, (False,) * len(cards), seat)
