"""Checks rules for third cards that no rule sheet prints. The table, the simulated house and the computed odds must all
follow the rules in the game file.

Each set of rules is written a second time as a picture (`tests/support/tableaus.py`): a grid that shows who draws. The
picture shares no code with the program.
"""

from __future__ import annotations

import copy
from collections import Counter
from math import perm
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from controller.daemon.config import load
from controller.daemon.config.problems import ConfigError
from controller.people.par.sheet import par, subject
from controller.rules.game.baccarat import PuntoBanco, Tableau, next_step
from controller.rules.game.cards import Card
from controller.rules.game.drawing import check_draws
from controller.rules.game.play import Draw
from controller.words.found import SIDE_BY_SIDE
from drivers.shoe import NAMES
from drivers.sim import rules
from drivers.sim.house import read_house
from drivers.sim.punto_banco import PuntoBanco as SimulatedPuntoBanco
from drivers.sim.run import game_of
from drivers.sim.wagers import Bets, Wager
from tests.daemon.test_config import CONFIG, read
from tests.screen.test_views import read_otherwise
from tests.sim.test_sim_settings import dealt_by_both
from tests.support import tableaus
from tests.support.tableaus import CELLS, USUAL, WORTH, Picture

HOUSE = "even_draw"
TABLEAUS = 30
FEW = [(seed, 8) for seed in (0, 1, 5)]
MANY = [pytest.param(seed, 40, marks=pytest.mark.proof) for seed in range(TABLEAUS)]


ON_NATURALS = {
    "spot": "on_naturals",
    "rows": [
        {"when": {"natural": True, "winner": ["player", "tie"]}, "pays": "2:1"},
        {"when": {"banker": {"natural": True}}, "pays": "1:1"},
    ],
}
"""A natural is what the tableau says."""


def files(folder: Path, picture: Picture, driver: str = "beetek") -> Path:
    """Write the files of a table with these rules for third cards, and return the table file's path. The files are
    based on the shipped house Even Draw. `driver` is the brand of the shoe."""
    table, game = (copy.deepcopy(read(CONFIG / kind / f"{HOUSE}.toml")) for kind in ("tables", "games"))
    game["punto_banco"] |= {"tableau": picture.section(), "own_tableau": False}
    game["bets"] = [*(_without_reach(bet) for bet in game["bets"] if bet["spot"] != "lucky_6"), ON_NATURALS]
    table["table"] |= {"game": "game.toml"}
    table["shoe"] = {"driver": driver, "port": "/dev/shoe"}
    table["pins"] |= {"driver": "simulated", "page": str(folder / "header")}
    (folder / "game.toml").write_text(tomli_w.dumps(game), "utf-8")
    (folder / "table.toml").write_text(tomli_w.dumps(table), "utf-8")
    return folder / "table.toml"


def _without_reach(bet: dict[str, Any]) -> dict[str, Any]:
    """Return the bet with only those rows of its pay table that ask who won. Such rows can decide a wager under any
    rules for third cards."""
    return bet | {"rows": [row for row in bet["rows"] if row["when"].keys() == {"winner"}]}


def tableau_of(path: Path) -> Tableau:
    play = load(path).rules.play
    assert isinstance(play, PuntoBanco)
    return play.tableau


def in_deal_order(player: tuple[int, ...], banker: tuple[int, ...]) -> list[Card]:
    return [Card.parse(WORTH[value]) for value in (player[0], banker[0], player[1], banker[1], *player[2:])]


def differs(says: Tableau, picture: Picture) -> list[str]:
    """Compare the program, with the rules `says`, and the simulated house with the grid of rules in `picture`. Return a
    line for each position of a round in which the program or the house does not draw as the grid says."""
    found, section = [], rules.Drawing(**picture.section())
    for player, banker in tableaus.positions():
        if len(player) == 3 and picture.next(player[:2], banker) != "player":
            continue
        step = next_step(says, in_deal_order(player, banker))
        ours = str(step.hand) if isinstance(step, Draw) else None
        houses = rules.next_side([WORTH[value] for value in player], [WORTH[value] for value in banker], section)
        if {ours, houses} != {picture.next(player, banker)}:
            found.append(f"{player} {banker}: {ours}, {houses}")
    return found


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(n, marks=pytest.mark.proof) for n in range(5, TABLEAUS))])
def test_whatever_tableau_a_file_has_the_table_and_the_house_draw_by_it(seed: int, tmp_path: Path) -> None:
    picture = tableaus.at_random(seed)
    assert differs(tableau_of(files(tmp_path, picture)), picture) == []


@pytest.mark.parametrize(("seed", "rounds"), [*FEW, *MANY])
def test_rounds_of_any_tableau_are_dealt_and_paid_as_the_house_has_them(seed: int, rounds: int, tmp_path: Path) -> None:
    picture = tableaus.at_random(seed)
    path = files(tmp_path, picture)
    of, house = load(path).rules, game_of(read_house(path))
    spots = ((2, "player"), (5, "banker"), (6, "tie"), (6, "on_naturals"))
    chips = tuple(Wager(seat, spot, 2000) for seat, spot in spots)
    for number in range(rounds):
        table, told = dealt_by_both(of, house, Bets(standing=chips), 1000 * seed + number)
        assert table == told, (picture, number)
        player, banker = ([rules.points(card) for card in table[side]["cards"]] for side in ("player", "banker"))
        assert picture.next(player, banker) is None, "nobody was due another card"
        assert len(player) == 2 or picture.next(player[:2], banker[:2]) == "player"
        assert len(banker) == 2 or picture.next(player, banker[:2]) == "banker"
        assert table["natural"] == (max(sum(hand[:2]) % 10 for hand in (player, banker)) >= len(picture.player))


def ways(picture: Picture, decks: int) -> Counter[int]:
    """Count the ordered deals of six cards by the winner, under the rules in `picture`. The keys are 1 for Player, -1
    for Banker, and 0 for a tie."""
    count: Counter[int] = Counter()
    left = {value: decks * (16 if value == 0 else 4) for value in range(10)}

    def over(dealt: tuple[int, ...], many: int) -> None:
        player, banker, cards = [dealt[0], dealt[2]], [dealt[1], dealt[3]], [*dealt[:3:-1]]
        for hand in ("player", "banker"):
            if picture.next(player, banker) == hand:
                (player if hand == "player" else banker).append(cards.pop())
        one, other = sum(player) % 10, sum(banker) % 10
        count[(one > other) - (one < other)] += many

    def deal(dealt: tuple[int, ...], many: int) -> None:
        if len(dealt) == 6:
            over(dealt, many)
            return
        for value, there in left.items():
            if there:
                left[value] -= 1
                deal((*dealt, value), many * there)
                left[value] += 1

    deal((), 1)
    assert count.total() == perm(52 * decks, 6)
    return count


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(TABLEAUS))
def test_the_odds_of_any_tableau_are_those_of_its_picture(seed: int, tmp_path: Path) -> None:
    picture = tableaus.at_random(seed)
    counted = ways(picture, 8)
    for odds in par(subject(files(tmp_path, picture))).bets[:3]:
        wins = {"player": 1, "banker": -1, "tie": 0}[odds.spot]
        assert odds.outcomes[0].ways == counted[wins], odds.spot


# Who gains where the screen, the shoe and the file disagree? One letter is changed, and everybody must see it.


def cells() -> list[Any]:
    few = {"player 5", "player 6", "banker 6 s", "banker 3 8", "banker 7 0"}
    return [cell if cell in few else pytest.param(cell, marks=pytest.mark.proof) for cell in CELLS]


@pytest.mark.parametrize("cell", cells())
def test_a_tableau_that_differs_in_one_letter_is_played_by_everybody_or_refused(cell: str, tmp_path: Path) -> None:
    picture = USUAL.flipped(cell)
    key, says = key_of(cell)
    played = []
    for driver in NAMES:
        folder = tmp_path / driver
        folder.mkdir()
        path = files(folder, picture, driver)
        try:
            of = load(path)
        except ConfigError as error:
            (problem,) = error.problems
            assert (problem.key, driver) == ("shoe.driver", "angel_eye")
            assert f"{key} {says}" in problem.what
            continue
        played.append(driver)
        assert sum(f"{key} {says}" in each for each in of.warnings) == 1, "what may be a slip is a warning"
        assert differs(tableau_of(path), picture) == []
        house = game_of(read_house(path))
        assert isinstance(house, SimulatedPuntoBanco)
        assert house.says == rules.Drawing(**picture.section())
        assert [read_otherwise(of.rules, picture, language) for language in SIDE_BY_SIDE] == [[], []], "the rules page"
        assert odds_of(path) != odds_of(CONFIG / "games" / "royal9.toml"), "the letter is counted"
    assert played == [name for name in NAMES if name != "angel_eye"]


def odds_of(path: Path) -> list[list[int]]:
    """Return, for the bets on Player, Banker and the tie in a table file or game file, how many deals each row of the
    bet's pay table decides."""
    return [[each.ways for each in odds.outcomes] for odds in par(subject(path)).bets[:3]]


def key_of(cell: str) -> tuple[str, str]:
    """Return two texts for a test that changes one cell of the printed rules for third cards. The first is the cell's
    key in the game file. The second says which number the key's list has too much or lacks after the change, for
    example "lacks 5"."""
    who, total, *third = cell.split()
    if who == "player":
        return "tableau.player_draws_on", f"{'lacks' if int(total) < 6 else 'has'} {total}"
    if third == ["s"]:
        return "tableau.banker_draws_on_when_player_stands", f"{'lacks' if int(total) < 6 else 'has'} {total}"
    drew = USUAL.banker[int(total)][1 + int(third[0])] == "D"
    return f"tableau.banker_draws_on_third_card.{total}", f"{'lacks' if drew else 'has'} {third[0]}"


def test_the_shipped_house_draws_as_its_sheet_says() -> None:
    """In the shipped house Even Draw, each hand draws on 0 to 5, whatever the other hand did. So Player and Banker win
    equally often, because the rules are the same for both."""
    picture = Picture("DDDDDD..", (*["D" * 11] * 6, *["." * 11] * 2))
    path = CONFIG / "tables" / f"{HOUSE}.toml"
    assert differs(tableau_of(path), picture) == []
    player, banker, *_ = par(subject(path)).bets
    assert [each.ways for each in player.outcomes] == [each.ways for each in banker.outcomes]


def test_the_usual_tableau_is_that_of_the_pictures(tmp_path: Path) -> None:
    for game in ("royal9", "kansas_star", "sugarhouse"):
        assert differs(tableau_of(CONFIG / "tables" / f"{game}.toml"), USUAL) == []
    assert rules.Drawing(**USUAL.section()) == rules.USUAL
    assert odds_of(files(tmp_path, USUAL)) == odds_of(CONFIG / "games" / "royal9.toml")


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ({"player_draws_on": [0, 5, 8]}, "player_draws_on says 8, a natural, on which nobody draws"),
        ({"player_draws_on": [0, 5, 0]}, "player_draws_on says 0 twice"),
        ({"player_draws_on": [0, 5]}, None),
    ],
)
def test_nobody_draws_on_a_natural_and_a_total_is_said_once(lists: dict[str, list[int]], said: str | None) -> None:
    told = []
    try:
        check_draws([8, 9], lists, "banker", range(8))
    except ValueError as error:
        told = [str(error)]
    assert told == ([said] if said else [])
