"""Checks the Dragon Bonus bet against the rule sheet's pay table, for every way in which a round can end."""

from __future__ import annotations

from itertools import combinations

import pytest

from controller.rules.game.baccarat import Tableau, next_step
from controller.rules.game.bets import Bet
from controller.rules.game.cards import Card
from controller.rules.game.hands import Outcome, TwoHands
from tests.support.bets import dragon_bonus

PUSH, LOSE = "push", "lose"

NON_NATURAL_WINNERS_BY = {9: 30, 8: 10, 7: 6, 6: 4, 5: 2, 4: 1, 3: None, 2: None, 1: None}


def three_cards(total: int) -> tuple[Card, ...]:
    return tuple(Card.parse(text) for text in ("TS", "KH", f"{'TA23456789'[total]}D"))


def test_a_win_without_a_natural_pays_by_its_margin_on_the_hand_that_won(bets: tuple[Bet, ...]) -> None:
    for low, high in list(combinations(range(10), 2)):
        _pays_by_its_margin(bets, low, high)


def _pays_by_its_margin(bets: tuple[Bet, ...], low: int, high: int) -> None:
    pay = NON_NATURAL_WINNERS_BY[high - low]
    winner = LOSE if pay is None else str(pay)
    player_wins = TwoHands(three_cards(high), three_cards(low), Outcome.PLAYER, natural=False)
    banker_wins = TwoHands(three_cards(low), three_cards(high), Outcome.BANKER, natural=False)
    assert dragon_bonus(bets, player_wins) == (winner, LOSE)
    assert dragon_bonus(bets, banker_wins) == (LOSE, winner)


@pytest.mark.parametrize(
    ("dealt", "settled"),
    [
        ("9S 2H KD 6C", ("1", LOSE)),  # 9 over 8: by one point
        ("9S KH KD TC", ("1", LOSE)),  # 9 over 0: by nine, and still one to one
        ("8S KH KD 3C", ("1", LOSE)),
        ("2S 9H 6D KC", (LOSE, "1")),
        ("KS 8H TD KC", (LOSE, "1")),
        ("9S 9H KD KC", (PUSH, PUSH)),  # naturals tie
        ("8S 5H KD 3C", (PUSH, PUSH)),
        ("6S 6H KD KC", (LOSE, LOSE)),  # a tie of two cards, not naturals
        ("2S 7H KD KC 5S", (LOSE, LOSE)),
        ("2S KH KD KC 7S 9C", (LOSE, LOSE)),  # nine to nine, on three cards each
        ("2S KH KD KC 7S KC", ("30", LOSE)),  # nine to nothing, on three cards
        ("KS KH KD 2C TS 7S", (LOSE, "30")),
        ("7S KH KD 2C KC", ("2", LOSE)),  # standing on seven, by five
        ("7S KH KD 4C KC", (LOSE, LOSE)),  # by three
    ],
)
def test_a_dealt_hand_settles_as_the_sheet_says(
    tableau: Tableau, bets: tuple[Bet, ...], dealt: str, settled: tuple[str, str]
) -> None:
    done = next_step(tableau, [Card.parse(word) for word in dealt.split()])
    assert isinstance(done, TwoHands)
    assert dragon_bonus(bets, done) == settled
