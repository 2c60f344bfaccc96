"""The bets of one round together, against counts that share no code with them: the published counts of each kind of
round, with the bets written by hand; and limits added up by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import perm
from pathlib import Path

import pytest

from controller.people.cli.main import main
from controller.people.par.sensitivity import by_cut_card, by_decks
from controller.people.par.sheet import par, subject
from controller.people.par.together import liability, pairs, together
from controller.rules.game.hands import Outcome, TwoHands
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


def test_where_every_seat_has_a_hand_nothing_is_counted_together() -> None:
    of = subject(GAMES / "lucky9.toml")
    count = together(of)
    assert liability(of, count, {}) is None
    assert count.left_out == tuple(bet.spot for bet in of.bets)


def test_the_figures_move_with_the_shoe_as_published() -> None:
    """Player's and Banker's edges with six decks and with eight are printed in many places; Banker's at 5%."""
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
