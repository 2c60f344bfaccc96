"""Checks that nobody can wager on the next round, or change seats, after a card of the next round has left the shoe."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from controller.rules.game.cards import Card
from controller.rules.game.seating import Actives
from controller.rules.game.wagers import Wager
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, OddCardFate, TellOddCard, VoidRound
from controller.table.acts.seats import ChooseActives, LeaveSeat, PlaceWager, TakeSeats
from controller.table.facts import (
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    ShoeError,
    ShoeErrorRaised,
    ShoeUnplugged,
    StepFailed,
)
from controller.table.lamps import Live, SeatSign, seat_sign
from controller.table.rules import TableRules
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, ROYAL9, SUGARHOUSE, TableUnderTest, house

KS, NINE = Card.parse("KS"), Card.parse("9S")
NEXT = house(ROYAL9, drawn_in_error="next_card")
UNSEEN = TellOddCard(OddCardFate.NEXT_CARD, "dealer")
BUTTON = ShoeErrorRaised(ShoeError.BUTTON_MISHANDLED)
KNOWN = replace(ROYAL9, bet_recognition=True)


def drawn_and_called_unseen(table: TableUnderTest) -> None:
    table.believe(CardDrawn(KS)).do(UNSEEN)


def drawn(table: TableUnderTest) -> None:
    table.believe(CardDrawn(KS))


def kept_by_the_shoe(table: TableUnderTest) -> None:
    table.believe(CardKept(KS))


def held_by_a_fault(table: TableUnderTest) -> None:
    """Let the shoe report a mishandled button, which raises a fault, and then a card, which waits because of the fault.
    Only the chips that lay on the table when the card was drawn may count."""
    table.believe(BUTTON, CardDrawn(KS))


def outside_the_game(table: TableUnderTest) -> None:
    table.believe(CardDrawnOutsideGame("lock"))


WAYS: dict[str, tuple[TableRules, Callable[[TableUnderTest], None], Callable[[TableUnderTest], object]]] = {
    "unseen": (ROYAL9, drawn_and_called_unseen, lambda table: None),
    "next_card": (NEXT, drawn, lambda table: None),
    "kept": (NEXT, kept_by_the_shoe, lambda table: None),
    "held": (NEXT, held_by_a_fault, lambda table: table.clear()),
    "held and called unseen": (ROYAL9, held_by_a_fault, lambda table: table.clear().do(UNSEEN)),
    "outside of the game": (NEXT, outside_the_game, lambda table: table.name("KS")),
    "named between the chip and the lock": (ROYAL9, outside_the_game, lambda table: table.name("KS").do(UNSEEN)),
}
"""How a card of the next round comes to be out: the rules, the card, and what people do before the lock."""


def test_a_chip_plays_that_lay_before_the_card_and_lies_still() -> None:
    for way in WAYS:
        for before in [(), (2,), (1, 2)]:
            for after in [(), (1,), (1, 2, 3)]:
                _what_lies_still_plays(way, before, after)


def _what_lies_still_plays(way: str, before: tuple[int, ...], after: tuple[int, ...]) -> None:
    rules, comes, goes_on = WAYS[way]
    table = TableUnderTest(rules).open_shoe()
    table.wagers = set(before)
    comes(table)
    table.wagers = set(after)
    goes_on(table)
    assert table.face.wagers_stand == tuple(sorted(before))
    table.do(LockWagers())
    (bet,) = table.of_type("wagers_locked")[-1]["progressive"]
    assert bet["seats"] == sorted({*before} & {*after})
    assert bet["refused_seats"] == sorted({*after} - {*before})
    assert bet["refusal"] == ("card_out" if {*after} - {*before} else None)
    moved = [alarm["details"] for alarm in table.of_type("alarm") if alarm["code"] == "chips_moved"]
    assert bool(moved) == (set(before) != set(after))
    table.draw("2S 9S 3D")
    assert {hit["seat"] for hit in table.of_type("hit")} == {*before} & {*after}
    assert table.replayed() == (table.table, None)


def test_the_next_round_takes_wagers_again() -> None:
    table = TableUnderTest(NEXT).open_shoe()
    drawn(table)
    table.do(LockWagers()).draw("2S 9S 3D")
    assert table.face.wagers_stand is None
    table.lock(1)
    assert table.of_type("wagers_locked")[-1]["progressive"][0]["seats"] == [1]


def test_a_missed_card_that_a_person_types_lets_no_wager_play() -> None:
    """No wager counts in a round whose first card was missed and then typed by a person, because nobody knows which
    chips lay on the table when that card left the shoe."""
    table = TableUnderTest(NEXT).open_shoe()
    table.wagers = {1}
    table.believe(StepFailed("KeyError in CardDrawn")).name("KS").clear()
    assert table.face.wagers_stand == ()
    table.do(LockWagers())
    assert table.of_type("wagers_locked")[-1]["progressive"][0]["seats"] == []


def test_cards_that_a_void_made_dead_are_no_cards_of_the_next_round() -> None:
    table = TableUnderTest(NEXT).open_shoe().lock(1).draw("4S").believe(ShoeUnplugged()).draw("TH 5D 9C KS").void()
    assert table.face.wagers_stand is None


def test_a_card_that_came_during_the_round_before_lets_no_wager_play() -> None:
    table = TableUnderTest(NEXT).open_shoe().lock(1).draw("4S").believe(BUTTON).draw("TH 5D 9C KS").clear()
    assert table.face.wagers_stand == (), "the chips on the layout then were the other round's"
    table.do(LockWagers())
    assert table.of_type("wagers_locked")[-1]["progressive"][0]["seats"] == []


@pytest.mark.parametrize("rules", [KNOWN, replace(KNOWN, sensors=()), SUGARHOUSE])
def test_where_wagers_are_known_none_is_placed_changed_or_taken_back(rules: TableRules) -> None:
    table = TableUnderTest(house(rules, drawn_in_error="next_card")).open_shoe()
    table.do(PlaceWager(Wager(2, "player", 2000), "dealer")).draw("KS")
    for wager in (Wager(1, "player", 2000), Wager(2, "player", 2500), Wager(2, "player", 0), Wager(2, "tie", 500)):
        assert table.ask(PlaceWager(wager, "dealer")) == "card_out"
    table.do(LockWagers())
    assert [(w["seat"], w["cents"]) for w in table.of_type("wagers_locked")[-1]["wagers"]] == [(2, 2000)]


@pytest.mark.parametrize("rules", [BACCARAT_ROYAL, LUCKY9])
def test_nobody_changes_who_sits_where_or_which_seats_are_active(rules: TableRules) -> None:
    """The table refuses to change seats after a card of the next round has left the shoe. A change would send the card
    to a different hand, so a person who has seen the card could choose who gets it."""
    table = TableUnderTest(house(rules, drawn_in_error="next_card")).open_shoe().do(TakeSeats((2, 5, 6), "dealer"))
    table.draw("KS")
    moves: list[Request] = [TakeSeats((2, 5), "dealer"), LeaveSeat(6, "dealer")]
    if rules.play.roles_play:
        moves += [ChooseActives(Actives(5, 2), "dealer"), ChooseActives(None, "dealer")]
    assert {table.ask(move) for move in moves} == {"card_out"}


def test_a_simulated_hand_that_goes_on_lets_wagers_be_placed_for_the_round_after() -> None:
    table = TableUnderTest(replace(ROYAL9, bet_recognition=True, sensors=())).open_shoe().draw("KS")
    assert table.ask(PlaceWager(Wager(2, "player", 2000), "dealer")) == "card_out", "its fate is still open"
    table.draw("2S").do(PlaceWager(Wager(2, "player", 2000), "dealer"))


def test_a_burned_card_decides_nothing() -> None:
    table = TableUnderTest(house(drawn_in_error="burn")).open_shoe().draw("KS")
    assert table.face.wagers_stand is None


def test_each_odd_card_its_fate_and_who_said_so_is_told() -> None:
    table = TableUnderTest().open_shoe().draw("KS").do(TellOddCard(OddCardFate.NEXT_CARD, "Kim"))
    told = [(event["fate"], event["by"], event["witness"]) for event in table.of_type("odd_card")]
    assert told == [("simulated_hand", "rules", None), ("next_card", "Kim", None)]
    assert not any("KS" in str(event) for event in table.of_type("odd_card"))


@pytest.mark.parametrize("alone", [0, 1, 2])
def test_beyond_the_houses_number_a_second_person_says_that_nobody_saw_the_card(alone: int) -> None:
    table = TableUnderTest(house(unseen_cards_by_dealer=alone)).open_shoe()
    for _ in range(alone):
        table.draw("2S").do(TellOddCard(OddCardFate.BURN, "dealer"))
    table.draw("KS")
    assert table.ask(TellOddCard(OddCardFate.NEXT_CARD, "dealer")) == "second_person_due"
    assert table.ask(TellOddCard(OddCardFate.NEXT_CARD, "dealer", "DEALER")) == "not_two_people"
    table.do(TellOddCard(OddCardFate.NEXT_CARD, "dealer", "Smith"))
    assert table.of_type("odd_card")[-1] | {"by": "dealer", "witness": "Smith"} == table.of_type("odd_card")[-1]
    table.new_shoe_by_supervisor().draw("AS 2D")
    if alone:
        table.draw("2H").do(TellOddCard(OddCardFate.BURN, "dealer"))  # each shoe counts anew


def test_the_lamps_invite_nobody_and_refuse_whoever_comes_late() -> None:
    table = TableUnderTest(NEXT).open_shoe()
    table.wagers = {2}
    drawn(table)
    live = Live(frozenset({1, 2}), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True)
    signs = [seat_sign(table.face, live, seat) for seat in (1, 2, 3)]
    assert signs == [SeatSign.REFUSED, SeatSign.WAGER_SEEN, SeatSign.NOTHING]


def test_a_round_voided_with_a_card_over_keeps_that_card_out() -> None:
    """A card that the finished round did not need belongs to the next round. It counts as seen, so no more wagers may
    be placed on the next round."""
    table = TableUnderTest(NEXT).open_shoe().draw("4S TH 5D 9C KS").do(LockWagers())
    assert table.of_type("round")[-1]["player"]["cards"] == ["4S", "5D"]
    assert table.face.wagers_stand == ()
    assert table.ask(VoidRound("Smith")) == "no_round"


def test_by_the_procedure_of_before_a_chip_plays_as_it_did() -> None:
    table = TableUnderTest(replace(NEXT, procedure=2)).open_shoe()
    drawn(table)
    table.lock(1)
    assert table.of_type("wagers_locked")[-1]["progressive"][0]["seats"] == [1]
    assert [type(row.fact).__name__ for row in table.rows if "Chips" in type(row.fact).__name__] == []
    assert table.of_type("odd_card") == []
