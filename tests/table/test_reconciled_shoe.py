"""Checks that the cards of an ended shoe (burned, dealt and remaining) are compared with the cards of its decks, by
rank and suit.

Without this comparison nobody would notice a cheat who took a card out, put a card in, or exchanged a card. The test
keeps its own list of the shoe's 416 cards, and removes from the list each card that is dealt.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card
from controller.table.acts.shoe import CloseShoe, ReconcileShoe
from tests.support.tables import TableUnderTest


def _shoe(seed: int) -> tuple[TableUnderTest, list[Card]]:
    """Deal and close a shoe at a table. Return the table, and the cards that are left in the shoe. `seed` determines
    the order of the cards."""
    pack = [*DECK] * 8
    random.Random(seed).shuffle(pack)
    first = next(place for place, card in enumerate(pack) if str(card)[0] == "3")  # three more are burned
    pack = [pack[first], *pack[:first], *pack[first + 1 :]]
    table = TableUnderTest().open_shoe(" ".join(map(str, pack[:4])))
    used = 4
    for _ in range(3):
        table.lock()
        while table.face.phase != "wagers_open":
            table.draw(str(pack[used]))
            used += 1
    table.do(CloseShoe("Smith"))
    table.told()
    return table, pack[used:]


def _reconciled(table: TableUnderTest, rest: list[Card]) -> dict[str, Any]:
    (event,) = table.do(ReconcileShoe(tuple(rest), "Jones")).told()
    return event


@pytest.mark.parametrize("seed", range(3))
def test_a_whole_shoe_is_complete_and_its_burned_cards_are_not_told(seed: int) -> None:
    table, rest = _shoe(seed)
    event = _reconciled(table, rest)
    assert (event["type"], event["complete"], event["missing"], event["extra"]) == ("shoe_reconciled", True, [], [])
    numbers = (event["cards"], event["gone"], event["burned"], event["unnamed"], event["rest"])
    assert numbers == (416, 416 - len(rest), 4, 0, len(rest))
    assert event["by"] == "Jones"


def test_a_card_taken_one_put_in_and_one_exchanged_are_named() -> None:
    table, rest = _shoe(7)
    (nine,) = {card for card in rest if str(card) == "9H"}
    others = [*rest]
    others.remove(nine)
    for cards, missing, extra in (
        (others, ["9H"], []),
        ([*rest, nine], [], ["9H"]),
        ([*others, Card.parse("2C")], ["9H"], ["2C"]),
        ([], sorted(map(str, rest)), []),
    ):
        event = _reconciled(table, cards)
        assert not event["complete"]
        assert (Counter(event["missing"]), Counter(event["extra"])) == (Counter(missing), Counter(extra))


def test_a_card_that_nobody_could_name_is_missing_and_no_more() -> None:
    """A shoe in which one burned card could not be named counts as complete if exactly one card is missing, of any rank
    and suit."""
    table, rest = _shoe(1)
    shoe = table.table.shoe
    assert shoe is not None
    taken = next(card for card in DECK if shoe.gone[DECK.index(card)])
    gone = tuple(each - (card == taken) for card, each in zip(DECK, shoe.gone, strict=True))
    table.table = replace(table.table, shoe=replace(shoe, gone=gone, unnamed=1))
    event = _reconciled(table, rest)
    assert (event["complete"], event["unnamed"], event["missing"]) == (True, 1, [str(taken)])
    assert not _reconciled(table, rest[1:])["complete"]


def test_an_open_shoe_is_not_reconciled() -> None:
    """The table refuses to compare the cards of an open shoe with its decks. A person who learned which cards are
    missing would know which cards were burned."""
    assert TableUnderTest().open_shoe().ask(ReconcileShoe((), "Smith")) == "shoe_open"
