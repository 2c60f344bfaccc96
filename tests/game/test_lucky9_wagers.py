"""Checks the results of wagers at Lucky 9 against the rule sheet's sentences, and the bonus bet against a second
implementation."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, permutations, product

import pytest

from controller.rules.game.bets import Bet
from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import SeatHand, SeatHands
from controller.rules.game.play import Call, Play
from controller.rules.game.seating import NOBODY, Seating
from tests.game.test_lucky9 import GAME, cards, done, worth
from tests.support.bets import bet, bets_of, decided
from tests.support.samples import at_length

HAND, TIE, BONUS = (bet(bets_of("lucky9"), spot) for spot in ("hand", "tie", "lucky9_bonus"))
LOST, PUSHED, EVEN, THREE_TO_TWO = "lose", "push", "1", "3/2"

# Every two-card 9 of two cards that count, and every one of a 9 with a ten or a face card.
LUCKY_9S = ["AS 8H", "8S AS", "2C 7H", "7D 2D", "3S 6H", "6C 3C", "4S 5H", "5D 4C"]
NATURAL_9S = ["9S TH", "TS 9S", "9C JH", "JD 9D", "QH 9S", "9C QC", "9S KH", "KD 9C"]
THREE_CARD_9S = ["AS 2H 6C", "KS QH 9C", "9D 9C AS", "TC 4H 5C", "3S 3H 3C", "5S 6D 8H"]
UP_TO_8 = {
    8: ["8S KH", "9S 9H", "2S 3D 3C"],
    7: ["3S 4H", "8D 9S", "TS KH 7C"],
    6: ["6S TH", "8S 8C", "2S 2D 2C"],
    5: ["2S 3H", "KS 5C", "9S 4D 2C"],
    4: ["2S 2H", "KC 4C", "9S 9D 6C"],
    3: ["AS 2H", "4S 9C", "KS KD 3C"],
    2: ["AS AH", "KC 2C", "9S 3D KC"],
    1: ["AS KH", "9S 2C", "KS KD AC"],
    0: ["KS KH", "5S 5C", "3S 4D 3C"],
}


def becomes_of(bet: Bet, end: SeatHands, seat: int = 3) -> list[str]:
    """Return the results of a seat's wager on this bet, one result for each hand of the seat."""
    return [decided(bet, seen) for seen in GAME.seen(end, NOBODY, seat, (None, ()))]


def tie(end: SeatHands, seat: int = 3) -> str:
    return becomes_of(TIE, end, seat)[0]


def bonus(first_two: tuple[Card, ...], up: Card) -> str:
    end = SeatHands((up, up), (SeatHand(3, 1, first_two, False),), {3: first_two})
    return becomes_of(BONUS, end)[0]


def verdict(hand: str, dealer: str, *, from_split: bool = False) -> str:
    end = SeatHands(cards(dealer), (SeatHand(3, 1, cards(hand), from_split),), {3: cards(hand)[:2]})
    return becomes_of(HAND, end)[0]


def dealers_up_to_8() -> list[str]:
    return [dealer for dealers in UP_TO_8.values() for dealer in dealers]


# The hand: the sheet's sentences, cell by cell.

COLUMNS = {"lucky 9": LUCKY_9S, "natural 9": NATURAL_9S, "three-card 9": THREE_CARD_9S, "0 to 8": dealers_up_to_8()}
PUSH, LOSE = PUSHED, LOST
SPLIT_9S = [*LUCKY_9S, *NATURAL_9S]
DEAD = [hand for total in (0, 1, 2) for hand in UP_TO_8[total] if len(hand.split()) == 3]
OTHERS = [hand for hand in dealers_up_to_8() if hand not in DEAD]

CELLS = [
    # the seat's hands, whether from a split, against: what becomes of the wager
    (LUCKY_9S, False, {"lucky 9": PUSH, "natural 9": PUSH, "three-card 9": THREE_TO_TWO, "0 to 8": THREE_TO_TWO}),
    (NATURAL_9S, False, {"lucky 9": PUSH, "natural 9": PUSH, "three-card 9": PUSH, "0 to 8": EVEN}),
    (SPLIT_9S, True, {"lucky 9": PUSH, "natural 9": PUSH, "three-card 9": PUSH, "0 to 8": EVEN}),
    (THREE_CARD_9S, False, {"lucky 9": LOSE, "natural 9": PUSH, "three-card 9": PUSH, "0 to 8": EVEN}),
    (DEAD, False, {"lucky 9": LOSE, "natural 9": LOSE, "three-card 9": LOSE, "0 to 8": LOSE}),
    (OTHERS, False, {"lucky 9": LOSE, "natural 9": LOSE, "three-card 9": LOSE}),
]


@pytest.mark.parametrize(
    ("hands", "from_split", "column", "becomes"),
    [(hands, from_split, column, row[column]) for hands, from_split, row in CELLS for column in row],
)
def test_a_cell_of_the_outcomes(hands: list[str], from_split: bool, column: str, becomes: str) -> None:
    got = {verdict(hand, dealer, from_split=from_split) for hand, dealer in product(hands, COLUMNS[column])}
    assert got == {becomes}


def test_up_to_8_the_total_closer_to_9_wins_even_money_and_equal_ones_push() -> None:
    for seats, dealers in list(product(UP_TO_8, UP_TO_8)):
        _the_closer_wins(seats, dealers)


def _the_closer_wins(seats: int, dealers: int) -> None:
    becomes = EVEN if seats > dealers else PUSHED if seats == dealers else LOST
    for hand, dealer in product(UP_TO_8[seats], UP_TO_8[dealers]):
        three_cards = len(hand.split()) == 3
        assert verdict(hand, dealer) == (LOST if three_cards and seats <= 2 else becomes)
        if not three_cards:  # one card to a hand from a split, so none is dead
            assert verdict(hand, dealer, from_split=True) == becomes


def test_the_hands_of_a_split_settle_each_by_itself() -> None:
    played = done("8S 6C 8D TC split 8C split  AC 6H KC  reveal")  # the dealer stands on 6
    assert becomes_of(HAND, played) == [EVEN, LOST, EVEN]
    assert [str(hand.cards[1]) for hand in played.hands] == ["AC", "6H", "KC"]


# Tie: 7 to 1 on equal totals.

SEVEN_TO_ONE = "7"


@pytest.mark.parametrize(
    ("played", "hand", "ties"),
    [
        ("2S 3C 4D 3H stand reveal", PUSHED, SEVEN_TO_ONE),  # 6 and 6
        ("2S 3C 4D 4H stand reveal", LOST, LOST),  # 6 and 7
        ("2S 3C 4D 2H stand reveal", EVEN, LOST),  # 6 and 5
        ("AS KC 8D 9H reveal", PUSHED, SEVEN_TO_ONE),  # Lucky 9 and Natural 9
        ("AS KC 8D 2H reveal 7C", THREE_TO_TWO, SEVEN_TO_ONE),  # Lucky 9 and a three-card 9: the hand wins as well
        ("KS 3C 3D 6H hit 6C reveal", LOST, SEVEN_TO_ONE),  # a three-card 9 loses to a Lucky 9, of the same total
        ("5S KC 2D 2H hit 5C reveal KD", LOST, SEVEN_TO_ONE),  # a dead 2, and the dealer's 2
        ("5S KC 2D 2H hit 3C reveal 8D", LOST, SEVEN_TO_ONE),  # a dead 0, and the dealer's 0
        ("5S KC 2D 2H hit 5C reveal AD", LOST, LOST),  # a dead 2, and the dealer's 3
    ],
)
def test_the_tie_bet_looks_at_the_totals_alone(played: str, hand: str, ties: str) -> None:
    end = done(played)
    assert (becomes_of(HAND, end)[0], tie(end)) == (hand, ties)


def test_of_a_split_seat_the_leftmost_hand_ties() -> None:
    assert tie(done("8S 6C 8D TC split 8C stand KC reveal")) == SEVEN_TO_ONE  # 6, 8
    assert tie(done("8S 6C 8D TC split KC 8H stand reveal")) == LOST  # 8, 6


def test_each_seat_ties_by_its_own_hand() -> None:
    end = done("2S 3S 3C 4D 4H 3H stand stand reveal", (5, 1))
    assert [tie(end, seat) for seat in (5, 1)] == [SEVEN_TO_ONE, LOST]
    assert becomes_of(TIE, end, 3) == []


# Lucky 9 Bonus.


@pytest.mark.parametrize(
    ("three", "to_one"),
    [
        ("3S 3S 3S", 200),
        ("4D 2D 3D", 100),
        ("3S 3S 3H", 50),
        ("2S 3S 4H", 40),
        ("9C 9C AC", 30),  # 19: the last digit counts
        ("KH QH 9H", 30),
        ("AS 2S 6S", 30),
        ("AS 2S 6H", 5),
        ("5S 6D 8H", 5),
        ("TS JD 9C", 5),
        ("AS 2S 5H", 0),
        ("2S 2S 2S", 0),
        ("9S 9S 9S", 0),
        ("KS QS JS", 0),
        ("2S 3S 5S", 0),
    ],
)
def test_the_bonus_pays_its_best_row_whichever_of_the_cards_is_the_dealers(three: str, to_one: int) -> None:
    becomes = str(to_one) if to_one else LOST
    assert {bonus((a, b), up) for a, b, up in permutations(cards(three))} == {becomes}


POINTS = dict(zip("A23456789TJQK", (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0), strict=True))


def second_judge(three: tuple[Card, ...]) -> int:
    """Return what the bonus bet pays on these three cards, by an implementation that was written from the rule sheet
    alone. If the conditions of several rows of the pay table hold, the row that pays the most counts."""
    ranks, suits = Counter(str(card)[0] for card in three), {str(card)[1] for card in three}
    of_nine = sum(POINTS[rank] * count for rank, count in ranks.items()) in (9, 19)
    rows = {
        5: of_nine,
        30: of_nine and len(suits) == 1,
        40: set(ranks) == {"2", "3", "4"},
        50: ranks["3"] == 3,
        100: set(ranks) == {"2", "3", "4"} and len(suits) == 1,
        200: ranks["3"] == 3 and len(suits) == 1,
    }
    return max((pays for pays, holds in rows.items() if holds), default=0)


def test_the_bonus_agrees_with_a_second_judge_on_three_cards_of_a_shoe() -> None:
    """The bonus bet pays what a second implementation says. With `pytest --proof` all combinations of three cards are
    tried. Otherwise all combinations of 2s, 3s and 4s are tried, and a sixth of all others."""
    ways: Counter[int] = Counter()
    for place, three in enumerate(combinations_with_replacement(DECK, 3)):
        if place % 6 and not at_length and not {str(card)[0] for card in three} <= {"2", "3", "4"}:
            continue
        got = bonus(three[:2], three[2])
        pays = second_judge(three)
        assert got == (str(pays) if pays else LOST)
        ways[pays] += 1
    # Counted by hand: of one card three times, four suits; of three 3s, 20 multisets; of 2-3-4, 64 in all.
    assert (ways[200], ways[50], ways[100], ways[40]) == (4, 16, 4, 60)


def test_the_bonus_looks_at_the_first_two_cards_and_the_up_card_whatever_came_later() -> None:
    end = done("3S 5C 3D 3H split 9C KC reveal")
    assert set(becomes_of(BONUS, end)) == {"50"}


# Every pair of totals that can be dealt, end to end.


def test_a_seat_that_stands_against_every_dealer() -> None:
    """A seat that stands on two cards with a total of 6 is settled correctly against every hand of the dealer: any two
    cards, and any third card if the dealer has to draw."""
    for down, up, third in product(range(10), repeat=3):
        plays: list[Play] = [*cards(f"2S {worth(down)} 4S {worth(up)}"), Call.STAND, Call.REVEAL]
        dealers = (down + up) % 10
        if dealers <= 4:
            plays += cards(worth(third))
            dealers = (dealers + third) % 10
        end = GAME.next_step(Seating((3,)), plays)
        assert isinstance(end, SeatHands)
        becomes = EVEN if dealers < 6 else PUSHED if dealers == 6 else LOST
        assert becomes_of(HAND, end) == [becomes]
        assert tie(end) == (SEVEN_TO_ONE if dealers == 6 else LOST)
