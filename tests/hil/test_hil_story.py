"""Plays stories of a table that works well: whole rounds, from the dealer's button to lamps, journal and pit."""

from __future__ import annotations

import pytest

from tests.hil.bench import Bench


@pytest.mark.long
def test_a_whole_round_from_new_shoe_to_a_royal_9_hit(at: Bench) -> None:
    at.pins.press("new_shoe", until=lambda: at.table.phase == "first_card_due")
    at.eventually(lambda: at.pins.lamp("draw_player") == at.pins.lamp("draw_banker") == "steady")
    at.shoe.deal("2C KC KC")  # a two is turned up, two more are burned
    at.eventually(lambda: at.table.phase == "wagers_open")
    at.eventually(lambda: at.pins.seat(1) == at.pins.seat(4) == "invitation")

    at.pins.cover(1, 2)
    at.eventually(lambda: at.pins.seat(1) == at.pins.seat(2) == "wager_seen")
    at.pins.press("deal", until=lambda: at.table.phase == "wagers_locked")
    at.eventually(lambda: at.pins.seat(1) == at.pins.seat(2) == "accepted")
    at.eventually(lambda: at.pins.lamp("draw_player") == "steady" and at.pins.seat(4) == "nothing")

    at.shoe.deal("KS")
    at.eventually(lambda: at.pins.lamp("draw_banker") == "steady" and "draw_player" not in at.pins.lit())
    at.shoe.deal("2D 9S 3C")  # Player: the king and nine of spades, printed at seat 1
    at.eventually(lambda: at.pins.seat(1) == at.pins.seat(2) == "hit")
    at.eventually(lambda: at.pins.lamp("player") == "steady")
    at.eventually(
        lambda: {at.pins.lamp(name) for name in ("banker", "tie", "draw_player", "draw_banker", "fault")} == {"dark"}
    )

    at.eventually(lambda: at.table.unacknowledged() == 0)
    assert at.pit.types == ["shoe_opened", "wagers_locked", "round", "hit", "hit"]
    assert at.pit.told("wagers_locked")[0]["progressive"][0]["seats"] == [1, 2]
    [event] = at.pit.rounds
    assert event["player"] == {"cards": ["KS", "9S"], "total": 9}
    assert event["banker"] == {"cards": ["2D", "3C"], "total": 5}
    assert (event["outcome"], event["natural"], event["cards_left"]) == ("player", True, 8 * 52 - 3 - 4)
    assert [(hit["seat"], hit["tier"]) for hit in at.pit.hits] == [(1, "player_personal"), (2, "suited_royal")]
    assert [(hit["progressive"], hit["fixed"]) for hit in at.pit.hits] == [
        ({"meter": "player_personal", "share": "1:1", "shown_cents": at.pit.levels["player_personal"]}, None),
        (None, {"cents": 5000}),
    ]
    assert at.table.verify().messages == 5
    assert [fact["fact"] for fact in at.table.facts()] == [
        *("ProgramStarted", "ProgramMeasured", "PitKeyPinned"),
        *("ShoeOpened", "CardDrawn", "BurnCountReported", "CardDrawn", "CardDrawn", "WagersLocked"),
        *("CardDrawn", "CardDrawn", "CardDrawn", "CardDrawn", "ShoeResultReported"),
    ]

    at.pins.uncover(1, 2)
    at.pins.press("deal", until=lambda: at.table.phase == "wagers_locked")
    at.eventually(lambda: at.pins.seat(2) == "nothing" and at.pins.lamp("player") == "dark")
    assert at.pins.seat(1) == "hit", "a progressive hit is shown until somebody has seen to it"
    at.table.tablectl("reset-hit", "1", "--by", "Ana")
    at.eventually(lambda: at.pins.seat(1) == "nothing")


def test_the_shoes_own_first_card_announces_it(at: Bench) -> None:
    at.shoe.deal("AC KC")
    at.eventually(lambda: at.table.phase == "wagers_open")
    at.eventually(lambda: [event["by"] for event in at.pit.told("shoe_opened")] == ["first_card"])


@pytest.mark.table(table={"lock_on": "first_card"})
def test_at_a_table_without_a_deal_button_the_first_card_locks(at: Bench) -> None:
    at.dealer.open_shoe()
    at.pins.cover(2)
    at.eventually(lambda: at.table.status().sensors == (2,))
    at.shoe.deal("KS 2D 9S 3C")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [2])
    assert at.pit.told("wagers_locked")[0]["by"] == "first_card"


def test_a_wager_put_down_after_the_lock_does_not_play(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(3)
    at.pins.cover(1)
    at.shoe.deal("KS 2D 9S 3C")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [3])
    assert at.pit.rounds[0]["progressive"] == [{"spot": "royal9", "seats": [3]}]


@pytest.mark.long
@pytest.mark.table(pit={"stale_after_s": 1})
def test_without_a_pit_the_royal_9_wager_is_refused_and_baccarat_goes_on(at: Bench) -> None:
    at.dealer.open_shoe()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.pit.gone()
    at.dealer.play("9C TD TC 5D")  # events nobody acknowledges
    at.eventually(lambda: not at.table.status().pit.fresh)
    at.eventually(lambda: at.pins.seat(4) == "nothing")
    at.pins.cover(1)
    at.eventually(lambda: at.pins.seat(1) == "refused")
    at.dealer.lock(1)
    at.shoe.deal("KS 2D")
    at.eventually(lambda: at.pins.seat(1) == "refused")
    at.shoe.deal("9S 3C")
    at.eventually(lambda: at.table.phase == "wagers_open")

    at.pit.come()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    assert at.pit.hits == []
    assert [event["outcome"] for event in at.pit.rounds] == ["player", "player"]
    told = at.pit.told("wagers_locked")[-1]
    assert (
        told["progressive"][0]["seats"],
        told["progressive"][0]["refused_seats"],
        told["progressive"][0]["refusal"],
    ) == ([], [1], "pit_stale")
    at.eventually(lambda: at.pins.seat(1) == "wager_seen")
    at.dealer.play("KS 2D 9S 3C", 1)
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])


@pytest.mark.proof  # `tests/daemon/test_stream.py` has it
def test_a_pit_that_hears_and_says_nothing_is_no_pit_to_bet_with(at: Bench) -> None:
    at.pit.silent()
    at.dealer.open_shoe()
    at.eventually(lambda: len(at.pit.events) == 1)
    at.eventually(lambda: at.pit.repeats >= 1)  # sent again while nobody acknowledges
    assert at.table.status().pit.fresh
    at.pit.speak()
    at.eventually(lambda: at.table.unacknowledged() == 0)


@pytest.mark.proof  # `tests/daemon/test_stream.py` has it
@pytest.mark.table(pit={"stale_after_s": 1})
def test_a_wager_locked_before_the_pit_went_silent_stays_good(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.pit.gone()
    at.shoe.deal("KS 2D")
    at.shoe.deal("9S 3C")
    at.eventually(lambda: not at.table.status().pit.fresh)
    at.eventually(lambda: at.pins.seat(1) == "hit")
    at.pit.come()
    at.eventually(lambda: [hit["tier"] for hit in at.pit.hits] == ["player_personal"])


def test_the_cut_card_before_a_rounds_first_card_makes_that_round_the_last(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("CUT 9C TD TC 5D")
    at.eventually(lambda: at.table.phase == "shoe_ended")
    at.eventually(lambda: at.pit.types == ["shoe_opened", "wagers_locked", "alarm", "round", "shoe_closed"])
    assert at.pit.told("alarm")[0]["code"] == "cut_card_misplaced"


def test_a_card_drawn_in_error_that_nobody_saw_is_the_next_rounds_first(at: Bench) -> None:
    at.dealer.open_shoe()
    at.pins.cover(1)
    at.eventually(lambda: at.table.status().sensors == (1,))
    at.shoe.deal("KS")
    at.eventually(lambda: at.table.phase == "round_in_play")
    at.pins.press("void", until=lambda: at.table.phase == "wagers_open")
    at.pins.press("deal", until=lambda: at.table.hands["player"] == ["KS"])
    at.shoe.deal("2D 9S 3C")
    at.eventually(lambda: [hit["tier"] for hit in at.pit.hits] == ["player_personal"])
    assert [event["simulated"] for event in at.pit.rounds] == [False]


def test_a_wager_that_is_placed_after_the_dealer_saw_the_card_does_not_play(at: Bench) -> None:
    """A wager does not count if it was placed after a card that the dealer may have seen. In the test, the dealer draws
    the king that is printed at seat 1, looks at it, and says that nobody saw it. After that, seat 1 puts a chip down.
    """
    at.dealer.open_shoe()
    at.shoe.deal("KS")
    at.eventually(lambda: at.table.phase == "round_in_play")
    at.pins.press("void", until=lambda: at.table.phase == "wagers_open")
    at.pins.cover(1)
    at.eventually(lambda: at.pins.seat(1) == "refused")
    at.pins.press("deal", until=lambda: at.table.hands["player"] == ["KS"])
    at.shoe.deal("2D 9S 3C")
    at.rounds(1)
    assert at.pit.hits == []
    (locked,) = at.pit.told("wagers_locked")
    assert (locked["progressive"][0]["seats"], locked["progressive"][0]["refusal"]) == ([], "card_out")
    assert [alarm["code"] for alarm in at.pit.told("alarm")] == ["chips_moved"]
    assert [(odd["fate"], odd["by"]) for odd in at.pit.told("odd_card")] == [
        ("simulated_hand", "rules"),
        ("next_card", "dealer"),
    ]


@pytest.mark.proof  # `tests/table/test_shoe_sequence.py` has each digit after each other
@pytest.mark.table(shoe_wrap=1)
def test_a_shoe_that_counts_its_reports_from_one_is_heard_as_well(at: Bench) -> None:
    at.dealer.open_shoe()
    for _ in range(3):
        at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: len(at.pit.rounds) == 3)
    assert at.table.fault is None
