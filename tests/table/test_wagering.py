"""Checks of wagers at the table: wagers exactly at each limit, just below and just above it; when a player is allowed
to move chips; and the code with which the table refuses a wager.

The limits are those of the game files, written here in dollars as a dealer would post them.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card
from controller.rules.game.seating import Actives
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, OddCardFate, TellOddCard, VoidRound
from controller.table.acts.seats import ChooseActives
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault
from controller.table.facts import CardDrawn
from controller.table.rules import TableRules
from tests.support.five_games import (
    KANSAS_STAR,
    ROYAL9_SEEN_TWICE,
    SUGARHOUSE_MIDI,
    Watched,
    assert_money_adds_up,
    call,
    seats,
    wager,
    wagers,
)
from tests.support.samples import examples
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, ROYAL9, SUGARHOUSE, TableUnderTest, cards, house

RULES: dict[str, TableRules] = {
    "royal9": ROYAL9_SEEN_TWICE,
    "kansas_star": KANSAS_STAR,
    "sugarhouse": SUGARHOUSE,
    "sugarhouse_midi": SUGARHOUSE_MIDI,
    "baccarat_royal": BACCARAT_ROYAL,
    "lucky9": LUCKY9,
}


def opened(game: str) -> Watched:
    table = Watched(RULES[game]).open_shoe("2D 3H 4C")
    if game == "baccarat_royal":
        table.do(seats(2, 5, 6), ChooseActives(Actives(2, 5), "dealer"))
    return table


def lock(table: Watched) -> dict[str, Any]:
    """Lock the wagers and return the event of the lock. The sensors report every chip that lies on Royal 9."""
    table.wagers = {each.seat for each in table.face.wagers if each.spot == "royal9"}
    table.do(LockWagers())
    event: dict[str, Any] = table.of_type("wagers_locked")[-1]
    return event


def told(wagers_: list[dict[str, Any]]) -> list[str]:
    return [f"{each['seat']}{'b' if each['back'] else ''} {each['spot']} {each['cents']}" for each in wagers_]


def refusals(event: dict[str, Any]) -> dict[str, str]:
    return {text: each["code"] for text, each in zip(told(event["refused"]), event["refused"], strict=True)}


# What is refused at once, to whoever tells of it.

MAXIMA = [  # game, spot, its maximum in cents, its increment
    ("royal9", "player", 500000, 100),
    ("royal9", "banker", 500000, 100),
    ("royal9", "tie", 50000, 100),
    ("royal9", "dragon_player", 50000, 100),
    ("royal9", "dragon_banker", 50000, 100),
    ("kansas_star", "player", 500000, 100),
    ("kansas_star", "banker", 500000, 100),
    ("kansas_star", "tie", 50000, 100),
    ("kansas_star", "dragon_player", 50000, 100),
    ("sugarhouse", "player", 500000, 500),
    ("sugarhouse", "banker", 500000, 500),
    ("sugarhouse", "tie", 50000, 500),
    ("sugarhouse", "dragon_banker", 50000, 500),
    ("sugarhouse_midi", "player", 500000, 500),
    ("baccarat_royal", "stake", 100000, 100),
    ("lucky9", "hand", 100000, 100),
    ("lucky9", "tie", 20000, 100),
    ("lucky9", "lucky9_bonus", 20000, 100),
]


@pytest.mark.parametrize(("game", "spot", "maximum", "increment"), MAXIMA)
def test_the_maximum_and_the_increment(game: str, spot: str, maximum: int, increment: int) -> None:
    table = opened(game)
    assert table.ask(wager(f"2 {spot} {maximum}")) is None
    assert table.ask(wager(f"2 {spot} {maximum + increment}")) == "over_maximum"
    assert table.ask(wager(f"2 {spot} {maximum - 1}")) == "not_in_increment"
    assert table.ask(wager(f"2 {spot} {maximum - increment}")) is None
    assert [each.cents for each in table.face.wagers] == [maximum - increment]


@pytest.mark.parametrize("spot", ["player", "banker", "tie"])
def test_a_gamblers_maximum_at_baccarat_royal(spot: str) -> None:
    table, maximum = opened("baccarat_royal"), 20000 if spot == "tie" else 100000
    assert table.ask(wager(f"6 {spot} {maximum + 100}")) == "over_maximum"
    assert table.ask(wager(f"6 {spot} {maximum}")) is None


@pytest.mark.parametrize(
    ("game", "lies", "text", "code"),
    [
        ("royal9", "", "8 player 2000", "no_such_seat"),
        ("royal9", "", "0 player 2000", "no_such_seat"),
        ("royal9", "", "2 hand 2000", "no_such_spot"),
        ("sugarhouse", "", "2 royal9 500", "no_such_spot"),
        ("lucky9", "", "2 player 2000", "no_such_spot"),
        ("baccarat_royal", "", "6 dragon_player 2000", "no_such_spot"),
        ("royal9", "", "2b player 2000", "no_back_bettors"),
        ("sugarhouse", "2 player 2000", "2b player 2000", "no_back_bettors"),
        ("lucky9", "2 hand 2000", "2b hand 2000", "no_back_bettors"),
        ("royal9", "", "2 royal9 400", "wrong_price"),
        ("royal9", "", "2 royal9 499", "wrong_price"),
        ("royal9", "", "2 royal9 501", "wrong_price"),
        ("royal9", "", "2 royal9 1000", "wrong_price"),
        ("royal9", "2 player 2000", "2 banker 2000", "both_sides"),
        ("kansas_star", "2 banker 2000", "2 player 2000", "both_sides"),
        ("sugarhouse", "2 player 2000", "2 banker 2000", "both_sides"),
        ("sugarhouse", "", "2 player 1750", "not_in_increment"),
        ("sugarhouse", "", "2 player 499", "not_in_increment"),
        ("kansas_star", "", "2 player 1550", "not_in_increment"),
        ("baccarat_royal", "", "6 stake 2000", "not_active"),
        ("baccarat_royal", "", "2 player 2000", "active_seat"),
        ("baccarat_royal", "", "5 tie 2000", "active_seat"),
        ("kansas_star", "2 player 400000", "2b player 100100", "over_maximum"),
    ],
)
def test_a_wager_that_nothing_can_mend_is_refused_at_once(game: str, lies: str, text: str, code: str) -> None:
    table = opened(game)
    if lies:
        table.do(wager(lies))
    before = table.face.wagers
    assert table.ask(wager(text)) == code
    assert table.face.wagers == before, "what lay there lies there still"


def test_seated_and_back_bet_in_a_circle_count_together() -> None:
    table = opened("kansas_star").do(wager("2 player 400000"), wager("2b player 100000"))
    event = lock(table)
    assert told(event["wagers"]) == ["2 player 400000", "2b player 100000"]


def test_the_two_of_a_circle_may_bet_on_different_sides() -> None:
    event = lock(opened("kansas_star").do(wager("2 player 2000"), wager("2b tie 100")))
    assert told(event["wagers"]) == ["2 player 2000", "2b tie 100"]


def test_where_no_wagers_are_known_none_is_taken() -> None:
    assert TableUnderTest(ROYAL9).open_shoe().ask(wager("2 player 2000")) == "no_wagers_known"


# What is judged at the lock, when nothing can mend it any more.


@pytest.mark.parametrize(
    ("game", "lies", "refused"),
    [
        ("royal9", "2 player 1400", {"2 player 1400": "under_minimum"}),
        ("royal9", "2 player 1500", {}),
        ("royal9", "2 player 1500, 2 tie 100, 2 dragon_banker 100, 2 dragon_player 100", {}),
        ("royal9", "2 tie 100", {}),
        ("royal9", "2 dragon_player 500", {"2 dragon_player 500": "dragon_needs_main"}),
        ("royal9", "2 tie 500, 2 dragon_player 500", {}),
        ("royal9", "3 player 1500, 2 dragon_player 500", {"2 dragon_player 500": "dragon_needs_main"}),
        ("royal9", "2 royal9 500", {"2 royal9 500": "needs_another"}),
        ("royal9", "2 banker 1500, 2 royal9 500", {}),
        (
            "royal9",
            "2 player 1400, 2 royal9 500, 3 player 1500",
            {"2 player 1400": "under_minimum", "2 royal9 500": "needs_another"},
        ),
        ("kansas_star", "2 banker 1400", {"2 banker 1400": "under_minimum"}),
        ("kansas_star", "2 banker 1000, 2b banker 500", {}),
        (
            "kansas_star",
            "2 banker 1000, 2b banker 400",
            {"2 banker 1000": "under_minimum", "2b banker 400": "under_minimum"},
        ),
        ("kansas_star", "2b banker 2000", {"2b banker 2000": "back_without_seat"}),
        ("kansas_star", "2 player 2000, 2b banker 2000", {"2b banker 2000": "back_without_seat"}),
        ("kansas_star", "3 banker 2000, 2b banker 2000", {"2b banker 2000": "back_without_seat"}),
        ("kansas_star", "2 tie 100", {}),
        ("sugarhouse", "2 tie 1000", {"2 tie 1000": "tie_under_minimum"}),
        ("sugarhouse", "2 tie 1500", {}),
        ("sugarhouse", "2 tie 500, 2 player 1500", {}),
        ("sugarhouse", "2 tie 500, 3 player 1500", {"2 tie 500": "tie_under_minimum"}),
        (
            "sugarhouse",
            "2 tie 500, 2 player 1000",
            {"2 player 1000": "under_minimum", "2 tie 500": "tie_under_minimum"},
        ),
        ("sugarhouse", "2 player 1000", {"2 player 1000": "under_minimum"}),
        ("baccarat_royal", "2 stake 500, 5 stake 400", {"5 stake 400": "under_minimum"}),
        ("baccarat_royal", "6 banker 400, 6 tie 100", {"6 banker 400": "under_minimum"}),
        ("baccarat_royal", "6 banker 500", {}),
        ("lucky9", "2 hand 400, 3 hand 500", {"2 hand 400": "under_minimum"}),
        ("lucky9", "3 hand 500, 3 tie 100, 3 lucky9_bonus 100", {}),
        ("lucky9", "3 hand 500, 2 tie 100", {"2 tie 100": "tie_needs_hand"}),
        ("lucky9", "3 hand 500, 2 lucky9_bonus 100", {"2 lucky9_bonus 100": "bonus_needs_hand"}),
    ],
)  # fmt: skip
def test_at_the_lock_what_breaks_a_limit_is_refused_and_the_others_stand(
    game: str, lies: str, refused: dict[str, str]
) -> None:
    table = opened(game).do(*wagers(lies))
    event = lock(table)
    assert refusals(event) == refused
    assert sorted(told(event["wagers"])) == sorted({each.strip() for each in lies.split(",")} - refused.keys())
    shown = {
        f"{each.seat}{'b' if each.back else ''} {each.spot} {each.cents}": each.refused for each in table.face.wagers
    }
    assert {text: code for text, code in shown.items() if code} == refused


def test_a_refused_wager_neither_wins_nor_loses() -> None:
    table = opened("royal9").do(*wagers("2 player 1400, 3 player 1500"))
    lock(table)
    (event,) = table.draw("4S TH 5D 8C").of_type("round")
    assert [(row["seat"], row["result"]) for row in event["settlement"]["wagers"]] == [(3, "won")]


def test_wagers_of_a_seat_that_became_active_are_refused_at_the_lock() -> None:
    table = opened("baccarat_royal").do(wager("6 player 500"), ChooseActives(Actives(6, 5), "dealer"))
    assert refusals(lock(table)) == {"6 player 500": "active_seat"}
    table = opened("baccarat_royal").do(wager("2 stake 500"), ChooseActives(Actives(6, 5), "dealer"))
    assert refusals(lock(table)) == {"2 stake 500": "not_active"}


# Replaced, taken away, and when.


def test_a_wager_that_was_seen_for_another_round_is_refused() -> None:
    """The table refuses a wager that bet recognition saw for another round. Such a message may come late, when its
    round is already decided."""
    table = opened("sugarhouse")
    chips = replace(wager("2 player 2000"), seen_for=table.table.next_round)
    assert table.ask(replace(chips, seen_for=(0, 0))) == "wager_other_round"
    assert table.ask(chips) is None


def test_a_wager_replaces_what_lay_there_and_none_takes_it_away() -> None:
    table = opened("kansas_star").do(*wagers("2 player 2000, 2b player 1500, 2 tie 500"))
    table.do(wager("2 player 3000"), wager("2 tie 0"))
    assert told(lock(table)["wagers"]) == ["2b player 1500", "2 player 3000"]


def test_a_side_may_be_changed_once_the_chips_are_taken_off_the_other() -> None:
    table = opened("royal9").do(wager("2 player 2000"))
    assert table.ask(wager("2 banker 2000")) == "both_sides"
    table.do(wager("2 player 0"), wager("2 banker 2000"))
    assert told(lock(table)["wagers"]) == ["2 banker 2000"]


def test_the_seated_player_who_takes_his_chips_away_leaves_the_back_bettor_without() -> None:
    table = opened("kansas_star").do(*wagers("2 player 2000, 2b player 2000, 2 player 0"))
    assert refusals(lock(table)) == {"2b player 2000": "back_without_seat"}


@pytest.mark.parametrize("drawn", ["", "4S", "4S TH 5D"])
def test_nothing_moves_after_the_lock(drawn: str) -> None:
    table = opened("royal9").do(wager("2 player 2000"))
    lock(table)
    table.draw(drawn)
    for text in ("2 player 3000", "2 player 0", "3 tie 500", "2 royal9 500"):
        assert table.ask(wager(text)) == "already_locked"


def test_before_the_burn_is_over_and_after_the_shoe_no_wager_is_taken() -> None:
    table = Watched(SUGARHOUSE)
    assert table.ask(wager("2 player 2000")) == "no_shoe"
    assert table.do(NewShoe()).ask(wager("2 player 2000")) == "burn_unfinished"
    assert table.draw("2D 3H").ask(wager("2 player 2000")) == "burn_unfinished"
    table.draw("4C CUT").do(LockWagers()).draw("4S TH 5D 9C")
    assert table.ask(wager("2 player 2000")) == "no_shoe"


def test_while_a_fault_stands_no_wager_is_taken() -> None:
    table = opened("royal9").do(LockWagers()).draw("??")
    assert table.ask(wager("2 player 2000")) == "fault_stands"


def test_chips_do_not_lie_over_into_the_next_hand() -> None:
    table = opened("sugarhouse").do(wager("2 player 2000"))
    lock(table)
    table.draw("4S TH 5D 9C")
    assert lock(table)["wagers"] == []


def test_in_a_simulated_hand_chips_lie_out_of_action_until_the_next_lock() -> None:
    table = opened("royal9").do(wager("2 player 2000")).draw("4S")
    assert table.face.simulated
    assert table.ask(wager("3 banker 2500")) == "card_out", "the card may yet be the next round's first"
    table.draw("TH").do(wager("3 banker 2500")).draw("5D 9C")
    (event,) = table.of_type("round")
    assert (event["simulated"], event["settlement"], event["progressive"]) == (True, None, [])
    assert [each.seat for each in table.face.wagers] == [2, 3], "they lie where they lay"
    assert told(lock(table)["wagers"]) == ["2 player 2000", "3 banker 2500"]


def test_a_void_simulated_hand_leaves_the_chips_too() -> None:
    table = opened("royal9").do(wager("2 player 2000")).draw("4S").do(VoidRound("Smith"))
    (void,) = table.of_type("void")
    assert (void["simulated"], void["settlement"]) == (True, None)
    assert told(lock(table)["wagers"]) == ["2 player 2000"]


def test_chips_down_when_a_new_shoe_is_announced_lie_there_still() -> None:
    table = opened("sugarhouse").do(wager("2 player 2000"), NewShoe("Smith")).draw("AS 2D")
    assert told(lock(table)["wagers"]) == ["2 player 2000"]
    assert table.replayed() == (table.table, None)


# Royal 9, seen by two.


def test_royal_9_seen_by_the_sensor_alone_or_by_bet_recognition_alone_is_a_fault() -> None:
    for sensed, told_ in (({2}, ""), (set(), "2 royal9 500"), ({2}, "3 royal9 500")):
        table = opened("royal9").do(*wagers("2 player 2000, 3 player 2000" + (f", {told_}" if told_ else "")))
        table.wagers = set(sensed)
        table.do(LockWagers())
        assert (table.fault, table.of_type("wagers_locked")) == ("wagers_differ", [])
        assert table.details["seats"] == ("2, 3" if told_.startswith("3") else "2")
        table.do(ClearFault("Smith"))
        assert len(table.face.wagers) == 2 + bool(told_), "the chips lie as they lay"
        assert table.replayed() == (table.table, None)


def test_where_the_first_card_locks_nobody_can_be_asked_so_the_disagreement_is_an_alarm() -> None:
    rules = replace(ROYAL9, lock_on="first_card", bet_recognition=True)
    table = TableUnderTest(rules, wagers={2, 4}).open_shoe()
    table.do(*wagers("2 player 2000, 3 player 2000, 4 player 2000, 3 royal9 500, 4 royal9 500")).draw("KH")
    (locked,) = table.of_type("wagers_locked")
    assert (locked["progressive"][0]["seats"], locked["progressive"][0]["refused_seats"]) == ([4], [2, 3])
    (alarm,) = table.of_type("alarm")
    assert (alarm["code"], alarm["details"]) == ("wagers_differ", {"spot": "royal9", "seats": "2, 3"})
    assert (table.fault, table.replayed()) == (None, (table.table, None))


def test_royal_9_seen_alike_plays() -> None:
    table = opened("royal9").do(*wagers("2 player 2000, 2 royal9 500"))
    assert lock(table)["progressive"][0]["seats"] == [2]


def test_a_silent_pit_refuses_royal_9_and_nothing_else() -> None:
    table = opened("royal9").do(*wagers("2 player 2000, 2 royal9 500, 3 tie 500"))
    table.pit_fresh = False
    event = lock(table)
    assert refusals(event) == {"2 royal9 500": "pit_stale"}
    assert told(event["wagers"]) == ["2 player 2000", "3 tie 500"]
    assert (
        event["progressive"][0]["seats"],
        event["progressive"][0]["refused_seats"],
        event["progressive"][0]["refusal"],
    ) == ([], [2], "pit_stale")
    assert (table.face.progressive[0].refused_seats, table.face.progressive[0].refusal) == ((2,), "pit_stale")


def test_a_royal_9_that_is_void_is_returned_with_the_rest() -> None:
    table = opened("royal9").do(*wagers("2 player 2000, 2 royal9 500, 3 tie 500"))
    lock(table)
    table.draw("KH TH 9H").do(VoidRound("Smith", "Jones"))
    (void,) = table.of_type("void")
    assert (void["progressive"][0]["seats"], void["settlement"]["totals"]["returned_cents"]) == ([2], 3000)
    assert_money_adds_up(void)


@pytest.mark.parametrize("game", ["royal9", "kansas_star", "sugarhouse"])
def test_the_locked_hand_that_is_void_before_its_first_card_returns_all(game: str) -> None:
    table = opened(game).do(*wagers("2 player 2000, 3 banker 2500"))
    lock(table)
    table.do(VoidRound("Smith"))
    (void,) = table.of_type("void")
    assert [(row["result"], row["returned_cents"]) for row in void["settlement"]["wagers"]] == [
        ("returned", 2000),
        ("returned", 2500),
    ]


def test_the_cards_that_run_out_return_every_wager() -> None:
    table = Watched(house(SUGARHOUSE, decks=1, fewest_cards_to_open=1)).open_shoe("2D 3H 4C")
    last = [card for card in DECK if str(card) in ("4S", "TH", "5D")]
    for card in DECK:
        if card not in last and str(card) not in ("2D", "3H", "4C"):
            burn_in_error(table, card)
    table.do(wager("2 player 2000")).lock().draw("4S TH 5D")
    assert table.fault == "shoe_exhausted"
    (void,) = table.of_type("void")
    assert (void["reason"], void["settlement"]["totals"]["returned_cents"]) == ("shoe_exhausted", 2000)


def burn_in_error(table: Watched, card: Card) -> None:
    """Let the dealer draw a card in error that nobody sees, and burn the card."""
    table.believe(CardDrawn(card)).do(TellOddCard(OddCardFate.BURN, "dealer", "Smith"))


# A correction settles anew.


def test_a_correction_tells_both_settlements_and_changes_nobody_elses() -> None:
    table = opened("royal9").do(*wagers("2 player 2000, 3 banker 2000, 4 tie 500, 2 royal9 500"))
    lock(table)
    table.draw("KH TH 9H 8C")  # Player's natural 9, seat 2's own K9, against 8
    table.do(CorrectRound(1, tuple(cards("KH 9H")), tuple(cards("TH 9C")), "Smith", "Jones"))
    (correction,) = table.of_type("correction")
    before = {(row["seat"], row["spot"]): row["result"] for row in correction["settlement_before"]["wagers"]}
    after = {(row["seat"], row["spot"]): row["result"] for row in correction["settlement"]["wagers"]}
    assert before == {(2, "player"): "won", (3, "banker"): "lost", (4, "tie"): "lost", (2, "royal9"): "won"}
    assert after == {(2, "player"): "pushed", (3, "banker"): "pushed", (4, "tie"): "won", (2, "royal9"): "won"}
    (told_round,) = table.of_type("round")
    assert told_round["settlement"] == correction["settlement_before"], "the round stands as it was told"
    for settlement in (correction["settlement"], correction["settlement_before"]):
        assert_money_adds_up({"settlement": settlement})
    assert table.replayed() == (table.table, None)


# Any wagers, any shoe.

SPOTS = {
    "royal9": ["player", "banker", "tie", "dragon_player", "dragon_banker", "royal9"],
    "kansas_star": ["player", "banker", "tie", "dragon_player", "dragon_banker"],
    "sugarhouse": ["player", "banker", "tie", "dragon_player", "dragon_banker"],
    "sugarhouse_midi": ["player", "banker", "tie", "dragon_player", "dragon_banker"],
}
CHIPS = st.tuples(
    st.integers(1, 7), st.booleans(), st.integers(0, 5), st.sampled_from([0, 100, 500, 1000, 1500, 1700, 500000])
)


@examples(20)
@given(
    st.sampled_from(sorted(SPOTS)),
    st.lists(CHIPS, max_size=15),
    st.lists(st.sampled_from(DECK), min_size=6, max_size=6),
    st.sampled_from(["", "void", "correct"]),
)
def test_no_cent_appears_or_is_lost(
    game: str, chips: list[tuple[int, bool, int, int]], six: list[Card], then: str
) -> None:
    """Every cent on the layout is either staked or refused when wagers are locked. Each wager is settled once, and a
    refused wager cannot lose."""
    table = opened(game)
    for seat, back, spot, cents in chips:
        table.ask(wager(f"{seat}{'b' if back else ''} {SPOTS[game][spot % len(SPOTS[game])]} {cents}"))
    lying = sum(each.cents for each in table.face.wagers)
    event = lock(table)
    stands = sum(each["cents"] for each in event["wagers"])
    assert stands + sum(each["cents"] for each in event["refused"]) == lying
    for card in six:
        while table.face.reveal:
            table.do(call("reveal"))
        if table.face.phase == "wagers_open" or (then == "void" and card is six[3]):
            break
        table.drawn(card)
    while table.face.reveal and then != "void":
        table.do(call("reveal"))
    if table.face.phase != "wagers_open":
        table.do(VoidRound("Smith"))
        (ended,) = table.of_type("void")
        returned = 0 if ended["settlement"] is None else ended["settlement"]["totals"]["returned_cents"]
        assert returned == stands
        return
    (ended,) = table.of_type("round")
    assert ended["settlement"]["totals"]["staked_cents"] == stands
    assert_money_adds_up(ended)
    if then == "correct":
        request: Request = CorrectRound(1, tuple(cards("4S 5D")), tuple(cards("2C 3C 4C")), "Smith", "Jones")
        if table.ask(request) is None:
            assert_money_adds_up(table.of_type("correction")[0])
            owed = table.of_type("correction")[0]["settlement"]["totals"]["commission_owed_cents"]
            assert sum(table.face.commission_owed.values()) == owed
    assert table.replayed() == (table.table, None)


# Seats where nobody sits.


@pytest.mark.parametrize("game", RULES)
def test_at_a_table_that_knows_its_seats_nobody_wagers_at_an_empty_one(game: str) -> None:
    table = opened(game)
    spot = "hand" if game == "lucky9" else "player"
    if game != "baccarat_royal":
        assert table.ask(wager(f"1 {spot} 2000")) is None, "nobody has told who sits where"
        table.do(wager(f"1 {spot} 0"), seats(2, 5, 6))
    assert [table.ask(wager(f"{seat} {spot} 2000")) for seat in (1, 3, 4, 6, 7)] == [
        "not_occupied",
        "not_occupied",
        "not_occupied",
        None,
        "not_occupied",
    ]


def test_chips_that_somebody_left_behind_do_not_play_and_can_be_taken_away() -> None:
    table = opened("sugarhouse").do(seats(2, 5), wager("2 player 2000"), wager("5 player 2000"), seats(2))
    assert table.ask(wager("5 player 2500")) == "not_occupied"
    event = lock(table)
    assert [(each["seat"], each["code"]) for each in event["refused"]] == [(5, "not_occupied")]
    assert [each["seat"] for each in event["wagers"]] == [2]
    table = opened("sugarhouse").do(seats(2, 5), wager("5 player 2000"), seats(2), wager("5 player 0"))
    assert table.face.wagers == ()


@pytest.mark.parametrize(("pit_fresh", "refused", "why"), [(True, [3], "not_occupied"), (False, [2, 3], "pit_stale")])
def test_a_sensor_at_an_empty_seat_sees_no_wager_that_plays(pit_fresh: bool, refused: list[int], why: str) -> None:
    table = TableUnderTest(ROYAL9, pit_fresh=pit_fresh).open_shoe().do(seats(2, 5)).lock(2, 3)
    (locked,) = table.of_type("wagers_locked")
    (royal9,) = locked["progressive"]
    assert (royal9["refused_seats"], royal9["refusal"]) == (refused, why)
    assert royal9["seats"] == [seat for seat in (2, 3) if seat not in refused]
