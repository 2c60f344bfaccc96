"""Checks of how the table decides on a person's request, given the state of the sensors and of the pit. They also check
which requests need a supervisor."""

from __future__ import annotations

import pytest

from controller.rules.game.cards import Card
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import NewShoe, SeeCutCard
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import CardDrawn, ShoeOpened, ShoeStoodBy, Target
from controller.table.states import Table
from tests.support.tables import ROYAL9, TableUnderTest, between, house, seen


def last_fact(table: TableUnderTest) -> object:
    return table.rows[-1].fact


def test_the_seats_whose_wager_is_in_place_at_lock_play() -> None:
    table = between().lock(7, 2)
    (locked,) = table.of_type("wagers_locked")
    assert (locked["progressive"][0]["seats"], locked["progressive"][0]["price_cents"]) == ([2, 7], 500)
    assert (locked["progressive"][0]["refused_seats"], locked["progressive"][0]["refusal"], locked["by"]) == (
        [],
        None,
        "dealer",
    )


def test_a_wager_where_the_table_has_no_seat_is_nobodys() -> None:
    assert between().lock(2, 8, 0).face.progressive[0].seats == (2,)


def test_without_a_pit_there_is_no_progressive_to_bet_on_and_baccarat_goes_on() -> None:
    table = TableUnderTest(pit_fresh=False).open_shoe().lock(2, 5)
    (locked,) = table.of_type("wagers_locked")
    assert (
        locked["progressive"][0]["seats"],
        locked["progressive"][0]["refused_seats"],
        locked["progressive"][0]["refusal"],
    ) == ([], [2, 5], "pit_stale")
    assert (table.face.progressive[0].refused_seats, table.face.progressive[0].refusal) == ((2, 5), "pit_stale")
    table.draw("KH 2S 9H 3D")
    (round_,) = table.of_type("round")
    assert (round_["progressive"], round_["awards"], table.of_type("hit")) == ([], [], [])


def test_without_a_pit_and_without_a_wager_nothing_is_refused() -> None:
    (locked,) = TableUnderTest(pit_fresh=False).open_shoe().lock().of_type("wagers_locked")
    assert (locked["progressive"][0]["refused_seats"], locked["progressive"][0]["refusal"]) == ([], None)


def test_a_locked_wager_stays_good_when_the_pit_goes() -> None:
    table = between().lock(2)
    table.pit_fresh, table.wagers = False, set()
    table.draw("KH 2S 9H 3D")
    assert [(hit["seat"], hit["tier"]) for hit in table.of_type("hit")] == [(2, "player_personal")]


def test_a_shoe_opens_under_the_rules_of_its_moment() -> None:
    table = between()
    assert last_fact(TableUnderTest().do(NewShoe())) == ShoeOpened(1, "dealer", ROYAL9, "0" * 64, "test")
    table.rules = house(decks=6)
    table.lock().draw("CUT 4S TH 5D 9C")
    assert table.table.rules == ROYAL9, "the open shoe keeps what it opened with"
    table.open_shoe()
    assert (table.table.rules, table.face.shoe, table.face.cards_left) == (house(decks=6), 2, 6 * 52 - 2)
    assert [opened["decks"] for opened in table.of_type("shoe_opened")] == [8, 6]
    assert table.of_type("shoe_opened")[0]["seats"][1] == {"seat": 2, "k9": "KH 9H"}


def test_a_supervisor_may_end_a_shoe_between_hands() -> None:
    table = between().lock().draw("4S TH 5D 9C").new_shoe_by_supervisor()
    (closed,) = table.of_type("shoe_closed")
    assert (closed["reason"], closed["by"], closed["rounds"], closed["cards_left"]) == ("closed_early", "Smith", 1, 410)
    assert table.of_type("shoe_opened")[-1]["by"] == "Smith"
    assert (table.face.outcome, table.face.shoe) == (None, 2)


def test_the_shoes_first_card_report_announces_a_shoe() -> None:
    table = TableUnderTest().to(Target.FIRST_CARD, 0, "3H", 1)
    assert [(event["type"], event["by"]) for event in table.events] == [("shoe_opened", "first_card")]
    assert (table.face.first_card, table.face.burn_left, table.face.cards_left) == ("3H", 3, 415)
    table.draw("2C 2C 2C").lock().draw("CUT 4S TH 5D 9C").to(Target.FIRST_CARD, 0, "2H", 2)
    assert (table.face.shoe, table.face.first_card) == (2, "2H")


def test_an_unreadable_first_card_announces_it_too() -> None:
    table = TableUnderTest().believe(CardDrawn(None, Target.FIRST_CARD, 0))
    assert (table.face.phase, table.fault) == ("first_card_due", "unreadable_card")
    assert table.name("3H").face.first_card == "3H"


def test_no_card_announces_a_shoe_while_a_fault_stands() -> None:
    table = TableUnderTest().draw("KS").to(Target.FIRST_CARD, 0, "3H")
    assert (table.face.phase, table.fault) == ("no_shoe", "card_without_shoe")
    assert table.clear().fault == "card_without_shoe", "the first card waited, and still has no shoe"
    assert table.new_shoe_by_supervisor().face.first_card == "3H"


def test_where_the_first_card_locks_it_does_so_with_the_wagers_of_its_moment() -> None:
    table = TableUnderTest(house(lock_on="first_card"), wagers={2}).open_shoe()
    table.draw("KH")
    table.wagers = {3}
    table.draw("2S 9H 3D")
    assert [(hit["seat"], hit["tier"]) for hit in table.of_type("hit")] == [(2, "player_personal")]
    assert table.draw("4S").face.progressive[0].seats == (3,)


def test_where_the_first_card_locks_the_dealer_may_lock_before_it() -> None:
    table = TableUnderTest(house(lock_on="first_card")).open_shoe().lock(2).draw("KH")
    assert [locked["by"] for locked in table.of_type("wagers_locked")] == ["dealer"]


@pytest.mark.parametrize("table", [TableUnderTest(), between(), between().lock(), between().draw("CUT CUT")])
@pytest.mark.parametrize("act", [VoidRound(None), ClearFault(None), NameCard(Card.parse("KS"), None)])
def test_a_supervisor_must_do_it(table: TableUnderTest, act: Request) -> None:
    assert table.ask(act) == "no_supervisor"


def test_the_dealer_sees_the_cut_card_only_in_a_shoe() -> None:
    assert TableUnderTest().ask(SeeCutCard()) == "no_shoe"
    assert between().do(SeeCutCard()).face.final_round
    assert TableUnderTest().do(NewShoe(), SeeCutCard()).fault == "cut_card_in_burn"
    assert between().lock().draw("CUT 4S TH 5D 9C").ask(SeeCutCard()) == "no_shoe"


def test_a_refusal_changes_nothing_and_makes_no_fact() -> None:
    table = between().believe(ShoeStoodBy(seen(4)))
    state, rows = table.table, len(table.rows)
    for request in (NewShoe(), VoidRound("Smith"), ClearFault("Smith"), NameCard(Card.parse("KS"), "Smith")):
        assert table.ask(request) is not None
    assert (table.table, len(table.rows)) == (state, rows)
    assert TableUnderTest().ask(LockWagers()) == "no_shoe"
    assert TableUnderTest().table == Table(ROYAL9)
