"""What every lamp shows, from built tables; and how each pattern burns over time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.table.facts import JournalFoundBehindPit, ShoeError, ShoeErrorRaised
from controller.table.lamps import Live, Pattern, SeatSign, lamps, seat_sign
from controller.table.requests import NewShoe
from tests.support.tables import TableUnderTest, house

HEALTHY = Live(frozenset(), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True)
STALE = replace(HEALTHY, pit_fresh=False)
ERROR = ShoeErrorRaised(ShoeError.CANNOT_READ)

NO_SHOE = TableUnderTest()
FIRST_CARD_DUE = TableUnderTest().do(NewShoe())
BURNING = TableUnderTest().do(NewShoe()).draw("3H")
OPEN = TableUnderTest().open_shoe()
LOCKED = TableUnderTest().open_shoe().lock(2)
LOCKED_STALE = TableUnderTest(pit_fresh=False).open_shoe().lock(2)
PLAYER_DREW = TableUnderTest().open_shoe().lock(2).draw("2S TH 3D 2C")
BANKER_DRAWS = TableUnderTest().open_shoe().lock(2).draw("2S TH 3D 2C 9D")
PLAYER_WON = TableUnderTest().open_shoe().lock(2).draw("KH 2S 9H 3D")  # seat 2's K9
BANKER_WON = TableUnderTest().open_shoe().lock(2).draw("5S 8H KD TC")
TIE = TableUnderTest().open_shoe().lock(2).draw("4S TH 5D 9C")
HIT_THEN_SIMULATED = TableUnderTest().open_shoe().lock(2).draw("KH 2S 9H 3D 4S")
HIT_THEN_LOCKED = TableUnderTest().open_shoe().lock(2).draw("KH 2S 9H 3D").lock(3)
ENDED = TableUnderTest().open_shoe().lock(2).draw("CUT 5S 8H KD TC")
STOPPED_OPEN = TableUnderTest().open_shoe().believe(ERROR)
STOPPED_IN_HAND = TableUnderTest().open_shoe().lock(2).draw("2S TH 3D 2C").believe(ERROR)
STOPPED_BURNING = TableUnderTest().do(NewShoe()).draw("3H").believe(ERROR)


@pytest.mark.parametrize(
    ("table", "live", "sign"),
    [
        (OPEN, HEALTHY, SeatSign.INVITATION),
        (OPEN, replace(HEALTHY, royal9_seats=frozenset({2})), SeatSign.WAGER_SEEN),
        (OPEN, replace(HEALTHY, royal9_seats=frozenset({3})), SeatSign.INVITATION),
        (OPEN, STALE, SeatSign.NOTHING),
        (OPEN, replace(STALE, royal9_seats=frozenset({2})), SeatSign.REFUSED),
        (LOCKED, HEALTHY, SeatSign.ACCEPTED),
        (LOCKED, STALE, SeatSign.ACCEPTED),
        (LOCKED_STALE, STALE, SeatSign.REFUSED),
        (LOCKED_STALE, HEALTHY, SeatSign.REFUSED),
        (PLAYER_DREW, HEALTHY, SeatSign.ACCEPTED),
        (STOPPED_IN_HAND, HEALTHY, SeatSign.ACCEPTED),
        (PLAYER_WON, HEALTHY, SeatSign.HIT),
        (PLAYER_WON, replace(HEALTHY, royal9_seats=frozenset({2})), SeatSign.HIT),
        (HIT_THEN_SIMULATED, HEALTHY, SeatSign.HIT),
        (TableUnderTest().open_shoe().lock(2).draw("KH 2S 9H 3D 4S TH 5D 9C"), HEALTHY, SeatSign.HIT),
        (HIT_THEN_LOCKED, HEALTHY, SeatSign.NOTHING),
        (BANKER_WON, HEALTHY, SeatSign.INVITATION),
        *(
            (table, replace(HEALTHY, royal9_seats=frozenset({2})), SeatSign.NOTHING)
            for table in (NO_SHOE, FIRST_CARD_DUE, BURNING, ENDED, STOPPED_OPEN)
        ),
    ],
)
def test_the_sign_at_seat_2(table: TableUnderTest, live: Live, sign: SeatSign) -> None:
    assert seat_sign(table.face, live, 2) is sign
    assert lamps(table.face, live)["seat_2"] is sign.value


def test_a_sign_is_one_seats_alone() -> None:
    shown = lamps(PLAYER_WON.face, replace(HEALTHY, royal9_seats=frozenset({4})))
    assert [shown[f"seat_{seat}"] for seat in range(1, 8)] == [
        Pattern.FLASH,
        Pattern.FAST_BLINK,
        Pattern.FLASH,
        Pattern.SLOW_BLINK,
        Pattern.FLASH,
        Pattern.FLASH,
        Pattern.FLASH,
    ]


@pytest.mark.parametrize(
    ("table", "player", "banker"),
    [
        (NO_SHOE, False, False),
        (FIRST_CARD_DUE, True, True),
        (BURNING, True, True),
        (STOPPED_BURNING, False, False),
        (OPEN, False, False),
        (LOCKED, True, False),
        (TableUnderTest().open_shoe().lock().draw("2S"), False, True),
        (PLAYER_DREW, True, False),
        (BANKER_DRAWS, False, True),
        (STOPPED_IN_HAND, False, False),
        (TIE, False, False),
        (TableUnderTest().open_shoe().draw("4S TH"), True, False),
        (ENDED, False, False),
    ],
)
def test_the_guidance_lamps_say_where_the_next_card_goes(table: TableUnderTest, player: bool, banker: bool) -> None:
    shown = lamps(table.face, HEALTHY)
    lit = {True: Pattern.STEADY, False: Pattern.DARK}
    assert (shown["draw_player"], shown["draw_banker"]) == (lit[player], lit[banker])


def test_the_guidance_blinks_while_a_card_drawn_in_error_may_still_be_told_to_be_another() -> None:
    table = TableUnderTest().open_shoe().draw("4S")
    shown = lamps(table.face, HEALTHY)
    assert (shown["draw_player"], shown["draw_banker"]) == (Pattern.DARK, Pattern.SLOW_BLINK)


@pytest.mark.parametrize(
    ("table", "outcome"),
    [
        (OPEN, None),
        (PLAYER_WON, "player"),
        (BANKER_WON, "banker"),
        (TIE, "tie"),
        (ENDED, "banker"),
        (TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").believe(ERROR), "tie"),
        (HIT_THEN_SIMULATED, None),
        (TableUnderTest().open_shoe().draw("4S TH 5D 9C"), "tie"),
        (HIT_THEN_LOCKED, None),
        (PLAYER_DREW, None),
        (TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").new_shoe_by_supervisor(), None),
    ],
)
def test_the_outcome_burns_from_the_end_of_a_hand_to_the_next_ones_lock(
    table: TableUnderTest, outcome: str | None
) -> None:
    shown = lamps(table.face, HEALTHY)
    assert {name for name in ("player", "banker", "tie") if shown[name] is Pattern.STEADY} == {outcome} - {None}
    assert {shown[name] for name in ("player", "banker", "tie")} <= {Pattern.STEADY, Pattern.DARK}


@pytest.mark.parametrize(
    ("table", "live", "pattern"),
    [
        (OPEN, HEALTHY, Pattern.DARK),
        (NO_SHOE, HEALTHY, Pattern.DARK),
        (OPEN, replace(HEALTHY, shoe_up=False), Pattern.SLOW_BLINK),
        (OPEN, replace(HEALTHY, pit_up=False), Pattern.SLOW_BLINK),
        (OPEN, replace(HEALTHY, journal_ok=False), Pattern.FAST_BLINK),
        (STOPPED_OPEN, HEALTHY, Pattern.FAST_BLINK),
        (STOPPED_OPEN, replace(HEALTHY, shoe_up=False, pit_up=False), Pattern.FAST_BLINK),
        (TableUnderTest().believe(JournalFoundBehindPit(9, 4, chain_differs=True)), HEALTHY, Pattern.FAST_BLINK),
        (OPEN, STALE, Pattern.DARK),
    ],
)
def test_the_fault_lamp(table: TableUnderTest, live: Live, pattern: Pattern) -> None:
    assert lamps(table.face, live)["fault"] is pattern


def test_every_lamp_of_the_table_is_shown_and_no_other() -> None:
    wired = {*(f"seat_{seat}" for seat in range(1, 8)), "player", "tie", "banker", "draw_player", "draw_banker"}
    assert lamps(OPEN.face, HEALTHY).keys() == wired | {"fault"}
    one_seat = TableUnderTest(replace(house(), seats=house().seats[3:4]))
    assert "seat_4" in lamps(one_seat.face, HEALTHY)
    assert "seat_1" not in lamps(one_seat.face, HEALTHY)


@pytest.mark.parametrize(
    ("pattern", "changes_ms", "period_ms"),
    [
        (Pattern.FLASH, [150], 2000),
        (Pattern.DOUBLE_FLASH, [120, 240, 360], 2000),
        (Pattern.SLOW_BLINK, [600], 1200),
        (Pattern.FAST_BLINK, [120], 240),
    ],
)
def test_a_pattern_begins_lit_changes_at_its_times_and_repeats(
    pattern: Pattern, changes_ms: list[int], period_ms: int
) -> None:
    for start_ms in (0, period_ms, 1_000_000 * period_ms):
        lit = True
        for moment in range(period_ms):
            if moment in changes_ms:
                lit = not lit
            assert pattern.lit(start_ms + moment) is lit


def test_steady_is_lit_and_dark_is_dark_at_every_moment() -> None:
    assert all(Pattern.STEADY.lit(moment) and not Pattern.DARK.lit(moment) for moment in range(0, 5000, 7))


def test_a_player_can_tell_every_sign_from_every_other() -> None:
    assert len(SeatSign) == 6, "two signs of one pattern are one sign, to a player as to Python"
