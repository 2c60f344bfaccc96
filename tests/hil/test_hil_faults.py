"""Stories of a table that stops: what raises a fault, that it stands, and who leaves it how."""

from __future__ import annotations

import time

import pytest

from controller.errors import TableError
from drivers.sim.angel_eye import Result, Target
from tests.hil.daemon import Table
from tests.hil.far_pit import FarPit
from tests.hil.far_shoe import FarShoe
from tests.hil.header import Pins
from tests.hil.plugin import Dealer, Eventually


@pytest.fixture(autouse=True)
def _shoe_open(table: Table, dealer: Dealer) -> None:
    """Every story here begins with an open shoe and wagers open."""
    dealer.open_shoe()


def test_a_shoe_unplugged_inside_a_hand_stops_the_table_until_a_supervisor_clears_it(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock(1)
    dealer.deal("KS 2D")
    shoe.unplug()
    eventually(lambda: table.fault == "shoe_unplugged")
    eventually(lambda: pins.lamp("fault") == "fast_blink" and pins.seat(1) == "accepted")

    table.restart()
    assert table.fault == "shoe_unplugged"
    eventually(lambda: pins.lamp("fault") == "fast_blink")
    shoe.plug()
    eventually(table.links_up)
    assert table.fault == "shoe_unplugged"  # the link is back; the fault stands

    with pytest.raises(TableError) as refused:
        table.supervisor("new_shoe")
    assert refused.value.code == "not_an_exit"
    pins.press("deal")  # without the key
    assert table.fault == "shoe_unplugged"
    pins.turn_key()
    pins.press("deal", until=lambda: table.fault is None)
    pins.turn_key_back()
    shoe.deal("9S 3C")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    assert [(event["code"], event["by"], event["exit"]) for event in pit.told("fault_cleared")] == [
        ("shoe_unplugged", "key", "clear")
    ]
    eventually(lambda: pins.lamp("fault") == "dark")


@pytest.mark.parametrize("pause_ms", [1, 2, 3, 4, 6])
def test_a_shoe_unplugged_just_after_a_hands_first_cards_leaves_no_hand_in_play_without_a_fault(
    pause_ms: int, table: Table, shoe: FarShoe, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    shoe.deal("KS 2D")
    time.sleep(pause_ms / 1000)  # the cards are on their way into the journal, or there, or lost with the line
    shoe.unplug()
    eventually(lambda: not table.status()["shoe"]["up"])
    shoe.plug()
    eventually(table.links_up)
    assert (table.phase, table.fault) in [("wagers_locked", None), ("hand_in_play", "shoe_unplugged")]


def test_a_person_at_a_shell_sees_the_fault_and_clears_it(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    dealer.deal("9C TD")
    shoe.unplug()
    eventually(lambda: table.fault == "shoe_unplugged")
    shoe.plug()
    seen = table.tablectl("status")
    assert seen.returncode == 0
    assert "FAULT shoe_unplugged" in seen.stdout
    assert "clear" in seen.stdout
    assert table.tablectl("clear", "--by", "Bea").returncode == 0
    again = table.tablectl("clear", "--by", "Bea")
    assert again.returncode == 1
    assert again.stderr.startswith("no_fault")
    eventually(table.links_up)
    shoe.deal("TC 5D")
    eventually(lambda: [hand["outcome"] for hand in pit.rounds] == ["player"])
    assert pit.told("fault_cleared")[0]["by"] == "Bea"


def test_a_shoe_unplugged_between_hands_is_no_fault(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    shoe.unplug()
    eventually(lambda: pins.lamp("fault") == "slow_blink")
    assert table.fault is None
    shoe.plug()
    eventually(table.links_up)
    dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 1)


def test_cards_drawn_while_the_shoe_is_unplugged_are_named_in_their_order(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock(1)
    dealer.deal("KS")
    shoe.unplug()
    shoe.deal("2D 9S")
    shoe.plug()
    eventually(lambda: table.fault == "shoe_unplugged" and table.links_up())
    table.supervisor("card", card="2D")
    table.supervisor("card", card="9S")
    table.supervisor("clear")
    assert table.face["player"]["cards"] == ["KS", "9S"]
    shoe.deal("3C")
    eventually(lambda: table.fault == "reports_missed")  # the shoe's own numbering says so as well
    table.supervisor("clear")
    eventually(lambda: [hit["tier"] for hit in pit.hits] == ["player_personal"])
    assert pit.rounds[0]["banker"]["cards"] == ["2D", "3C"]


def test_a_card_the_shoe_could_not_read_is_named(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock(1)
    shoe.deal("KS ??2D")
    eventually(lambda: table.fault == "unreadable_card")
    assert table.face["fault"]["details"] == {"where": "banker"}
    with pytest.raises(TableError) as refused:
        table.supervisor("clear")
    assert refused.value.code == "not_an_exit"
    shoe.deal("9S")  # dealt although the table stands: it is kept, in its order
    eventually(lambda: table.face["fault"]["held_cards"] == 2)
    named = table.tablectl("card", "2D", "--by", "Cas")
    assert named.returncode == 0, named.stderr
    assert table.fault is None
    shoe.deal("3C")
    eventually(lambda: [(hand["player"]["cards"], hand["banker"]["cards"]) for hand in pit.rounds] == [
        (["KS", "9S"], ["2D", "3C"])
    ])
    assert [event["exit"] for event in pit.told("fault_cleared")] == ["card"]


def test_a_card_of_which_no_more_can_come_is_an_alarm_too(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    for _ in range(2):
        dealer.play("8H 8H 8H 8H")
    dealer.lock()
    shoe.deal("8H")
    eventually(lambda: table.fault == "impossible_card")
    eventually(lambda: pit.types[-2:] == ["alarm", "fault"])
    with pytest.raises(TableError) as refused:
        table.supervisor("card", card="8H")
    assert refused.value.code == "card_cannot_be"
    table.supervisor("card", card="8D")
    assert table.face["player"]["cards"] == ["8D"]


def test_two_referees_who_differ_on_a_cards_place_stop_the_table(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    shoe.deal("9C")
    shoe.deal("TD", target=Target.PLAYER, index=2)
    eventually(lambda: table.fault == "target_differs")
    assert table.face["fault"]["details"] == {"shoe_says": "player card 2", "rules_say": "banker card 1"}
    assert table.face["banker"]["cards"] == []
    table.supervisor("clear")  # the card lies where the rules put it
    shoe.deal("TC 5D")
    eventually(lambda: [hand["banker"]["cards"] for hand in pit.rounds] == [["TD", "5D"]])


def test_two_referees_who_differ_on_the_result_stop_the_table(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    shoe.deal("9C TD TC")
    shoe.deal("5D", result=Result.BANKER)
    eventually(lambda: table.fault == "result_differs")
    assert table.face["fault"]["details"] == {"shoe_says": "banker", "rules_say": "player"}
    eventually(lambda: pins.lamp("player") == "steady")
    pins.press("deal")
    assert table.phase == "wagers_open"  # and stays so: the table is stopped
    table.supervisor("clear")
    eventually(lambda: pit.types[-3:] == ["round", "fault", "fault_cleared"])
    dealer.play("9C TD TC 5D")


def test_reports_that_were_missed_stop_the_table_and_are_named(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    shoe.deal("9C")
    shoe.deal("TD", copies=(True, False, False))  # one copy of three is not enough to believe
    shoe.deal("TC")
    eventually(lambda: table.fault == "reports_missed")
    table.supervisor("card", card="TD")
    table.supervisor("clear")
    shoe.deal("5D")
    eventually(lambda: [hand["banker"]["cards"] for hand in pit.rounds] == [["TD", "5D"]])
    assert table.status()["shoe"]["bad_bytes"]["unconfirmed"] > 0


def test_a_damaged_copy_is_counted_and_costs_nothing(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    whole = shoe.corrupt
    assert whole is not None

    def garble(copy: int, frame: bytes) -> bytes:
        frame = whole(copy, frame)
        return b"\xff\x00" + frame[:-3] if copy == 1 else frame

    shoe.corrupt = garble
    dealer.play("9C TD TC 5D")
    eventually(lambda: [hand["outcome"] for hand in pit.rounds] == ["player"])
    assert table.fault is None
    assert set(table.status()["shoe"]["bad_bytes"]) == {"noise", "shape"}


def test_a_hand_is_voided_with_key_and_button(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock(1, 5)
    dealer.deal("KS 2D")
    pins.press("void")
    assert table.phase == "hand_in_play"  # no supervisor, no void
    pins.turn_key()
    pins.press("void", until=lambda: table.phase == "wagers_open")
    pins.turn_key_back()
    shoe.force_quit()
    eventually(lambda: len(pit.told("void")) == 1)
    void = pit.told("void")[0]
    assert (void["by"], void["reason"], void["round"], void["royal9_seats"]) == ("key", "supervisor", 1, [1, 5])
    dealer.play("9C TD TC 5D")
    eventually(lambda: [hand["round"] for hand in pit.rounds] == [2])
    assert pit.rounds[0]["cards_left"] == 8 * 52 - 3 - 2 - 4
    assert table.fault is None


def test_a_shoe_switched_off_and_on_inside_a_shoe_is_a_fault(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    shoe.power_up()
    eventually(lambda: table.fault == "shoe_restarted")
    table.supervisor("clear")
    dealer.play("9C TD TC 5D")
    eventually(lambda: len(pit.rounds) == 1)
    assert table.fault is None  # its numbering began anew with the report that it was switched on


def test_the_shoes_own_error_stops_the_table(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    shoe.deal("9C")
    shoe.raise_error(2)
    eventually(lambda: table.fault == "shoe_error")
    assert table.face["fault"]["details"] == {"error": "overdraw"}
    shoe.cancel_error(2)
    table.supervisor("clear")
    shoe.deal("TD TC 5D")
    eventually(lambda: len(pit.rounds) == 1)


def test_a_card_after_the_shoes_end_becomes_the_next_shoes_first(
    table: Table, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    shoe.deal("CUT 9C TD TC 5D")
    eventually(lambda: table.phase == "shoe_ended")
    shoe.deal("AC", target=Target.PLAYER, index=1)
    eventually(lambda: table.fault == "card_after_shoe")
    table.supervisor("clear")  # it was put back: now the new shoe comes
    dealer.open_shoe("AD", "KD")
    assert table.face["shoe"] == 2
    assert table.face["cards_left"] == 8 * 52 - 2
