"""Checks the level at which a progressive meter must begin. A row of a bet's pay table must pay at least as much as any
row below it whose condition can hold in the same round."""

from __future__ import annotations

from fractions import Fraction

from controller.people.par.reach import least_meters
from controller.rules.game.bets import Bet, HandIs, Row, When
from tests.support.tables import ROYAL9


def test_a_meter_begins_at_what_the_best_row_below_its_own_pays() -> None:
    """A row of the pay table that awards a meter must pay at least as much as each row below it that can hold in the
    same round. So the meter must begin at the highest of these pays.

    By rule sheet 000, a seat's printed King and 9 may lie beside another suited Royal 9. Without the meter's row this
    would win $1,500, so the meter begins at $1,500. The row of $5,000 does not count, because it is for another seat's
    King and 9 in both hands, so neither hand is the seat's own. If a row awards a tenth of a meter, the meter begins at
    ten times what the best row below pays.
    """
    assert least_meters(ROYAL9.play, ROYAL9.bets, 8) == dict.fromkeys(ROYAL9.meters, 150_000)
    perfect, pair = HandIs(pair=True, suited=True), HandIs(pair=True)
    rows = (
        Row(When(both=perfect), award="both", meter="all"),
        Row(When(both=pair), award="tenth", meter="all", share=Fraction(1, 10)),
        Row(When(either=pair), award="pair", cents=2_001),
        Row(When(natural=True), award="natural", cents=7_000),
    )
    assert least_meters(ROYAL9.play, [Bet("x", rows=rows[:3])], 8) == {"all": 20_010}
    assert least_meters(ROYAL9.play, [Bet("x", rows=rows)], 8) == {"all": 70_000}, "two pairs of fours are naturals"
