"""Checks the statistics on the technician's page: corrected rounds, stops, and the test for unfair shoes, which must
give no false alarm."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from controller.contract.events import Alarm, Award
from controller.people.screen.figures import ONCE_IN_SHOES, RANKS, FairShoe, past_view, rounds_of
from controller.people.screen.technicians import rounds_csv
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.shoe import NewShoe
from tests.support import samples
from tests.support.tables import LUCKY9, ROYAL9, TableUnderTest, cards


def a_shoe(rng: random.Random, decks: int = 8) -> list[str]:
    """Return the cards of a fair shoe that the table sees. It does not see the first twelve, which are burned, and the
    last sixty, which stay behind the cut card."""
    shoe = [rank + suit for rank in RANKS for suit in "SHDC"] * decks
    rng.shuffle(shoe)
    return shoe[12:-60]


def test_a_round_stands_as_corrected_and_a_void_one_as_void() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D").lock().draw("8H").void()
    table.do(CorrectRound(1, tuple(cards("9H 9S")), tuple(cards("2C 5D")), "Smith", "Jones"))
    first, second = rounds_of(table.events)
    assert (first.outcome, first.cards) == ("player", "player 9H 9S = 8; banker 2C 5D = 7")
    assert "corrected" in first.marks
    assert (second.outcome, second.cards) == ("void", "player 8H")
    assert rounds_csv([first, second]).splitlines() == [
        "shoe,round,at,outcome,marks,cards,left",
        f"1,1,{first.at},player,natural corrected,player 9H 9S = 8; banker 2C 5D = 7,409",
        f"1,2,{second.at},void,,player 8H,",
    ]


def test_stops_misreads_and_the_shoe_are_counted_from_the_events() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H ??")
    table.name("2C").draw("KS 5D")
    view = past_view(table.events)
    (stop,) = view["stops"]
    assert (stop["code"], stop["times"], stop["minutes"]) == ("unreadable_card", 1, 0.0)
    assert view["rates"] == {"rounds": 1, "misreads": 1000.0, "corrections": 0.0, "stops": 1000.0}
    assert view["head"]["chain"] == table.events[-1]["chain"]


def test_each_shoe_is_told_with_its_rounds_and_its_end() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D").lock().draw("8H").void()
    table.lock().draw("2C 9H KS KD").draw("8H 2C KS 5D").lock().draw("9H KH KS 9D")  # Banker, a simulated hand, a tie
    table.do(NewShoe("Smith")).draw("AS 2D").lock().draw("9H 2C KS 5D")
    second, first = past_view(table.events)["shoes"]
    opened = [event["at"] for event in table.of_type("shoe_opened")]
    assert first == {
        "shoe": 1, "at": opened[0], "rounds": 3, "player": 1, "banker": 1, "tie": 1,
        "left": 416 - 3 - 4 - 1 - 4 - 4 - 4, "closed": "closed early",
    }  # fmt: skip
    assert (second["shoe"], second["rounds"], second["player"], second["closed"]) == (2, 1, 1, None)


def test_a_shown_progressive_stands_beside_what_the_pit_awarded() -> None:
    table = (
        TableUnderTest(ROYAL9, levels={"banker_personal": 1_000_160}).open_shoe("2H 3H 4H").lock(4).draw("6D KC 5C 9C")
    )
    (hit,) = past_view(table.events)["awards"]
    assert (hit["seat"], hit["tier"], hit["here_cents"], hit["pit_cents"]) == (4, "banker_personal", 1_000_160, None)
    of_hit = next(event["id"] for event in table.events if event["type"] == "hit")
    award = Award(1, 1, "t.1", of_hit, "royal9", 4, "banker_personal", "banker_personal", 999, "verified", "Ann")
    more = [*table.events, table.events[-1] | award.body()]
    told = past_view(more)["awards"][0]
    assert (told["pit_cents"], told["says"]) == (999, "verified: waits to be paid")
    impossible = Alarm(1, 1, "award_impossible", {"hit": of_hit, "cents": 5_000_000})
    (told,) = past_view([*more, table.events[-1] | impossible.body()])["awards"]
    assert (told["pit_cents"], told["step"]) == (5_000_000, "disputed")


def test_lucky_9_has_its_figures_too() -> None:
    table = TableUnderTest(LUCKY9)
    assert past_view(table.events)["rounds"] == []
    assert json.dumps(past_view(table.events))


# The cards against a fair shoe.


def test_the_chance_of_a_rank_is_that_of_a_shoe_some_of_whose_cards_were_burned() -> None:
    """If cards were burned and nobody saw them, the chance that a certain rank comes next stays the same. The test
    counts every order of a deck of five cards."""
    deck = "AAKKK"
    for seen in ("A", "K", "AK", "KK"):
        orders = [order for order in permutations(deck) if "".join(order[1 : 1 + len(seen)]) == seen]
        for rank in "AK":
            counted = Fraction(sum(order[1 + len(seen)] == rank for order in orders), len(orders))
            left = deck.count(rank) - seen.count(rank)
            assert counted == Fraction(left, len(deck) - len(seen))


def test_a_bet_against_a_fair_shoe_expects_no_gain() -> None:
    test, rng = FairShoe(), random.Random(1)
    test.shoe(8, a_shoe(rng))
    for _ in range(50):
        chances = {rank: rng.random() for rank in RANKS}
        whole = sum(chances.values())
        chances = {rank: share / whole for rank, share in chances.items()}
        guess = test.guess(chances)
        assert math.isclose(sum(chances[rank] * (guess[rank] / chances[rank]) for rank in RANKS), 1)


def test_fair_shoes_are_not_accused() -> None:
    """The test for unfair shoes rarely suspects fair ones. Card by card it computes a product, which grows with the
    evidence against the shoes. Of the fair tables with three shoes each, at most one in twenty ever reaches a product
    of 20, as the theorem says."""
    rng = random.Random(7)
    came = []
    tables = 60 if samples.at_length else 20
    for _ in range(tables):
        test = FairShoe()
        for _ in range(3):
            test.shoe(8, a_shoe(rng))
        came.append(test.most)
    assert sum(most >= math.log(20) for most in came) <= tables / 20
    assert not any(most >= math.log(ONCE_IN_SHOES) for most in came)


@pytest.mark.parametrize("rank", ["9", "K"])
def test_a_shoe_that_reads_one_rank_as_another_is_found_in_five_hundred_hands(rank: str) -> None:
    """The test for unfair shoes suspects seven shoes in which a fifth of the 4s are read as another rank. It does not
    suspect seven fair shoes."""
    rng = random.Random(3)
    test = FairShoe()
    for _ in range(7):
        test.shoe(8, [rank + card[1] if card[0] == "4" and rng.random() < 0.2 else card for card in a_shoe(rng)])
    assert test.unfair
    assert not _fair(rng).unfair


def _fair(rng: random.Random) -> FairShoe:
    test = FairShoe()
    for _ in range(7):
        test.shoe(8, a_shoe(rng))
    return test


def test_a_shoe_with_more_cards_of_a_rank_than_it_holds_is_left_to_the_table() -> None:
    test = FairShoe()
    test.shoe(1, ["9S"] * 6)
    assert test.dealt["9"] == 4


def test_the_figures_are_json() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D")
    view: dict[str, Any] = past_view(table.events)
    assert json.loads(json.dumps(view)) == view
