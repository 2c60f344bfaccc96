"""Checks wagers and their limits. In these tests, "3 banker 25" is a wager of 25 dollars on Banker at seat 3, and "3b
banker 25" is the wager of the back bettor behind that seat."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.bets import Bet
from controller.rules.game.wagers import RefusedWager, Wager, WagerRules, place, placing, squeezing, stand
from controller.words.language import language
from tests.support.bets import bets_of
from tests.support.samples import examples

ROYAL9_CENTS = 500
SEATS = range(1, 8)

LIMITS = WagerRules(
    circle_minimum_cents=25_00,
    circle_maximum_cents=500_00,
    side_minimum_cents=5_00,
    side_maximum_cents=100_00,
    increment_cents=5_00,
    tie_only_meets_minimum=True,
    back_bettors=True,
)
ONE_BETTOR = replace(LIMITS, back_bettors=False)
Rules = tuple[WagerRules, tuple[Bet, ...]]
PUNTO_BANCO: Rules = LIMITS, bets_of("royal9")
LUCKY9: Rules = ONE_BETTOR, bets_of("lucky9")
BACCARAT_ROYAL: Rules = ONE_BETTOR, bets_of("baccarat_royal")
SENSORS_ALONE: Rules = LIMITS, (Bet("royal9", price_cents=ROYAL9_CENTS),)
ALL_SPOTS = sorted({bet.spot for _, bets in (PUNTO_BANCO, LUCKY9, BACCARAT_ROYAL) for bet in bets})


def a_wager(text: str) -> Wager:
    seat, spot, dollars = text.split()
    cents = round(float(dollars) * 100)
    return Wager(int(seat.removesuffix("b")), spot, cents, back=seat.endswith("b"))


def some(text: str) -> tuple[Wager, ...]:
    return tuple(a_wager(part) for part in text.split(",") if part.strip())


def at_once(rules: Rules, placed: str, wager: str, actives: tuple[int, ...] = ()) -> str | None:
    return placing(*rules, SEATS, some(placed), a_wager(wager), actives)


def at_lock(rules: Rules, placed: str, actives: tuple[int, ...] = ()) -> dict[str, str]:
    """Return those of the wagers `placed` that are refused when betting ends, each with the code of the reason. Check
    that all other wagers count in the round. `actives` are the active seats, if the game has any."""
    playing, refused = stand(*rules, SEATS, some(placed), actives)
    assert {*playing} | {each.wager for each in refused} == {*some(placed)}
    assert len(playing) + len(refused) == len(some(placed))
    texts = {a_wager(part): part.strip() for part in placed.split(",")}
    return {texts[each.wager]: each.code for each in refused}


@pytest.mark.parametrize(
    ("placed", "wager", "code"),
    [
        ("", "1 player 25", None),
        ("", "7 player 25", None),
        ("", "0 player 25", "no_such_seat"),
        ("", "8 player 25", "no_such_seat"),
        ("", "1 hand 25", "no_such_spot"),
        ("", "1 stake 25", "no_such_spot"),
        ("", "1 lucky9_bonus 25", "no_such_spot"),
        ("", "1 player -5", "not_an_amount"),
        ("", "1 player 0", None),
        ("1 player 25", "1 player 0", None),
        # increments: sheet 004, five dollars
        ("", "1 player 29.99", "not_in_increment"),
        ("", "1 player 30", None),
        ("", "1 player 30.01", "not_in_increment"),
        ("", "1 tie 6", "not_in_increment"),
        ("", "1 dragon_player 7.50", "not_in_increment"),
        # Player or Banker, and/or Tie: sheet 000
        ("1 player 25", "1 banker 25", "both_sides"),
        ("1 banker 25", "1 player 25", "both_sides"),
        ("1 player 25", "2 banker 25", None),
        ("1 player 25", "1 tie 5", None),
        ("1 tie 25", "1 banker 25", None),
        ("1b player 25", "1b banker 25", "both_sides"),
        ("1 player 25, 1 dragon_player 5", "1 dragon_banker 5", None),
        # the maximum, seated and back bets together: sheet 001
        ("", "1 player 495", None),
        ("", "1 player 500", None),
        ("", "1 player 505", "over_maximum"),
        ("1 player 400", "1b player 100", None),
        ("1 player 400", "1b player 105", "over_maximum"),
        ("1b player 100", "1 player 405", "over_maximum"),
        ("1 player 500", "1 player 400", None),  # in place of the earlier one, not on top of it
        ("1 player 500", "2 player 500", None),
        ("", "1 tie 100", None),
        ("", "1 tie 105", "over_maximum"),
        ("", "1 dragon_banker 100", None),
        ("", "1 dragon_banker 105", "over_maximum"),
        ("1 tie 60", "1b tie 45", "over_maximum"),
        # what chips still to come can mend is not refused yet
        ("", "1 player 5", None),
        ("", "1b player 25", None),
        ("", "1 dragon_player 5", None),
        ("", "1 tie 5", None),
        # one price
        ("", "1 royal9 4.99", "wrong_price"),
        ("", "1 royal9 5", None),
        ("", "1 royal9 5.01", "wrong_price"),
        ("", "1 royal9 10", "wrong_price"),
        ("", "1b royal9 5", "no_back_bettors"),
    ],
)
def test_a_wager_at_once(placed: str, wager: str, code: str | None) -> None:
    assert at_once(PUNTO_BANCO, placed, wager) == code


def test_no_back_bettors_where_the_house_has_none() -> None:
    assert at_once((ONE_BETTOR, PUNTO_BANCO[1]), "1 player 25", "1b player 25") == "no_back_bettors"


def test_an_increment_of_a_cent_is_none() -> None:
    assert at_once((replace(LIMITS, increment_cents=1), PUNTO_BANCO[1]), "", "1 player 25.01") is None


def test_one_price_is_no_matter_of_increments() -> None:
    assert placing(LIMITS, [Bet("royal9", price_cents=3_00)], SEATS, (), a_wager("1 royal9 3")) is None


def test_a_bet_of_a_house_needs_what_its_file_says() -> None:
    bets = (*PUNTO_BANCO[1], Bet("panda_8", needs=("player",)))
    assert at_lock((LIMITS, bets), "1 player 25, 1 panda_8 5, 2 banker 25, 2 panda_8 5") == {
        "2 panda_8 5": "needs_another"
    }


@pytest.mark.parametrize(
    ("wager", "code"),
    [
        ("2 stake 25", None),
        ("5 stake 25", None),
        ("3 stake 25", "not_active"),
        ("2 player 25", "active_seat"),
        ("5 tie 25", "active_seat"),
        ("3 player 25", None),
    ],
)
def test_active_seats_play_for_their_stake_and_the_others_gamble(wager: str, code: str | None) -> None:
    assert at_once(BACCARAT_ROYAL, "", wager, actives=(2, 5)) == code
    assert at_lock(BACCARAT_ROYAL, wager, actives=(2, 5)) == ({wager: code} if code else {})


@pytest.mark.parametrize(
    ("placed", "refused"),
    [
        # the circle's minimum
        ("1 player 20", {"1 player 20": "under_minimum"}),
        ("1 player 25", {}),
        ("1 player 30", {}),
        ("1 player 15, 1b player 10", {}),
        ("1 player 10, 1b player 10", {"1 player 10": "under_minimum", "1b player 10": "under_minimum"}),
        ("1 player 20, 2 player 20", {"1 player 20": "under_minimum", "2 player 20": "under_minimum"}),
        ("1 player 20, 2 banker 25", {"1 player 20": "under_minimum"}),
        # the side's minimum
        ("1 player 25, 1 tie 5", {}),
        ("1 player 25, 1 dragon_player 5", {}),
        # a tie alone: sheet 004
        ("1 tie 20", {"1 tie 20": "tie_under_minimum"}),
        ("1 tie 25", {}),
        ("1 tie 30", {}),
        # a main wager that falls takes with it what needed it
        ("1 player 20, 1 tie 20", {"1 player 20": "under_minimum", "1 tie 20": "tie_under_minimum"}),
        ("1 player 20, 1 tie 25", {"1 player 20": "under_minimum"}),
        ("1 player 20, 1 royal9 5", {"1 player 20": "under_minimum", "1 royal9 5": "needs_another"}),
        (
            "1 dragon_banker 5, 1 tie 20, 1 player 20",
            {"1 player 20": "under_minimum", "1 tie 20": "tie_under_minimum", "1 dragon_banker 5": "dragon_needs_main"},
        ),
        # what is in addition to a traditional wager: sheet 000
        ("1 dragon_player 5", {"1 dragon_player 5": "dragon_needs_main"}),
        ("1 dragon_banker 5, 2 banker 25", {"1 dragon_banker 5": "dragon_needs_main"}),
        ("1 dragon_banker 5, 1 player 25", {}),
        ("1 dragon_banker 5, 1 dragon_player 5, 1 banker 25", {}),
        ("1 dragon_player 5, 1 tie 25", {}),
        ("1 royal9 5", {"1 royal9 5": "needs_another"}),
        ("1 royal9 5, 1 banker 25", {}),
        ("1 royal9 5, 1 dragon_player 5", {"1 royal9 5": "needs_another", "1 dragon_player 5": "dragon_needs_main"}),
        # back bettors: sheet 001
        ("1b player 25", {"1b player 25": "back_without_seat"}),
        ("1b player 25, 1 banker 25", {"1b player 25": "back_without_seat"}),
        ("1b player 25, 2 player 25", {"1b player 25": "back_without_seat"}),
        ("1 player 5, 1b player 20, 1b dragon_player 5", {}),
        ("1 player 25, 1b dragon_player 5", {"1b dragon_player 5": "dragon_needs_main"}),
        ("1 player 25, 1b tie 25", {}),
        ("1 player 25, 1b tie 20", {"1b tie 20": "tie_under_minimum"}),
        ("1b tie 25", {"1b tie 25": "back_without_seat"}),
        # judged anew, in the order they were placed
        ("1 player 25, 1 banker 25", {"1 banker 25": "both_sides"}),
        ("1 player 400, 1b player 105", {"1b player 105": "over_maximum"}),
        ("1 player 26, 1b player 30", {"1 player 26": "not_in_increment", "1b player 30": "back_without_seat"}),
        ("9 player 25, 1 hand 25", {"9 player 25": "no_such_seat", "1 hand 25": "no_such_spot"}),
    ],
)
def test_wagers_at_lock(placed: str, refused: dict[str, str]) -> None:
    assert at_lock(PUNTO_BANCO, placed) == refused


def test_the_side_minimum_at_just_under_and_just_over() -> None:
    rules = replace(LIMITS, increment_cents=1), PUNTO_BANCO[1]
    for spot in ("tie", "dragon_player"):
        assert at_lock(rules, f"1 player 25, 1 {spot} 4.99") == {f"1 {spot} 4.99": "under_minimum"}
        assert at_lock(rules, f"1 player 25, 1 {spot} 5") == {}
        assert at_lock(rules, f"1 player 25, 1 {spot} 5.01") == {}


def test_a_tie_alone_meets_the_side_minimum_where_the_house_asks_no_more() -> None:
    rules = replace(LIMITS, tie_only_meets_minimum=False, increment_cents=1), PUNTO_BANCO[1]
    assert at_lock(rules, "1 tie 5") == {}
    assert at_lock(rules, "1 tie 4.99") == {"1 tie 4.99": "under_minimum"}


OF_THEIR_OWN: dict[str, dict[str, Any]] = {
    "player": {"minimum_cents": 50_00, "maximum_cents": 300_00},
    "tie": {"minimum_cents": 10_00, "maximum_cents": 40_00},
    "dragon_player": {"maximum_cents": 50_00},
}
OWN_LIMITS: Rules = LIMITS, tuple(replace(bet, **OF_THEIR_OWN.get(bet.spot, {})) for bet in PUNTO_BANCO[1])


@pytest.mark.parametrize(
    ("placed", "wager", "code"),
    [
        ("", "1 player 300", None),
        ("", "1 player 305", "over_maximum"),
        ("1 player 200", "1b player 105", "over_maximum"),
        ("", "1 banker 500", None),
        ("1 player 50", "1 tie 40", None),
        ("1 player 50", "1 tie 45", "over_maximum"),
        ("1 player 50", "1 dragon_player 50", None),
        ("1 player 50", "1 dragon_player 55", "over_maximum"),
        ("1 banker 50", "1 dragon_banker 100", None),
    ],
)
def test_a_bets_own_maximum_stands_in_place_of_the_tables(placed: str, wager: str, code: str | None) -> None:
    assert at_once(OWN_LIMITS, placed, wager) == code


@pytest.mark.parametrize(
    ("placed", "refused"),
    [
        ("1 player 50, 2 banker 25", {}),
        ("1 player 45, 2 banker 20", {"1 player 45": "under_minimum", "2 banker 20": "under_minimum"}),
        ("1 player 25, 1b player 25", {}),
        ("1 player 50, 1 tie 10, 1 dragon_player 5", {}),
        ("1 player 50, 1 tie 5", {"1 tie 5": "under_minimum"}),
        ("1 tie 20", {"1 tie 20": "tie_under_minimum"}),
        ("1 tie 25", {}),
    ],
)
def test_a_bets_own_minimum_stands_in_place_of_the_tables(placed: str, refused: dict[str, str]) -> None:
    assert at_lock(OWN_LIMITS, placed) == refused


def test_a_tie_alone_meets_the_circles_minimum_and_its_own() -> None:
    rules = LIMITS, tuple(replace(bet, minimum_cents=30_00 if bet.spot == "tie" else None) for bet in PUNTO_BANCO[1])
    assert at_lock(rules, "1 tie 20, 2 tie 25, 3 tie 30") == {
        "1 tie 20": "tie_under_minimum",
        "2 tie 25": "under_minimum",
    }


def test_royal9_needs_no_main_wager_where_the_table_knows_of_none() -> None:
    assert at_lock(SENSORS_ALONE, "1 royal9 5") == {}


def test_lucky9s_side_bets_need_the_seats_hand() -> None:
    assert at_lock(LUCKY9, "1 hand 25, 1 tie 5, 1 lucky9_bonus 5") == {}
    assert at_lock(LUCKY9, "1 tie 25, 2 lucky9_bonus 5, 3 hand 25") == {
        "1 tie 25": "tie_needs_hand",
        "2 lucky9_bonus 5": "bonus_needs_hand",
    }


def test_a_wager_is_placed_over_the_bettors_earlier_one_on_the_spot() -> None:
    placed = some("1 player 25, 1 tie 5, 1b player 30, 2 player 35")
    assert place(placed, a_wager("1 player 40")) == some("1 tie 5, 1b player 30, 2 player 35, 1 player 40")
    assert place(placed, a_wager("1b player 0")) == some("1 player 25, 1 tie 5, 2 player 35")
    assert place(placed, a_wager("3 tie 0")) == placed


@pytest.mark.parametrize(
    ("wagers", "squeezers"),
    [
        ("", (None, None)),
        ("1 player 25", (1, None)),
        ("4 banker 25", (None, 4)),
        ("1 player 25, 4 banker 25, 2 player 30", (2, 4)),
        ("5 player 25, 3 player 25, 7 player 25", (3, None)),
        ("2 banker 60, 6 banker 40, 6b banker 25", (None, 6)),
        ("2 banker 65, 6b banker 25, 6 banker 40", (None, 2)),
        ("1 tie 100, 2 dragon_player 100", (None, None)),
    ],
)
def test_the_largest_circle_squeezes(wagers: str, squeezers: tuple[int | None, int | None]) -> None:
    assert squeezing(LIMITS, some(wagers)) == squeezers


@pytest.mark.parametrize(("squeezed_by", "seat"), [("lowest_seat", 3), ("highest_seat", 7), ("dealer", None)])
def test_of_equal_circles_the_house_says_who_squeezes(
    squeezed_by: Literal["lowest_seat", "highest_seat", "dealer"], seat: int | None
) -> None:
    rules = replace(LIMITS, equal_circles_squeezed_by=squeezed_by)
    assert squeezing(rules, some("5 player 25, 3 player 25, 7 player 20, 7b player 5, 1 player 20")) == (seat, None)
    assert squeezing(rules, some("5 player 25, 3 player 25, 6 player 30")) == (6, None), "one is the largest"


def test_where_the_seated_bet_alone_makes_a_circle_the_largest_back_bets_do_not_count() -> None:
    wagers = some("2 banker 60, 6 banker 40, 6b banker 25, 1 player 25, 3 player 20, 3b player 20")
    assert squeezing(LIMITS, wagers) == (3, 6)
    assert squeezing(replace(LIMITS, largest_circle_counts="seated"), wagers) == (1, 2)


@pytest.mark.parametrize(
    ("counted_together", "placed", "refused"),
    [
        # A tie of 3 and one of 2 make the minimum of 5 together, and two of 60 are over the maximum of 100.
        ("every_spot", "1 player 25, 1 tie 3, 1b player 5, 1b tie 2", {}),
        (
            "circles",
            "1 player 25, 1 tie 3, 1b player 5, 1b tie 2",
            {"1 tie 3": "under_minimum", "1b tie 2": "under_minimum"},
        ),
        ("every_spot", "1 player 25, 1 tie 60, 1b player 5, 1b tie 60", {"1b tie 60": "over_maximum"}),
        ("circles", "1 player 25, 1 tie 60, 1b player 5, 1b tie 60", {}),
        ("circles", "1 player 5, 1b player 20", {}),
        ("circles", "1 player 400, 1b player 105", {"1b player 105": "over_maximum"}),
        ("circles", "1 player 25, 1 tie 101", {"1 tie 101": "over_maximum"}),
    ],
)
def test_side_bets_of_a_seat_meet_the_limits_together_or_each_by_itself(
    counted_together: Literal["every_spot", "circles"], placed: str, refused: dict[str, str]
) -> None:
    rules = replace(LIMITS, counted_together=counted_together, increment_cents=1_00)
    assert at_lock((rules, PUNTO_BANCO[1]), placed) == refused


@pytest.mark.parametrize(
    ("beside", "placed", "refused"),
    [
        ("any_bet", "1 player 25, 1b tie 25", {}),
        ("same_bet", "1 player 25, 1b tie 25", {"1b tie 25": "back_without_seat"}),
        ("same_bet", "1 player 25, 1 tie 5, 1b tie 25", {}),
        ("same_bet", "1 player 25, 1b player 25", {}),
    ],
)
def test_beside_which_bet_of_the_seat_a_back_bettor_may_bet_is_the_houses_to_say(
    beside: Literal["any_bet", "same_bet"], placed: str, refused: dict[str, str]
) -> None:
    assert at_lock((replace(LIMITS, back_bets_beside=beside), PUNTO_BANCO[1]), placed) == refused


@pytest.mark.parametrize(
    ("placed", "refused"),
    [
        ("2 stake 50, 5 stake 50", {}),
        ("2 stake 50, 5 stake 55", {"2 stake 50": "stakes_differ", "5 stake 55": "stakes_differ"}),
        ("2 stake 50", {}),
        ("2 stake 50, 5 stake 5", {"5 stake 5": "under_minimum"}),  # and nobody plays against the other
    ],
)
def test_a_house_may_take_equal_stakes_of_the_active_seats_only(placed: str, refused: dict[str, str]) -> None:
    rules, bets = BACCARAT_ROYAL
    only_equal = tuple(replace(bet, unequal_stakes="refused") for bet in bets)
    assert at_lock((rules, only_equal), placed, actives=(2, 5)) == refused
    assert "stakes_differ" not in at_lock(BACCARAT_ROYAL, placed, actives=(2, 5)).values()


def test_a_house_may_allow_both_sides_or_forbid_dragon_bonus_on_both_hands() -> None:
    rules, bets = PUNTO_BANCO
    both, beside = some("1 player 25"), some("1 player 25, 1 dragon_player 5")
    no_groups = replace(rules, one_of=())
    assert placing(no_groups, bets, SEATS, both, a_wager("1 banker 25")) is None
    dragon_once = replace(rules, one_of=(*rules.one_of, ("dragon_player", "dragon_banker")))
    assert placing(dragon_once, bets, SEATS, beside, a_wager("1 dragon_banker 5")) == "both_sides"
    assert placing(dragon_once, bets, SEATS, beside, a_wager("2 dragon_banker 5")) is None
    assert placing(dragon_once, bets, SEATS, both, a_wager("1 banker 25")) == "both_sides"
    assert placing(dragon_once, bets, SEATS, both, a_wager("1 player 30")) is None, "in place of the one there"


@pytest.mark.parametrize(
    "changes", [{"circle_minimum_cents": 500_01}, {"side_minimum_cents": 100_01}, {"increment_cents": 0}]
)
def test_limits_that_leave_no_wager_are_no_limits(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        replace(LIMITS, **changes)


wagers_placed = st.lists(
    st.builds(
        Wager,
        seat=st.integers(0, 3),
        spot=st.sampled_from(ALL_SPOTS),
        cents=st.sampled_from([5_00, 10_00, 20_00, 25_00, 26_00, 300_00]),
        back=st.booleans(),
    ),
    max_size=14,
    unique_by=lambda wager: (wager.seat, wager.spot, wager.back),
)


@examples(67)
@given(wagers_placed, st.sampled_from([PUNTO_BANCO, LUCKY9, SENSORS_ALONE]))
def test_what_stands_stands_by_itself_and_what_is_refused_is_told_why(placed: list[Wager], rules: Rules) -> None:
    playing, refused = stand(*rules, SEATS, placed)
    assert stand(*rules, SEATS, playing) == (playing, ())
    assert sorted(map(repr, [*playing, *(each.wager for each in refused)])) == sorted(map(repr, placed))
    assert {each.code for each in refused} <= language().sections["refused_wager"].keys() | {"no_such_seat"}


def test_refusals_come_in_the_order_the_wagers_were_placed() -> None:
    placed = some("2 player 20, 1 hand 25, 3 tie 25, 1 tie 20")
    assert stand(*PUNTO_BANCO, SEATS, placed) == (
        some("3 tie 25"),
        (
            RefusedWager(placed[0], "under_minimum"),
            RefusedWager(placed[1], "no_such_spot"),
            RefusedWager(placed[3], "tie_under_minimum"),
        ),
    )
