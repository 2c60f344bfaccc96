"""Checks of the result that the public state shows for each seat after a round: whether the seat won or lost, if all
its wagers are added up."""

from __future__ import annotations

import pytest

from controller.rules.game.seating import Actives
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.seats import ChooseActives
from tests.support.five_games import KANSAS_STAR, ROYAL9_SEEN_TWICE, call, seats, wagers
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, SUGARHOUSE, TableUnderTest, cards


def locked(table: TableUnderTest, bets: str) -> TableUnderTest:
    return table.open_shoe("2D 3H 4C").do(*wagers(bets)).lock()


def results_of(table: TableUnderTest) -> dict[str, str]:
    """Return a dictionary that maps each seat to the result of all its wagers together, such as "won"."""
    return {seat: told.result for seat, told in table.face.settled.items()}


@pytest.mark.parametrize(
    ("dealt", "results"),
    [
        ("9H 2C KS 5D", {"1": "won", "3": "lost", "5": "lost", "7": "won"}),  # Player
        ("2C 9H 5D KS", {"1": "lost", "3": "won", "5": "lost", "7": "lost"}),  # Banker
        ("9H KS KS 9D", {"1": "even", "3": "won", "5": "won", "7": "won"}),  # tie: 7 has $20 back, and $40 from its tie
    ],
)
def test_a_seats_wagers_are_taken_together(dealt: str, results: dict[str, str]) -> None:
    table = locked(
        TableUnderTest(SUGARHOUSE), "1 player 2000, 3 banker 2000, 3 tie 500, 5 tie 2500, 7 player 2000, 7 tie 500"
    )
    table.draw(dealt.rpartition(" ")[0])
    assert table.face.settled == {}, "nothing before the round is over"
    table.draw(dealt.rpartition(" ")[2])
    assert results_of(table) == results
    assert table.lock().face.settled == {}, "the next round begins"


def test_a_back_bettors_money_is_not_the_seats() -> None:
    table = locked(TableUnderTest(KANSAS_STAR), "3 banker 2000, 3b tie 5000").draw("9H KS KS 9D")
    assert results_of(table) == {"3": "even"}


def test_a_progressive_is_won_whatever_it_pays() -> None:
    table = TableUnderTest(ROYAL9_SEEN_TWICE, wagers={4}, levels={"player_personal": 1_000_000})
    table.open_shoe("2D 3H 4C").do(*wagers("4 banker 2000, 4 royal9 500")).lock(4).draw("KC 2C 9C 5D")
    assert results_of(table) == {"4": "won"}


def test_a_correction_changes_who_won() -> None:
    table = locked(TableUnderTest(SUGARHOUSE), "1 player 2000").draw("9H 2C KS 5D")
    table.do(CorrectRound(1, tuple(cards("9H KS")), tuple(cards("9C KH")), "Smith", "Jones"))
    assert results_of(table) == {"1": "even"}


def test_a_void_round_and_a_simulated_hand_have_no_results() -> None:
    assert locked(TableUnderTest(SUGARHOUSE), "1 player 2000").draw("9H").void().face.settled == {}
    table = locked(TableUnderTest(SUGARHOUSE), "1 player 2000").draw("9H 2C KS 5D").draw("8H 2C KS 5D")
    assert table.face.simulated
    assert table.face.settled == {}


def test_at_baccarat_royal_gamblers_have_results_beside_the_active_seats() -> None:
    table = TableUnderTest(BACCARAT_ROYAL).open_shoe("2D 3H 4C")
    table.do(seats(1, 2, 4), ChooseActives(Actives(player=1, banker=2), "Smith"))
    table.do(*wagers("1 stake 2000, 2 stake 2000, 4 banker 1500")).lock()
    table.draw("KS 9S 5D 2C")
    while table.face.reveal:
        table.do(call("reveal"))
    assert table.face.outcome == "banker"
    assert results_of(table) == {"1": "lost", "2": "won", "4": "won"}


def test_the_hands_of_a_split_seat_are_taken_together() -> None:
    """The two hands of a split seat count together. Here the dealer has 8, and seat 2 splits fours, wins with 9 and
    loses with 6, so it is even. Seat 5 has 8, like the dealer."""
    table = locked(TableUnderTest(LUCKY9), "2 hand 1000, 5 hand 1000").draw("4S 3S KD 4C 5C 8D")
    table.do(call("split")).draw("5D 2H").do(call("stand"), call("reveal"))
    assert results_of(table) == {"2": "even", "5": "even"}
