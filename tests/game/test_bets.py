"""Checks bets that houses write in TOML. The program judges every distinct hand. So does a second function, written
from the bet's printed words, and both must agree.

The simulated house has an evaluator of its own, which shares no code with the program. It must judge these bets, and
every word in which conditions are written, in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import convert

from controller.daemon.config import load
from controller.daemon.config.game_file import MOST_BETS
from controller.people.par.reach import without_a_round
from controller.rules.game.baccarat import PuntoBanco, Tableau, next_step
from controller.rules.game.bets import Bet, Finished, HandIs, Has, Row, When, deciding_of
from controller.rules.game.cards import DECK, Card, PersonalK9, Points
from controller.rules.game.hands import TwoHands, as_it_lies
from drivers.sim import bets as simulated
from drivers.sim.house import Bet as SimulatedBet
from tests.daemon.test_config import CONFIG, read, written
from tests.support.bets import NATURAL, bet, bets_of, comes_to
from tests.support.samples import at_length

POINTS = [Card.parse(rank + "S") for rank in "TA23456789"]
PRINTED = {1: "KS 9S", 2: "KH 9H", 3: "KS 9H"}
K9S = {seat: PersonalK9.parse(text) for seat, text in PRINTED.items()}


def hands_by_points(tableau: Tableau, dealt: tuple[Card, ...] = ()) -> Iterator[TwoHands]:
    """Yield every possible round, with one card for each point value. The second card of each hand is a ten, so the
    first card's points are the total of the two cards, and every total occurs."""
    step = next_step(tableau, dealt)
    if isinstance(step, TwoHands):
        yield step
        return
    for card in POINTS[:1] if len(dealt) in (2, 3) else POINTS:
        yield from hands_by_points(tableau, (*dealt, card))


@pytest.fixture(scope="module")
def by_points(tableau: Tableau) -> list[TwoHands]:
    """One sample round for each combination of the two hands' totals and their numbers of cards."""
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


def _even_draw(side: str, done: TwoHands) -> str:
    if done.player_total == done.banker_total:
        return "push"
    if not wins(side, done):
        return "lose"
    return "1/2" if _three(done.player if side == "player" else done.banker, 6) else "1"


BY_TOTALS: dict[tuple[str, str], Statement] = {
    ("ez_baccarat", "banker"): _ez_banker,
    ("ez_baccarat", "dragon_7"): lambda d: "40" if wins("banker", d) and _three(d.banker, 7) else "lose",
    ("ez_baccarat", "panda_8"): lambda d: "25" if wins("player", d) and _three(d.player, 8) else "lose",
    ("punto_2000", "banker"): _punto_2000_banker,
    ("punto_2000", "super_6"): lambda d: "12" if wins("banker", d) and d.banker_total == 6 else "lose",
    ("even_draw", "player"): lambda d: _even_draw("player", d),
    ("even_draw", "banker"): lambda d: _even_draw("banker", d),
    ("even_draw", "tie"): lambda d: "9" if d.player_total == d.banker_total else "lose",
    ("even_draw", "lucky_6"): lambda d: "22" if "1/2" in (_even_draw("player", d), _even_draw("banker", d)) else "lose",
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
    {"player": {"points": [9, 19]}},
    {"banker": {"ranks": ["5", "A"]}},
    {"either": {"ranks": ["A", "A", "5"]}},
    {"winning": {"has": {"of": "K"}}},
    {"all_cards": {"has": {"of": ["H", "D"], "times": [4, 5]}}},
    {"all_cards": {"has": {"of": ["KS", "9"], "times": 0}}},
    {"all_cards": {"of_one_rank": 3, "cards": [5, 6]}},
    {"all_cards": {"of_one_suit": [4, 5, 6]}},
    {"all_cards": {"points": [20, 21, 22, 23, 24], "total": [2, 3]}},
    {"first_four": {"same_suit": True}},
    {"first_four": {"of_one_rank": 3, "same_rank": False}},
    {"player": {"suit": "S"}, "banker": {"colored": False}},
    {"either": {"pair": True, "colored": True, "suited": False}},
    {"exactly_one": {"of_one_suit": 2}},
    {"first_four": {"of_one_rank": 2, "different_ranks": 2}},
    {"all_cards": {"different_ranks": [5, 6]}},
    {"either": {"straight": True, "cards": 3}},
    {"first_four": {"straight": True}},
    {"both": {"straight": False, "suited": True}},
    {"player": {"first": ["H", "D"]}, "banker": {"second": "K"}},
    {"either": {"third": ["S", "8H"]}},
    {"exactly_one": {"first": ["9", "K"], "second": ["AS", "S"]}},
    {"identical": True, "player": {"first": "K"}},
]
# Cards of few kinds, so that what is rare comes.
FEW = [Card.parse(text) for text in ("KS", "9S", "KH", "9H", "AS", "AD", "QS", "TC", "5S", "5D", "3C", "8H")]


def test_the_house_that_is_simulated_reads_every_word_as_the_table_does(tableau: Tableau, tmp_path: Path) -> None:
    raws = [{"spot": f"b{n}", "rows": [{"when": when, "pays": "1:1"}]} for n, when in enumerate(WHENS)]
    few = [raws[first : first + MOST_BETS] for first in range(0, len(raws), MOST_BETS)]
    bets = [bet_ for each in few for bet_ in loaded(tmp_path, each)]
    houses = convert(raws, list[SimulatedBet])
    held: Counter[int] = Counter()
    random = Random(5)
    for deal in range(4_000 if at_length else 160):
        shoe = random.choices(FEW if deal % 2 else DECK, k=6)
        if deal % 10 == 0:  # what is printed at seats, of which one is the bettor's
            shoe[0], shoe[2] = map(Card.parse, random.choice(list(PRINTED.values())).split())
            shoe[3], shoe[1] = map(Card.parse, random.choice(list(PRINTED.values())).split())
        steps = (next_step(tableau, shoe[:dealt]) for dealt in range(4, 7))
        done = next(step for step in steps if isinstance(step, TwoHands))
        hands = {"player": [*map(str, done.player)], "banker": [*map(str, done.banker)]}
        for number, (bet_, house) in enumerate(zip(bets, houses, strict=True)):
            ours = comes_to(bet_, done, K9S[1], [K9S[2], K9S[3]]) == "1"
            assert ours == (simulated.row_for(house, hands, 1, PRINTED) is not None), (house, hands)
            held[number] += ours
    never = [WHENS[number] for number in range(len(WHENS)) if not held[number]]
    assert never == [], "no hand was so: choose another seed"


def loaded(folder: Path, bets: list[dict[str, Any]]) -> tuple[Bet, ...]:
    """Write the bets into a game file, load that file as the program does, and return the bets. The file's table has
    pairs of cards printed at its seats, but not the sensors of Royal 9."""
    table, game = read(CONFIG / "tables" / "royal9.toml"), read(CONFIG / "games" / "royal9.toml")
    inputs = {name: each for name, each in table["pins"]["inputs"].items() if not name.startswith("seat_")}
    table["pins"]["inputs"] = inputs
    if not any("seat_pair" in f"{bet_}" for bet_ in bets):
        table["seats"] = [{"number": seat["number"]} for seat in table["seats"]]
    return load(written(folder, table, game | {"bets": bets})).rules.bets


def _points(text: str) -> int:
    return sum(int(rank) if rank.isdigit() else rank == "A" for rank in text[::3])


def _natural(text: str) -> bool:
    return len(text.split()) == 2 and _points(text) % 10 >= 8


def _of(text: str, place: int) -> list[str]:
    return [card[place] for card in text.split()]


def _tiger_pair(player: str, banker: str) -> str:
    ranks = [player[0], player[3], banker[0], banker[3]]
    pairs = (ranks[0] == ranks[1]) + (ranks[2] == ranks[3])
    return "100" if len(set(ranks)) == 1 else {2: "20", 1: "4", 0: "lose"}[pairs]


def _lucky_7(player: str, banker: str) -> str:
    if (_points(player) % 10, _points(banker) % 10) != (7, 6):
        return "lose"
    return {4: "30", 5: "40", 6: "100"}[len(f"{player} {banker}".split())]


def _color_pair(player: str, _: str) -> str:
    if player[0] != player[3]:
        return "lose"
    if player[1] == player[4]:
        return "25"
    return "12" if {player[1], player[4]} in ({"H", "D"}, {"S", "C"}) else "6"


def _eights(player: str, banker: str) -> str:
    return {2: "5", 3: "25", 4: "75", 5: "75", 6: "75"}.get(f"{player} {banker}".count("8"), "lose")


def _most(player: str, banker: str) -> str:
    ranks = _of(f"{player} {banker}", 0)
    return {3: "4", 4: "40", 5: "40", 6: "40"}.get(max(map(ranks.count, ranks)), "lose")


def _free_naturals(player: str, banker: str) -> str:
    if _points(player) % 10 == _points(banker) % 10:
        return "push"
    return "1" if _points(banker) % 10 > _points(player) % 10 else "lose"


def _flush(player: str, banker: str) -> str:
    return "18" if len({*_of(player, 1)[:2], *_of(banker, 1)[:2]}) == 1 else "lose"


# Houses that nobody named when the vocabulary was made: a bet, its rows, and what its table says, written otherwise.
OTHER_HOUSES: list[tuple[str, list[dict[str, Any]], Callable[[str, str], str]]] = [
    (
        "tiger",
        [
            {"when": {"winner": "banker", "banker": {"total": 6, "cards": 2}}, "pays": "12:1"},
            {"when": {"winner": "banker", "banker": {"total": 6, "cards": 3}}, "pays": "20:1"},
        ],
        lambda p, b: ("12" if len(b) < 6 else "20") if _points(b) % 10 == 6 and _points(p) % 10 < 6 else "lose",
    ),
    (
        "tiger_tie",
        [{"when": {"winner": "tie", "player": {"total": 6}}, "pays": "35:1"}],
        lambda p, b: "35" if _points(p) % 10 == _points(b) % 10 == 6 else "lose",
    ),
    (
        "tiger_pair",
        [
            {"when": {"first_four": {"same_rank": True}}, "pays": "100:1"},
            {"when": {"both": {"pair": True}}, "pays": "20:1"},
            {"when": {"either": {"pair": True}}, "pays": "4:1"},
        ],
        _tiger_pair,
    ),
    (
        "natural_tie",
        [{"when": {"winner": "tie", "natural": True}, "pays": "40:1"}],
        lambda p, b: "40" if _points(p) % 10 == _points(b) % 10 and _natural(p) and _natural(b) else "lose",
    ),
    (
        "lucky_7",
        [
            {"when": {"player": {"total": 7}, "banker": {"total": 6}, "cards": cards}, "pays": f"{pays}:1"}
            for cards, pays in ((4, 30), (5, 40), (6, 100))
        ],
        _lucky_7,
    ),
    (
        "small",
        [{"when": {"cards": 4}, "pays": "3:2"}, {"when": {"cards": 5}, "result": "push"}],
        lambda p, b: {4: "3/2", 5: "push", 6: "lose"}[len(f"{p} {b}".split())],
    ),
    (
        "color_pair",
        [
            {"when": {"player": {"pair": True, "suited": True}}, "pays": "25:1"},
            {"when": {"player": {"pair": True, "colored": True}}, "pays": "12:1"},
            {"when": {"player": {"pair": True}}, "pays": "6:1"},
        ],
        _color_pair,
    ),
    (
        "banker_odd",
        [{"when": {"banker": {"total": [1, 3, 5, 7, 9]}}, "pays": "1:1"}],
        lambda _, b: "1" if _points(b) % 2 else "lose",
    ),
    (
        "eights",
        [
            {"when": {"all_cards": {"has": {"of": "8", "times": [4, 5, 6]}}}, "pays": "75:1"},
            {"when": {"all_cards": {"has": {"of": "8", "times": 3}}}, "pays": "25:1"},
            {"when": {"all_cards": {"has": {"of": "8", "times": 2}}}, "pays": "5:1"},
        ],
        _eights,
    ),
    (
        "of_a_kind",
        [
            {"when": {"all_cards": {"of_one_rank": [4, 5, 6]}}, "pays": "40:1"},
            {"when": {"all_cards": {"of_one_rank": 3}}, "pays": "4:1"},
        ],
        _most,
    ),
    (
        "free_naturals",
        [
            {"when": {"winner": "banker", "natural": True}, "pays": "1:1"},
            {"when": {"winner": "banker"}, "pays": "1:1", "commission_taken": "1:20"},
            {"when": {"winner": "tie"}, "result": "push"},
        ],
        _free_naturals,
    ),
    ("flush", [{"when": {"first_four": {"same_suit": True}}, "pays": "18:1"}], _flush),
    (
        "high",
        [{"when": {"all_cards": {"points": [*range(30, 55)]}}, "pays": "2:1"}],
        lambda p, b: "2" if _points(f"{p} {b}") >= 30 else "lose",
    ),
    (
        "royal_match",
        [{"when": {"banker": {"first_two": ["K", "Q"], "suited": True}}, "pays": "30:1"}],
        lambda _, b: "30" if {b[0], b[3]} == {"K", "Q"} and b[1] == b[4] else "lose",
    ),
    (
        "both_sums",
        [{"when": {"total_sum": [0, 18]}, "pays": "25:1"}],
        lambda p, b: "25" if _points(p) % 10 + _points(b) % 10 in (0, 18) else "lose",
    ),
]
EIGHTS = [Card.parse(text) for text in ("8S", "8H", "KS", "QS", "3S", "3H", "6D")]


def test_bets_of_houses_that_nobody_named_are_written_with_the_same_words(tableau: Tableau, tmp_path: Path) -> None:
    raws = [{"spot": spot, "rows": rows} for spot, rows, _ in OTHER_HOUSES]
    assert len(raws) <= MOST_BETS
    bets = loaded(tmp_path, raws)
    assert [idle for bet in bets for idle in without_a_round(PuntoBanco(tableau, "dealt"), bet, 8)] == []
    seen: set[tuple[str, str]] = set()
    random = Random(11)
    for deal in range(1_200):
        shoe = random.choices([DECK, FEW, EIGHTS][deal % 3], k=6)
        steps = (next_step(tableau, shoe[:dealt]) for dealt in range(4, 7))
        done = next(step for step in steps if isinstance(step, TwoHands))
        player, banker = (" ".join(map(str, hand)) for hand in (done.player, done.banker))
        for bet_, (spot, _, says) in zip(bets, OTHER_HOUSES, strict=True):
            became = comes_to(bet_, done)
            assert became == says(player, banker), (spot, player, banker)
            seen.add((spot, became))
    for spot, rows, _ in OTHER_HOUSES:
        results = {f"{Fraction(row['pays'].replace(':', '/'))}" if "pays" in row else row["result"] for row in rows}
        assert {became for of, became in seen if of == spot} >= results, f"no hand was so: choose another seed ({spot})"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Has(("KX",)), "'KX' is not a rank, a suit or a card"),
        (lambda: HandIs(first_two=(("K",),)), "first_two needs two ranks"),
        (lambda: When(total_sum=(19,)), "19 cannot be the sum of two totals"),
        (lambda: Row(When()), "exactly one of pays, result and award"),
        (lambda: Row(When(), pays=Fraction(1), award="all"), "exactly one of pays, result and award"),
        (lambda: Row(When(), award="all"), "an award needs either a meter or cents"),
        (lambda: Row(When(), award="all", cents=1, share=Fraction(1, 2)), "share needs a meter"),
        (lambda: Row(When(), result="push", commission_owed=Fraction(1, 20)), "commission needs pays"),
    ],
)
def test_what_no_row_can_say_is_refused_where_it_is_said(made: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        made()


@pytest.mark.parametrize(("after_split", "pays"), [("leftmost", 3), ("rightmost", 1), ("best", 5)])
def test_a_wager_on_a_split_seat_is_decided_by_the_hand_that_the_bet_names(after_split: Any, pays: int) -> None:
    """If a seat has split, the bet's `after_split` says which of the seat's hands decides a wager. The hands in this
    test have 5, 9 and 7 points, from the left. In the bet's pay table, the rows that pay the most stand first."""
    odds: tuple[tuple[Points, int], ...] = ((9, 5), (5, 3), (7, 1))
    rows = tuple(Row(When(either=HandIs(total=(points,))), pays=Fraction(odd)) for points, odd in odds)
    seen = [
        Finished(as_it_lies((), (Card.parse("2H"), Card.parse(rank + "H")), (Card.parse("KS"), Card.parse("KD"))), ())
        for rank in "375"
    ]
    row = deciding_of(Bet("tie", rows=rows, after_split=after_split), seen)
    assert row is not None
    assert row.pays == pays
