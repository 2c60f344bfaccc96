"""Checks of every bet of the punto banco games by a second count: over every deal of one deck, and over random deals
from eight decks.

The simulated house deals and decides, and shares no code with the program. Deals that look alike to a bet are judged
only once, because these counts would otherwise take too long. A `View` says which deals look alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from math import sqrt
from random import Random

import pytest
from msgspec import convert

from controller.people.par.sheet import par, subject
from controller.people.par.shoe import fresh
from controller.rules.game.baccarat import PuntoBanco
from drivers.sim import bets as simulated
from drivers.sim import rules
from drivers.sim.house import Bet
from tests.daemon.test_config import read
from tests.support.felt import dealt
from tests.support.tables import TABLES

Cards = tuple[str, ...]
View = Callable[[Cards, Cards], object]

HOUSES = sorted(path.stem for path in TABLES.glob("*.toml") if isinstance(subject(path).play, PuntoBanco))
DRAWINGS = pytest.mark.parametrize(
    "says",
    [rules.USUAL, rules.Drawing(**read(TABLES.parent / "games" / "even_draw.toml")["punto_banco"]["tableau"])],
    ids=["as usual", "even_draw"],
)
ONE_DECK = tuple(rank + suit for suit in rules.SUITS for rank in rules.RANKS)
SEATS = (1, 5)
"""At Royal 9's table: one with a suited King and 9 printed, and one with two suits."""


def by_totals(player: Cards, banker: Cards) -> object:
    return len(player), rules.total(player), len(banker), rules.total(banker)


def by_pairs(player: Cards, banker: Cards) -> object:
    return tuple((one[0] == two[0], one[1] == two[1]) for one, two in (player[:2], banker[:2]))


def by_nines_and_faces(player: Cards, banker: Cards) -> object:
    return tuple(card if card[0] in "9JQK" else "" for card in (*player[:2], *banker[:2]))


VIEWS: dict[str, View] = {
    "royal9": by_nines_and_faces,
    "player_pair": by_pairs,
    "banker_pair": by_pairs,
    "perfect_pair": by_pairs,
    "grand_pairs": by_pairs,
}
"""By spot; the others look at totals alone."""


class Count:
    """A count of the deals by one set of drawing rules. Deals that look alike to a bet are counted together, and one of
    them is kept as their example."""

    def __init__(self, *views: View, says: rules.Drawing = rules.USUAL) -> None:
        self.says = says
        self.ways: dict[View, Counter[object]] = {view: Counter() for view in views}
        self._examples: dict[tuple[View, object], tuple[Cards, Cards]] = {}

    def add(self, player: Cards, banker: Cards, ways: int = 1) -> None:
        for view, counted in self.ways.items():
            key = view(player, banker)
            if key not in counted:
                self._examples[view, key] = player, banker
            counted[key] += ways

    def of(self, bet: Bet, seat: int, printed: Mapping[int, str]) -> list[int]:
        """Return a list of how many deals each row of the bet's pay table decides. The last number is how many deals no
        row decides. `printed` maps each seat to the king and the nine printed there."""
        view = VIEWS.get(bet.spot, by_totals)
        found = [0] * (len(bet.rows) + 1)
        for key, ways in self.ways[view].items():
            player, banker = self._examples[view, key]
            row = simulated.row_for(bet, {"player": player, "banker": banker}, seat, printed)
            found[-1 if row is None else bet.rows.index(row)] += ways
        return found


def every_bet(count: Count, decks: int) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield three values for each bet in the games with this count's drawing rules: the bet's name, its outcomes by
    this count, and its outcomes by the par sheet. Bets that this count cannot judge are left out."""
    for house in HOUSES:
        of = subject(TABLES / f"{house}.toml")
        table = read(TABLES / f"{house}.toml")
        game = read((TABLES / table["table"]["game"]).resolve())
        if rules.Drawing(**game["punto_banco"]["tableau"]) != count.says:
            continue
        printed = {seat["number"]: seat["k9"] for seat in table["seats"] if "k9" in seat}
        sheet = par(of, fresh(decks))
        for bet in convert(game["bets"], list[Bet]):
            if VIEWS.get(bet.spot, by_totals) not in count.ways:
                continue
            for odds in (odds for odds in sheet.bets if odds.spot == bet.spot):
                for seat in [seat for seat in SEATS if not odds.seats or f"seat {seat}" in odds.seats][:1]:
                    ours = [outcome.ways for outcome in odds.outcomes]
                    yield f"{house} {bet.spot} seat {seat}", count.of(bet, seat, printed), ours


@DRAWINGS
@pytest.mark.proof
@pytest.mark.parametrize("hands", [1_000_000], ids=["a million"])
def test_hands_dealt_at_random_from_eight_decks_come_as_often_as_was_counted(
    hands: int, says: rules.Drawing, figure: Callable[[str], None]
) -> None:
    random, shoe = Random(20), ONE_DECK * 8
    count = Count(by_totals, by_pairs, by_nines_and_faces, says=says)
    for _ in range(hands):
        count.add(*dealt(random.sample(shoe, 6), says))
    figure(farthest_off(hands, every_bet(count, 8)))


def farthest_off(hands: int, bets: Iterable[tuple[str, list[int], list[int]]]) -> str:
    """Check that each outcome of each bet came as often as the par sheet says, within the error of a sample of `hands`
    rounds. Return a text that names the largest deviation."""
    outcomes, farthest = 0, 0.0
    for name, dealt_, ways in bets:
        assert sum(dealt_) == hands
        for came, many in zip(dealt_, ways, strict=True):
            often = many / sum(ways)
            # What comes a few times only is not spread evenly about its mean: one more or less is no error of ours.
            off = max(abs(came - hands * often) - 1, 0)
            away = off / sqrt(hands * often * (1 - often)) if off else 0
            assert away < 5, (name, came, hands * often)
            outcomes, farthest = outcomes + 1, max(farthest, away)
    return f"{hands:,} hands: {outcomes} outcomes, none farther off than {farthest:.1f} standard deviations"


@pytest.mark.proof
@DRAWINGS
def test_every_deal_of_one_deck_by_points(says: rules.Drawing, figure: Callable[[str], None]) -> None:
    count = Count(by_totals, says=says)
    left = {"A23456789T"[place] + "S": 16 if place == 9 else 4 for place in range(10)}

    def deal(cards: list[str], ways: int) -> None:
        player, banker = dealt(cards, says)
        if len(cards) >= 4 and rules.next_side(player, banker, says) is None:
            after = [52 - number for number in range(len(cards), 6)]
            count.add(player, banker, ways * (1 if not after else after[0] * (after[1] if len(after) > 1 else 1)))
            return
        for card, many in left.items():
            if ways_on := ways * (many - cards.count(card)):
                deal([*cards, card], ways_on)

    deal([], 1)
    bets = list(every_bet(count, 1))
    assert [(name, theirs) for name, theirs, _ in bets] == [(name, ours) for name, _, ours in bets]
    figure(f"{len(bets)} bets on totals: every outcome of one deck as counted deal by deal")


@pytest.mark.proof
def test_every_first_four_cards_of_one_deck(figure: Callable[[str], None]) -> None:
    count = Count(by_pairs, by_nines_and_faces)
    for player in combinations(ONE_DECK, 2):
        rest = [card for card in ONE_DECK if card not in player]
        for banker in combinations(rest, 2):
            count.add(player, banker, 4 * 48 * 47)  # each two in either order, and whatever follows
    bets = list(every_bet(count, 1))
    assert [(name, theirs) for name, theirs, _ in bets] == [(name, ours) for name, _, ours in bets]
    figure(f"{len(bets)} bets on first cards: every outcome of one deck as counted deal by deal")
