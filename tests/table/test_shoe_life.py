"""Checks of the cut card's place in a shoe (14 cards from the end, by rule sheet 000), and of the alarm if it comes at
another place."""

from __future__ import annotations

import pytest

from controller.rules.game.cards import DECK
from controller.table.acts.shoe import NewShoe
from controller.table.facts import ShoeError, ShoeErrorRaised
from controller.table.rules import TableRules
from tests.support.five_games import Watched
from tests.support.tables import MIDI, TableUnderTest, house

OTHERS = [str(card) for card in DECK if str(card) not in ["AS", "2D"]]


def with_left(cards: int, tolerance: int) -> TableUnderTest:
    """Return a table with one deck and `cards` cards left. The cut card may come up to `tolerance` cards from its place
    without an alarm. All cards that are not left went out of play in a void round."""
    table = TableUnderTest(house(decks=1, cut_card_tolerance=tolerance)).open_shoe("AS 2D").lock()
    table.believe(ShoeErrorRaised(ShoeError.CANNOT_READ)).draw(" ".join(OTHERS[cards:])).void()
    assert (table.face.phase, table.face.cards_left) == ("wagers_open", cards)
    table.told()
    return table


@pytest.mark.parametrize(("tolerance", "silent"), [(0, {14}), (3, {11, 12, 13, 14, 15, 16, 17})])
def test_far_from_its_place_an_alarm_says_how_many_cards_were_left(tolerance: int, silent: set[int]) -> None:
    for left in range(6, 30):
        table = with_left(left, tolerance).draw("CUT")
        alarms = [(event["code"], event["details"]) for event in table.told()]
        told = ("cut_card_misplaced", {"cards_left": left, "cut_card_from_end": 14})
        assert alarms == ([] if left in silent else [told])
        assert table.face.final_round, "it is believed wherever it comes"
        assert table.draw("4S").face.left_at_cut_card == left, "and the place is told to the shoe's end"


def test_ten_cards_more_or_less_are_no_alarm_unless_the_house_says_otherwise() -> None:
    tolerance = house().shoe.cut_card_tolerance
    alarms = [left for left in range(6, 30) if with_left(left, tolerance).draw("CUT").told()]
    assert alarms == [25, 26, 27, 28, 29]


def test_cards_that_wait_for_a_reveal_have_left_the_shoe_too() -> None:
    table = Watched(MIDI).open_shoe("2D 3H 4C").lock().draw("4S TH 5D 2C 3S 4H CUT")
    (alarm,) = table.of_type("alarm")
    assert alarm["details"]["cards_left"] == 8 * 52 - 3 - 6
    assert table.face.left_at_cut_card == 8 * 52 - 3 - 6


@pytest.mark.parametrize(("counts_first", "put_away"), [(False, 1), (True, 0)])
def test_what_was_burned_is_told_by_count(counts_first: bool, put_away: int) -> None:
    """The public state says how many cards were burned. By rule sheet 000 the first card counts 1 to 10, and that
    number of further cards is burned."""
    for worth, first in enumerate("A23456789TJQK", start=1):
        table = TableUnderTest(house(burn_counts_first_card=counts_first)).open_shoe(f"{first}S")
        assert table.face.left_at_cut_card is None
        for burned in range(1, min(worth, 10) + put_away):
            assert (table.face.phase, table.face.burned) == ("burning", burned)
            table.draw(OTHERS[burned])
        assert (table.face.phase, table.face.burned) == ("wagers_open", min(worth, 10) + put_away)
        assert table.lock().draw("4S TH 5D 9C").face.burned == min(worth, 10) + put_away
        assert table.do(NewShoe("Smith")).face.burned == 0


@pytest.mark.parametrize(("counts", "hands_after"), [(True, 1), (False, 2)])
def test_a_hand_voided_after_the_cut_card_counts_unless_the_house_deals_another(counts: bool, hands_after: int) -> None:
    """If a round becomes void after the cut card came, the round counts as one of the shoe's last rounds, unless the
    house's rules let another round be dealt in its place. By rule sheet 000 the round in which the cut card comes is
    finished, and one more is dealt."""
    table = TableUnderTest(house(voided_hand_counts=counts)).open_shoe("AS 2D").lock().draw("4S CUT TH").void()
    for _ in range(hands_after):
        assert table.face.phase == "wagers_open"
        table.lock().draw("4S TH 5D 9C")
    assert table.face.phase == "shoe_ended"
    assert table.replayed() == (table.table, None)


@pytest.mark.parametrize(("rules", "dealt"), [(house(), 1), (house(hands_after_cut_card_first=2), 2)])
@pytest.mark.parametrize("before", ["CUT", "4S CUT TH 5D 9C"], ids=["between hands", "in a simulated hand"])
def test_after_a_cut_card_outside_of_a_wagered_round_so_many_are_dealt(
    rules: TableRules, dealt: int, before: str
) -> None:
    """If the cut card comes while no round with wagers is dealt, the number of rounds that follow is set by the house's
    rules. By rule sheet 000, if the cut card comes in place of a round's first card, that round is the last."""
    table = TableUnderTest(rules).open_shoe("AS 2D").draw(before)
    for left in range(dealt, 0, -1):
        assert (table.face.phase, table.face.final_round) == ("wagers_open", left == 1)
        table.lock().draw("4S TH 5D 9C")
    assert table.face.phase == "shoe_ended"


def test_a_voided_simulated_hand_is_none_of_those_counted() -> None:
    table = TableUnderTest(house(voided_hand_counts=False)).open_shoe("AS 2D").draw("CUT 4S TH").void()
    table.lock().draw("4S TH 5D 9C")
    assert table.face.phase == "shoe_ended"
