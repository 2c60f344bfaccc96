"""Checks how high a meter must begin: a row of a bet must pay at least as much as any row after it that holds too."""

from __future__ import annotations

from fractions import Fraction

from controller.people.par.reach import least_meters
from controller.rules.game.bets import Bet, HandIs, Row, When
from tests.support.tables import ROYAL9


def test_a_meter_begins_at_what_the_best_row_below_its_own_pays() -> None:
    """A meter begins at what the best row below its own row pays. By sheet 000 a personal King-9 may lie beside another
    suited Royal 9. Without the meter's row, both hands would win $1,500, so the meter begins there. The $5,000 are for
    another seat's King-9 in both hands, where no hand is the seat's own. Where a row awards a tenth of a meter, the
    meter begins at ten times what the best row below pays."""
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
