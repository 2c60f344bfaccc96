"""Plays stories of a table that stops at a fault. The fault stays whatever else happens, and only certain acts clear
it.

Each single fault is tested in `test_hil_every_fault.py`.
"""

from __future__ import annotations

import pytest

from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from tests.hil.bench import Bench
from tests.support.errors import raising


@pytest.fixture(autouse=True)
def _shoe_open(table: Table, dealer: Dealer) -> None:
    """Open a shoe, because every test in this file begins at a moment when wagers may be placed."""
    dealer.open_shoe()


@pytest.mark.proof  # each part of it is in another test: the stories below, the walks, and a stop over a kill
def test_a_shoe_unplugged_inside_a_round_stops_the_table_until_a_supervisor_clears_it(at: Bench) -> None:
    at.dealer.lock(1)
    at.dealer.deal("KS 2D")
    at.shoe.unplug()
    at.eventually(lambda: at.table.fault == "shoe_unplugged")
    at.eventually(lambda: at.pins.lamp("fault") == "fast_blink" and at.pins.seat(1) == "accepted")

    at.table.restart()
    assert at.table.fault == "shoe_unplugged"
    at.eventually(lambda: at.pins.lamp("fault") == "fast_blink")
    at.shoe.plug()
    at.eventually(at.table.links_up)
    assert at.table.fault == "shoe_unplugged"  # the link is back; the fault stands

    with raising("not_an_exit"):
        at.table.supervisor("new_shoe")
    at.pins.press("deal")  # without the key
    assert at.table.fault == "shoe_unplugged"
    at.pins.turn_key()
    at.pins.press("deal", until=lambda: at.table.fault == "shoe_unheard")
    at.pins.turn_key_back()
    at.table.count()
    at.shoe.deal("9S 3C")
    at.eventually(lambda: [hit["seat"] for hit in at.pit.hits] == [1])
    assert [(event["code"], event["by"], event["exit"]) for event in at.pit.told("fault_cleared")] == [
        ("shoe_unplugged", "key", "clear"),
        ("shoe_unheard", "Ann", "count"),
    ]
    at.eventually(lambda: at.pins.lamp("fault") == "dark")


def test_a_shoe_unplugged_while_the_rounds_first_card_goes_to_the_disk_is_unplugged_inside_the_round(at: Bench) -> None:
    at.dealer.lock()
    with at.table.busy_disk():
        at.shoe.deal("KS")
        at.table.hear_out()
        at.shoe.unplug()
        at.eventually(lambda: not at.table.status().shoe.up)
        assert at.table.phase == "wagers_locked"
    at.eventually(lambda: at.table.fault == "shoe_unplugged")
    assert at.table.phase == "round_in_play"


def test_a_person_at_a_shell_sees_the_fault_and_clears_it(at: Bench) -> None:
    at.dealer.lock()
    at.dealer.deal("9C TD")
    at.shoe.unplug()
    at.eventually(lambda: at.table.fault == "shoe_unplugged")
    at.shoe.plug()
    seen = at.table.tablectl("status")
    assert seen.returncode == 0
    assert "FAULT shoe_unplugged" in seen.stdout
    assert "clear" in seen.stdout
    assert at.table.tablectl("clear", "--by", "Bea").returncode == 0
    at.eventually(lambda: at.table.links_up() and at.table.fault)
    seen = at.table.tablectl("status")
    assert "FAULT shoe_unheard" in seen.stdout
    assert "tablectl count " in seen.stdout
    assert "411" in seen.stdout, seen.stdout
    assert at.table.tablectl("count", "411", "--by", "Bea").returncode == 0
    again = at.table.tablectl("clear", "--by", "Bea", check=False)
    assert again.returncode == 1
    assert again.stderr.startswith("no_fault")
    at.shoe.deal("TC 5D")
    at.eventually(lambda: [event["outcome"] for event in at.pit.rounds] == ["player"])
    assert at.pit.told("fault_cleared")[0]["by"] == "Bea"


def test_cards_drawn_while_the_shoe_is_unplugged_are_named_in_their_order(at: Bench) -> None:
    at.dealer.lock(1)
    at.dealer.deal("KS")
    at.shoe.unplug()
    at.shoe.deal("2D 9S")
    at.shoe.plug()
    at.eventually(lambda: at.table.fault == "shoe_unplugged" and at.table.links_up())
    at.by_two("card", card="2D")
    at.by_two("card", card="9S")
    at.table.clear_and_count()
    assert at.table.hands["player"] == ["KS", "9S"]
    at.shoe.deal("3C")
    at.eventually(lambda: [hit["tier"] for hit in at.pit.hits] == ["player_personal"])
    assert at.pit.rounds[0]["banker"]["cards"] == ["2D", "3C"]


def test_a_card_the_shoe_could_not_read_is_named(at: Bench) -> None:
    at.dealer.lock(1)
    at.shoe.deal("KS ??2D")
    at.eventually(lambda: at.table.fault == "unreadable_card")
    assert at.table.stop_told.details == {"where": "banker"}
    with raising("not_an_exit"):
        at.table.supervisor("clear")
    at.shoe.deal("9S")  # dealt although the table stands: it is kept, in its order
    at.eventually(lambda: at.table.stop_told.held_cards == 2)
    named = at.table.tablectl("card", "2D", "--by", "Cas")
    assert named.returncode == 0, named.stderr
    assert "Cas asks to name the card 2D" in named.stdout, "a Royal 9 wager may win by it"
    at.pins.confirm("deal")
    at.eventually(lambda: at.table.fault is None)
    at.shoe.deal("3C")
    at.eventually(
        lambda: (
            [(event["player"]["cards"], event["banker"]["cards"]) for event in at.pit.rounds]
            == [(["KS", "9S"], ["2D", "3C"])]
        )
    )
    assert [event["exit"] for event in at.pit.told("fault_cleared")] == ["card"]
    typed = [{"drawn": 2, "card": "2D", "how": "typed", "by": "Cas", "witness": "key"}]
    at.eventually(lambda: at.pit.hits)  # told after the round
    assert [at.pit.rounds[0]["not_read"], at.pit.hits[0]["not_read"]] == [typed, typed]


@pytest.mark.proof  # `test_hil_transports.py` damages many
def test_a_damaged_copy_is_counted_and_costs_nothing(at: Bench) -> None:
    whole = at.shoe.corrupt
    assert whole is not None

    def garble(copy: int, frame: bytes) -> bytes:
        frame = whole(copy, frame)
        return b"\xff\x00" + frame[:-3] if copy == 1 else frame

    at.shoe.corrupt = garble
    at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: [event["outcome"] for event in at.pit.rounds] == ["player"])
    assert at.table.fault is None
    at.eventually(lambda: set(at.table.status().shoe.bad_bytes) == {"noise"})


def test_a_round_is_voided_with_key_and_button(at: Bench) -> None:
    at.dealer.lock(1, 5)
    at.dealer.deal("KS 2D")
    at.pins.press("void")
    assert at.table.phase == "round_in_play"  # no supervisor, no void
    at.pins.turn_key()
    at.pins.press("void", until=lambda: at.table.phase == "wagers_open")
    at.pins.turn_key_back()
    at.shoe.force_quit()
    at.eventually(lambda: len(at.pit.told("void")) == 1)
    void = at.pit.told("void")[0]
    assert (void["by"], void["reason"], void["round"], void["progressive"][0]["seats"]) == (
        "key",
        "supervisor",
        1,
        [1, 5],
    )
    at.dealer.play("9C TD TC 5D")
    at.eventually(lambda: [event["round"] for event in at.pit.rounds] == [2])
    assert at.pit.rounds[0]["cards_left"] == 8 * 52 - 3 - 2 - 4
    assert at.table.fault is None
