"""Checks of what every lamp shows at a table in a given state, and of how each blinking pattern runs over time."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.rules.game.play import Call
from controller.rules.game.seating import Actives
from controller.rules.game.wagers import Wager
from controller.table.acts.itself import PauseTable
from controller.table.acts.rounds import MakeCall
from controller.table.acts.seats import ChooseActives, PlaceWager, ResetHits, TakeSeats
from controller.table.acts.shoe import NewShoe
from controller.table.facts import JournalFoundBehindPit, ShoeError, ShoeErrorRaised
from controller.table.lamps import Live, Pattern, SeatSign, lamps, seat_sign
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, MIDI, TableUnderTest, house

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
HIT_SEEN_TO = TableUnderTest().open_shoe().lock(2).draw("KH 2S 9H 3D").lock(3).do(ResetHits(2, "Smith"))
FIXED_HIT = TableUnderTest().open_shoe().lock(2).draw("KS 2S 9H 3D")
FIXED_HIT_THEN_LOCKED = TableUnderTest().open_shoe().lock(2).draw("KS 2S 9H 3D").lock(3)
PAUSED = TableUnderTest().open_shoe().lock(2).draw("5S 8H KD TC").do(PauseTable("Smith"))
ENDED = TableUnderTest().open_shoe().lock(2).draw("CUT 5S 8H KD TC")
STOPPED_OPEN = TableUnderTest().open_shoe().believe(ERROR)
STOPPED_IN_HAND = TableUnderTest().open_shoe().lock(2).draw("2S TH 3D 2C").believe(ERROR)
STOPPED_BURNING = TableUnderTest().do(NewShoe()).draw("3H").believe(ERROR)


def _royal(dealt: str, *calls: Call) -> TableUnderTest:
    """Return a Baccarat Royal table in the middle of a round, after the cards `dealt` and these calls. Seat 2 is Player
    and seat 5 is Banker, whose hand gets the first two cards. Seat 6 is occupied too."""
    table = TableUnderTest(BACCARAT_ROYAL)
    table.do(TakeSeats((2, 5, 6), "dealer"), ChooseActives(Actives(player=2, banker=5), "Smith"))
    table.open_shoe().lock().draw(dealt)
    return table.do(*(MakeCall(call, "dealer") for call in calls))


def _lucky9(dealt: str, *calls: Call) -> TableUnderTest:
    """Return a Lucky 9 table in the middle of a round in which seats 2 and 6 play, after the cards `dealt` and these
    calls."""
    table = TableUnderTest(LUCKY9).open_shoe()
    table.do(*(PlaceWager(Wager(seat, "hand", 500), "dealer") for seat in (2, 6)))
    table.lock().draw(dealt)
    return table.do(*(MakeCall(call, "dealer") for call in calls))


def _midi(dealt: str) -> TableUnderTest:
    """Return a Midi table in the middle of a round. Seat 2 has the largest wager on Player, so it turns up Player's
    cards. Nobody wagers on Banker, so the dealer turns up Banker's cards."""
    table = TableUnderTest(MIDI).open_shoe()
    table.do(*(PlaceWager(Wager(seat, "player", cents), "dealer") for seat, cents in ((2, 5000), (6, 2000))))
    return table.lock().draw(dealt)


PLAYER_CHOOSES = _royal("2S 3H 2D 2C")
PLAYER_HITS = _royal("2S 3H 2D 2C", Call.HIT)
BANKER_UNCOVERS = _royal("2S 3H 2D 2C", Call.STAND)
SEAT_2_TAKES_A_CARD = _lucky9("")
SEAT_2_CHOOSES = _lucky9("2S 3H TD 2C 3S 4D")
SEAT_6_CHOOSES = _lucky9("2S 3H TD 2C 3S 4D", Call.STAND)
DEALER_UNCOVERS = _lucky9("2S 3H TD 2C 3S 4D", Call.STAND, Call.STAND)
SQUEEZING = _midi("2S TH 3D 2C")
STOPPED_CHOOSING = _royal("2S 3H 2D 2C").believe(ERROR)
STOPPED_SQUEEZING = _midi("2S TH 3D 2C").believe(ERROR)


@pytest.mark.parametrize(
    ("table", "live", "sign"),
    [
        (OPEN, HEALTHY, SeatSign.INVITATION),
        (OPEN, replace(HEALTHY, sensed_seats=frozenset({2})), SeatSign.WAGER_SEEN),
        (OPEN, replace(HEALTHY, sensed_seats=frozenset({3})), SeatSign.INVITATION),
        (OPEN, STALE, SeatSign.NOTHING),
        (OPEN, replace(STALE, sensed_seats=frozenset({2})), SeatSign.REFUSED),
        (LOCKED, HEALTHY, SeatSign.ACCEPTED),
        (LOCKED, STALE, SeatSign.ACCEPTED),
        (LOCKED_STALE, STALE, SeatSign.REFUSED),
        (LOCKED_STALE, HEALTHY, SeatSign.REFUSED),
        (PLAYER_DREW, HEALTHY, SeatSign.ACCEPTED),
        (STOPPED_IN_HAND, HEALTHY, SeatSign.ACCEPTED),
        (PLAYER_WON, HEALTHY, SeatSign.HIT),
        (PLAYER_WON, replace(HEALTHY, sensed_seats=frozenset({2})), SeatSign.HIT),
        (HIT_THEN_SIMULATED, HEALTHY, SeatSign.HIT),
        (TableUnderTest().open_shoe().lock(2).draw("KH 2S 9H 3D 4S TH 5D 9C"), HEALTHY, SeatSign.HIT),
        (HIT_THEN_LOCKED, HEALTHY, SeatSign.HIT),  # progressive: until somebody has seen to it
        (FIXED_HIT, HEALTHY, SeatSign.HIT),
        (FIXED_HIT_THEN_LOCKED, HEALTHY, SeatSign.NOTHING),
        (HIT_SEEN_TO, HEALTHY, SeatSign.NOTHING),
        (OPEN, replace(HEALTHY, refused_seats=frozenset({2})), SeatSign.REFUSED),
        (OPEN, replace(HEALTHY, refused_seats=frozenset({3})), SeatSign.INVITATION),
        (BANKER_WON, HEALTHY, SeatSign.INVITATION),
        (PAUSED, HEALTHY, SeatSign.NOTHING),
        *(
            (table, replace(HEALTHY, sensed_seats=frozenset({2})), SeatSign.NOTHING)
            for table in (NO_SHOE, FIRST_CARD_DUE, BURNING, ENDED, STOPPED_OPEN)
        ),
    ],
)
def test_the_sign_at_seat_2(table: TableUnderTest, live: Live, sign: SeatSign) -> None:
    assert seat_sign(table.face, live, 2) is sign
    assert lamps(table.face, live)["seat_2"] is sign.value


@pytest.mark.parametrize(
    ("table", "acting"),
    [
        (_royal(""), set()),  # the hole cards wait for nobody
        (PLAYER_CHOOSES, {2}),
        (PLAYER_HITS, {2}),
        (BANKER_UNCOVERS, {5}),
        (STOPPED_CHOOSING, set()),
        (SEAT_2_TAKES_A_CARD, {2}),
        (_lucky9("2S"), {6}),
        (_lucky9("2S 3H"), set()),  # the dealer's card
        (SEAT_2_CHOOSES, {2}),
        (_lucky9("2S 3H TD 2C 3S 4D", Call.HIT), {2}),
        (SEAT_6_CHOOSES, {6}),
        (DEALER_UNCOVERS, set()),
        (_midi("2S TH 3D"), set()),
        (SQUEEZING, {2}),
        (STOPPED_SQUEEZING, set()),
    ],
)
def test_a_seats_lamp_says_that_the_hand_waits_for_it(table: TableUnderTest, acting: set[int]) -> None:
    assert {seat for seat in range(1, 8) if seat_sign(table.face, HEALTHY, seat) is SeatSign.TURN} == acting
    others = {seat_sign(table.face, HEALTHY, seat) for seat in set(range(1, 8)) - acting}
    assert others == {SeatSign.NOTHING}, "these games have no Royal 9 bet to speak of"


@pytest.mark.parametrize(
    ("table", "flashing"),
    [
        (PLAYER_CHOOSES, set()),
        (BANKER_UNCOVERS, {"draw_banker"}),
        (_royal("2S 3H 2D 2C", Call.STAND, Call.REVEAL).draw("KD"), {"draw_player"}),
        (DEALER_UNCOVERS, {"draw_banker"}),
        (SQUEEZING, {"draw_player", "draw_banker"}),
        (STOPPED_SQUEEZING, set()),
    ],
)
def test_the_guidance_flashes_twice_for_cards_to_be_turned_up(table: TableUnderTest, flashing: set[str]) -> None:
    shown = lamps(table.face, HEALTHY)
    assert {name for name, pattern in shown.items() if pattern is Pattern.DOUBLE_FLASH} == flashing


def test_in_a_pause_both_draw_lamps_flash_and_the_last_result_stays() -> None:
    shown = lamps(PAUSED.face, HEALTHY)
    lit = {name: pattern for name, pattern in shown.items() if pattern is not Pattern.DARK}
    assert lit == {"draw_player": Pattern.FLASH, "draw_banker": Pattern.FLASH, "banker": Pattern.STEADY}
    stopped = lamps(TableUnderTest().open_shoe().do(PauseTable("Smith")).draw("KS").face, HEALTHY)
    assert {name for name, pattern in stopped.items() if pattern is not Pattern.DARK} == {"fault"}


def test_a_sign_is_one_seats_alone() -> None:
    shown = lamps(PLAYER_WON.face, replace(HEALTHY, sensed_seats=frozenset({4})))
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
        (_royal(""), False, True),  # Banker's hole cards come first
        (_royal("2S 3H"), True, False),
        (PLAYER_CHOOSES, False, False),
        (PLAYER_HITS, True, False),
        (SEAT_2_TAKES_A_CARD, False, False),  # the seat's lamp says so
        (_lucky9("2S 3H"), False, True),  # the dealer's hand
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
        (Pattern.LONG_FLASH, [1500], 1800),
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
    assert Pattern.STEADY.changes_at_ms(7) is None
    assert Pattern.DARK.changes_at_ms(7) is None


@pytest.mark.parametrize("pattern", [pattern for pattern in Pattern if pattern not in (Pattern.STEADY, Pattern.DARK)])
def test_the_next_change_is_the_next_moment_that_is_lit_otherwise(pattern: Pattern) -> None:
    lit = [pattern.lit(moment) for moment in range(6000)]
    for moment in range(3000):
        at_ms = pattern.changes_at_ms(moment)
        assert at_ms is not None
        assert lit[moment:at_ms] == [lit[moment]] * (at_ms - moment)
        assert lit[at_ms] is not lit[moment]


def test_a_player_can_tell_every_sign_from_every_other() -> None:
    assert len(SeatSign) == 7, "two signs of one pattern are one sign, to a player as to Python"
