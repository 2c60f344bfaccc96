"""Checks playing cards: how many points they count, and how they are written and parsed."""

from __future__ import annotations

import pickle

import pytest

from controller.rules.game.cards import DECK, Card, Rank, Suit, total

# The sheet: 1 through 9 at face value, tens and faces nothing, aces one.
POINTS = {"A": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "T": 0, "J": 0, "Q": 0, "K": 0}


def test_each_card_counts_as_on_the_sheet_and_reads_back_as_written() -> None:
    for rank, points in POINTS.items():
        for suit in "SHDC":
            _counts_as_on_the_sheet(rank, suit, points)


def _counts_as_on_the_sheet(rank: str, suit: str, points: int) -> None:
    card = Card.parse(rank + suit)
    assert card.points == points
    assert str(card) == rank + suit


def test_the_deck_is_every_rank_of_every_suit_once() -> None:
    assert sorted(map(str, DECK)) == sorted(rank + suit for rank in POINTS for suit in "SHDC")


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("KS", Card(Rank.KING, Suit.SPADES)),
        ("QH", Card(Rank.QUEEN, Suit.HEARTS)),
        ("JD", Card(Rank.JACK, Suit.DIAMONDS)),
        ("9H", Card(Rank.NINE, Suit.HEARTS)),
        ("TD", Card(Rank.TEN, Suit.DIAMONDS)),
        ("10D", Card(Rank.TEN, Suit.DIAMONDS)),
        ("ac", Card(Rank.ACE, Suit.CLUBS)),
    ],
)
def test_text_names_a_card(text: str, card: Card) -> None:
    assert Card.parse(text) == card


@pytest.mark.parametrize("text", ["", "K", "S", "SK", "KX", "1S", "11S", "0S", "KSS", " KS", "KS ", "K S", "CUT", "??"])
def test_text_that_names_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        Card.parse(text)


@pytest.mark.parametrize(
    ("cards", "points"),
    [("", 0), ("6S 7H", 3), ("KS QH", 0), ("9S 9H 9D", 7), ("TS 9D", 9), ("AS 9D", 0), ("5C 5D 5H", 5)],
)
def test_a_hand_is_the_last_digit_of_its_points(cards: str, points: int) -> None:
    assert total(map(Card.parse, cards.split())) == points


def test_a_card_does_not_change_and_a_copy_is_the_same_card() -> None:
    card = Card.parse("KS")
    with pytest.raises(AttributeError, match="KS does not change"):
        card.rank = Rank.ACE
    assert pickle.loads(pickle.dumps(card)) == card
