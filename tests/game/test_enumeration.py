"""Deals every possible round of eight decks through the product's `next_step`, and compares the counts with those
published for punto banco and Dragon Bonus.

The counts are of six cards in order (416 × 415 × … × 411 possibilities). A round of four or five cards is counted once
for every possible order of the further cards, up to the sixth, that would follow it in the shoe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import perm

import pytest

from controller.rules.game.baccarat import Tableau, next_step
from controller.rules.game.bets import Bet
from controller.rules.game.cards import Card
from controller.rules.game.hands import Outcome, TwoHands
from tests.support.bets import dragon_bonus

pytestmark = pytest.mark.proof  # a million hands; `tests/par` counts the same figures from what hands have in common

CARDS = 8 * 52
WORTH = [Card.parse(rank + "S") for rank in "TA23456789"]  # one card for each point value: suits play no part
IN_THE_SHOE = [8 * 16] + [8 * 4] * 9
SIXES = 416 * 415 * 414 * 413 * 412 * 411
BOTH_LOSE = ("lose", "lose")


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a round, reduced to those properties that the published tables distinguish."""

    outcome: Outcome
    natural: bool
    margin: int
    dragon_bonus: tuple[str, str]


def every_hand(tableau: Tableau, dealt: tuple[Card, ...] = (), ways: int = 1) -> Iterator[tuple[TwoHands, int]]:
    """Yield each possible round, with one card for each point value. With each round comes a count: how many ordered
    deals of six cards from the shoe begin with this round. The function calls itself with the cards `dealt` so far, and
    the number `ways` of card orders that give them."""
    step = next_step(tableau, dealt)
    if isinstance(step, TwoHands):
        yield step, ways * perm(CARDS - len(dealt), 6 - len(dealt))
        return
    for card, count in zip(WORTH, IN_THE_SHOE, strict=True):
        yield from every_hand(tableau, (*dealt, card), ways * (count - dealt.count(card)))


@pytest.fixture(scope="module")
def endings(tableau: Tableau, bets: tuple[Bet, ...]) -> Counter[Ending]:
    """A count for each way in which a round can end: how many ordered deals of six cards lead to that end."""
    ways: Counter[Ending] = Counter()
    for done, count in every_hand(tableau):
        ways[Ending(done.outcome, done.natural, done.margin, dragon_bonus(bets, done))] += count
    return ways


@pytest.mark.parametrize(
    ("outcome", "published"),
    [
        (Outcome.PLAYER, 2_230_518_282_592_256),
        (Outcome.BANKER, 2_292_252_566_437_888),
        (Outcome.TIE, 475_627_426_473_216),
    ],
)
def test_outcomes(endings: Counter[Ending], outcome: Outcome, published: int) -> None:
    assert sum(ways for ending, ways in endings.items() if ending.outcome is outcome) == published


def test_every_six_cards_are_counted_once(endings: Counter[Ending]) -> None:
    assert endings.total() == SIXES


# Dragon Bonus as published for eight decks: a win's margin, what it pays to one, Player's ways and Banker's.
WITHOUT_A_NATURAL = [
    (9, 30, 18_409_431_764_992, 15_390_342_909_952),
    (8, 10, 34_097_645_543_424, 28_305_092_784_128),
    (7, 6, 89_590_261_473_280, 79_517_099_278_336),
    (6, 4, 141_238_897_317_888, 119_200_072_366_080),
    (5, 2, 166_169_165_987_840, 157_275_882_332_160),
    (4, 1, 186_780_352_174_080, 201_147_167_287_296),
]
NATURAL_WIN = 812_685_054_124_032  # of each hand: until a third card is drawn, the two are alike
NATURAL_TIE = 89_325_908_267_520


@pytest.mark.parametrize(("margin", "pays", "player", "banker"), WITHOUT_A_NATURAL)
def test_dragon_bonus_without_a_natural(
    endings: Counter[Ending], margin: int, pays: int, player: int, banker: int
) -> None:
    player_wins = Ending(Outcome.PLAYER, False, margin, (str(pays), "lose"))
    banker_wins = Ending(Outcome.BANKER, False, margin, ("lose", str(pays)))
    assert (endings[player_wins], endings[banker_wins]) == (player, banker)


def test_dragon_bonus_with_a_natural(endings: Counter[Ending]) -> None:
    settled: Counter[tuple[str, str]] = Counter()
    for ending, ways in endings.items():
        if ending.natural:
            settled[ending.dragon_bonus] += ways
    assert settled == {
        ("1", "lose"): NATURAL_WIN,
        ("lose", "1"): NATURAL_WIN,
        ("push", "push"): NATURAL_TIE,
    }


def test_dragon_bonus_loses_in_every_other_way(endings: Counter[Ending]) -> None:
    both_lose = sum(ways for ending, ways in endings.items() if ending.dragon_bonus == BOTH_LOSE)
    wins = sum(player + banker for _, _, player, banker in WITHOUT_A_NATURAL) + 2 * NATURAL_WIN
    assert both_lose == SIXES - wins - NATURAL_TIE
