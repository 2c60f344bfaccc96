"""A word on a card drawn in error, a correction by two people, a shoe closed early, a lamp test."""

from __future__ import annotations

import pytest

from controller.game.cards import Card
from controller.table.facts import CardDrawn, OddCardFate, ShoeError, ShoeErrorRaised, Target
from controller.table.requests import CloseShoe, CorrectRound, LampTest, Request, TellOddCard
from tests.support.tables import TableUnderTest, cards, house

ERROR = ShoeErrorRaised(ShoeError.CANNOT_READ)
BURN, NEXT_CARD = (TellOddCard(fate, "Smith") for fate in (OddCardFate.BURN, OddCardFate.NEXT_CARD))


def between() -> TableUnderTest:
    return TableUnderTest().open_shoe()


def correct(number: int, player: str, banker: str, *, by: str = "Smith", witness: str = "Jones") -> Request:
    return CorrectRound(number, tuple(cards(player)), tuple(cards(banker)), by, witness)


# A card drawn in error that nobody saw.


def test_an_odd_card_that_is_burned_is_gone_and_began_no_hand() -> None:
    table = between().draw("4S")
    assert (table.face.odd_card, table.face.simulated) == (True, True)
    table.told()
    table.do(BURN)
    assert (table.face.phase, table.face.odd_card, table.face.simulated) == ("wagers_open", False, False)
    assert (table.face.cards_left, table.told()) == (413, [])
    assert table.lock(2).face.round == 1


def test_an_odd_card_that_is_the_next_card_is_the_next_hands_first() -> None:
    table = between().draw("KH").do(NEXT_CARD)
    assert (table.face.phase, table.face.player) == ("wagers_open", None), "nobody has seen it"
    table.lock(2)
    assert table.face.player is not None
    assert (table.face.player.cards, table.face.odd_card) == (("KH",), False)
    table.to(Target.BANKER, 1, "2S").draw("9H 3D")
    (round_,) = table.of_type("round")
    assert (round_["round"], round_["simulated"], round_["cards_left"]) == (1, False, 410)
    assert [hit["tier"] for hit in table.of_type("hit")] == ["player_personal"]


@pytest.mark.parametrize(
    ("table", "refusal"),
    [
        (between(), "no_odd_card"),
        (between().draw("4S TH"), "no_odd_card"),
        (between().lock().draw("4S"), "no_odd_card"),
        (between().draw("4S").believe(ERROR), "fault_stands"),
        (between().believe(CardDrawn(None)).name("4S").draw("TH"), "no_odd_card"),
    ],
)
def test_only_a_simulated_hands_first_card_can_be_told_otherwise(table: TableUnderTest, refusal: str) -> None:
    assert table.ask(BURN) == refusal
    assert table.ask(NEXT_CARD) == refusal


def test_the_cutting_card_seen_behind_an_odd_card_still_counts() -> None:
    table = between().draw("4S CUT").do(BURN).lock()
    assert table.face.last_hand
    assert table.draw("4S TH 5D 9C").face.phase == "shoe_ended"


# A correction.


def test_a_correction_amends_the_round_and_what_it_won_by_reference() -> None:
    table = between().lock(1, 2).draw("KH 2S 9H 3D")  # in truth Player had K♠ 9♠, which is seat 1's
    table.told()
    table.do(correct(1, "KS 9S", "2S 3D"))
    (correction,) = table.told()
    assert (correction["shoe"], correction["round"]) == (1, 1)
    assert (correction["by"], correction["witness"]) == ("Smith", "Jones")
    assert (correction["player"], correction["outcome"]) == ({"cards": ["KS", "9S"], "total": 9}, "player")
    assert correction["royal9"] == [
        {"seat": 1, "tier": "player_personal"},
        {"seat": 2, "tier": "suited_royal"},
    ]
    assert correction["royal9_before"] == [
        {"seat": 2, "tier": "player_personal"},
        {"seat": 1, "tier": "suited_royal"},
    ]
    assert [(hit.seat, hit.tier) for hit in table.face.hits] == [(1, "player_personal"), (2, "suited_royal")]
    assert table.face.player is not None
    assert table.face.player.cards == ("KS", "9S")
    assert len(table.of_type("round")) == 1, "the round stands as it was told"


def test_a_second_correction_amends_the_first() -> None:
    table = between().lock(2).draw("KH 2S 9H 3D").do(correct(1, "KD 9D", "2S 3D"), correct(1, "4S 2H", "2S 3D"))
    corrections = table.of_type("correction")
    assert [won["tier"] for won in corrections[1]["royal9_before"]] == ["suited_royal"]
    assert corrections[1]["royal9"] == []
    assert table.face.hits == ()


def test_the_cards_on_the_felt_are_judged_as_they_lie() -> None:
    """A third card that the rules would not have drawn lay there all the same; and then nothing is a natural."""
    table = between().lock().draw("4S TH 5D 9C").do(correct(1, "4S 5D 2H", "TH 9C"))
    (correction,) = table.of_type("correction")
    assert (correction["outcome"], correction["margin"], correction["natural"]) == ("banker", 8, False)
    assert table.face.cards_left == 409, "it has left the shoe as well"


def test_a_correction_puts_right_what_can_still_come() -> None:
    table = TableUnderTest(house(decks=1)).open_shoe("AS 2D").lock().draw("4S TH 5D 9C")
    table.do(correct(1, "4S 5D", "TH 9H")).lock().draw("9C")
    assert table.fault is None, "it had not been dealt after all"
    assert table.draw("9H").fault == "impossible_card"


def test_an_earlier_round_is_corrected_and_the_one_shown_stays() -> None:
    table = between().lock(2).draw("KH 2S 9H 3D").lock(4).draw("4S TH 5D 9C").do(correct(1, "2H 2S", "9H 3D"))
    assert (table.face.outcome, table.face.round, table.face.hits) == ("tie", 2, ())


def test_a_simulated_round_is_corrected_without_hits() -> None:
    table = between()
    table.wagers = {2}
    table.draw("4S TH 5D 9C").do(correct(1, "KH 9H", "TH 9C"))
    (correction,) = table.of_type("correction")
    assert (correction["royal9"], correction["royal9_before"]) == ([], [])


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (correct(2, "4S 6D", "TH 9C"), "no_such_round"),
        (correct(0, "4S 6D", "TH 9C"), "no_such_round"),
        (correct(1, "4S 6D", "TH 9C", witness="Smith"), "not_two_people"),
        (correct(1, "4S 6D", "TH 9C", witness="SMITH"), "not_two_people"),
        (correct(1, "4S", "TH 9C"), "not_a_hand"),
        (correct(1, "4S 6D", "TH 9C 2H 2S"), "not_a_hand"),
        (correct(1, "4S 5D", "TH 9C"), "nothing_differs"),
        (correct(1, "4S 5D", "TH 2D"), "card_cannot_be"),
    ],
)
def test_a_correction_that_is_refused_changes_nothing(request_: Request, refusal: str) -> None:
    for cut in ("", "CUT "):  # between hands, and after the last
        table = TableUnderTest(house(decks=1)).open_shoe("AS 2D").lock().draw(f"{cut}4S TH 5D 9C")
        before = table.table
        assert (table.ask(request_), table.table) == (refusal, before)


def test_a_round_of_a_shoe_before_and_one_that_is_void_are_corrected_no_more() -> None:
    table = between().lock().draw("CUT 4S TH 5D 9C").open_shoe().lock().draw("4S").void()
    assert table.ask(correct(1, "4S 6D", "TH 9C")) == "no_such_round"


def test_no_correction_while_a_fault_stands() -> None:
    table = between().lock().draw("4S TH 5D 9C").believe(ERROR)
    assert table.ask(correct(1, "4S 6D", "TH 9C")) == "fault_stands"


# A shoe closed early, and a lamp test.


def test_a_shoe_is_closed_with_no_new_one_to_follow_yet() -> None:
    table = between().lock().draw("4S TH 5D 9C").do(CloseShoe("Smith"))
    (closed,) = table.of_type("shoe_closed")
    assert (closed["reason"], closed["by"], closed["cards_left"]) == ("closed_early", "Smith", 410)
    assert table.face.phase == "shoe_ended"
    assert table.open_shoe().face.shoe == 2
    assert between().believe(ERROR).ask(CloseShoe("Smith")) == "fault_stands"


def test_a_lamp_test_is_journalled_and_changes_nothing() -> None:
    table = between()
    before, rows = table.table, len(table.rows)
    table.do(LampTest("Smith"))
    assert (table.table, len(table.rows)) == (before, rows + 1)
    assert table.believe(ERROR).ask(LampTest("Smith")) == "fault_stands"


def test_an_odd_card_can_be_burned_by_name() -> None:
    table = between().believe(CardDrawn(None)).name("4S").do(BURN)
    assert (table.face.phase, table.face.cards_left) == ("wagers_open", 413)
    assert list(map(str, table.table.kept)) == []
    assert str(Card.parse("4S")) not in str(table.face)
