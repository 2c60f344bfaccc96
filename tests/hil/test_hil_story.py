"""Stories of a table that works: whole hands, from the dealer's button to lamps, journal and pit."""

from __future__ import annotations

import pytest

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually


def test_a_whole_hand_from_new_shoe_to_a_royal_9_hit(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, eventually: Eventually
) -> None:
    pins.press("new_shoe", until=lambda: table.phase == "first_card_due")
    eventually(lambda: pins.lamp("draw_player") == pins.lamp("draw_banker") == "steady")
    shoe.deal("2C KC KC")  # a two is turned up, two more are burned
    eventually(lambda: table.phase == "wagers_open")
    eventually(lambda: pins.seat(1) == pins.seat(4) == "invitation")

    pins.cover(1, 2)
    eventually(lambda: pins.seat(1) == pins.seat(2) == "wager_seen")
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    eventually(lambda: pins.seat(1) == pins.seat(2) == "accepted")
    eventually(lambda: pins.lamp("draw_player") == "steady" and pins.seat(4) == "nothing")

    shoe.deal("KS")
    eventually(lambda: pins.lamp("draw_banker") == "steady" and "draw_player" not in pins.lit())
    shoe.deal("2D 9S 3C")  # Player: the king and nine of spades, printed at seat 1
    eventually(lambda: pins.seat(1) == pins.seat(2) == "hit")
    eventually(lambda: pins.lamp("player") == "steady")
    eventually(
        lambda: {pins.lamp(name) for name in ("banker", "tie", "draw_player", "draw_banker", "fault")} == {"dark"}
    )

    eventually(lambda: table.unacknowledged() == 0)
    assert pit.types == ["shoe_opened", "wagers_locked", "round", "hit", "hit"]
    assert pit.told("wagers_locked")[0]["progressive"][0]["seats"] == [1, 2]
    [hand] = pit.rounds
    assert hand["player"] == {"cards": ["KS", "9S"], "total": 9}
    assert hand["banker"] == {"cards": ["2D", "3C"], "total": 5}
    assert (hand["outcome"], hand["natural"], hand["cards_left"]) == ("player", True, 8 * 52 - 3 - 4)
    assert [(hit["seat"], hit["tier"]) for hit in pit.hits] == [(1, "player_personal"), (2, "suited_royal")]
    assert [(hit["progressive"], hit["fixed"]) for hit in pit.hits] == [
        ({"meter": "player_personal", "share": "1:1", "shown_cents": pit.levels["player_personal"]}, None),
        (None, {"cents": 5000}),
    ]
    assert table.verify().messages == 5
    assert [fact["fact"] for fact in table.facts()] == [
        *("PitKeyPinned", "ShoeOpened", "CardDrawn", "BurnCountReported", "CardDrawn", "CardDrawn"),
        *("WagersLocked", "CardDrawn", "CardDrawn", "CardDrawn", "CardDrawn", "ShoeResultReported"),
    ]

    pins.uncover(1, 2)
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    eventually(lambda: pins.seat(2) == "nothing" and pins.lamp("player") == "dark")
    assert pins.seat(1) == "hit", "a progressive hit is shown until somebody has seen to it"
    table.tablectl("reset-hit", "1", "--by", "Ana")
    eventually(lambda: pins.seat(1) == "nothing")


def test_the_shoes_own_first_card_announces_it(
    table: Table, shoe: FarShoe, pit: FarPit, eventually: Eventually
) -> None:
    shoe.deal("AC KC")
    eventually(lambda: table.phase == "wagers_open")
    eventually(lambda: [event["by"] for event in pit.told("shoe_opened")] == ["first_card"])


@pytest.mark.table(table={"lock_on": "first_card"})
def test_at_a_table_without_a_deal_button_the_first_card_locks(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.cover(2)
    eventually(lambda: table.status()["sensors"] == [2])
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [2])
    assert pit.told("wagers_locked")[0]["by"] == "first_card"


def test_a_wager_put_down_after_the_lock_does_not_play(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(3)
    pins.cover(1)
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [3])
    assert pit.rounds[0]["progressive"] == [{"spot": "royal9", "seats": [3]}]


@pytest.mark.table(pit={"stale_after_s": 1})
def test_without_a_pit_the_royal_9_wager_is_refused_and_baccarat_goes_on(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    eventually(lambda: table.unacknowledged() == 0)
    pit.gone()
    dealer.play("9C TD TC 5D")  # events nobody acknowledges
    eventually(lambda: not table.status()["pit"]["fresh"])
    eventually(lambda: pins.seat(4) == "nothing")
    pins.cover(1)
    eventually(lambda: pins.seat(1) == "refused")
    dealer.lock(1)
    shoe.deal("KS 2D")
    eventually(lambda: pins.seat(1) == "refused")
    shoe.deal("9S 3C")
    eventually(lambda: table.phase == "wagers_open")

    pit.come()
    eventually(lambda: table.unacknowledged() == 0)
    assert pit.hits == []
    assert [hand["outcome"] for hand in pit.rounds] == ["player", "player"]
    told = pit.told("wagers_locked")[-1]
    assert (
        told["progressive"][0]["seats"],
        told["progressive"][0]["refused_seats"],
        told["progressive"][0]["refusal"],
    ) == ([], [1], "pit_stale")
    eventually(lambda: pins.seat(1) == "wager_seen")
    dealer.play("KS 2D 9S 3C", 1)
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])


def test_a_pit_that_hears_and_says_nothing_is_no_pit_to_bet_with(
    table: Table, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    pit.silent()
    dealer.open_shoe()
    eventually(lambda: len(pit.events) == 1)
    eventually(lambda: pit.repeats >= 1)  # sent again while nobody acknowledges
    assert table.status()["pit"]["fresh"]
    pit.speak()
    eventually(lambda: table.unacknowledged() == 0)


@pytest.mark.table(pit={"stale_after_s": 1})
def test_a_wager_locked_before_the_pit_went_silent_stays_good(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock(1)
    pit.gone()
    shoe.deal("KS 2D")
    shoe.deal("9S 3C")
    eventually(lambda: not table.status()["pit"]["fresh"])
    eventually(lambda: pins.seat(1) == "hit")
    pit.come()
    eventually(lambda: [hit["tier"] for hit in pit.hits] == ["player_personal"])


def test_the_cutting_card_inside_a_hand_leaves_one_more(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock()
    shoe.deal("9C TD CUT TC 5D")
    eventually(lambda: table.phase == "wagers_open")
    assert table.face["last_hand"]
    dealer.lock()
    shoe.deal("9D TS TH 5C")
    eventually(lambda: table.phase == "shoe_ended")
    eventually(lambda: pins.lamp("player") == "steady")
    eventually(lambda: pit.types[-1:] == ["shoe_closed"])
    assert [hand["last_hand"] for hand in pit.rounds] == [False, True]
    closed = pit.events[-1]
    assert (closed["reason"], closed["rounds"], closed["wagered_hands"]) == ("last_hand", 2, 2)
    assert closed["cards_left"] == 8 * 52 - 3 - 8

    dealer.open_shoe()
    assert table.face["shoe"] == 2


def test_the_cutting_card_before_a_hands_first_card_makes_that_hand_the_last(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    dealer.lock()
    shoe.deal("CUT 9C TD TC 5D")
    eventually(lambda: table.phase == "shoe_ended")
    eventually(lambda: pit.types == ["shoe_opened", "wagers_locked", "alarm", "round", "shoe_closed"])
    assert pit.told("alarm")[0]["code"] == "cut_card_misplaced"


def test_a_card_drawn_in_error_makes_a_simulated_hand(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.cover(1)
    shoe.deal("KS")  # nobody pressed `deal`
    eventually(lambda: table.phase == "hand_in_play")
    eventually(lambda: pins.lamp("draw_banker") == "slow_blink")  # it may still be told to be something else
    dealer.deal("2D")
    eventually(lambda: pins.lamp("draw_player") == "steady")
    shoe.deal("9S 3C")
    eventually(lambda: len(pit.rounds) == 1)
    assert pit.rounds[0]["simulated"]
    assert pit.types == ["shoe_opened", "round"]  # no wagers were locked, so none can win
    eventually(lambda: pins.seat(1) == "wager_seen")


def test_a_card_drawn_in_error_that_nobody_saw_is_the_next_hands_first(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    shoe.deal("KS")
    eventually(lambda: table.phase == "hand_in_play")
    pins.press("void", until=lambda: table.phase == "wagers_open")
    pins.cover(1)
    eventually(lambda: table.status()["sensors"] == [1])
    pins.press("deal", until=lambda: table.hands["player"] == ["KS"])
    shoe.deal("2D 9S 3C")
    eventually(lambda: [hit["tier"] for hit in pit.hits] == ["player_personal"])
    assert [hand["simulated"] for hand in pit.rounds] == [False]


@pytest.mark.table(shoe_wrap=1)
def test_a_shoe_that_counts_its_reports_from_one_is_heard_as_well(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    for _ in range(3):
        dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 3)
    assert table.fault is None
