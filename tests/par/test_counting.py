"""Checks of the program that counts how many deals of a round bring each outcome. Its counts are compared with every
order of a few cards, and with published counts.

The second count shares no code with the first: it deals whole rounds, one after the other, and the simulated house
deals and judges them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import perm
from pathlib import Path
from statistics import pstdev
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import fields

from controller.people.par.counting import Kinds, by_row, kinds, tableau_draws
from controller.people.par.odds import Odds, outcomes
from controller.people.par.shoe import Shoe, fresh
from controller.people.par.sights import HAND_WORDS, WHEN_WORDS, sight
from controller.rules.game.baccarat import PuntoBanco
from controller.rules.game.bets import Bet, HandIs, Row, When
from controller.rules.game.cards import Card, Suit
from drivers.sim import bets as simulated
from drivers.sim.house import Bet as SimulatedBet
from tests.game.test_bets import K9S, PRINTED, WHENS, loaded
from tests.support.bets import NATURAL, bet, bets_of
from tests.support.felt import dealt
from tests.support.samples import at_length
from tests.support.tables import ROYAL9

assert isinstance(ROYAL9.play, PuntoBanco)
TABLEAU = ROYAL9.play.tableau

Hands = tuple[tuple[str, ...], tuple[str, ...]]

# Few cards, so that each order of them can be dealt, and chosen so that what is rare comes.
SHOES = ("KS KS 9S 9S KH 9H 4D",)
MORE_SHOES = (
    "2D 2H 6D 3D QD 4H 7D",
    "KH 9S KH 9S 3H 3H 5H",
    "8H 8D 8S AS AS TC JC",
    "KS KH 9S 9H 4D 4D AC 2S",
    "9C KC KC 9C KS 9S 6H TH",
    "AS AS AS AD 5S 5D 8S 8D",
    "2S 3S 4S 5H 6H 7H KC KD",
    "7D 7D 7D 8D 9D TD JD QD",
)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], list[Bet]]:
    """Return sample bets twice: as TOML values, and as the program reads them. There is a bet for every sixteenth
    condition (for every condition in a long run), and one bet whose pay table has several rows."""
    whens = WHENS if at_length else WHENS[::16]
    raws = [{"spot": f"b{n}", "rows": [{"when": when, "pays": "1:1"}]} for n, when in enumerate(whens)]
    rows = [{"when": when, "pays": "1:1"} for when in ({"winner": "banker", "both": {"pair": True}}, WHENS[-1])]
    raws.append({"spot": "rows", "rows": [*rows, {"when": {"margin": [1, 2]}, "pays": "2:1"}]})
    read = [loaded(tmp_path_factory.mktemp("game"), raws[at : at + 10]) for at in range(0, len(raws), 10)]
    return raws, [each for few in read for each in few]


def counted_one_by_one(cards: Sequence[str], raws: Sequence[Mapping[str, Any]]) -> list[Counter[int | None]]:
    """Deal these cards in every order. `raws` holds the bets as TOML values. For each bet, return how many deals each
    row of its pay table decides at seat 1. The key is the index of the row, or None for deals that no row decides."""
    bets = convert(raws, list[SimulatedBet])
    found: list[Counter[int | None]] = [Counter() for _ in bets]
    for (player, banker), ways in Counter(map(dealt, permutations(cards, 6))).items():
        for house, rows in zip(bets, found, strict=True):
            row = simulated.row_for(house, {"player": player, "banker": banker}, 1, PRINTED)
            rows[None if row is None else house.rows.index(row)] += ways
    return found


def counted(bet_: Bet, shoe: Shoe) -> Counter[int | None]:
    seen = sight(bet_, K9S[1], (K9S[2], K9S[3]))
    return by_row([bet_], kinds(seen, NATURAL), shoe, tableau_draws(TABLEAU))[0]


@pytest.mark.parametrize("text", [*SHOES, *(pytest.param(more, marks=pytest.mark.proof) for more in MORE_SHOES)])
def test_every_order_of_a_few_cards(text: str, words: tuple[list[dict[str, Any]], list[Bet]]) -> None:
    raws, bets = words
    cards = text.split()
    shoe = Counter(map(Card.parse, cards))
    one_by_one = counted_one_by_one(cards, raws)
    assert [counted(bet_, shoe) for bet_ in bets] == one_by_one
    assert {sum(rows.values()) for rows in one_by_one} == {perm(len(cards), 6)}


COMPARE_SUITS: list[dict[str, Any]] = [
    {"identical": True, "player": {"suited": False}},
    {"winner": "banker", "player": {"same_suit": True}, "banker": {"of_one_suit": 2}},
    {"all_cards": {"of_one_suit": [3, 4]}, "player": {"pair": False, "cards": 3}},
    {"first_four": {"of_one_suit": 2, "different_ranks": 2}, "banker": {"suited": True}},
    {"all_cards": {"cards": 6, "of_one_suit": 2}, "either": {"same_suit": True}},
]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("text", "decide"), [("4S 4H 4D 4C 4S 4H 4D 4C", {None, 0}), ("6S 6H 6D 6C AS AH AD AC", {None, 1, 3})]
)
def test_suits_that_are_only_compared_from_a_few_cards_of_each(
    text: str, decide: set[int | None], tmp_path: Path
) -> None:
    raws = [{"spot": "suits", "rows": [_when(when) for when in COMPARE_SUITS]}]
    shoe = Counter(map(Card.parse, text.split()))
    one_by_one = counted_one_by_one(text.split(), raws)
    assert [counted(bet_, shoe) for bet_ in loaded(tmp_path, raws)] == one_by_one
    assert {*one_by_one[0]} == decide


@pytest.mark.proof
def test_a_spade_stands_for_every_suit_only_where_the_shoe_has_as_many_of_each(tmp_path: Path) -> None:
    """The program counts spades in place of every suit only if the shoe has equally many cards of each suit. Otherwise
    it counts each suit. Both ways give the same result, and counting each suit is checked against every order of a few
    cards."""
    raws = [{"spot": "suits", "rows": [_when(when) for when in COMPARE_SUITS[1:2]]}]
    (compared,) = loaded(tmp_path, raws)
    for shoe in (fresh(2), {**fresh(2), Card.parse("9H"): 1}):
        one_by_one = Kinds(sight(compared), NATURAL, ())
        one_by_one._suits = [[suit] for suit in Suit]
        (rows,) = by_row([compared], one_by_one, shoe, tableau_draws(TABLEAU))
        assert counted(compared, shoe) == rows


def test_what_a_house_holds_in_an_hour_spreads_as_the_deals_themselves_do(tmp_path: Path) -> None:
    """The program computes the mean and the spread of what the house wins in an hour. Both agree with the mean and the
    spread computed from the gain of each single deal."""
    banker = {"when": {"winner": "banker"}, "pays": "1:1", "commission_taken": "1:20"}
    raw = {"spot": "some", "rows": [banker, {"when": {"winner": "tie"}, "pays": "8:1"}]}
    cards = ["KS", "9S", "4D", "3C", "2H", "7S", "6H"]
    (ways,) = counted_one_by_one(cards, [raw])
    paid = {0: Fraction(19, 20), 1: Fraction(8), None: Fraction(-1)}
    gains = [paid[row] for row, many in ways.items() for _ in range(many)]
    (read,) = loaded(tmp_path, [raw])
    odds = Odds("some", (), outcomes(read, counted(read, Counter(map(Card.parse, cards)))))
    mean, least, most = odds.hold({}, 400)
    assert mean == pytest.approx(-400 * float(sum(gains) / len(gains)))
    assert (most - least) / 2 == pytest.approx(1.96 * pstdev(gains) * 20)
    assert (most + least) / 2 == pytest.approx(mean)


IN_ORDER: list[dict[str, Any]] = [
    {"player": {"first": ["H", "D"]}},
    {"banker": {"second": "K"}, "winner": "banker"},
    {"either": {"third": ["S", "8H"]}},
    {"exactly_one": {"first": ["9", "K"], "second": ["9H", "S"]}},
    {"identical": True, "player": {"first": "K"}, "banker": {"first": "9"}},
    {"identical": False, "player": {"second": "9"}, "banker": {"first": "KS"}},
    {"player": {"first": "K", "pair": False}, "first_four": {"of_one_rank": 2}},
]


@pytest.mark.parametrize("text", [*SHOES, pytest.param("AS AS AS AD 5S 5D 8S", marks=pytest.mark.proof)])
def test_the_card_at_its_place_in_the_hand(text: str, tmp_path: Path) -> None:
    raws = [{"spot": f"b{n}", "rows": [{"when": when, "pays": "1:1"}]} for n, when in enumerate(IN_ORDER)]
    raws[-1]["rows"] = [{"when": when, "pays": "1:1"} for when in (IN_ORDER[4], IN_ORDER[3], IN_ORDER[0], IN_ORDER[6])]
    cards = text.split()
    one_by_one = counted_one_by_one(cards, raws)
    assert [counted(bet_, Counter(map(Card.parse, cards))) for bet_ in loaded(tmp_path, raws)] == one_by_one


# Rows that look at the first two cards, at third cards and at all cards in ways of their own; and that name one suit or
# colour and compare the others.
MIXED: list[list[dict[str, Any]]] = [
    [
        {"all_cards": {"has": {"of": ["9", "2"], "times": [3, 4]}}},
        {"first_four": {"of_one_rank": 3}},
        {"either": {"first_two": ["2", "8"], "suited": True}},
    ],
    [
        {"color": "red"},
        {"first_four": {"same_suit": True}},
        {"losing": {"third": ["8", "9"]}},
        {"all_cards": {"total": [2, 5]}},
    ],
    [
        {"all_cards": {"of_one_suit": [3, 4], "has": {"of": "S", "times": 1}}},
        {"player": {"same_suit": True, "cards": 3}},
        {"exactly_one": {"third": "S"}},
    ],
]
MIXED_SHOES = ("2H 2D 8H 8D 8C KS",)
MORE_MIXED_SHOES = (
    "2H 2D 2C 8H 8D 8C KS",
    "2S 2H 2D 8S 8H 9D 9C",
    "2H 2D 2C 8H 8D 8C KS 9S",
    "3S 3H 3D 3C 6S 6H 6D 6C",
    "2H 2D 2S 2C 8D 8H 4S 4C",
)


@pytest.mark.parametrize(
    "text", [*MIXED_SHOES, *(pytest.param(more, marks=pytest.mark.proof) for more in MORE_MIXED_SHOES)]
)
def test_rows_that_look_at_hands_in_several_ways_at_once(text: str, tmp_path: Path) -> None:
    """Rows of a pay table that combine several conditions on the hands are counted correctly. The test counts them in
    several small shoes, with and without equally many cards of the suits that no row names."""
    raws = [{"spot": f"b{n}", "rows": [*map(_when, rows)]} for n, rows in enumerate(MIXED if at_length else MIXED[::2])]
    cards = text.split()
    one_by_one = counted_one_by_one(cards, raws)
    assert [counted(bet_, Counter(map(Card.parse, cards))) for bet_ in loaded(tmp_path, raws)] == one_by_one
    assert sum(map(len, one_by_one)) > 2 * len(raws), "most bets win somewhere, by more than one row"


@pytest.mark.proof
def test_a_suit_at_its_place_is_as_often_as_each_other_suit() -> None:
    """A condition on one suit is met as often as the same condition on any other suit, because the shoe has equally
    many cards of each. Example: a third card in hearts comes as often as a third card in spades."""

    def suited(*suits: str) -> int:
        when = When(winner=("player",), player=HandIs(suited=True, third=suits))
        return counted(Bet("x", rows=(Row(when, pays=Fraction(1)),)), fresh(8))[0]

    assert suited("H") == suited("S") == suited("S", "D") // 2 == suited("S", "H", "D", "C") // 4 > 0


def test_no_word_is_left_out() -> None:
    """The counting program knows every word that a condition of a bet can contain. An unknown word would be ignored, as
    if no bet looked at it."""
    assert {field.name for field in fields(HandIs)} == HAND_WORDS
    assert {field.name for field in fields(When)} == WHEN_WORDS


# As published for eight decks: the deals that win, of 4,998,398,275,503,360.
PUBLISHED = [
    ("royal9", "player", {0: 2_230_518_282_592_256, 1: 475_627_426_473_216}),
    ("royal9", "banker", {0: 2_292_252_566_437_888, 1: 475_627_426_473_216}),
    ("royal9", "tie", {0: 475_627_426_473_216}),
    ("ez_baccarat", "dragon_7", {0: 112_633_011_329_024}),
    ("ez_baccarat", "panda_8", {0: 172_660_763_262_976}),
    ("punto_2000", "super_6", {0: 269_232_304_455_680}),
]


@pytest.mark.parametrize(("table", "spot", "published"), PUBLISHED)
def test_the_published_counts(table: str, spot: str, published: Mapping[int, int]) -> None:
    rows = counted(bet(bets_of(table), spot), fresh(8))
    assert {row: ways for row, ways in rows.items() if row is not None} == published
    assert sum(rows.values()) == 4_998_398_275_503_360


def _when(when: dict[str, Any]) -> dict[str, Any]:
    return {"when": when, "pays": "1:1"}


def _poker(word: dict[str, Any]) -> dict[str, Any]:
    return _when({"first_four": word})


# Bets of other casinos: the rows as their tables are printed, and the deals that each row decides, as published.
ELSEWHERE: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "lucky_6": (
        [_when({"winner": "banker", "banker": {"total": 6, "cards": cards}}) for cards in (2, 3)],
        [186_173_936_904_192, 83_058_367_551_488],
    ),
    "egalite": (
        [_when({"winner": "tie", "player": {"total": total}}) for total in range(10)],
        [
            *(28_979_901_420_544, 20_499_217_668_352, 20_006_606_104_576, 22_250_510_129_408, 36_294_133_463_040),
            *(39_684_046_743_808, 96_170_001_308_416, 101_717_538_899_968, 54_879_416_675_072, 55_146_054_060_032),
        ],
    ),
    "quik": (
        [_when({"total_sum": 0}), _when({"total_sum": 18}), _when({"total_sum": [1, 2, 3, 15, 16, 17]})],
        [28_979_901_420_544, 55_146_054_060_032, 839_502_186_734_592],
    ),
    "any_8_beats_any_6": ([_when({"winning": {"total": 8}, "losing": {"total": 6}})], [150_358_085_283_840]),
    "two_card_9_beats_7": (
        [_when({"winning": {"total": 9, "cards": 2}, "losing": {"total": 7, "cards": 2}})],
        [90_066_027_282_432],
    ),
    "three_card_9_beats_1": (
        [_when({"winning": {"total": 9, "cards": 3}, "losing": {"total": 1, "cards": 3}})],
        [28_511_182_835_712],
    ),
    "matching_dragon_2": (
        [_when({"all_cards": {"has": {"of": "2", "times": times}}}) for times in (6, 5, 4, 3, 2)],
        [652_458_240, 36_344_340_480, 1_130_651_443_200, 20_753_336_463_360, 229_384_762_118_144],
    ),
    # Published for four cards in any order, so each count comes with 4! orders, and with the two cards after them.
    "four_cards_of_a_kind": (
        [_poker({"of_one_rank": 4}), _poker({"of_one_rank": 3})],
        [24 * 412 * 411 * four for four in (467_480, 24_760_320)],
    ),
    "jackpot_baccarat": (
        [
            _poker({"ranks": ["A", "K", "Q", "J"], "same_suit": True}),
            _poker({"of_one_rank": 4}),
            _poker({"straight": True, "same_suit": True}),
            _poker({"of_one_rank": 3}),
            _poker({"same_suit": True}),
            _poker({"straight": True}),
            _poker({"of_one_rank": 2, "different_ranks": 2}),
            _poker({"of_one_rank": 2, "has": {"of": "A", "times": 2}}),
            *(_poker({"of_one_rank": 2, "has": {"of": rank, "times": 2}}) for rank in "TJQK"),
        ],
        [
            24 * 412 * 411 * four
            for four in (16_384, 467_480, 163_840, 24_760_320, 17_929_088, 11_354_112, 18_944_640, 33_048_576)
        ]
        + [24 * 412 * 411 * 132_194_304 // 4] * 4,
    ),
}


_LONG = ("matching_dragon_2", "jackpot_baccarat")


@pytest.mark.parametrize(
    "spot", [pytest.param(spot, marks=[pytest.mark.proof] if spot in _LONG else []) for spot in ELSEWHERE]
)
def test_bets_of_other_casinos_as_published(spot: str, tmp_path: Path) -> None:
    rows, published = ELSEWHERE[spot]
    (bet_,) = loaded(tmp_path, [{"spot": spot, "rows": rows}])
    decided = counted(bet_, fresh(8))
    assert [decided[row] for row in range(len(rows))] == published
