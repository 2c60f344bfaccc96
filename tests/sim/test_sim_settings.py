"""Tests of every setting for how Lucky 9 and Baccarat Royal are dealt and paid. The table is compared with the
simulated house, which reads the same game file with separate code. Both get the same cards and the same choices of the
players."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, Literal

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.bets import Bet
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.seating import Actives
from controller.table.acts.seats import ChooseActives
from controller.table.dealing import next_in_round
from controller.table.rules import TableRules
from drivers.sim import baccarat_royal as royal_house
from drivers.sim import lucky9 as lucky9_house
from drivers.sim.felt import Game
from drivers.sim.house import Bet as HousesBet
from drivers.sim.wagers import Actives as HousesActives
from drivers.sim.wagers import Bets, Wager
from tests.sim.games import bets_of, says_of
from tests.support.five_games import call, seats, wager
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, TableUnderTest

_SEATS = (2, 5, 6)
_PAIRS = [rank + suit for rank in "238TK" for suit in "SHDC"] * 2
"""Few ranks, so that most rounds have pairs to split."""


@dataclass
class TablesFelt:
    """Connects the simulated house with a table under test. For each card and each choice, the house says what comes
    next, and the table must expect the same."""

    table: TableUnderTest
    deck: list[str]
    luck: Random

    def card(self, to: str) -> str:
        due = self.table.face.next_hand or ""
        assert due.partition("_hand_")[0] == to  # which of a split seat's hands, the round's event says
        card = self.deck.pop()
        self.table.draw(card)
        return card

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        due = self.table.face.choice
        assert due is not None
        assert due.seat == seat
        assert due.options is None or set(due.options) == set(options)
        called = self.luck.choice(["split"] if "split" in options else list(options))
        self.table.do(call(called))
        return called

    def reveal(self, *hands: str) -> None:
        assert self.table.face.reveal == hands
        self.table.do(call("reveal"))


def dealt_by_both(rules: TableRules, house: Game, bets: Bets, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Deal the same round at the table and by the simulated house. Returns the round as the table reports it, and the
    round as the house reports it."""
    luck = Random(seed)
    deck = luck.sample(_PAIRS, len(_PAIRS))
    table = TableUnderTest(rules).open_shoe("AS AH").do(seats(*_SEATS))
    if bets.actives is not None:
        table.do(ChooseActives(Actives(*bets.actives.both), "test"))
    table.do(*(wager(f"{each.seat} {each.spot} {each.cents}") for each in bets.standing or ())).lock()
    dealt = house.deal(TablesFelt(table, deck, luck), bets)
    (event,) = table.of_type("round")
    told: dict[str, Any] = json.loads(json.dumps(dealt.told))
    return {name: _in_order(event[name]) for name in told}, {name: _in_order(said) for name, said in told.items()}


def _in_order(said: Any) -> Any:
    """Return the value `said` with sorted wagers if it is a settlement, because the table and the simulated house list
    wagers in different orders. Return any other value unchanged."""
    if isinstance(said, dict) and "wagers" in said:
        key = ("seat", "spot", "hand")
        return said | {"wagers": sorted(said["wagers"], key=lambda each: [str(each[name]) for name in key])}
    return said


def written(bets: Sequence[HousesBet], spot: str, says: Mapping[str, Any]) -> list[HousesBet]:
    """Return a copy of the bets in which the bet on the spot `spot` has the settings `says`, as if the game file
    contained these settings."""
    return [replace(bet, **(says if bet.spot == spot else {})) for bet in bets]


def read(bets: Sequence[Bet], spot: str, says: Mapping[str, Any]) -> tuple[Bet, ...]:
    return tuple(replace(bet, **(says if bet.spot == spot else {})) for bet in bets)


LUCKY9_SETTINGS = list(
    product(
        ("seats_first", "dealer_first", "two_at_once"),
        ("lowest", "highest"),
        ("first_card", "second_card"),
        ("leftmost_first", "rightmost_first"),
        ("leftmost", "rightmost", "best"),
    )
)
_CHIPS = tuple(Wager(seat, spot, 500) for seat in _SEATS for spot in ("hand", "tie", "lucky9_bonus"))


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.proof)])
def test_lucky9_is_dealt_and_paid_by_each_setting_as_the_house_has_it(every: int) -> None:
    assert isinstance(LUCKY9.play, Lucky9)
    for seed, settings in enumerate(LUCKY9_SETTINGS[::every]):
        names = ("deal_order", "first_seat", "dealer_shows", "split_order")
        said: dict[str, Any] = dict(zip(names, settings, strict=False))
        by = {"after_split": settings[-1]}
        said |= {"pair": ("rank", "value")[seed % 2], "most_splits": seed % 4}
        said |= {"dealer_draws_on": ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4, 5), (7,))[seed % 3]}
        rules = replace(LUCKY9, play=replace(LUCKY9.play, **said), bets=read(LUCKY9.bets, "tie", by))
        house = lucky9_house.Lucky9(written(bets_of("lucky9"), "tie", by), lucky9_house.Section(**said))
        table, houses = dealt_by_both(rules, house, Bets(standing=_CHIPS), seed)
        assert table == houses, settings


ROYAL_SETTINGS: list[tuple[Any, str, int]] = list(
    product(("banker_first", "player_first", "alternating"), ("smaller_plays", "house_covers"), (2000, 3500, 2051))
)


def test_baccarat_royal_is_dealt_and_paid_by_each_setting_as_the_house_has_it() -> None:
    assert isinstance(BACCARAT_ROYAL.play, BaccaratRoyal)
    limits = replace(BACCARAT_ROYAL.wagers, increment_cents=1)
    outcomes, says = set(), says_of("baccarat_royal")
    for seed, (order, unequal, cents) in enumerate(ROYAL_SETTINGS * 4):
        by = {"unequal_stakes": unequal}
        play = replace(BACCARAT_ROYAL.play, deal_order=order)
        rules = replace(BACCARAT_ROYAL, play=play, wagers=limits, bets=read(BACCARAT_ROYAL.bets, "stake", by))
        section = royal_house.Section(**(says | {"deal_order": order}))
        house = royal_house.BaccaratRoyal(written(bets_of("baccarat_royal"), "stake", by), section)
        chips = (Wager(2, "stake", 2000), Wager(5, "stake", cents), Wager(6, "tie", 500))
        bets = Bets(standing=chips, actives=HousesActives(player=5, banker=2))
        table, houses = dealt_by_both(rules, house, bets, seed)
        assert table == houses, (order, unequal, cents)
        outcomes.add((unequal, table["outcome"]))
    assert len(outcomes) == 6, "each way to pay had each outcome"


# The same by hand: what the words of each setting say, card by card.


def order_of_dealing(**says: Any) -> list[str]:
    """Return who gets the first cards of a round, in order, when seats 2 and 5 are in play. The dealer's face-down card
    is marked."""
    assert isinstance(LUCKY9.play, Lucky9)
    table = TableUnderTest(replace(LUCKY9, play=replace(LUCKY9.play, **says))).open_shoe("AS AH")
    table.do(wager("5 hand 500"), wager("2 hand 500")).lock()
    to = []
    for card in ("2S", "3S", "4S", "2C", "3C", "8D"):
        to.append(str(table.face.next_hand))
        due = next_in_round(table.table)
        table.draw(card)
        assert due is not None
        lies = {hand.hand: hand.cards for hand in table.face.hands}[due.hand]
        assert due.face_down == (lies[-1] == "--"), "a card that cannot be there is not named where it lies so"
        to[-1] += " down" if due.face_down else ""
    assert table.face.choice is not None
    return [*to, f"seat_{table.face.choice.seat} acts"]


@pytest.mark.parametrize(
    ("says", "order"),
    [
        ({}, "seat_2, seat_5, dealer down, seat_2, seat_5, dealer, seat_2 acts"),
        ({"deal_order": "dealer_first"}, "dealer down, seat_2, seat_5, dealer, seat_2, seat_5, seat_2 acts"),
        ({"deal_order": "two_at_once"}, "seat_2, seat_2, seat_5, seat_5, dealer down, dealer, seat_2 acts"),
        ({"first_seat": "highest"}, "seat_5, seat_2, dealer down, seat_5, seat_2, dealer, seat_5 acts"),
        ({"dealer_shows": "first_card"}, "seat_2, seat_5, dealer, seat_2, seat_5, dealer down, seat_2 acts"),
    ],
)
def test_lucky9s_first_cards_come_in_the_order_that_the_house_says(says: dict[str, Any], order: str) -> None:
    assert order_of_dealing(**says) == order.split(", ")


@pytest.mark.parametrize(
    ("split_order", "after_split", "hands", "tie"),
    [
        # Seat 3 splits its eights. One hand draws a king and has 8, the other a three and has 1; the dealer has 8.
        ("leftmost_first", "leftmost", [["8S", "KS"], ["8H", "3S"]], "won"),
        ("leftmost_first", "rightmost", [["8S", "KS"], ["8H", "3S"]], "lost"),
        ("leftmost_first", "best", [["8S", "KS"], ["8H", "3S"]], "won"),
        ("rightmost_first", "leftmost", [["8S", "3S"], ["8H", "KS"]], "lost"),
        ("rightmost_first", "rightmost", [["8S", "3S"], ["8H", "KS"]], "won"),
        ("rightmost_first", "best", [["8S", "3S"], ["8H", "KS"]], "won"),
    ],
)
def test_lucky9s_split_hands_take_their_cards_and_decide_the_tie_bet_as_the_house_says(
    split_order: Any, after_split: str, hands: list[list[str]], tie: str
) -> None:
    assert isinstance(LUCKY9.play, Lucky9)
    play = replace(LUCKY9.play, split_order=split_order)
    rules = replace(LUCKY9, play=play, bets=read(LUCKY9.bets, "tie", {"after_split": after_split}))
    table = TableUnderTest(rules).open_shoe("AS AH").do(wager("3 hand 500"), wager("3 tie 500")).lock()
    table.draw("8S 2C 8H 6C").do(call("split")).draw("KS 3S").do(call("reveal"))
    (event,) = table.of_type("round")
    assert [each["cards"] for each in event["hands"]] == hands
    assert [each["result"] for each in event["settlement"]["wagers"] if each["spot"] == "tie"] == [tie]


def test_a_new_pair_is_split_from_the_right_too() -> None:
    """With the setting `split_order` "rightmost_first", the next card after a split goes to the rightmost hand that has
    only one card. The same rule holds after a second split."""
    assert isinstance(LUCKY9.play, Lucky9)
    rules = replace(LUCKY9, play=replace(LUCKY9.play, split_order="rightmost_first"))
    table = TableUnderTest(rules).open_shoe("AS AH").do(wager("3 hand 500")).lock()
    table.draw("8S 2C 8H 6C").do(call("split")).draw("8D").do(call("split")).draw("KS 3S 2S").do(call("reveal"))
    (event,) = table.of_type("round")
    assert [each["cards"] for each in event["hands"]] == [["8S", "2S"], ["8H", "3S"], ["8D", "KS"]]


def test_the_card_that_the_dealer_shows_makes_the_bonus() -> None:
    """The Lucky 9 bonus counts a seat's two cards together with the dealer's face-up card. Seat 3 has a 2 and a 4. If
    the dealer's 3 lies face up, 2-3-4 is a straight, which wins. If the dealer's ten lies face up, the total is 6,
    which loses."""
    shown: tuple[tuple[Literal["first_card", "second_card"], str], ...] = (
        ("first_card", "won"),
        ("second_card", "lost"),
    )
    for shows, result in shown:
        assert isinstance(LUCKY9.play, Lucky9)
        rules = replace(LUCKY9, play=replace(LUCKY9.play, dealer_shows=shows))
        table = TableUnderTest(rules).open_shoe("AS AH").do(wager("3 hand 500"), wager("3 lucky9_bonus 500")).lock()
        table.draw("2S 3C 4H TC").do(call("stand"), call("reveal")).draw("KS")
        (event,) = table.of_type("round")
        (bonus,) = (each for each in event["settlement"]["wagers"] if each["spot"] == "lucky9_bonus")
        assert (shows, bonus["result"]) == (shows, result)
        assert to_builtins(table.face)["results"] == ({"seat": 3, "hand": "seat_3", "result": "won"},)
