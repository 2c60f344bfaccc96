"""Checks of the odds of Baccarat Royal and Lucky 9 by a second count: the simulated house deals random rounds from
eight decks.

The house deals and judges by its own reading of the rule sheets. If a seat is free to choose, it makes the choice of
the best play that the par sheet found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from random import Random

import pytest
from msgspec import convert

from controller.people.par import baccarat_royal, lucky9
from controller.people.par.sheet import subject
from controller.people.par.shoe import fresh
from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.cards import Card
from controller.rules.game.lucky9 import Lucky9
from drivers.sim import baccarat_royal as royal_house
from drivers.sim import bets as simulated
from drivers.sim import lucky9 as lucky9_house
from drivers.sim import rules
from drivers.sim.house import Bet
from drivers.sim.wagers import Actives
from tests.daemon.test_config import read
from tests.par.test_second_count import ONE_DECK, Cards, farthest_off
from tests.support.best_play import lucky9_call, lucky9_splits_again
from tests.support.tables import TABLES

SHOE = ONE_DECK * 8
GAMES = TABLES.parent / "games"
CARD = {text: Card.parse(text) for text in ONE_DECK}

HANDS = pytest.mark.parametrize(
    "hands", [2_500, pytest.param(1_000_000, marks=pytest.mark.proof)], ids=["a few", "a million"]
)


POINTS = {card: rules.points(card) for card in ONE_DECK}
EXAMPLES: dict[object, Cards] = {}
"""A hand of each look: the house is asked once of those that look alike."""


Look = tuple[int, int, bool]


def look(hand: Sequence[str]) -> Look:
    """Return the three properties of a hand that bets can depend on: the number of its cards, its total, and whether it
    holds a ten or a face card."""
    points = [POINTS[card] for card in hand]
    seen = len(points), sum(points) % 10, 0 in points
    if seen not in EXAMPLES:
        EXAMPLES[seen] = tuple(hand)
    return seen


class Felt:
    """A simulated layout on which random cards are dealt from eight decks."""

    def __init__(self, random: Random, most: int) -> None:
        self._random, self._most = random, most
        self.dealt: dict[str, list[str]] = {}

    def shuffle(self) -> None:
        """Shuffle all decks again, and begin a new round."""
        self._cards = iter(self._random.sample(SHOE, self._most))
        self.dealt = {}

    def card(self, to: str) -> str:
        card = next(self._cards)
        self.dealt.setdefault(to, []).append(card)
        return card

    def reveal(self, *_: str) -> None:
        """Do nothing, because here no card needs to be turned up: every call is decided from the cards that the seat is
        allowed to see."""


# Baccarat Royal.


class RoyalFelt(Felt):
    """A simulated layout of Baccarat Royal on which seat 1 is Player and seat 2 is Banker."""

    def __init__(self, random: Random, play: baccarat_royal.Play) -> None:
        super().__init__(random, 6)
        self._play = play

    def choice(self, seat: int, options: Sequence[str], _: int) -> str:
        if len(options) == 1:
            return options[0]
        player, banker = self.dealt["player"], self.dealt["banker"]
        if seat == 1:
            draws = self._play.player[_hole(player)]
        else:
            draws = self._play.banker[_hole(banker), rules.points(player[2]) if len(player) == 3 else None]
        return "hit" if draws else "stand"


def _hole(cards: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted(rules.points(card) for card in cards[:2]))


@HANDS
@pytest.mark.parametrize("printed", [True, pytest.param(False, marks=pytest.mark.proof)], ids=["printed", "corrected"])
def test_baccarat_royal_comes_as_often_as_was_counted(printed: bool, hands: int, figure: Callable[[str], None]) -> None:
    file = GAMES / ("baccarat_royal.toml" if printed else "baccarat_royal_corrected.toml")
    of, bets = subject(file), {bet.spot: bet for bet in convert(read(file)["bets"], list[Bet])}
    assert isinstance(of.play, BaccaratRoyal)
    found = baccarat_royal.solved(of.play, of.bets, fresh(8))
    assert found.play is not None
    section = royal_house.Section(**read(file)["baccarat_royal"])
    house, felt = royal_house.BaccaratRoyal((), section), RoyalFelt(Random(21), found.play)
    came: Counter[tuple[Look, Look]] = Counter()
    for _ in range(hands):
        felt.shuffle()
        player, banker = house.played(felt, Actives(player=1, banker=2))
        came[look(player), look(banker)] += 1

    outcomes = []
    for odds in found.bets:
        rows = [0] * len(odds.outcomes)
        for (player_, banker_), many in came.items():
            lie = {"player": EXAMPLES[player_], "banker": EXAMPLES[banker_]}
            if odds.seats:
                lie["own"] = lie["player" if odds.seats == ("the seat that is Player",) else "banker"]
            rows[_row(bets[odds.spot], lie)] += many
        outcomes.append((" ".join((odds.spot, *odds.seats)), rows, [each.ways for each in odds.outcomes]))
    figure(farthest_off(hands, outcomes))


def _row(bet: Bet, hands: simulated.Hands, *, split: bool = False) -> int:
    """Return the index of the row of the bet's pay table that decides these hands, or -1 if no row does."""
    row = simulated.row_for(bet, hands, split=split)
    return -1 if row is None else bet.rows.index(row)


# Lucky 9.


class Lucky9Felt(Felt):
    """A simulated layout of Lucky 9 with one seat, seat 1, which always makes its best call."""

    def __init__(self, random: Random, seat: lucky9.Seat) -> None:
        super().__init__(random, seat.most_cards)
        self._call = cache(lambda *cards: lucky9_call(seat, *(CARD[card] for card in cards)).value)
        self._again = cache(
            lambda pair, up, drawn, hands: lucky9_splits_again(
                seat, CARD[pair], CARD[up], [CARD[card] for card in drawn], hands
            )
        )
        self._drawn: list[str] = []
        self._hands = 1

    def choice(self, _seat: int, options: Sequence[str], _: int) -> str:
        own, (_down, up) = self.dealt["seat_1"], self.dealt["dealer"]
        if len(own) == 2:
            self._splits_at: list[int] = []
            return self._call(*own, up)
        # Since the first split every card but those that were split again has stayed where it was drawn.
        drawn = [card for place, card in enumerate(own[2:-1]) if place not in self._splits_at]
        if self._again(own[0], up, tuple(sorted(drawn)), 2 + len(self._splits_at)):
            self._splits_at.append(len(own) - 3)
            return "split"
        return "stand"


@pytest.mark.proof
@pytest.mark.parametrize("hands", [1_000_000], ids=["a million"])
def test_lucky9_comes_as_often_as_was_counted(hands: int, figure: Callable[[str], None]) -> None:
    """In random rounds of Lucky 9 with one seat, each outcome is as frequent as the par sheet says."""
    file = GAMES / "lucky9.toml"
    of, bets = subject(file), {bet.spot: bet for bet in convert(read(file)["bets"], list[Bet])}
    assert isinstance(of.play, Lucky9)
    found = lucky9.best(of.play, of.bets, fresh(8))
    felt, says = Lucky9Felt(Random(22), found.seat), lucky9_house.Section(**read(file)["lucky9"])
    rounds: Counter[tuple[tuple[Look, ...], Look]] = Counter()
    threes: Counter[Cards] = Counter()
    for _ in range(hands):
        felt.shuffle()
        first_two, played, dealer = lucky9_house.played(felt, [1], says)
        rounds[tuple([look(hand.cards) for hand in played[1]]), look(dealer)] += 1
        threes[tuple(sorted((*first_two[1], dealer[1])))] += 1

    rows: dict[str, Counter[object]] = {spot: Counter() for spot in bets}
    for (own, dealer_), many in rounds.items():
        split = len(own) > 1
        lie = [{"own": EXAMPLES[each], "dealer": EXAMPLES[dealer_]} for each in own]
        places = [_row(bets["hand"], each, split=split) for each in lie]
        rows["hand"][sum(_up(bets["hand"], place) for place in places) if split else f"row {places[0]}"] += many
        rows["tie"][f"row {_row(bets['tie'], lie[0], split=split)}"] += many
    for three, many in threes.items():
        seen = {"own": three[:2], "dealer": three[:2], "with_up_card": three}
        rows["lucky9_bonus"][f"row {_row(bets['lucky9_bonus'], seen)}"] += many

    outcomes = []
    for odds in found.bets:
        alone = len(bets[odds.spot].rows)
        together = [each.net for each in odds.outcomes[alone + 1 :]]
        names = [*(f"row {place}" for place in range(alone)), "row -1", *together]
        assert rows[odds.spot].keys() <= {*names}
        came = [rows[odds.spot][name] for name in names]
        outcomes.append((odds.spot, came, [each.ways for each in odds.outcomes]))
    figure(farthest_off(hands, outcomes))


def _up(bet: Bet, place: int) -> Fraction:
    pays = bet.rows[place].pays if place != -1 else None
    if place == -1 or (pays is None and bet.rows[place].result == "lose"):
        return Fraction(-1)
    to, one = map(int, (pays or "0:1").split(":"))
    return Fraction(to, one)
