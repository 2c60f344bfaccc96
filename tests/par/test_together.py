"""Checks of the odds of all bets of one round together. The odds are compared with published counts of each kind of
round, with bets written by hand, and with limits added up by hand. None of these share code with the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import perm
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.people.cli.main import main
from controller.people.par.liability import liability
from controller.people.par.sensitivity import by_cut_card, by_decks
from controller.people.par.sheet import par, subject
from controller.people.par.together import Together, pairs, together
from controller.rules.game.bets import Bet, Row, When
from controller.rules.game.hands import Outcome, TwoHands
from controller.rules.game.wagers import Wager, stand
from controller.rules.game.wagers import WagerRules as Limits
from tests.game.test_enumeration import every_hand
from tests.support.tables import ROYAL9

GAMES = Path(__file__).parents[2] / "config" / "games"
TABLES = GAMES.parent / "tables"

_PANDA_8, _DRAGON_7 = 172_660_763_262_976, 112_633_011_329_024
EZ = {
    "player": 2_230_518_282_592_256 - _PANDA_8,
    "panda_8": _PANDA_8,
    "banker": 2_292_252_566_437_888 - _DRAGON_7,
    "dragon_7": _DRAGON_7,
    "tie": 475_627_426_473_216,
}
"""The five kinds of rounds that the bets of EZ Baccarat tell apart, and how many deals of eight decks each kind has, as
published."""

GAINS = {
    "player": {"player": 1, "panda_8": 1, "tie": 0},
    "tie": {"tie": 8},
    "dragon_7": {"dragon_7": 40},
    "panda_8": {"panda_8": 25},
}
"""What a unit on each of these bets gains by the kind of the round. A bet loses with every other kind."""


def _kind(done: TwoHands) -> str:
    if done.outcome is Outcome.PLAYER:
        return "panda_8" if len(done.player) == 3 and done.player_total == 8 else "player"
    if done.outcome is Outcome.BANKER:
        return "dragon_7" if len(done.banker) == 3 and done.banker_total == 7 else "banker"
    return "tie"


@pytest.mark.proof
def test_the_kinds_of_rounds_are_counted_one_by_one() -> None:
    tableau = ROYAL9.play.tableau
    assert tableau is not None
    counted = Counter[str]()
    for done, many in every_hand(tableau):
        counted[_kind(done)] += many
    assert counted == EZ


def test_the_covariance_of_two_bets_is_that_of_all_rounds() -> None:
    sheet = par(subject(GAMES / "ez_baccarat.toml"))
    told = {pair.spots: pair for pair in pairs(sheet, together(sheet.subject), {})}
    rounds = [({spot: gains.get(kind, -1) for spot, gains in GAINS.items()}, many) for kind, many in EZ.items()]
    mean = {spot: Fraction(sum(many * gain[spot] for gain, many in rounds), perm(416, 6)) for spot in GAINS}
    for one, other in [(a, b) for a in GAINS for b in GAINS if (a, b) in told]:
        both = Fraction(sum(many * gain[one] * gain[other] for gain, many in rounds), perm(416, 6))
        assert told[one, other].covariance == both - mean[one] * mean[other]
    assert len([spots for spots in told if {*spots} <= GAINS.keys()]) == 6
    assert ("player", "banker") not in told, "nobody may make both"
    square = {spot: Fraction(sum(many * gain[spot] ** 2 for gain, many in rounds), perm(416, 6)) for spot in GAINS}
    spread = {spot: float(square[spot] - mean[spot] ** 2) ** 0.5 for spot in GAINS}
    pair = told["tie", "dragon_7"]
    assert pair.correlation == pytest.approx(float(pair.covariance) / (spread["tie"] * spread["dragon_7"]))


@pytest.mark.parametrize(
    ("game", "levels", "cents", "spots"),
    [
        # Seven seats. Dragon 7: 40 x $500; Banker pushes then. Panda 8 with Player is 25 x $500 and $5,000, less.
        ("ez_baccarat", {}, 7 * 40 * 50_000, ["dragon_7"]),
        # A three-card 6 wins half of $5,000, and Lucky 6 is cut at $5,000: 22 x $500 would be more.
        ("even_draw", {}, 7 * (250_000 + 500_000), ["banker", "lucky_6"]),
        # Five gamblers beside two active seats; a tie is 8 x $200, and Player is 1 x $1,000.
        ("baccarat_royal", {}, 5 * 8 * 20_000, ["tie"]),
        # One pair of one suit: 1% of the meter, once; Player's $5,000 at each seat. $20 a seat for a pair is less.
        ("grand_fortune", {"grand": 1_000_000_000}, 7 * 500_000 + 1_000_000_000, ["player"]),
    ],
)
def test_the_most_that_a_round_costs(game: str, levels: dict[str, int], cents: int, spots: list[str]) -> None:
    of = subject(GAMES / f"{game}.toml")
    most = liability(of, together(of), levels)
    assert most is not None
    assert (most.cents, [wager.spot for wager in most.wagers]) == (cents, spots)


WIN = (Row(When(), pays=Fraction(1)), Row(When(), pays=Fraction(9)), Row(When(), result="half"))
"""Rows of which the test says which one decides."""

BACK = Limits(
    100,
    200,
    100,
    400,
    100,
    tie_only_meets_minimum=False,
    back_bettors=True,
    one_of=(("player", "banker"), ("tie", "six")),
)


def a_bet(spot: str, **words: Any) -> Bet:
    return Bet(spot, rows=WIN, **words)


HOUSES: dict[str, tuple[Limits, dict[str, Any]]] = {
    "one limit for both": (BACK, {}),
    "each has a limit of his own outside of the circles": (replace(BACK, counted_together="circles"), {}),
    "beside the same bet": (replace(BACK, back_bets_beside="same_bet", counted_together="circles"), {}),
    "a limit for each wager": (BACK, {"pays_at_most_cents": 1350}),
    "a part of the main wager": (BACK, {"needs": ("player",), "maximum_of_needed": Fraction(1, 2)}),
    "a price": (BACK, {"price_cents": 250}),
    "nobody behind": (replace(BACK, back_bettors=False), {}),
}


@pytest.mark.parametrize("name", HOUSES)
def test_the_most_that_a_seat_and_the_bettor_behind_it_win(name: str) -> None:
    """The program computes the highest amount that a seat and the back bettor behind it can win together. The amount
    equals the maximum over every set of wagers that both can make at a small table."""
    limits, of_tie = HOUSES[name]
    bets = (a_bet("player", limits="circle"), a_bet("banker", limits="circle"), a_bet("tie", **of_tie), a_bet("six"))
    rows = [(0, None, 1, 0), (None, 0, 1, None), (0, 2, None, 1), (2, 2, 2, 2), (None, None, 1, 1)]
    of = replace(subject(GAMES / "ez_baccarat.toml"), wagers=limits, bets=bets, most_seats=3)
    amounts = {"player": 200, "banker": 200, "tie": 400, "six": 400}
    seated = [*layouts(bets, amounts, back=False)]
    pairs_ = [
        (*one, *other)
        for one in seated
        for other in (layouts(bets, amounts, back=True) if limits.back_bettors else [()])
    ]
    stood = [placed for placed in pairs_ if stand(limits, bets, (1,), placed) == (placed, ())]
    assert len(stood) > 20
    for decided in rows:
        most = liability(of, Together(bets, (), ((decided, 1),), ()), {})
        assert most is not None
        assert most.cents == 3 * max(won(bets, decided, placed) for placed in stood), decided


def layouts(bets: Sequence[Bet], amounts: dict[str, int], *, back: bool) -> Iterator[tuple[Wager, ...]]:
    """Yield every set of wagers that one bettor can make, in steps of a hundred cents. `amounts` maps a bet's spot to
    its highest wager. With `back`, the bettor is the back bettor behind the seat. In each group of bets, such as Player
    and Banker, the bettor wagers on at most one."""
    for cents in product(
        *([0, each.price_cents] if each.price_cents else range(0, amounts[each.spot] + 1, 100) for each in bets)
    ):
        player, banker, tie, six = cents
        if not ((player and banker) or (tie and six)):
            yield tuple(Wager(1, bet.spot, each, back) for bet, each in zip(bets, cents, strict=True) if each)


def won(bets: Sequence[Bet], decided: Sequence[int | None], placed: Sequence[Wager]) -> int:
    row_of = {bet.spot: (bet, row) for bet, row in zip(bets, decided, strict=True)}
    cents = 0
    for wager in placed:
        bet, row = row_of[wager.spot]
        pays = 0 if row is None else [1, 9, 0][row] * wager.cents
        cents += min(pays, bet.pays_at_most_cents or pays)
    return cents


@pytest.mark.parametrize("unequal", ["smaller_plays", "refused", "house_covers"])
@pytest.mark.parametrize("tie", [8, 4])
def test_two_unequal_stakes_cost_what_the_house_covers(unequal: Any, tie: int) -> None:
    """If the two active seats stake unequal amounts and the house covers the difference, the highest cost of a round
    includes that difference. Five gamblers bet $200 on Tie, or $1,000 on the hand of the winning seat. The winning seat
    stakes the maximum, and the losing seat the minimum."""
    of = subject(GAMES / "baccarat_royal.toml")
    bets = tuple(
        replace(bet, unequal_stakes=unequal)
        if bet.between_actives
        else replace(bet, rows=(replace(bet.rows[0], pays=Fraction(tie)),))
        if bet.spot == "tie"
        else bet
        for bet in of.bets
    )
    of = replace(of, bets=bets)
    most = liability(of, together(of), {})
    of_stake = next(bet for bet in bets if bet.between_actives)
    least, greatest = of.wagers.least_wager_cents(of_stake), of.wagers.most_wager_cents(of_stake)
    covered = greatest - least if unequal == "house_covers" else 0
    assert most is not None
    assert most.cents == max(5 * tie * 20_000, 5 * 100_000 + covered)
    by_hand = (
        [Wager(1, "stake", greatest), Wager(2, "stake", least)] if covered and most.cents > 5 * tie * 20_000 else []
    )
    assert {*most.stakes} in ({*by_hand}, {Wager(1, "stake", least), Wager(2, "stake", greatest)} if by_hand else set())


def test_where_every_seat_has_a_hand_nothing_is_counted_together() -> None:
    of = subject(GAMES / "lucky9.toml")
    count = together(of)
    assert liability(of, count, {}) is None
    assert count.left_out == tuple(bet.spot for bet in of.bets)


def test_the_figures_move_with_the_shoe_as_published() -> None:
    """With six decks, the house edges of Player, Banker (at 5% commission) and Tie agree with widely published figures.
    The number of rounds in a shoe changes with the place of the cut card."""
    sheet = par(subject(GAMES / "royal9.toml"))
    edges = {each.decks: [100 * float(bet.edge({})) for bet in each.sheet.bets[:3]] for each in by_decks(sheet.subject)}
    assert edges[6] == pytest.approx([1.2374, 1.0558, 14.4382], abs=1e-4)
    rounds = dict(by_cut_card(sheet))
    assert rounds[sheet.subject.shoe.cut_card_from_end] == sheet.hands[0]
    assert rounds[14].about - rounds[26].about == pytest.approx(12 / 4.9388, abs=1e-3)


def test_the_sheet_tells_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "par.html"
    assert main(["par", str(TABLES / "royal9.toml"), "--sensitivity", "--html", str(page)]) == 0
    told = capsys.readouterr().out
    for words in (
        "The most that the house pays in one round is $140,000.00: 7 seats with $5,000.00 on player, $500.00 on dragon",
        "Not counted together with other bets: royal9. What is printed at a seat decides them, or they tell too many",
        "Each wager on royal9 can win up to $5,000.00 more, or a meter.",
        "player and dragon_player: correlation +",
        "tie: house edge with 6 decks 14.43816%",
        "26 cards behind the cut card: about 79 rounds",
    ):
        assert words in told
        assert words in page.read_text("utf-8")
