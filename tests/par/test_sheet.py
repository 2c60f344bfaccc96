"""Checks of the par sheets (the computed odds of a game): the published house edges, the progressive bets by the level
of their meter, and the cost of a change of rules."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from functools import cache
from math import perm
from pathlib import Path
from typing import Any

import pytest

from controller.basics.errors import TableError
from controller.people.cli import check as cli_check
from controller.people.cli.main import main
from controller.people.par.odds import Odds, outcomes
from controller.people.par.sheet import Par, par, subject
from controller.people.par.shoe import fresh
from controller.pit.reference.day_book import read_sheet
from controller.rules.game.bets import Bet, Row, When
from tests.daemon.test_config import Change, changed
from tests.documents.reports_page import PAR_REPORTS, held
from tests.support.errors import raising

CONFIG = Path(__file__).parents[2] / "config"
GAMES, TABLES = CONFIG / "games", CONFIG / "tables"


@cache
def of_game(name: str) -> Par:
    return par(subject(GAMES / f"{name}.toml"))


def odds(sheet: Par, spot: str, seat: str | None = None) -> Odds:
    (found,) = (bet for bet in sheet.bets if bet.spot == spot and (seat is None or seat in bet.seats))
    return found


# As published for eight decks, in per cent.
EDGES = [
    ("royal9", "player", "1.23508"),
    ("royal9", "banker", "1.05791"),
    ("royal9", "tie", "14.35963"),
    ("royal9", "dragon_player", "2.65167"),
    ("royal9", "dragon_banker", "9.37307"),
    ("kansas_star", "dragon_player", "2.50"),
    ("kansas_star", "dragon_banker", "8.53"),
    ("ez_baccarat", "banker", "1.018"),
    ("ez_baccarat", "dragon_7", "7.611"),
    ("ez_baccarat", "panda_8", "10.188"),
    ("punto_2000", "banker", "1.458"),
    ("punto_2000", "super_6", "29.98"),
]


@pytest.mark.parametrize(("game", "spot", "published"), EDGES)
def test_the_published_edges(game: str, spot: str, published: str) -> None:
    edge = 100 * odds(of_game(game), spot).edge({})
    assert f"{float(edge):.{len(published.partition('.')[2])}f}" == published


def test_a_pair_of_eight_decks_is_as_published() -> None:
    """A pair bet at 11 to 1, dealt from eight decks, has the published house edge of 10.361%. The shipped game that has
    pair bets is dealt from six decks."""
    of_eight = par(subject(GAMES / "pairs.toml"), fresh(8))
    for spot in ("player_pair", "banker_pair"):
        assert odds(of_eight, spot).hit_frequency == Fraction(31, 415)
        assert f"{100 * float(odds(of_eight, spot).edge({})):.3f}" == "10.361"


def test_every_outcome_is_counted_once() -> None:
    for game in ("royal9", "pairs", "sugarhouse"):
        sheet = of_game(game)
        assert {bet.deals for bet in sheet.bets} == {sheet.deals} == {perm(sheet.cards, 6)}


def test_hands_and_shoes_are_as_long_as_is_published() -> None:
    """A round from eight decks takes four, five or six cards as often as published figures say, which is 4.94 cards on
    average."""
    (hands,) = of_game("royal9").hands
    assert {cards: f"{float(often):.4f}" for cards, often in hands.by_cards.items()} == {
        4: "0.3789",
        5: "0.3034",
        6: "0.3177",
    }
    assert sum(hands.by_cards.values()) == 1
    assert hands.fewest < hands.about < hands.most


# Progressives.


def test_a_progressive_is_counted_by_seat() -> None:
    """A progressive bet has different odds at two kinds of seat. If the king and the nine printed at a seat have the
    same suit, that Royal 9 wins the seat's own award instead of the lower award for suited cards."""
    sheet = par(subject(TABLES / "royal9.toml"))
    suited, other = (odds(sheet, "royal9", f"seat {number}") for number in (1, 7))
    assert suited.seats == ("seat 1", "seat 2", "seat 3", "seat 4")
    assert other.seats == ("seat 5", "seat 6", "seat 7")
    assert suited.edge({}) != other.edge({})
    # Banker's first two cards are the printed two: 8 of each in 416, in either order. Less where Player's are too.
    own = Fraction(2 * 8 * 8, 416 * 415)
    both = own * Fraction(2 * 7 * 7, 414 * 413)
    for bet in (suited, other):
        by_meter = {outcome.meter: Fraction(outcome.ways, bet.deals) for outcome in bet.outcomes if outcome.meter}
        assert by_meter == {"personal_vs_personal": both, "banker_personal": own - both, "player_personal": own - both}


def test_at_the_break_even_meter_nobody_has_an_edge() -> None:
    bet = odds(par(subject(TABLES / "royal9.toml")), "royal9", "seat 5")
    levels = {"personal_vs_personal": 10_000_000}
    cents = bet.break_even_cents("banker_personal", levels)
    assert cents is not None
    each = bet.edge_by_meter()["banker_personal"]
    assert bet.edge({**levels, "banker_personal": 0}) == cents * each
    below, above = (bet.edge({**levels, "banker_personal": int(cents) + more}) for more in (0, 1))
    assert above < 0 <= below
    assert bet.break_even_cents("of_another_bet", levels) is None


# `tablectl par`.


def test_json_says_every_figure_and_the_pit_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["par", str(TABLES / "royal9.toml"), "--json", "--meter", "banker_personal=1000000"]) == 0
    printed = capsys.readouterr().out
    told = json.loads(printed)
    held(PAR_REPORTS[0], told)
    assert (told["cards"], told["deals"]) == (416, 4_998_398_275_503_360)
    banker = next(bet for bet in told["bets"] if bet["spot"] == "banker")
    assert [(each["ways"], each["net"]) for each in banker["outcomes"]] == [
        (2_292_252_566_437_888, "19/20"),
        (475_627_426_473_216, "0"),
        (2_230_518_282_592_256, "-1"),
    ]
    assert banker["edge"] == "114753351728/10847218479825"
    assert banker["edge_percent"] == pytest.approx(1.0579057842472013)
    royal9 = [bet for bet in told["bets"] if bet["spot"] == "royal9"]
    assert [seat for bet in royal9 for seat in bet["seats"]] == [f"seat {number}" for number in range(1, 8)]
    assert royal9[0]["meters"].keys() == {"personal_vs_personal", "banker_personal", "player_personal"}
    sheet = tmp_path / "royal9.par.json"
    sheet.write_text(printed, "utf-8")
    at_the_pit = read_sheet(sheet)  # `pitctl day --par`
    for seat in range(1, 8):
        (here,) = (bet for bet in royal9 if f"seat {seat}" in bet["seats"])
        assert at_the_pit.of("royal9", seat) == (Fraction(here["edge"]), Fraction(str(here["standard_deviation"])))
    assert at_the_pit.of("royal9", 8) is None


def test_csv_has_every_outcome_with_the_figures_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(TABLES / "ez_baccarat.toml")
    assert main(["par", file, "--csv", "--rounds-an-hour", "70"]) == 0
    table = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert main(["par", file, "--json", "--rounds-an-hour", "70"]) == 0
    bets = json.loads(capsys.readouterr().out)["bets"]
    told = [(bet, outcome) for bet in bets for outcome in bet["outcomes"]]
    assert [(row["spot"], row["when"], int(row["ways"]), row["net"], row["edge"]) for row in table] == [
        (bet["spot"], outcome["when"], outcome["ways"], outcome["net"], bet["edge"]) for bet, outcome in told
    ]
    assert [float(row["hold_an_hour"]) for row in table] == [bet["hold_an_hour"][0] for bet, _ in told]


def test_a_page_to_print_says_what_was_counted_and_how(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "par.html"
    assert main(["par", str(GAMES / "ez_baccarat.toml"), "--html", str(page)]) == 0
    text, of = page.read_text("utf-8"), subject(GAMES / "ez_baccarat.toml")
    told = "winner banker, banker (total 7, cards 3)"
    for said in (of.sheet, of.digest, told, "2,292,252,566,437,888", "1.01830%", "without replacement"):
        assert said in text
    assert of.digest in capsys.readouterr().out


def test_against_another_file_says_what_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def without_commission(game: dict[str, Any]) -> None:
        del game["bets"][1]["rows"][0]["commission_taken"], game["bets"][4]

    changed(tmp_path, in_game=without_commission)
    arguments = ["par", str(GAMES / "royal9.toml"), "--against", str(tmp_path / "game.toml")]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "player: unchanged; house edge 1.23508%" in told
    assert "house edge 1.05791% -> -1.23508% (-2.29299)" in told
    assert "dragon_banker: no longer offered; house edge 9.37307%" in told
    assert main([*arguments, "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    held(PAR_REPORTS[1], both)
    assert [len(both[which]["bets"]) for which in ("from", "to")] == [7, 6]


@pytest.mark.proof
def test_a_bet_is_as_it_was_however_many_cards_a_deal_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The program reports that a change of rules has no effect on a bet if the bet's odds stay the same, although
    rounds get longer. Here seat and dealer take at most six cards without splits, and eleven with three splits."""
    without = tmp_path / "lucky9.toml"
    told = (GAMES / "lucky9.toml").read_text("utf-8").replace("most_splits = 3", "most_splits = 0")
    without.write_text(told, "utf-8")
    assert main(["par", str(GAMES / "lucky9.toml"), "--against", str(without)]) == 0
    told = capsys.readouterr().out
    assert "lucky9_bonus: unchanged; house edge 13.10607%" in told
    assert "hand:\n  house edge 1.21216% -> 1.60680% (+0.39464)" in told
    assert "  before: whatever is chosen, the house edge is from 9.02335% to 30.53084%" in told


@pytest.mark.parametrize("level", ["banker_personal", "banker_personal=-1", "banker_personal=x", "tie=5"])
def test_a_level_of_no_meter_is_refused(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["par", str(GAMES / "royal9.toml"), "--meter", level]) == 1
    assert capsys.readouterr().err.startswith("no_such_meter: ")


def test_a_mistyped_meter_is_told_the_near_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["par", str(TABLES / "royal9.toml"), "--meter", "bankr_personal=1"]) == 1
    assert "the meter bankr_personal, is banker_personal meant?\n" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["par", str(GAMES / "royal9.toml"), "--html", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("page_unwritable: ")


def test_a_shoe_that_cannot_deal_a_hand_has_no_odds() -> None:
    of = subject(GAMES / "royal9.toml")
    with raising("too_few_cards"):
        par(of, dict.fromkeys(list(fresh(1))[:5], 1))


# `tablectl check`.


def _pays(spot: int, pays: str) -> Change:
    return lambda game: game["bets"][spot]["rows"][0].update(pays=pays)


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        pytest.param(_pays(2, "9:1"), None, marks=pytest.mark.proof),
        (_pays(2, "10:1"), "warning: the house loses on tie: its edge is -4.67156%"),
        (_pays(2, "6:1"), "warning: the house keeps 33.39082% of tie, more than 30%"),
    ],
)
def test_check_tells_the_edges_and_warns(
    change: Change, warning: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = changed(tmp_path, in_game=change)
    assert main(["check", str(table), "--pit-settings", str(CONFIG / "pit.toml")]) == 0
    *warnings, edges, _ = capsys.readouterr().out.splitlines()
    assert [each for each in warnings if "the house" in each] == ([warning] if warning else [])
    assert edges.startswith("house edges: player 1.235%, banker 1.058%, tie ")


def test_check_tells_what_needs_no_counting_before_it_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def counts(*_: object) -> Par:
        assert "a tie loses" in capsys.readouterr().out
        raise TableError("counted", "", "")

    monkeypatch.setattr(cli_check, "counted", counts)
    assert main(["check", str(changed(tmp_path, in_game=lambda game: game["bets"][0]["rows"].pop()))]) == 1
    assert capsys.readouterr().err.startswith("counted: ")


def test_an_award_of_a_part_of_a_meter_adds_that_part_alone() -> None:
    rows = (Row(When(), award="grand", meter="grand", share=Fraction(1, 10)),)
    (grand, _) = outcomes(Bet("fortune", price_cents=500, rows=rows), {0: 1, None: 999})
    assert grand.result == "grand: 1/10 of what is on the meter grand"
    assert grand.worth({"grand": 500_000}) == -1 + Fraction(50_000, 500)


def test_a_stake_that_goes_back_with_an_award_is_one_more_for_each_unit_staked() -> None:
    row = Row(When(), award="any", cents=2_500)
    for returned in (False, True):
        bet = Bet("x", price_cents=500, awards_return_stake=returned, rows=(row,))
        assert [each.net for each in outcomes(bet, {0: 1})] == [Fraction(4 + returned), Fraction(-1)]
