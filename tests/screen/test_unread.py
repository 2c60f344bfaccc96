"""Checks how the players' page shows a card that could not be read and therefore stopped the table. The page shows the
card in the hand to which the card belongs, if that place gives no secret away."""

from __future__ import annotations

import pytest

from controller.daemon.config import load
from tests.documents.gallery import HOUSES, dealt, go_on, lock
from tests.screen.posing import parts
from tests.support.tables import MIDI, TABLES, TableUnderTest


def unread(table: TableUnderTest) -> list[str]:
    """Return the hands that the page shows with an unread card (`??`)."""
    return [hand["hand"] for hand in parts(table)["hand"]["hands"] if "??" in hand["cards"]]


@pytest.mark.parametrize("house", HOUSES)
def test_a_card_that_could_not_be_read_is_shown_in_the_hand_that_takes_it(house: str) -> None:
    """The page shows an unread card in the hand that takes it, so that everybody sees which card a supervisor has to
    look at. If the place of the card would give away a face-down card, the page shows nothing."""
    told = 0
    for steps in range(6):
        table, left = dealt(load(TABLES / f"{house}.toml").rules, 7, 1)
        lock(table)
        for _ in range(steps):
            if table.face.phase in ("wagers_locked", "round_in_play"):
                go_on(table, left)
        in_round, due = table.face.phase in ("wagers_locked", "round_in_play"), table.face.next_hand
        if table.face.choice is not None or table.face.reveal:
            continue
        table.draw("??")
        assert table.fault == "unreadable_card"
        assert unread(table) == ([due] if in_round and due else []), steps
        told += bool(in_round and due)
    assert told >= 2


def test_at_midi_nobody_is_said_to_turn_cards_that_are_not_dealt_or_must_lie() -> None:
    """In a midi game (cards lie face down first) the page does not say who turns cards while no cards are dealt, or
    while the table has stopped and cards must lie. An earlier version said at both hands that the dealer turns the
    cards, and also that cards stay where they are."""
    table = TableUnderTest(MIDI).open_shoe("2H 3H 4H").lock().draw("4S")
    holders = [hand["holder"] for hand in parts(table)["hand"]["hands"]]
    assert holders == [None, None], "a card is due"
    table.draw("5S 6S 7S")
    assert any(hand["holder"] for hand in parts(table)["hand"]["hands"])
    table.draw("??")
    assert table.fault
    assert [hand["holder"] for hand in parts(table)["hand"]["hands"]] == [None, None]
