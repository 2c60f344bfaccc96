"""Checks that the preview of an act, which a person sees before confirming, agrees with what the act then does. The
preview itself must change nothing."""

from __future__ import annotations

import json
import random
from typing import Any, cast

import pytest

from controller.rules.game.cards import Card
from controller.rules.game.hands import TwoHands, two_hands_read
from controller.rules.game.seating import NOBODY
from controller.table.acts.entry import Request
from controller.table.acts.rounds import VoidRound
from controller.table.acts.shoe import CloseShoe
from controller.table.foreseen import dealt_by_the_rules, foreseen
from controller.table.legality import Refuse
from tests.support.tables import ROYAL9, SUGARHOUSE, TableUnderTest
from tests.table.test_acts import correction


def would(table: TableUnderTest, request: Request) -> dict[str, Any]:
    """Return the preview of the request: what the table says that the request would do. Check that the preview changed
    nothing."""
    before, rows = table.table, len(table.rows)
    told = foreseen(table.table, request, table.ambient)
    assert (table.table, len(table.rows)) == (before, rows)
    assert not isinstance(told, Refuse), told
    return cast(dict[str, Any], json.loads(json.dumps(told)))


def test_a_correction_is_foreseen_as_it_then_happens() -> None:
    table = TableUnderTest().open_shoe().lock(2, 5).draw("KH 4S 9D TC")
    told = would(table, correction(1, "KH 9H", "4S TC", witness=""))
    table.do(correction(1, "KH 9H", "4S TC"))
    (event,) = table.of_type("correction")
    for name in ("outcome", "player", "banker", "awards", "awards_before", "settlement", "settlement_before"):
        assert told[name] == event[name]
    assert [hand["cards"] for hand in told["hands_before"]] == [["KH", "9D"], ["4S", "TC"]]
    assert told["by_the_rules"] is True


def test_a_void_and_an_early_end_are_foreseen() -> None:
    table = TableUnderTest().open_shoe().lock(2).draw("KH 4S")
    told = would(table, VoidRound("Smith"))
    assert (told["type"], told["progressive"]) == ("void", [{"spot": "royal9", "seats": [2]}])
    told = would(TableUnderTest(SUGARHOUSE).open_shoe(), CloseShoe("Smith"))
    assert (told["type"], told["cards_left"], told["rounds"]) == ("shoe_closed", 414, 0)


@pytest.mark.parametrize(
    ("request_", "code"), [(VoidRound("Smith"), "no_round"), (correction(7, "KH 9H", "4S TC"), "no_such_round")]
)
def test_what_would_be_refused_is_refused(request_: Request, code: str) -> None:
    table = TableUnderTest().open_shoe()
    assert foreseen(table.table, request_, table.ambient) == Refuse(code)


# Banker draws on these totals by Player's third card, as the sheet prints it; without one Banker draws on 0 to 5.
_BANKER_DRAWS = {0: "0123456789", 1: "0123456789", 2: "0123456789", 3: "012345679", 4: "234567", 5: "4567", 6: "67"}


def _worth(hand: tuple[Card, ...]) -> int:
    return sum({"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0}.get(str(card)[0], 0) or _pips(card) for card in hand) % 10


def _pips(card: Card) -> int:
    return int(str(card)[0]) if str(card)[0].isdigit() else int(str(card)[0] == "A")


def _by_the_sheet(player: tuple[Card, ...], banker: tuple[Card, ...]) -> bool:
    two_player, two_banker = _worth(player[:2]), _worth(banker[:2])
    if max(two_player, two_banker) >= 8:
        return len(player) == len(banker) == 2
    if (len(player) == 3) != (two_player <= 5):
        return False
    if len(player) == 2:
        return (len(banker) == 3) == (two_banker <= 5)
    return (len(banker) == 3) == (str(_worth(player[2:])) in _BANKER_DRAWS.get(two_banker, ""))


def test_hands_that_can_lie_so_are_those_of_the_sheet() -> None:
    draw = random.Random(14)
    deck = [Card.parse(rank + suit) for rank in "A23456789TJQK" for suit in "SHDC"]
    seen = set()
    for _ in range(3000):
        player, banker = (tuple(draw.choices(deck, k=draw.choice((2, 3)))) for _ in range(2))
        done = two_hands_read(ROYAL9.play.naturals, {"player": player, "banker": banker})
        assert isinstance(done, TwoHands)
        answer = dealt_by_the_rules(ROYAL9.play, NOBODY, done)
        assert answer == _by_the_sheet(player, banker), (player, banker)
        seen.add((len(player), len(banker), answer))
    assert len(seen) == 8, "each number of cards, by the rules and not"
