"""Checks a table with a shoe whose reports have no numbers. If the shoe was unheard while a card was due, a person must
look at the cards on the felt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.rules.game.cards import Card
from controller.table.acts.shoe import NewShoe
from controller.table.facts import CardDrawn, Report, ShoeUnplugged
from tests.support.tables import TableUnderTest, hand

PHASES: dict[str, Callable[[], TableUnderTest]] = {
    "no_shoe": TableUnderTest,
    "first_card_due": lambda: TableUnderTest().do(NewShoe()),
    "burning": lambda: TableUnderTest().do(NewShoe()).draw("AS"),
    "wagers_open": lambda: TableUnderTest().open_shoe(),
    "wagers_locked": lambda: TableUnderTest().open_shoe().lock(),
    "round_in_play": lambda: TableUnderTest().open_shoe().lock().draw("KH"),
    "shoe_ended": lambda: TableUnderTest().open_shoe().draw("CUT").lock().draw("KH KS 9H 8S"),
}
CARD_DUE = {"first_card_due", "burning", "wagers_locked", "round_in_play"}


def unnumbered(card: str) -> CardDrawn:
    return CardDrawn(Card.parse(card), report=Report(None, "2a"))


# The table.


@pytest.mark.parametrize("phase", PHASES)
def test_the_table_stops_wherever_a_card_may_have_come_unseen(phase: str) -> None:
    table = PHASES[phase]()
    assert table.face.phase == phase
    table.believe(ShoeUnplugged())
    assert table.fault == ("shoe_unplugged" if phase in CARD_DUE else None)
    if table.fault:
        assert table.exits == {"card", "clear", "void" if table.face.round else "new_shoe"}


def test_what_is_missed_before_the_first_card_is_named_as_the_first_card() -> None:
    table = PHASES["first_card_due"]().believe(ShoeUnplugged()).name("2C").clear()
    assert (table.face.first_card, table.face.burn_left) == ("2C", 2)


def test_what_is_missed_at_lock_is_named_as_the_hands_first() -> None:
    table = PHASES["wagers_locked"]().believe(ShoeUnplugged()).name("9H").clear().draw("KS TD 8S")
    assert table.of_type("round")[-1]["player"]["cards"] == ["9H", "TD"]


def test_equal_reports_without_numbers_are_cards_and_no_gap() -> None:
    table = TableUnderTest().do(NewShoe()).believe(unnumbered("AS"), unnumbered("2D")).lock()
    table.believe(*[unnumbered("4S")] * 4)
    assert table.fault is None
    assert table.of_type("round")[-1]["cards_left"] == 416 - 6


@pytest.mark.parametrize(("first", "second"), [(None, 5), (5, None)])
def test_another_shoe_in_its_place_is_no_gap(first: int | None, second: int | None) -> None:
    reports = [Report(first, "2a"), Report(second, "05")]
    table = TableUnderTest().do(NewShoe())
    table.believe(
        *(CardDrawn(Card.parse(card), report=report) for card, report in zip(("AS", "2D"), reports, strict=True))
    )
    assert table.fault is None


def test_out_of_hearing_again_with_nothing_heard_in_between_needs_one_look() -> None:
    table = PHASES["round_in_play"]().believe(ShoeUnplugged(), ShoeUnplugged(), ShoeUnplugged())
    assert table.clear().fault is None


def test_out_of_hearing_again_after_a_card_needs_another_look() -> None:
    table = PHASES["round_in_play"]().believe(ShoeUnplugged(), unnumbered("KS"), ShoeUnplugged(), ShoeUnplugged())
    assert table.clear().fault == "shoe_unplugged"
    assert hand(table.face, "banker").cards == ("KS",)
    assert table.clear().fault is None


def test_behind_another_fault_it_waits_its_turn_once() -> None:
    table = PHASES["round_in_play"]().draw("??").believe(ShoeUnplugged(), ShoeUnplugged())
    assert table.fault == "unreadable_card"
    assert table.name("KS").fault == "shoe_unplugged"
    assert table.clear().fault is None
