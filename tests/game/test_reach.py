"""Checks which rows of a bet's pay table can ever decide a wager. The tests use games in which seats have hands of
their own, and bets on the cards of both hands."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.config.problems import ConfigError
from controller.people.cli.check import check
from controller.people.par.reach import idle_rows, without_a_round
from controller.people.par.sheet import par, subject
from controller.rules.game import reach
from controller.rules.game.bets import Bet, CardsAre, HandIs, Has, Row, When
from controller.table.rules import TableRules
from tests.game.test_bets import loaded
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, ROYAL9

THREES = CardsAre(ranks=("3", "3", "3"))
ACES = CardsAre(has=Has(("A",), (3,)))


@pytest.mark.parametrize(
    ("rules", "whens", "decks", "cannot"),
    [
        (ROYAL9, [When(own=HandIs(total=(9,)))], 8, {0: "never_holds"}),  # no seat has a hand of its own
        (LUCKY9, [When(player=HandIs(total=(9,)))], 8, {0: "never_holds"}),
        (BACCARAT_ROYAL, [When(winner=("own",)), When(winner=("dealer",))], 8, {0: "never_holds", 1: "never_holds"}),
        (LUCKY9, [When(dealer=HandIs(cards=(3,), first_two_total=(5,)))], 8, {0: "never_holds"}),
        (LUCKY9, [When(split=True, own=HandIs(cards=(3,)))], 8, {0: "never_holds"}),
        (LUCKY9, [When(with_up_card=CardsAre(total=(9,))), When(with_up_card=THREES)], 8, {1: "hidden"}),
        pytest.param(LUCKY9, [When(with_up_card=CardsAre(ranks=("3", "3", "3"), same_suit=True))], 2,
                     {0: "never_holds"}, marks=pytest.mark.proof),
        (LUCKY9, [When(with_up_card=CardsAre(ranks=("3", "3", "3"), same_suit=True))], 3, {}),
        (LUCKY9, [When(own=HandIs(ranks=("3", "3", "3")))], 1, {}),  # of three suits
        (LUCKY9, [When(with_up_card=THREES)], 1, {}),
        (LUCKY9, [When(identical=True)], 8, {}),
        (LUCKY9, [When(identical=True)], 1, {0: "never_holds"}),
        (ROYAL9, [When(player=HandIs(ranks=("2", "2", "2"), same_suit=False))], 1, {}),
        (LUCKY9, [When(with_up_card=ACES, dealer=HandIs(first_two_total=(1,)))], 8, {}),  # a ten beside the ace
        (LUCKY9, [When(with_up_card=ACES, dealer=HandIs(first_two_total=(2,))), When(with_up_card=ACES)], 8, {}),
        (LUCKY9, [When(with_up_card=ACES, own=HandIs(total=(3,), cards=(2,)))], 8, {0: "never_holds"}),
        (ROYAL9, [When(all_cards=CardsAre(has=Has(("8",), (4,)))), When(all_cards=CardsAre(cards=(7,)))], 8,
         {1: "never_holds"}),
        (ROYAL9, [When(first_four=CardsAre(same_rank=True)), When(both=HandIs(pair=True))], 8, {}),
        (ROYAL9, [When(player=HandIs(straight=True)), When(player=HandIs(ranks=("A", "K", "Q")))], 8, {1: "hidden"}),
        (ROYAL9, [When(player=HandIs(straight=True, cards=(3,), total=(0,)))], 8, {}),  # a ten, a jack and a queen
        (ROYAL9, [When(player=HandIs(straight=True, same_rank=True))], 8, {0: "never_holds"}),
        (ROYAL9, [When(player=HandIs(different_ranks=(1,))), When(player=HandIs(same_rank=True))], 8, {1: "hidden"}),
        (ROYAL9, [When(player=HandIs(first=("K",))), When(player=HandIs(first=("K",), second=("9",)))], 8,
         {1: "hidden"}),
        (ROYAL9, [When(player=HandIs(second=("9",))), When(player=HandIs(first_two=(("K",), ("9",))))], 8, {}),
        (ROYAL9, [When(identical=True, player=HandIs(first=("K",)), banker=HandIs(first=("9",)))], 8, {}),
        (ROYAL9, [When(player=HandIs(first=("KS",), second=("KS",)))], 1, {0: "never_holds"}),
        (ROYAL9, [When(player=HandIs(third=("H",), cards=(2,))), When(player=HandIs(third=("8H", "9")))], 8,
         {0: "never_holds"}),
    ],
)  # fmt: skip
def test_the_rows_that_no_hand_reaches(
    rules: TableRules, whens: list[When], decks: int, cannot: dict[int, str]
) -> None:
    bet = Bet("x", rows=tuple(Row(when, pays=Fraction(1)) for when in whens))
    assert {each.row: each.why for each in without_a_round(rules.play, bet, decks)} == cannot


def test_where_not_all_hands_are_tried_no_row_is_called_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the search left out some hands, no row of a pay table is called unreachable. Example: a single deck cannot
    deal two hands of the same cards, and the search does not try other cards of the same kinds in their place."""
    bet = Bet("x", rows=(Row(When(first_four=CardsAre(cards=(3,))), pays=Fraction(1)),))
    assert [each.why for each in without_a_round(LUCKY9.play, bet, 8)] == ["never_holds"]
    assert [*without_a_round(LUCKY9.play, bet, 1)] == []
    monkeypatch.setattr(reach, "_MOST_PAIRS", 3)
    assert [*without_a_round(LUCKY9.play, bet, 8)] == [], "there are too many pairs of hands"


def test_at_baccarat_royal_a_stake_alone_is_on_a_hand_of_the_bettors_own() -> None:
    rows = tuple(Row(When(winner=(name,)), pays=Fraction(1)) for name in ("own", "player", "banker", "dealer"))
    found = without_a_round(BACCARAT_ROYAL.play, Bet("x", between_actives=True, rows=rows), 8)
    assert {each.row: each.why for each in found} == {3: "never_holds"}


# What `check` alone looks for: rows that can decide no round. The bet's rows, the row told, words.
UNREACHABLE: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "a margin of a tie": ([{"when": {"winner": "tie", "margin": 2}, "pays": "8:1"}], 0, "holds for no round"),
    "a natural on three cards": (
        [{"when": {"either": {"natural": True, "cards": 3}}, "pays": "8:1"}],
        0,
        "holds for no round",
    ),
    "Banker's three cards after Player's natural": (
        [{"when": {"player": {"natural": True}, "banker": {"cards": 3}}, "pays": "8:1"}],
        0,
        "holds for no round",
    ),
    "a perfect pair of aces that is no pair": (
        [{"when": {"player": {"pair": False, "first_two": ["A", "A"]}}, "pays": "8:1"}],
        0,
        "holds for no round",
    ),
    "a better row behind the rest": (
        [
            {"when": {"either": {"pair": True}}, "pays": "5:1"},
            {"when": {"both": {"pair": True, "suited": True}}, "pays": "200:1"},
        ],
        1,
        "this row of other holds, an earlier row holds too",
    ),
    "a row behind all hands": (
        [{"when": {}, "pays": "5:1"}, {"when": {"cards": 4}, "pays": "6:1"}],
        1,
        "an earlier row holds too",
    ),
}


@pytest.mark.parametrize("case", UNREACHABLE)
def test_a_row_that_can_decide_no_hand_is_told(case: str, tmp_path: Path) -> None:
    rows, number, words = UNREACHABLE[case]
    loaded(tmp_path, [{"spot": "other", "rows": rows}])
    with pytest.raises(ConfigError) as caught:
        check(tmp_path / "table.toml", None, 1, strict=False)
    (told,) = caught.value.problems
    assert (Path(told.file).name, told.key) == ("game.toml", f"bets.0.rows.{number}")
    assert words in told.what


REACHABLE: list[dict[str, Any]] = [
    {"identical": True},
    {"identical": False},
    {"both": {"seat_pair": "another"}},
    {"both": {"seat_pair": "own"}, "identical": True},
    {"player": {"seat_pair": "own"}, "banker": {"seat_pair": "another"}},
    {"exactly_one": {"seat_pair": "own", "suited": True}},
    {"both": {"cards": 3, "same_rank": True, "same_suit": True}},
    {"both": {"cards": 3, "total": 7}},
    {"cards": 6, "color": ["red"]},
    {"color": "black", "winner": "tie", "total_sum": 18},
    {"winning": {"third": "9", "pair": True}, "losing": {"first_two": ["T", "J"]}},
    {"margin": 9, "natural": False},
    {"either": {"first_two_total": 5, "color": "red", "same_suit": False}},
]


@pytest.mark.parametrize("when", REACHABLE, ids=str)
def test_a_row_that_some_hand_reaches_is_let_be(when: dict[str, Any], tmp_path: Path) -> None:
    (bet,) = loaded(tmp_path, [{"spot": "other", "rows": [{"when": when, "pays": "8:1"}]}])
    assert [*without_a_round(ROYAL9.play, bet, 8)] == []


RANKS = ("3", "5", "T", "J")
"""A bet sold at four spots. Six threes are no round, since two hands of two threes stand."""


def sold(rank: str) -> dict[str, Any]:
    rows = [({"all_cards": {"has": {"of": rank, "times": times}}}, f"{30 * times - 100}:1") for times in (6, 5, 4)]
    return {"spot": f"rank_{rank.lower()}", "rows": [{"when": when, "pays": pays} for when, pays in rows]}


def test_a_row_that_decides_rounds_at_another_spot_of_the_same_bet_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded(tmp_path, [sold(rank) for rank in RANKS])
    assert check(tmp_path / "table.toml", None, 1, strict=False) == 0
    warnings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: row")]
    why = "this row of rank_3 holds for no round, so it decides nothing; at another spot the same row does"
    assert warnings == [f"warning: row {row}: {why}" for row in (1, 2)]


def test_a_row_that_decides_rounds_nowhere_is_a_mistake_at_every_spot(tmp_path: Path) -> None:
    loaded(tmp_path, [sold(rank) for rank in ("3", "8", "9")])
    idle = idle_rows(par(subject(tmp_path / "table.toml")))
    assert [(each.bet, each.row, each.at_many_spots) for each in idle] == [
        (bet, row, False) for bet in range(3) for row in (0, 1)
    ]


@pytest.mark.parametrize("ranks", ["A3K", pytest.param("A23456789TJQK", marks=pytest.mark.proof)])
def test_rows_that_look_at_many_ranks_are_counted(ranks: str, tmp_path: Path) -> None:
    """The command `check` finishes within a short time on a bet whose pay table has many rows, each of which counts the
    cards of a different rank. An earlier version took more than 120 seconds for 65 such rows.

    No round has five or six cards of rank 3, 4, 8 or 9, because a hand with two of them stands or ends the round.
    """
    asked = [(rank, times) for times in (6, 5, 4) for rank in ranks]
    rows = [
        {"when": {"all_cards": {"has": {"of": rank, "times": times}}}, "pays": f"{times}:1"} for rank, times in asked
    ]
    (bet,) = loaded(tmp_path, [{"spot": "ranks", "rows": rows}])
    idle = {asked[each.row] for each in without_a_round(ROYAL9.play, bet, 8)}
    assert idle == {(rank, times) for rank, times in asked if rank in "3489" and times > 4}
