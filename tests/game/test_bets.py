"""Bets of houses that are written in TOML alone, each against a statement of its own words, over every distinct hand.

The simulated house's evaluator, which shares nothing with the program's, must say the same of them, and of every word
of the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.config import MOST_BETS, load
from controller.game.baccarat import Tableau, next_step
from controller.game.bets import Bet
from controller.game.cards import DECK, Card, PersonalK9
from controller.game.hands import TwoHands, as_it_lies
from drivers.sim import bets as simulated
from tests.daemon.test_config import CONFIG, read, written
from tests.support.bets import NATURAL, bet, bets_of, comes_to

POINTS = [Card.parse(rank + "S") for rank in "TA23456789"]
PRINTED = {1: "KS 9S", 2: "KH 9H", 3: "KS 9H"}
K9S = {seat: PersonalK9.parse(text) for seat, text in PRINTED.items()}


def hands_by_points(tableau: Tableau, dealt: tuple[Card, ...] = ()) -> Iterator[TwoHands]:
    """Every hand, by point values."""
    step = next_step(tableau, dealt)
    if isinstance(step, TwoHands):
        yield step
        return
    for card in POINTS:
        yield from hands_by_points(tableau, (*dealt, card))


@pytest.fixture(scope="module")
def by_points(tableau: Tableau) -> list[TwoHands]:
    """Each kind of hand that totals and numbers of cards tell apart, once."""
    kinds = {
        (len(done.player), len(done.banker), done.player_total, done.banker_total): done
        for done in hands_by_points(tableau)
    }
    return list(kinds.values())


def wins(side: str, done: TwoHands) -> bool:
    return done.outcome.value == side


Statement = Callable[[TwoHands], str]


def _ez_banker(done: TwoHands) -> str:
    if done.player_total == done.banker_total:
        return "push"
    if done.banker_total < done.player_total:
        return "lose"
    return "push" if (done.banker_total, len(done.banker)) == (7, 3) else "1"


def _punto_2000_banker(done: TwoHands) -> str:
    if done.player_total == done.banker_total:
        return "push"
    if done.banker_total < done.player_total:
        return "lose"
    return "1/2" if done.banker_total == 6 else "1"


BY_TOTALS: dict[tuple[str, str], Statement] = {
    ("ez_baccarat", "banker"): _ez_banker,
    ("ez_baccarat", "dragon_7"): lambda d: "40" if wins("banker", d) and _three(d.banker, 7) else "lose",
    ("ez_baccarat", "panda_8"): lambda d: "25" if wins("player", d) and _three(d.player, 8) else "lose",
    ("punto_2000", "banker"): _punto_2000_banker,
    ("punto_2000", "super_6"): lambda d: "12" if wins("banker", d) and d.banker_total == 6 else "lose",
    ("pairs", "tie"): lambda d: "9" if d.player_total == d.banker_total else "lose",
}


def _three(cards: tuple[Card, ...], points: int) -> bool:
    return len(cards) == 3 and sum(card.points for card in cards) % 10 == points


@pytest.mark.parametrize(("table", "spot"), BY_TOTALS)
def test_a_bet_on_totals(by_points: list[TwoHands], table: str, spot: str) -> None:
    bet_ = bet(bets_of(table), spot)
    seen = Counter(comes_to(bet_, done) for done in by_points)
    for done in by_points:
        assert comes_to(bet_, done) == BY_TOTALS[table, spot](done), done
    assert len(seen) > 1


def test_the_pairs_on_every_two_cards_of_each_hand() -> None:
    player_pair, banker_pair, perfect_pair = (
        bet(bets_of("pairs"), f"{which}_pair") for which in ("player", "banker", "perfect")
    )
    rest = (Card.parse("2S"), Card.parse("5H"))
    for first, second in product(DECK, repeat=2):
        pair, perfect = str(first)[0] == str(second)[0], str(first) == str(second)
        players, bankers = as_it_lies(NATURAL, (first, second), rest), as_it_lies(NATURAL, rest, (first, second))
        assert comes_to(player_pair, players) == comes_to(banker_pair, bankers) == ("11" if pair else "lose")
        assert comes_to(player_pair, bankers) == comes_to(banker_pair, players) == "lose"
        assert comes_to(perfect_pair, players) == comes_to(perfect_pair, bankers) == ("25" if perfect else "lose")


# Each word of the vocabulary, alone and beside others.
WHENS: list[dict[str, Any]] = [
    {},
    {"winner": "tie"},
    {"winner": ["player", "banker"], "natural": False},
    {"natural": True},
    {"margin": [0, 4, 9]},
    {"cards": 5},
    {"total_sum": [9, 17, 18]},
    {"identical": True},
    {"identical": False, "color": "red"},
    {"color": ["red", "black"]},
    {"player": {"total": 6, "cards": 2}},
    {"banker": {"natural": True}},
    {"winning": {"cards": 3}},
    {"losing": {"pair": True}},
    {"either": {"pair": True, "suited": True}},
    {"both": {"suited": False}},
    {"exactly_one": {"natural": True}},
    {"player": {"first_two": [["J", "Q", "K"], "9"]}},
    {"either": {"first_two": ["A", ["A", "2", "3", "4", "5", "6"]]}},
    {"banker": {"first_two_total": [0, 5], "cards": 3}},
    {"either": {"third": ["8", "9", "T"]}},
    {"both": {"third": "A"}},
    {"either": {"cards": 3, "same_rank": True}},
    {"exactly_one": {"same_suit": True}},
    {"banker": {"color": "black"}},
    {"either": {"seat_pair": "own"}},
    {"either": {"seat_pair": "another"}},
    {"both": {"seat_pair": "another"}, "identical": True},
    {"player": {"seat_pair": "own"}, "banker": {"seat_pair": "another"}},
]
# Cards of few kinds, so that what is rare comes.
FEW = [Card.parse(text) for text in ("KS", "9S", "KH", "9H", "AS", "AD", "QS", "TC", "5S", "5D", "3C", "8H")]


def test_the_house_that_is_simulated_reads_every_word_as_the_table_does(tableau: Tableau, tmp_path: Path) -> None:
    raws = [{"spot": f"b{n}", "rows": [{"when": when, "pays": "1:1"}]} for n, when in enumerate(WHENS)]
    few = [raws[first : first + MOST_BETS] for first in range(0, len(raws), MOST_BETS)]
    bets = [bet_ for each in few for bet_ in loaded(tmp_path, each)]
    held: Counter[int] = Counter()
    random = Random(7)
    for deal in range(6000):
        shoe = random.choices(FEW if deal % 2 else DECK, k=6)
        if deal % 10 == 0:  # what is printed at seats, of which one is the bettor's
            shoe[0], shoe[2] = map(Card.parse, random.choice(list(PRINTED.values())).split())
            shoe[3], shoe[1] = map(Card.parse, random.choice(list(PRINTED.values())).split())
        steps = (next_step(tableau, shoe[:dealt]) for dealt in range(4, 7))
        done = next(step for step in steps if isinstance(step, TwoHands))
        hands = {"player": [*map(str, done.player)], "banker": [*map(str, done.banker)]}
        for number, (bet_, raw) in enumerate(zip(bets, raws, strict=True)):
            ours = comes_to(bet_, done, K9S[1], [K9S[2], K9S[3]]) == "1"
            assert ours == (simulated.row_for(raw, hands, 1, PRINTED) is not None), (raw, hands)
            held[number] += ours
    never = [WHENS[number] for number in range(len(WHENS)) if not held[number]]
    assert never == [], "no hand was so: choose another seed"


def loaded(folder: Path, bets: list[dict[str, Any]]) -> tuple[Bet, ...]:
    """The bets as a game file with them is read, at a table with seats' pairs and without Royal 9's sensors."""
    table, game = read(CONFIG / "tables" / "royal9.toml"), read(CONFIG / "games" / "royal9.toml")
    inputs = {name: each for name, each in table["pins"]["inputs"].items() if not name.startswith("seat_")}
    table["pins"]["inputs"] = inputs
    if not any("seat_pair" in f"{bet_}" for bet_ in bets):
        table["seats"] = [{"number": seat["number"]} for seat in table["seats"]]
    return load(written(folder, table, game | {"bets": bets})).rules.bets
