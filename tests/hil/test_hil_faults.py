"""Stories of a table that stops: that a fault stands, whatever comes, and who leaves it how.

Each fault by itself is walked through in `test_hil_every_fault.py`.
"""

from __future__ import annotations

import pytest

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually
from controller.errors import TableError


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
    pins.press("deal", until=lambda: table.fault == "shoe_unheard")
    pins.turn_key_back()
    table.count()
    shoe.deal("9S 3C")
    eventually(lambda: [hit["seat"] for hit in pit.hits] == [1])
    assert [(event["code"], event["by"], event["exit"]) for event in pit.told("fault_cleared")] == [
        ("shoe_unplugged", "key", "clear"),
        ("shoe_unheard", "Ann", "count"),
    ]
    eventually(lambda: pins.lamp("fault") == "dark")


def test_a_shoe_unplugged_while_the_hands_first_card_goes_to_the_disk_is_unplugged_inside_the_hand(
    table: Table, shoe: FarShoe, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.lock()
    with table.busy_disk():
        shoe.deal("KS")
        table.hear_out()
        shoe.unplug()
        eventually(lambda: not table.status()["shoe"]["up"])
        assert table.phase == "wagers_locked"
    eventually(lambda: table.fault == "shoe_unplugged")
    assert table.phase == "hand_in_play"


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
    eventually(lambda: table.links_up() and table.fault)
    seen = table.tablectl("status")
    assert "FAULT shoe_unheard" in seen.stdout
    assert "tablectl count " in seen.stdout
    assert "411" in seen.stdout, seen.stdout
    assert table.tablectl("count", "411", "--by", "Bea").returncode == 0
    again = table.tablectl("clear", "--by", "Bea")
    assert again.returncode == 1
    assert again.stderr.startswith("no_fault")
    shoe.deal("TC 5D")
    eventually(lambda: [hand["outcome"] for hand in pit.rounds] == ["player"])
    assert pit.told("fault_cleared")[0]["by"] == "Bea"


def test_a_shoe_unplugged_between_hands_is_no_fault_before_it_is_back(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    shoe.unplug()
    eventually(lambda: pins.lamp("fault") == "slow_blink")
    assert table.fault is None
    shoe.plug()
    table.count()
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
    table.clear_and_count()
    assert table.hands["player"] == ["KS", "9S"]
    shoe.deal("3C")
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
    eventually(
        lambda: (
            [(hand["player"]["cards"], hand["banker"]["cards"]) for hand in pit.rounds]
            == [(["KS", "9S"], ["2D", "3C"])]
        )
    )
    assert [event["exit"] for event in pit.told("fault_cleared")] == ["card"]


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
    eventually(lambda: set(table.status()["shoe"]["bad_bytes"]) == {"noise"})


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
    assert (void["by"], void["reason"], void["round"], void["progressive"][0]["seats"]) == (
        "key",
        "supervisor",
        1,
        [1, 5],
    )
    dealer.play("9C TD TC 5D")
    eventually(lambda: [hand["round"] for hand in pit.rounds] == [2])
    assert pit.rounds[0]["cards_left"] == 8 * 52 - 3 - 2 - 4
    assert table.fault is None
