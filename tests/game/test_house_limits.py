"""Checks a house's limits on how much a wager can win, and on which wagers the house accepts. Each limit is compared
with a second, independent implementation of the rule."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import convert

from controller.daemon.config import load
from controller.daemon.config.problems import ConfigError
from controller.daemon.config.seldom_meant import seldom_meant
from controller.people.par.capped import Capped
from controller.people.par.page import lines
from controller.people.par.report import report
from controller.people.par.sheet import par, subject
from controller.people.screen.rules import rules_page
from controller.rules.game.bets import Bet, Finished
from controller.rules.game.hands import as_it_lies
from controller.rules.game.settlement import Rounding, settle
from controller.rules.game.wagers import Wager, WagerRules, stand
from controller.table.placard import placard
from drivers.sim import bets as simulated
from drivers.sim.house import Bet as SimulatedBet
from drivers.sim.house import Rounding as SimulatedRounding
from drivers.sim.wagers import Wager as SimulatedWager
from tests.daemon.test_config import CONFIG, read, written
from tests.game.test_bets import loaded
from tests.game.test_settlement import cards, some
from tests.support.bets import NATURAL
from tests.support.tables import TABLES


def house(folder: Path, *, wagers: dict[str, Any] | None = None, **of_tie: Any) -> Path:
    """Write the file of a table that deals the game Even Draw, and return its path. The keys in `of_tie` are added to
    the game's tie bet, and those in `wagers` to its limits."""
    table, game = read(CONFIG / "tables" / "even_draw.toml"), read(CONFIG / "games" / "even_draw.toml")
    table["table"]["game"] = "game.toml"
    bets = [bet | of_tie if bet["spot"] == "tie" else bet for bet in game["bets"]]
    return written(folder, table, game | {"bets": bets, "wagers": game["wagers"] | (wagers or {})})


def mistakes(folder: Path, **of: Any) -> str:
    with pytest.raises(ConfigError) as raised:
        load(house(folder, **of))
    return str(raised.value)


# The most that a wager wins.

PAID = [
    # stake, the most, what the tie pays and what goes back beside it
    (500, None, 4000, 500),
    (500, 4000, 4000, 500),
    (500, 3999, 3999, 500),
    (50_000, 4000, 4000, 50_000),
]


@pytest.mark.parametrize(("stake", "most", "pays", "back"), PAID)
def test_a_wager_wins_at_most_what_the_house_says(stake: int, most: int | None, pays: int, back: int) -> None:
    bet = Bet("tie", pays_at_most_cents=most, rows=load(TABLES / "royal9.toml").rules.bets[2].rows)
    seen = [Finished(as_it_lies(NATURAL, cards("KS 9H"), cards("4S 5H")), NATURAL)]
    wagers = [Wager(1, "tie", stake), Wager(2, "tie", stake), Wager(2, "tie", stake, back=True)]
    settlement = settle([bet], Rounding(), lambda _: seen, wagers)
    assert [(one.pays_cents, one.stake_back_cents) for one in settlement.settled] == [(pays, back)] * 3
    assert settlement.totals.house == -3 * pays


def test_commission_is_of_what_is_paid_and_the_simulated_house_pays_the_same(tmp_path: Path) -> None:
    rows = [{"when": {"winner": "banker"}, "pays": "3:2", "commission_taken": "1:20"}]
    raw = {"spot": "b1", "pays_at_most_cents": 12_345, "rows": rows}
    (bet,) = loaded(tmp_path, [raw])
    seen = [Finished(as_it_lies(NATURAL, cards("KS 2H 4C"), cards("4S 3H")), NATURAL)]
    hands = {"player": ["KS", "2H", "4C"], "banker": ["4S", "3H"]}
    cut, house_ = 0, convert(raw, SimulatedBet)
    for stake in Random(3).sample(range(500, 20_000), 200):
        (ours,) = settle([bet], Rounding(), lambda _: seen, [Wager(1, "b1", stake)]).settled
        theirs = simulated.pay(house_, SimulatedWager(1, "b1", stake), hands, {}, rounding=SimulatedRounding())
        assert (ours.pays_cents, ours.commission_cents) == (theirs.pays, theirs.commission)
        in_full = -(-stake * 3 // 2)
        assert ours.pays_cents == (in_full if in_full < 12_345 else 12_345)
        assert ours.commission_cents == -(-ours.pays_cents // 20)
        cut += in_full > 12_345
    assert 0 < cut < 200


def test_par_tells_the_edge_of_the_greatest_wager(tmp_path: Path) -> None:
    """The report `par` also gives the house edge on the largest possible wager, because a limit cuts what that wager
    wins. In the test a $500 wager on the tie pays $2,000, which is four to one, instead of $4,500."""
    of = par(subject(house(tmp_path, pays_at_most_cents=200_000)))
    (tie,) = (bet for bet in of.bets if bet.spot == "tie")
    ties, deals = tie.outcomes[0].ways, tie.deals
    told = next(bet for bet in report(of, {}).bets if bet.spot == "tie")
    assert told.edge == Fraction(deals - ties - 9 * ties, deals)
    edge = Fraction(deals - ties - 4 * ties, deals)
    assert told.pays_at_most == Capped(200_000, 22_222, 50_000, edge)
    said = "\n".join(lines(of, {}))
    assert "a wager wins at most $2,000.00: a wager up to $222.22 is paid in full" in said
    assert f"at the greatest wager, $500.00, the house edge is {100 * float(edge):.5f}%" in said


@pytest.mark.parametrize(
    ("of", "says"),
    [
        ({"pays_at_most_cents": 4499}, "4499 cuts the pay of even the least wager: 9:1 for 500 is more"),
        ({"pays_at_most_cents": 0}, "0 cuts the pay of even the least wager"),
        ({"pays_at_most_cents": 100_000, "rows": [{"when": {}, "result": "push"}]}, "so nothing is ever cut"),
        ({"pays_at_most_cents": "5000"}, "'5000' is not a whole number"),
    ],
)
def test_a_most_that_cannot_be_meant(tmp_path: Path, of: dict[str, Any], says: str) -> None:
    assert says in mistakes(tmp_path, **of)


def test_a_most_that_no_wager_reaches_is_a_warning(tmp_path: Path) -> None:
    warned = [*seldom_meant(load(house(tmp_path, pays_at_most_cents=450_000)).game)]
    assert "tie: pays_at_most_cents = 450000 cuts no pay: the greatest wager, $500.00, wins $4,500.00" in warned
    others = [*seldom_meant(load(house(tmp_path, pays_at_most_cents=449_999)).game)]
    assert not any("cuts no pay" in said for said in others)


# A limit as a part of the wager that the bet needs.

MAIN = ("player", "banker")


def over(wagers: str, share: str) -> set[str]:
    """Return the tie wagers that are refused because they are too large. A tie wager needs a wager of the same bettor
    on Player, and may be at most the given `share` of it."""
    limits = WagerRules(500, 500_000, 500, 500_000, 500, tie_only_meets_minimum=False, back_bettors=True)
    bets = [Bet("player", limits="circle"), Bet("tie", needs=MAIN, maximum_of_needed=Fraction(share))]
    placed = some(wagers)
    _, refused = stand(limits, bets, range(1, 8), placed)
    assert {each.code for each in refused} <= {"over_needed"}
    return {f"{one.wager.seat}{'b' * one.wager.back} {one.wager.spot} {one.wager.cents // 100}" for one in refused}


@pytest.mark.parametrize(
    ("wagers", "share", "refused"),
    [
        ("1 player 50, 1 tie 25", "1/2", set[str]()),
        ("1 tie 25, 1 player 50", "1/2", set[str]()),
        ("1 player 50, 1 tie 30", "1/2", {"1 tie 30"}),
        ("1 player 5, 1 tie 50", "10", set[str]()),
        ("1 player 5, 1 tie 55", "10", {"1 tie 55"}),
        ("1 player 50, 1b player 50, 1 tie 30", "1/2", {"1 tie 30"}),  # each bettor's own wager alone
        ("1 player 50, 1b player 100, 1b tie 50, 1 tie 25", "1/2", set[str]()),
        ("1 player 100, 2 player 50, 2 tie 50", "1/2", {"2 tie 50"}),
    ],
)
def test_a_wager_is_limited_by_the_wager_that_it_needs(wagers: str, share: str, refused: set[str]) -> None:
    assert over(wagers, share) == refused


@pytest.mark.parametrize(
    ("of", "says"),
    [
        ({"maximum_of_needed": "1:2"}, "tie needs no other wager, so there is none to go by"),
        ({"maximum_of_needed": "50%", "needs": MAIN}, 'is "1:2" meant?'),
        ({"maximum_of_needed": "0:1", "needs": MAIN}, "is 0, and the least wager here is 500"),
        ({"maximum_of_needed": "1:9999", "needs": MAIN}, "is 100, and the least wager here is 500"),
        ({"maximum_of_needed": "1:2", "needs": MAIN, "price_cents": 500}, "stands beside price_cents"),
    ],
)
def test_a_part_of_another_wager_that_cannot_be_meant(tmp_path: Path, of: dict[str, Any], says: str) -> None:
    assert says in mistakes(tmp_path, **of)


# Bets that are closed from a round on.

CLOSING = "no_bets_after_round", "no_bets_in_final_round"


def said_of(folder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> str:
    """Apply `change` to the game file of a shipped house, and return what `check` reports about the house: its
    mistakes, or its warnings if there are no mistakes."""
    table, game = (read(CONFIG / kind / f"{name}.toml") for kind in ("tables", "games"))
    table["table"]["game"] = "game.toml"
    for bet in game["bets"]:
        for word in CLOSING:
            bet.pop(word, None)
    change(game)
    try:
        config = load(written(folder, table, game))
    except ConfigError as error:
        return str(error)
    return "\n".join(seldom_meant(config.game))


@pytest.mark.parametrize(
    ("of_all", "of_tie", "says"),
    [
        ({}, {"no_bets_after_round": 0}, "0 leaves no round in which a wager is taken"),
        ({"no_bets_after_round": -3}, {}, "-3 leaves no round in which a wager is taken"),
        ({}, {"no_bets_after_round": 103}, "has no round after round 103, so nothing ever closes"),
        ({}, {"no_bets_after_round": 102}, ""),
        ({}, {"no_bets_after_round": 60, "no_bets_in_final_round": True}, ""),
        ({"no_bets_after_round": 60}, {"no_bets_after_round": 60}, "every bet is closed after round 60"),
        ({"no_bets_in_final_round": True}, {"no_bets_in_final_round": True}, "every bet is closed in the last round"),
    ],
)
def test_a_round_after_which_nothing_closes_or_nothing_opens(
    tmp_path: Path, of_all: dict[str, Any], of_tie: dict[str, Any], says: str
) -> None:
    def change(game: dict[str, Any]) -> None:
        game["wagers"] |= of_all
        game["bets"][2] |= of_tie

    said = said_of(tmp_path, "even_draw", change)
    assert says in said if says else not said


@pytest.mark.parametrize(
    ("shoe", "says"),
    [
        ({"cut_card_from_end": 0}, "no cut card tells which round is the last"),
        ({"hands_after_cut_card": 0}, "so no_bets_in_final_round seldom closes a bet"),
    ],
)
def test_a_last_round_that_nobody_can_tell(tmp_path: Path, shoe: dict[str, int], says: str) -> None:
    def change(game: dict[str, Any]) -> None:
        game["shoe"] |= shoe
        game["bets"][2]["no_bets_in_final_round"] = True

    assert says in said_of(tmp_path, "even_draw", change)


@pytest.mark.parametrize("word", [{CLOSING[0]: 9}, {CLOSING[1]: True}])
@pytest.mark.parametrize("of_all", [True, False])
def test_a_seat_s_own_hand_never_closes(tmp_path: Path, of_all: bool, word: dict[str, Any]) -> None:
    def change(game: dict[str, Any]) -> None:
        hand = next(bet for bet in game["bets"] if bet.get("each_hand"))
        (game["wagers"] if of_all else hand).update(word)

    assert "only a seat with a wager on its hand is dealt cards" in said_of(tmp_path, "lucky9", change)


def test_the_rules_page_says_in_each_language_when_a_bet_closes() -> None:
    page = rules_page(placard(load(TABLES / "even_draw.toml").rules, "T", ("en", "vi")), ("en", "vi"))
    assert "none after round 60, none in the last round of a shoe" in page
    assert "không nhận sau ván 60, không nhận ở ván cuối của hộp bài" in page
