"""Checks of the acts of dealers and supervisors that end no fault. Such acts are to decide about a card drawn in error,
to correct a round, to end a shoe early, and to test the lamps."""

from __future__ import annotations

from typing import Any

import pytest

from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import BadArgumentError
from controller.table.acts.itself import LampTest
from controller.table.acts.rounds import OddCardFate, TellOddCard
from controller.table.acts.shoe import INSPECT_SHOE, CloseShoe, InspectShoe, NewShoe
from controller.table.facts import ShoeResult, ShoeResultReported, Target
from tests.support.tables import TableUnderTest, cards, hand

UNSEEN = TellOddCard(OddCardFate.NEXT_CARD, "dealer")


def correction(number: int, player: str, banker: str, by: str = "Smith", witness: str = "Jones") -> CorrectRound:
    return CorrectRound(number, tuple(cards(player)), tuple(cards(banker)), by, witness)


def tiers(event: dict[str, Any], key: str = "awards") -> list[tuple[int, str]]:
    return [(won["seat"], won["tier"]) for won in event[key]]


# A card drawn in error that nobody saw.


def test_a_card_nobody_saw_is_the_next_hands_first() -> None:
    table = TableUnderTest().open_shoe().draw("4S")
    assert table.face.odd_card
    table.do(UNSEEN)
    assert (table.face.phase, table.face.cards_left, table.face.hands) == ("wagers_open", 413, ())
    table.lock(2)
    assert (hand(table.face, "player").cards, table.face.next_hand, table.face.simulated) == (("4S",), "banker", False)
    table.draw("TH 5D 9C")
    (round_,) = table.of_type("round")
    assert (round_["round"], round_["simulated"], round_["player"]["cards"]) == (1, False, ["4S", "5D"])


def test_the_shoe_agrees_where_the_next_card_goes() -> None:
    table = TableUnderTest().open_shoe()
    table.to(Target.PLAYER, 1, "4S").do(UNSEEN).lock()
    for target, index, card in ((Target.BANKER, 1, "TH"), (Target.PLAYER, 2, "5D"), (Target.BANKER, 2, "9C")):
        table.to(target, index, card)
    table.believe(ShoeResultReported(ShoeResult.TIE, player_pair=False, banker_pair=False))
    assert (table.fault, len(table.of_type("round"))) == (None, 1)


def test_a_card_nobody_saw_may_be_burned() -> None:
    table = TableUnderTest().open_shoe().draw("4S").do(TellOddCard(OddCardFate.BURN, "Smith"))
    assert (table.face.phase, table.face.cards_left, table.table.kept) == ("wagers_open", 413, ())


def test_only_the_first_card_can_be_told_otherwise() -> None:
    assert TableUnderTest().open_shoe().draw("4S TH").ask(UNSEEN) == "no_odd_card"
    assert TableUnderTest().open_shoe().lock().draw("4S").ask(UNSEEN) == "no_odd_card"


def test_a_card_nobody_saw_takes_no_number() -> None:
    assert TableUnderTest().open_shoe().draw("4S").do(UNSEEN).lock().face.round == 1


def test_the_cut_card_seen_behind_an_odd_card_still_counts() -> None:
    table = TableUnderTest().open_shoe().draw("4S CUT").do(TellOddCard(OddCardFate.BURN, "Smith")).lock()
    assert table.face.final_round
    assert table.draw("4S TH 5D 9C").face.phase == "shoe_ended"


def test_an_odd_card_that_had_to_be_named_is_burned_too() -> None:
    table = TableUnderTest().open_shoe().draw("??").name("4S").do(TellOddCard(OddCardFate.BURN, "Smith"))
    assert (table.face.phase, table.face.cards_left, table.table.kept) == ("wagers_open", 413, ())


# A correction.


def test_a_simulated_round_is_corrected_and_wins_nothing() -> None:
    table = TableUnderTest(wagers={2}).open_shoe().draw("4S TH 5D 9C")
    table.do(CorrectRound(1, tuple(cards("KH 9H")), tuple(cards("TH 9C")), "Smith", "Jones"))
    (correction,) = table.of_type("correction")
    assert (correction["outcome"], correction["awards"], correction["awards_before"]) == ("tie", [], [])


def test_a_correction_tells_the_whole_round_anew_and_refers_to_it() -> None:
    table = TableUnderTest().open_shoe().lock(2, 5).draw("KH 4S 9D TC")
    assert tiers(table.of_type("round")[0]) == [(2, "any_royal"), (5, "any_royal")]
    table.do(correction(1, "KH 9H", "4S TC"))
    (event,) = table.of_type("correction")
    assert (event["shoe"], event["round"], event["by"], event["witness"]) == (1, 1, "Smith", "Jones")
    assert (event["player"], event["outcome"], event["natural"]) == (
        {"cards": ["KH", "9H"], "total": 9},
        "player",
        True,
    )
    assert tiers(event) == [(2, "player_personal"), (5, "suited_royal")]
    assert tiers(event, "awards_before") == [(2, "any_royal"), (5, "any_royal")]
    assert [(hit.seat, hit.tier) for hit in table.face.hits] == tiers(event)
    assert len(table.of_type("round")) == 1


def test_a_second_correction_starts_from_the_first() -> None:
    table = TableUnderTest().open_shoe().lock(2).draw("KH 4S 9D TC")
    table.do(correction(1, "KH 9H", "4S TC"), correction(1, "8H 9H", "4S TC"))
    first, second = table.of_type("correction")
    assert tiers(second, "awards_before") == tiers(first) == [(2, "player_personal")]
    assert tiers(second) == []


def test_an_older_round_is_corrected_without_touching_what_is_shown() -> None:
    table = TableUnderTest().open_shoe().lock(2).draw("4S TH 5D 9C").lock(2).draw("4S TH 5D 9C")
    shown = table.face
    table.do(correction(1, "KH 9H", "TH 9C"))
    assert (table.face.hits, table.face.hands) == (shown.hits, shown.hands)
    assert tiers(table.of_type("correction")[0]) == [(2, "player_personal")]


def test_hands_are_judged_as_they_lie_whatever_the_tableau_would_have_drawn() -> None:
    table = TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C")
    table.do(correction(1, "4S 5D 2C", "TH 9C"))
    (event,) = table.of_type("correction")
    assert (event["player"]["total"], event["outcome"], event["natural"], event["margin"]) == (1, "banker", False, 8)


def test_the_composition_follows_a_correction() -> None:
    table = TableUnderTest().open_shoe()
    for _ in range(8):  # all kings of spades of eight decks, but the first of them was misread
        table.lock().draw("KS TH 9D 8C")
    left = table.face.cards_left
    table.do(correction(1, "KC 9D", "TH 8C"))
    assert (table.face.cards_left, table.fault) == (left, None)
    assert table.lock().draw("KS").fault is None
    assert table.draw("TD 9S 7C").lock().draw("KS").fault == "impossible_card"


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        (correction(2, "KH 9H", "4S TC"), "no_such_round"),
        (correction(1, "KH 9H", "4S TC", "Smith", "smith"), "not_two_people"),
        (correction(1, "KH", "4S TC"), "not_a_hand"),
        (correction(1, "KH 9H 2C 3C", "4S TC"), "not_a_hand"),
        (correction(1, "KH 9D", "4S TC"), "nothing_differs"),
    ],
)
def test_a_correction_is_refused(asked: CorrectRound, refused: str) -> None:
    table = TableUnderTest().open_shoe().lock().draw("KH 4S 9D TC")
    assert table.ask(asked) == refused
    assert table.of_type("correction") == []


def test_a_card_of_which_no_more_can_be_corrects_nothing() -> None:
    table = TableUnderTest().open_shoe()
    for _ in range(8):
        table.lock().draw("KS TH 9D 8C")
    assert table.ask(correction(1, "KS 9D", "KS 8C")) == "card_cannot_be"


# An early end, and a lamp test.


def test_a_shoe_closed_early_says_so_and_waits_for_the_next() -> None:
    table = TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C").do(CloseShoe("Smith"))
    (closed,) = table.of_type("shoe_closed")
    assert (closed["reason"], closed["by"], closed["rounds"]) == ("closed_early", "Smith", 1)
    assert table.face.phase == "shoe_ended"
    assert table.do(NewShoe()).face.shoe == 2


def test_a_lamp_test_is_journalled_and_changes_nothing() -> None:
    table = TableUnderTest().open_shoe()
    before, rows = table.table, len(table.rows)
    table.do(LampTest("Smith"))
    assert (table.table, len(table.rows)) == (before, rows + 1)


def test_all_of_it_is_made_again_from_the_journal() -> None:
    table = TableUnderTest().open_shoe().draw("4S").do(UNSEEN).lock(2).draw("TH 5D 9C")
    table.do(correction(1, "KH 9H", "TH 9C"), LampTest("Smith"), CloseShoe("Smith"))
    assert table.replayed() == (table.table, None)


def test_a_shoe_is_inspected_before_its_use_under_a_name_and_is_told_to_the_pit() -> None:
    """When a supervisor inspects a shoe, the table sends an event with the serial number, the firmware's version and
    the supervisor's name, because New Jersey 69E-1.19 requires a record of it. The table refuses an inspection once
    wagers are locked."""
    table = TableUnderTest().do(InspectShoe("AE-22314", "4.17", "Smith"))
    (event,) = table.told()
    assert (event["type"], event["shoe"]) == ("shoe_inspected", None)
    assert (event["serial"], event["firmware"], event["by"]) == ("AE-22314", "4.17", "Smith")
    table.open_shoe().lock()
    assert table.ask(InspectShoe("AE-22314", "4.17", "Smith")) == "already_locked"


def test_a_plate_of_a_shoe_may_have_forty_letters() -> None:
    (form,) = INSPECT_SHOE.forms
    assert form.arguments[0].read("x" * 40) == "x" * 40


@pytest.mark.parametrize("plate", ["", "x" * 41, "a\nb", 7, None])
def test_what_no_plate_of_a_shoe_says_is_refused(plate: object) -> None:
    (form,) = INSPECT_SHOE.forms
    with pytest.raises(BadArgumentError):
        form.arguments[0].read(plate)
