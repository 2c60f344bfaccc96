"""Playing cards: rank, suit, point value, and how a card is written as text.

The text is the rank and then the suit: `KS 9H TD AC`. On input, `10D` is accepted for `TD`. Point values are the same
on every baccarat sheet: an ace is 1, 2 to 9 are face value, and 10, J, Q and K are 0. A hand's total is the last digit
of the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, IntEnum
from functools import cache
from typing import Literal, NoReturn, Self


class Rank(IntEnum):
    """A card's rank, numbered from 1 for the ace to 13 for the King."""

    ACE = 1
    TWO = 2
    THREE = 3
    FOUR = 4
    FIVE = 5
    SIX = 6
    SEVEN = 7
    EIGHT = 8
    NINE = 9
    TEN = 10
    JACK = 11
    QUEEN = 12
    KING = 13


class Suit(Enum):
    """A card's suit. The value of each suit is the letter by which it is written."""

    SPADES = "S"
    HEARTS = "H"
    DIAMONDS = "D"
    CLUBS = "C"

    __hash__ = object.__hash__  # Enum's own hash is written in Python, and cards are looked up millions of times


RANKS = "A23456789TJQK"
"""The letters of the ranks, `T` for a ten."""

SUITS = "".join(suit.value for suit in Suit)
"""The letters of the suits."""

Points = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
"""What a hand or a card counts: its points."""


_POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0)
"""What a card counts, by the number of its rank."""


class _Printed:
    """The base class of cards and of pairs of cards printed at a seat. The objects are immutable, and equal values are
    the same object.

    For that reason, comparing or looking up a value is as fast as for any Python object. The classes are not msgspec
    structs, because their values are written to JSON as text.
    """

    __slots__: tuple[str, ...] = ()

    @classmethod
    @cache
    def _one(cls, *values: object) -> Self:
        one = object.__new__(cls)
        for name, value in zip(cls.__slots__, values, strict=True):
            object.__setattr__(one, name, value)
        return one

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self} does not change")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)


class Card(_Printed):
    """One playing card. Equal cards of different decks are the same value, because the shoe cannot tell them apart."""

    __slots__ = ("rank", "suit")
    rank: Rank
    suit: Suit

    def __new__(cls, rank: Rank, suit: Suit) -> Self:
        """Return the single object that stands for the card of this rank and suit."""
        return cls._one(rank, suit)

    def __str__(self) -> str:
        return RANKS[self.rank - 1] + self.suit.value

    @property
    def letter(self) -> str:
        """The letter or digit by which the card's rank is written: `T` for a ten."""
        return RANKS[self.rank - 1]

    @property
    def color(self) -> str:
        """The colour of the card's suit: `red` or `black`."""
        return "red" if self.suit in (Suit.HEARTS, Suit.DIAMONDS) else "black"

    @property
    def points(self) -> int:
        """The points that the card counts in a hand: 0 to 9."""
        return _POINTS[self.rank]

    @staticmethod
    def parse(text: str) -> Card:
        """Parse a card's name such as "KS", in capital or small letters. Raises ValueError if `text` is not a card."""
        rank, suit = text[:-1].upper(), text[-1:].upper()
        if rank == "10":
            rank = "T"
        if len(rank) != 1 or rank not in RANKS or suit not in "SHDC" or not suit:
            raise ValueError(f"{text!r} is not a card: write rank then suit, for example KS 9H TD AC")
        return Card(Rank(RANKS.index(rank) + 1), Suit(suit))


DECK: tuple[Card, ...] = tuple(Card(rank, suit) for suit in Suit for rank in Rank)
"""The 52 cards of one deck."""

WORTH = tuple(Card.parse(rank + "S") for rank in "TA23456789")
"""One card for each number of points, 0 to 9."""


def total(cards: Iterable[Card]) -> int:
    """Return a hand's total: the last digit of the sum of its cards' points."""
    return sum([_POINTS[card.rank] for card in cards]) % 10  # a list: this is asked millions of times


class PersonalK9(_Printed):
    """A King and a 9, each of a given suit, that are printed at a seat. There are sixteen such pairs; in four of them
    both cards have the same suit."""

    __slots__ = ("king", "nine")
    king: Suit
    nine: Suit

    def __new__(cls, king: Suit, nine: Suit) -> Self:
        """Return the single object that stands for the King of the suit `king` and the 9 of the suit `nine`."""
        return cls._one(king, nine)

    def __str__(self) -> str:
        return f"K{self.king.value} 9{self.nine.value}"

    @staticmethod
    def parse(text: str) -> PersonalK9:
        """Parse the names of a King and a 9, such as `KS 9H` or `9H KS`. Raises ValueError if `text` is
        anything else."""
        suits = {card.rank: card.suit for card in map(Card.parse, text.split())}
        if len(text.split()) != 2 or suits.keys() != {Rank.KING, Rank.NINE}:
            raise ValueError(f"{text!r} is not a personal K9: write a King and a 9, for example KS 9H")
        return PersonalK9(suits[Rank.KING], suits[Rank.NINE])

    def matches(self, cards: Sequence[Card]) -> bool:
        """Tell whether the two `cards` are this King and this 9, in either order."""
        one, other = cards
        king, nine = (one, other) if one.rank is Rank.KING else (other, one)
        return (king.rank, king.suit, nine.rank, nine.suit) == (Rank.KING, self.king, Rank.NINE, self.nine)
