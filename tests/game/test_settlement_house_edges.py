"""Checks the published house edges for eight decks. The tests settle one round of each kind, and weight its result by
how often rounds of this kind occur.

The weights are published counts. `test_enumeration.py` checks that the rules of play give these counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from controller.rules.game.bets import Finished
from controller.rules.game.cards import Card
from controller.rules.game.hands import Outcome, TwoHands
from controller.rules.game.settlement import Rounding, settle
from controller.rules.game.wagers import Wager
from tests.game.test_enumeration import NATURAL_TIE, NATURAL_WIN, SIXES, WITHOUT_A_NATURAL
from tests.support.bets import NATURAL, bets_of

ROYAL9_AND_SUGARHOUSE, KANSAS_STAR = "royal9", "kansas_star"
UNIT_CENTS = 100
PLAYER_WINS, BANKER_WINS, TIES = 2_230_518_282_592_256, 2_292_252_566_437_888, 475_627_426_473_216


def hand(total: int, cards: int) -> tuple[Card, ...]:
    worthless = ["KS", "TH", "QD"][: cards - 1]
    return tuple(map(Card.parse, [*worthless, "TA23456789"[total] + "C"]))


def every_kind_of_hand() -> Iterator[tuple[TwoHands, int]]:
    """Yield pairs: one sample round of each kind that the bets of punto banco distinguish, and how often rounds of that
    kind occur."""
    for margin, _, player, banker in WITHOUT_A_NATURAL:
        yield TwoHands(hand(margin, 3), hand(0, 3), Outcome.PLAYER, natural=False), player
        yield TwoHands(hand(0, 3), hand(margin, 3), Outcome.BANKER, natural=False), banker
    yield TwoHands(hand(9, 2), hand(0, 2), Outcome.PLAYER, natural=True), NATURAL_WIN
    yield TwoHands(hand(0, 2), hand(9, 2), Outcome.BANKER, natural=True), NATURAL_WIN
    yield TwoHands(hand(9, 2), hand(9, 2), Outcome.TIE, natural=True), NATURAL_TIE
    yield TwoHands(hand(6, 2), hand(6, 2), Outcome.TIE, natural=False), TIES - NATURAL_TIE
    by_more = [sum(ways[side] for ways in WITHOUT_A_NATURAL) + NATURAL_WIN for side in (2, 3)]
    yield TwoHands(hand(3, 3), hand(0, 3), Outcome.PLAYER, natural=False), PLAYER_WINS - by_more[0]
    yield TwoHands(hand(0, 3), hand(3, 3), Outcome.BANKER, natural=False), BANKER_WINS - by_more[1]


@pytest.mark.parametrize(
    ("spot", "table", "published"),
    [
        ("player", ROYAL9_AND_SUGARHOUSE, "1.2351"),
        ("banker", ROYAL9_AND_SUGARHOUSE, "1.0579"),
        ("tie", ROYAL9_AND_SUGARHOUSE, "14.3596"),
        ("dragon_player", ROYAL9_AND_SUGARHOUSE, "2.65"),
        ("dragon_banker", ROYAL9_AND_SUGARHOUSE, "9.37"),
        ("dragon_player", KANSAS_STAR, "2.50"),
        ("dragon_banker", KANSAS_STAR, "8.53"),
    ],
)
def test_house_edge(spot: str, table: str, published: str) -> None:
    wager = Wager(1, spot, UNIT_CENTS)
    bets, kept = bets_of(table), 0
    for done, ways in every_kind_of_hand():
        finished = Finished(done, NATURAL)
        totals = settle(bets, Rounding(), {1: [finished]}.__getitem__, [wager]).totals
        kept += ways * (totals.house + totals.commission)
    decimals = len(published.partition(".")[2])
    assert f"{float(Fraction(100 * kept, UNIT_CENTS * SIXES)):.{decimals}f}" == published
