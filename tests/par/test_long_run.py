"""Checks of the cost of progressive bets with the pit's settings for its meters. The costs are counted a second time
from the first four cards, and a reserve is simulated hit by hit. One check puts a typing error into the settings that
would give the casino's money away."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import perm
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from controller.daemon.config.problems import ConfigError
from controller.people.cli.main import main
from controller.people.cli.meters import long_runs, meter_lines
from controller.people.par.long_run import LongRun, long_run
from controller.people.par.odds import Odds, outcomes
from controller.people.par.sheet import Par, par, subject
from controller.pit.reference.meters import Terms, reseed
from controller.pit.reference.settings import load
from controller.rules.game.bets import Bet, CardsAre, Row, When
from tests.documents.reports_page import PAR_REPORTS, held

CONFIG = Path(__file__).parents[2] / "config"
PIT, ROYAL9 = CONFIG / "pit.toml", CONFIG / "tables" / "royal9.toml"


@cache
def sheet(name: str) -> Par:
    return par(subject(CONFIG / name))


def runs(name: str) -> list[LongRun]:
    return long_runs(sheet(name), load(PIT))


# A second count, from the words of sheet 000: all orders of the first four cards of eight decks.

DECKS, REST = 8, "other"
KINDS = {rank + suit: DECKS for rank, suit in product("JQK9", "SHDC")} | {REST: DECKS * 52 - 16 * DECKS}


def won(own: set[str], others: list[set[str]], player: tuple[str, str], banker: tuple[str, str]) -> str:
    royal = [
        REST not in two and {card[0] for card in two} in ({"9", face} for face in "JQK") for two in (player, banker)
    ]
    suited = [is_royal and two[0][1] == two[1][1] for is_royal, two in zip(royal, (player, banker), strict=True)]
    if set(player) == own == set(banker):
        return "personal_vs_personal"
    if set(banker) == own:
        return "banker_personal"
    if set(player) == own:
        return "player_personal"
    if set(player) == set(banker) and set(player) in others:
        return "other_identical"
    if all(suited):
        return "suited_vs_suited"
    if all(royal):
        return "royal_vs_royal"
    return "suited_royal" if any(suited) else "any_royal" if any(royal) else "lose"


def test_every_hit_is_counted_a_second_time_and_the_edge_reckoned_from_it() -> None:
    printed = [set(seat["k9"].split()) for seat in tomllib.loads(ROYAL9.read_text("utf-8"))["seats"]]
    terms = tomllib.loads(PIT.read_text("utf-8"))["meters"]
    fixed = {
        "other_identical": 5000,
        "suited_vs_suited": 1500,
        "royal_vs_royal": 250,
        "suited_royal": 50,
        "any_royal": 25,
    }
    for run, own in zip(runs("tables/royal9.toml"), (printed[0], printed[4]), strict=True):
        ways = Counter[str]()
        others = [each for each in printed if each != own]
        for player, banker in product(combinations_with_replacement(KINDS, 2), repeat=2):
            orders, four = 2 ** (player[0] != player[1]) * 2 ** (banker[0] != banker[1]), player + banker
            for place, kind in enumerate(four):
                orders *= KINDS[kind] - four[:place].count(kind)
            ways[won(own, others, player, banker)] += orders
        deals = perm(52 * DECKS, 4)
        assert sum(ways.values()) == deals
        assert dict(run.often) == {name: Fraction(many, deals) for name, many in ways.items() if name != "lose"}
        kept = Fraction(5) - Fraction(sum(ways[name] * dollars for name, dollars in fixed.items()), deals)
        for name in ("personal_vs_personal", "banker_personal", "player_personal"):
            given, reserve = (
                5 * Fraction(*map(int, terms[name][key].split(":"))) for key in ("contribution", "reserve")
            )
            kept -= given + max(reserve, Fraction(terms[name]["seed_cents"] * ways[name], 100 * deals))
        assert run.edge == kept / 5


def test_two_perfect_pairs_of_six_decks_are_counted_a_second_time() -> None:
    grand = next(run for run in runs("games/grand_fortune.toml") if run.spot == "grand_pairs")
    same = 52 * 6 * 5 * (51 * 6 * 5 + 4 * 3)  # a card twice, and beside it another card twice or the same card again
    assert dict(grand.often)["two_perfect_pairs"] == Fraction(same, perm(312, 4))


# What the house pays of the seeds.


def _bet_that_wins_once_in(rounds: int) -> tuple[Bet, Odds]:
    bet = Bet("grand", price_cents=500, rows=(Row(When(), award="grand", meter="grand"),))
    return bet, Odds("grand", (), outcomes(bet, {0: 1, None: rounds - 1}))


@pytest.mark.parametrize("most", [10_000, 30_000], ids=["begins at its seed", "begins higher"])
@pytest.mark.parametrize("reserve", ["0:1", "1:100", "3:100", "8:100"])
def test_a_reserve_played_hit_by_hit_leaves_the_house_what_was_reckoned(most: int, reserve: str) -> None:
    """A meter's reserve, simulated hit by hit, costs the house no more than the program computed. A hit comes once in
    500 wagers of $5, and the meter starts again at $100. The reserve receives $0 to $200 on average between two hits.
    """
    share = Fraction(*map(int, reserve.split(":")))
    terms, hits, chance = Terms(10_000, Fraction(1, 10), share, most), 4_000, Random(17)
    paid_cents, held = 0, Fraction(0)
    for _ in range(hits):
        wagers = 1
        while chance.random() >= 1 / 500:
            wagers += 1
        held += wagers * 500 * share
        new = reseed(terms, int(held))
        held -= new.from_reserve_cents
        paid_cents += new.from_house_cents
    (filling,) = long_run(*_bet_that_wins_once_in(500), {"grand": terms}).fillings
    reckoned_cents = float(filling.from_house) * 500 * 500
    assert paid_cents / hits <= reckoned_cents + 300, "the house pays more than was said"
    if most == terms.seed_cents or not share:
        assert abs(paid_cents / hits - reckoned_cents) <= 300


# The shipped terms, and slips of the pen.


def test_a_casino_can_open_with_the_shipped_terms() -> None:
    """The shipped settings of the meters leave the house a sensible edge. Published progressive bets keep some 5 to 30
    per cent of the wagers. Rule sheet 000 with a wager of $5 leaves 5.3 per cent before any meter grows by a cent."""
    kept = [run for path in ("tables/royal9.toml", "games/grand_fortune.toml") for run in runs(path)]
    assert [run.spot for run in kept] == ["royal9", "royal9", "grand_pairs", "fortune_7"]
    assert all(Fraction(4, 100) < run.edge < Fraction(30, 100) for run in kept)


@pytest.mark.parametrize(
    ("was", "slip", "told"),
    [
        ("seed_cents = 150000\n", "seed_cents = 1500000\n", "keeps -395."),  # a zero too many
        ('contribution = "1:500"', 'contribution = "1:50"', None),  # still the house's
        ('contribution = "1:500"', 'contribution = "1:5"', "keeps -35.18%"),
        ('contribution = "1:250"', 'contribution = "88:100"', "gives 132.5% of each wager to its meters"),
        ('least_edge = "0:100"', 'least_edge = "5:100"', "keeps 4.42% of each wager in the long run, less than 5.00%"),
        ('least_edge = "0:100"', 'least_edge = "4:100"', None),
    ],
)
def test_terms_that_give_money_away_are_a_mistake(was: str, slip: str, told: str | None, tmp_path: Path) -> None:
    text = PIT.read_text("utf-8")
    assert was in text
    (tmp_path / "pit.toml").write_text(text.replace(was, slip), "utf-8")
    if told is None:
        assert meter_lines(sheet("tables/royal9.toml"), tmp_path / "pit.toml") == []
        return
    with pytest.raises(ConfigError) as caught:
        meter_lines(sheet("tables/royal9.toml"), tmp_path / "pit.toml")
    assert all(told in problem.what for problem in caught.value.problems[-1:]), caught.value


def test_a_meter_that_begins_below_an_award_which_falls_more_often_is_a_warning(tmp_path: Path) -> None:
    """The program warns if a new meter pays less than an award that is won more often. Here four of a kind would pay
    less than three of a kind. This is a warning and no error, because no cards win both."""
    four, three = (When(first_four=CardsAre(of_one_rank=(many,))) for many in (4, 3))
    rows = Row(four, award="four", meter="kinds", share=Fraction(1, 2)), Row(three, award="three", cents=5000)
    bet = Bet("kinds", price_cents=500, rows=rows)
    counted = par(replace(subject(CONFIG / "games" / "ez_baccarat.toml"), bets=(bet,)))
    terms = '[meters.kinds]\nseed_cents = {}\ncontribution = "1:10"\n[tables]\nmost_voids_in_a_shoe = 2\n'
    for seed, told in ((9999, 1), (10000, 0)):
        (tmp_path / "pit.toml").write_text(terms.format(seed), "utf-8")
        lines = meter_lines(counted, tmp_path / "pit.toml")
        assert len(lines) == told
    (tmp_path / "pit.toml").write_text(terms.format(9000), "utf-8")
    (line,) = meter_lines(counted, tmp_path / "pit.toml")
    assert line == (
        "warning: kinds: while kinds is new, four pays $45.00, less than an award that falls more often, $50.00"
    )


def test_check_refuses_terms_that_give_money_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pit.toml").write_text(PIT.read_text("utf-8").replace('"1:500"', '"1:5"'), "utf-8")
    assert main(["check", str(ROYAL9), "--pit-settings", str(tmp_path / "pit.toml")]) == 78
    assert "less than 0.00%" in capsys.readouterr().err


def test_the_par_sheet_tells_the_long_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    words = ["--pit-settings", str(PIT), "--rounds-an-hour", "50", "--html", str(page)]
    assert main(["par", str(ROYAL9), *words]) == 0
    out = capsys.readouterr().out
    for line in (
        "on the pit's terms the house keeps 5.43806% in the long run, with one wager a round",
        "its seeds cost 22.230%, of which the reserve pays 99.0%",
        "banker_personal: a wager wins it once in 1,349.5 rounds, at 50 rounds an hour once in 27.0 hours",
    ):
        assert f"  {line}" in out or line in out
        assert line.replace("'", "&#x27;") in page.read_text("utf-8")
    assert main(["par", str(ROYAL9), "--pit-settings", str(PIT), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    held(PAR_REPORTS[0], told)
    bets = {bet["spot"]: bet for bet in told["bets"]}
    assert bets["royal9"]["long_run"]["edge"] == str(runs("tables/royal9.toml")[1].edge)
    assert "long_run" not in bets["tie"]
