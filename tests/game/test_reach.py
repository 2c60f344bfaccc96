"""Which rows can decide a hand, at games where people play hands of their own, and where cards of both hands count."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.game.bets import Bet, CardsAre, HandIs, Has, Row, When
from controller.game.reach import unreachable
from controller.table.rules import TableRules
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, ROYAL9

THREES = CardsAre(ranks=("3", "3", "3"))


@pytest.mark.parametrize(
    ("rules", "whens", "decks", "cannot"),
    [
        (ROYAL9, [When(own=HandIs(total=(9,)))], 8, {0: "never_holds"}),  # no seat has a hand of its own
        (LUCKY9, [When(player=HandIs(total=(9,)))], 8, {0: "never_holds"}),
        (BACCARAT_ROYAL, [When(winner=("own",)), When(winner=("dealer",))], 8, {1: "never_holds"}),
        (LUCKY9, [When(dealer=HandIs(cards=(3,), first_two_total=(5,)))], 8, {0: "never_holds"}),
        (LUCKY9, [When(split=True, own=HandIs(cards=(3,)))], 8, {0: "never_holds"}),
        (LUCKY9, [When(with_up_card=CardsAre(total=(9,))), When(with_up_card=THREES)], 8, {1: "hidden"}),
        (LUCKY9, [When(with_up_card=CardsAre(ranks=("3", "3", "3"), same_suit=True))], 2, {0: "never_holds"}),
        (LUCKY9, [When(with_up_card=CardsAre(ranks=("3", "3", "3"), same_suit=True))], 3, {}),
        (ROYAL9, [When(all_cards=CardsAre(has=Has(("8",), (4,)))), When(all_cards=CardsAre(cards=(7,)))], 8,
         {1: "never_holds"}),
        (ROYAL9, [When(first_four=CardsAre(same_rank=True)), When(both=HandIs(pair=True))], 8, {}),
    ],
)  # fmt: skip
def test_the_rows_that_no_hand_reaches(
    rules: TableRules, whens: list[When], decks: int, cannot: dict[int, str]
) -> None:
    bet = Bet("x", rows=tuple(Row(when, pays=Fraction(1)) for when in whens))
    assert {each.row: each.why for each in unreachable(rules.play, [bet], decks)} == cannot
