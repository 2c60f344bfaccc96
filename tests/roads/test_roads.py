"""Compares the product's baccarat roads (score boards) with two other implementations, and checks how they are drawn.

Public implementations often have one of two bugs. One bug gives a wrong mark if a run of wins goes straight down beside
a shorter run. The other compares the columns as they are drawn, although a long run turns to the right in the drawing.
"""

from __future__ import annotations

import random

import pytest

from controller.rules.roads.layout import ROWS, Grid
from controller.rules.roads.marks import DERIVED, Roads, Round
from controller.rules.roads.text import roads_text, rounds_from
from tests.roads.statements import by_columns, by_lookback, drawn
from tests.support.samples import at_length

SHOES = 3000 if at_length else 60


def roads_of(letters: str) -> Roads:
    return Roads(rounds_from(letters))


def derived(roads: Roads, name: str) -> str:
    return "".join(mark.color[0].upper() for mark in roads.derived[name].marks)


def a_shoe(seed: int) -> str:
    """Return the results of a random shoe of sixty to ninety rounds, as letters B, P and T. A shoe whose seed is a
    multiple of three has long runs. A shoe whose seed is a multiple of five has hardly a tie."""
    chance = random.Random(seed)
    shoe, last = "", "B"
    for _ in range(chance.randint(60, 90)):
        if chance.random() < (0.02 if seed % 5 == 0 else 0.095):
            shoe += "T"
        elif seed % 3 == 0 and chance.random() < 0.75:
            shoe += last
        else:
            last = chance.choice("BP")
            shoe += last
    return shoe


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_road_is_what_both_statements_say(name: str) -> None:
    for seed in range(SHOES):
        shoe = a_shoe(seed)
        said = by_columns(shoe, DERIVED[name])
        assert said == by_lookback(shoe, DERIVED[name]), shoe
        assert derived(roads_of(shoe), name) == said, shoe


@pytest.mark.parametrize(
    ("letters", "marks"),
    [
        ("BBPPPBPBB", ("RBBBRB", "BBB", "BR")),
        ("BPPPB", ("BRB", "", "")),  # straight down: the third P is red again
    ],
)
def test_the_known_vectors(letters: str, marks: tuple[str, str, str]) -> None:
    assert tuple(derived(roads_of(letters), name) for name in DERIVED) == marks


def test_a_mark_once_made_stands_and_the_roads_grow_as_if_drawn_anew() -> None:
    for seed in range(0, SHOES, 20):
        shoe, roads = a_shoe(seed), Roads()
        for played, finished in enumerate(rounds_from(shoe), 1):
            roads.add(finished)
            for name, reach in DERIVED.items():
                assert derived(roads, name) == by_columns(shoe[:played], reach)
            assert drawn([circle.winner or "" for circle in roads.circles]) == [each.place for each in roads.circles]


def test_an_ask_mark_is_the_mark_that_then_comes() -> None:
    for seed in range(0, SHOES, 20):
        shoe = a_shoe(seed)
        for played in range(len(shoe)):
            roads = roads_of(shoe[:played])
            for asked, letter in ((roads.ask("banker"), "B"), (roads.ask("player"), "P")):
                after = roads_of(shoe[:played] + letter)
                for name in DERIVED:
                    more = derived(after, name)[len(derived(roads, name)) :]
                    assert more == (asked[name] or " ")[0].upper().strip()


# How they are drawn.


def test_dragon_tails_lie_as_on_the_drawn_example() -> None:
    roads = roads_of("P" * 9 + "B" + "P" + "B" * 7 + "P" * 7)
    picture = [[" "] * 8 for _ in range(ROWS)]
    for circle in roads.circles:
        column, row = circle.place
        picture[row][column] = (circle.winner or "-")[0].upper()
    assert ["".join(row).rstrip() for row in picture] == [
        "PBPBP",
        "P  BP",
        "P  BP",
        "P  BPPPP",
        "P  BBB",
        "PPPP",
    ]


def test_a_tail_in_the_top_row_moves_the_next_head_on() -> None:
    grid = Grid()
    places = []
    for length in (8, 7, 6, 5, 4, 4, 2):
        places += [grid.put(first == 0) for first in range(length)]
    assert places == drawn(list("a" * 8 + "b" * 7 + "c" * 6 + "d" * 5 + "e" * 4 + "f" * 4 + "g" * 2))
    assert places[-1][0] > places[-3][0], "the last run starts right of the tail"
    assert len(set(places)) == len(places)


def test_ties_take_no_place_on_the_big_road_and_wait_for_the_first_decision() -> None:
    waiting = roads_of("TT")
    assert [(each.place, each.winner, each.ties) for each in waiting.circles] == [((0, 0), None, 2)]
    roads = roads_of("TTBTBPTT")
    assert [(each.place, each.winner, each.ties) for each in roads.circles] == [
        ((0, 0), "banker", 3),
        ((0, 1), "banker", 0),
        ((1, 0), "player", 2),
    ]


def test_the_bead_plate_has_every_round_six_to_a_column() -> None:
    rounds = [Round("tie", player_pair=True), *rounds_from("BBPPTB")]
    beads = Roads(rounds).beads
    assert [bead.place for bead in beads] == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 0)]
    assert [bead.round for bead in beads] == rounds


def test_the_roads_as_text() -> None:
    assert roads_text(roads_of("TBBPPPTBPBB")).splitlines() == [
        "Bead plate",
        "  T T",
        "  B B",
        "  B P",
        "  P B",
        "  P B",
        "  P",
        "",
        "Big road (a number counts the ties after a round)",
        "  B1 P  B  P  B",
        "  B  P        B",
        "     P1",
        "",
        "Big eye boy (R red, B blue)",
        "  R B R B",
        "    B",
        "    B",
        "",
        "Small road (R red, B blue)",
        "  B",
        "  B",
        "  B",
        "",
        "Cockroach pig (R red, B blue)",
        "  B R",
        "",
        "Ask marks: what the next round would bring",
        "  banker  big eye boy red, small road red, cockroach pig red",
        "  player  big eye boy blue, small road blue, cockroach pig blue",
    ]
    assert "nothing yet" in roads_text(roads_of(""))
