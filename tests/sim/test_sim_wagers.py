"""Tests of the simulated bettors and of the simulation's cashier: which wagers are refused, what is paid, and which
commission each seat owes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from controller.daemon.config import load
from controller.people.cli import programs
from controller.rules.game import seating as controllers
from controller.rules.game.hands import Outcome
from controller.rules.game.wagers import RefusedWager, RoundAhead, closed_spots, place, placing, stand
from controller.rules.game.wagers import Wager as TablesWager
from drivers.sim import cashier
from drivers.sim.baccarat_royal import rotated
from drivers.sim.house import CENTS_UP, Coming, Rounding
from drivers.sim.wagers import Actives, Bettors, Wager
from tests.sim.games import limits_of
from tests.support import samples

SEATS = range(1, 8)
CODES = {
    "royal9": {"wrong_price", "needs_another", "dragon_needs_main", "both_sides", "no_back_bettors"},
    "kansas_star": {"back_without_seat", "dragon_needs_main", "both_sides"},
    "sugarhouse": {"tie_under_minimum", "dragon_needs_main", "both_sides", "no_back_bettors"},
    "baccarat_royal": {"not_active", "active_seat", "both_sides", "no_back_bettors"},
    "ez_baccarat": {"needs_another", "both_sides", "no_back_bettors"},
    "punto_2000": {"needs_another", "both_sides", "no_back_bettors"},
    "even_draw": {"needs_another", "over_needed", "both_sides", "no_back_bettors"},
    "pairs": {"needs_another", "both_sides", "no_back_bettors"},
    "grand_fortune": {"needs_another", "wrong_price", "both_sides", "no_back_bettors"},
    "lucky9": {"tie_needs_hand", "bonus_needs_hand", "no_back_bettors"},
}
COMMON = {"no_such_seat", "no_such_spot", "over_maximum", "not_in_increment", "under_minimum"}


OWN_LIMITS: dict[str, dict[str, Any]] = {
    "player": {"minimum_cents": 25_00, "maximum_cents": 40_00},
    "tie": {"minimum_cents": 10_00, "maximum_cents": 20_00},
    "dragon_banker": {"maximum_cents": 5_00},
    "hand": {"minimum_cents": 10_00},
    "lucky9_bonus": {"minimum_cents": 10_00, "maximum_cents": 15_00},
    "stake": {"maximum_cents": 50_00},
}
"""Limits of single bets, which stand in place of the table's."""


@pytest.mark.parametrize("own", [{}, OWN_LIMITS], ids=["the table's limits", "limits of single bets"])
@pytest.mark.parametrize("game", CODES)
def test_what_bettors_foresee_is_what_the_table_refuses(game: str, own: dict[str, dict[str, Any]]) -> None:
    """The table refuses each deliberate mistake of the simulated bettors with the code that they expect, either
    immediately or when wagers are locked. It accepts every other wager."""
    config = load(programs.example_table(game))
    rules = config.rules.wagers
    bets = tuple(replace(bet, **own.get(bet.spot, {})) for bet in config.rules.bets)
    limits = limits_of(game)
    limits = replace(limits, bets=tuple(replace(bet, **own.get(bet.spot, {})) for bet in limits.bets))
    bettors = Bettors(7, limits, SEATS, mistakes=0.3)
    actives = Actives(2, 5) if game == "baccarat_royal" else None
    seen: Counter[str] = Counter()
    for number in range(350 if samples.at_length else 90):
        covered = {seat: (number + seat) % 3 == 0 for seat in SEATS} if limits.sensed else {}
        made, refused = bettors.choose(SEATS, covered, actives)
        foreseen = {each.wager: each for each in refused}
        placed: tuple[TablesWager, ...] = ()
        for wager in made:
            tables = TablesWager(wager.seat, wager.spot, wager.cents, wager.back)
            code = placing(rules, bets, SEATS, placed, tables, actives.both if actives else ())
            expected = foreseen.get(wager)
            assert code == (expected.code if expected and expected.at_once else None), (wager, made)
            placed = placed if code else place(placed, tables)
        stands, falls = stand(rules, bets, SEATS, placed, actives.both if actives else ())
        assert set(stands) == {of_table(wager) for wager in made if wager not in foreseen}
        assert set(falls) == {RefusedWager(of_table(each.wager), each.code) for each in refused if not each.at_once}
        seen.update(each.code for each in refused)
    assert seen.keys() - COMMON == CODES[game]
    assert seen.keys() >= COMMON


@pytest.mark.parametrize("game", ["royal9", "kansas_star", "baccarat_royal", "pairs"])
def test_bettors_and_table_agree_which_bets_are_closed(game: str) -> None:
    """The simulated bettors and the table agree which bets are closed for a round. In this test no bet is open after
    round 6. One third of the bets close after round 3 already. Another third are closed in the last round, whatever its
    number."""
    config, limits = load(programs.example_table(game)), limits_of(game)
    words: list[dict[str, Any]] = [{"no_bets_after_round": 3}, {"no_bets_in_final_round": True}, {}]
    rules = replace(config.rules.wagers, no_bets_after_round=6)
    bets = tuple(replace(bet, **words[place % 3]) for place, bet in enumerate(config.rules.bets))
    limits = replace(
        limits,
        no_bets_after_round=6,
        bets=tuple(replace(bet, **words[place % 3]) for place, bet in enumerate(limits.bets)),
    )
    bettors, actives = Bettors(7, limits, SEATS, mistakes=0.3), Actives(2, 5) if game == "baccarat_royal" else None
    both, codes = actives.both if actives else (), Counter[str]()
    for number in [*range(1, 8)] * (40 if samples.at_length else 12):
        for last in (False, True):
            shut = closed_spots(rules, bets, RoundAhead(number, last))
            covered = {seat: (number + seat) % 3 == 0 for seat in SEATS} if limits.sensed else {}
            made, refused = bettors.choose(SEATS, covered, actives, Coming(number, last))
            foreseen = {each.wager: each for each in refused}
            placed: tuple[TablesWager, ...] = ()
            for wager in made:
                code = placing(rules, bets, SEATS, placed, of_table(wager), both, shut)
                expected = foreseen.get(wager)
                assert code == (expected.code if expected and expected.at_once else None), (wager, made)
                placed = placed if code else place(placed, of_table(wager))
            stands, _ = stand(rules, bets, SEATS, placed, both, shut)
            assert set(stands) == {of_table(wager) for wager in made if wager not in foreseen}
            codes.update(each.code for each in refused)
            assert number < 7 or {*shut} == {*limits.spots}
    assert codes["bet_closed"] > 20


def of_table(wager: Wager) -> TablesWager:
    return TablesWager(wager.seat, wager.spot, wager.cents, wager.back)


GAMES = sorted(path.stem for path in programs.example_game("royal9").parent.glob("*.toml"))


@pytest.mark.parametrize("game", GAMES)
def test_the_bettors_wager_on_every_spot_that_a_game_offers(game: str) -> None:
    limits = limits_of(game)
    bettors = Bettors(7, limits, SEATS)
    actives = Actives(2, 5) if game.startswith("baccarat_royal") else None
    covered = dict.fromkeys(SEATS, limits.sensed is not None)
    made = [bettors.choose(SEATS, covered, actives) for _ in range(60)]
    assert {w.spot for all_, refused in made for w in {*all_} - {each.wager for each in refused}} == {*limits.spots}


def test_somebody_always_plays_lucky_9() -> None:
    bettors = Bettors(7, limits_of("lucky9"), SEATS, mistakes=1.0)
    for _ in range(200):
        made, refused = bettors.choose((4,), {}, None)
        assert {wager for wager in made if wager.spot == "hand"} - {each.wager for each in refused}


def test_one_seed_is_one_evening_of_wagers() -> None:
    limits = limits_of("kansas_star")
    first, again, other = (Bettors(seed, limits, SEATS) for seed in (7, 7, 8))
    evening = [first.choose(SEATS, {}, None) for _ in range(20)]
    assert [again.choose(SEATS, {}, None) for _ in range(20)] == evening
    assert [other.choose(SEATS, {}, None) for _ in range(20)] != evening


def test_the_cashier_rounds_up_each_wager_by_itself() -> None:
    odd = Wager(3, "banker", 1501)
    assert cashier.win(odd, 3, 2).pays == 2252
    part = Fraction(1, 20)
    won = cashier.win(odd, 1, commission=part)
    assert (won.pays, won.commission) == (1501, 76)
    taken = cashier.settlement([won, cashier.lose(Wager(4, "tie", 500))])
    assert taken["totals"] == {
        "staked_cents": 2001,
        "returned_cents": 1501 + 1501 - 76,
        "house_cents": 2001 - 2926 - 76,
        "commission_taken_cents": 76,
        "commission_owed_cents": 0,
    }
    later = cashier.win(odd, 1, commission=part, later=True)
    assert cashier.settlement([later, cashier.push(odd)])["totals"] == {
        "staked_cents": 3002,
        "returned_cents": 3002 + 1501,
        "house_cents": -1501,
        "commission_taken_cents": 0,
        "commission_owed_cents": 76,
    }
    behind = cashier.win(Wager(3, "banker", 100, back=True), 1, commission=part, later=True)
    assert cashier.owed([later, behind, won, cashier.lose(odd)]) == {3: 81}


def test_the_cashier_rounds_as_the_house_says() -> None:
    quarters, part = Rounding(unit_cents=25, pays="down", commission="up"), Fraction(1, 20)
    won = cashier.win(Wager(3, "banker", 1525), 1, 2, commission=part, rounding=quarters)
    assert (won.pays, won.commission) == (750, 50)  # of 762.5, and of 37.5
    assert cashier.half(Wager(3, "tie", 1525), quarters).back == 750
    assert cashier.half(Wager(3, "tie", 1525), CENTS_UP).back == 763


@pytest.mark.parametrize("on_win", get_args(controllers.WinMoves))
@pytest.mark.parametrize("on_tie", get_args(controllers.TieMoves))
def test_the_roles_rotate_as_the_table_has_it(on_win: controllers.WinMoves, on_tie: controllers.TieMoves) -> None:
    """After every outcome, the simulated house and the table give the roles of Player and Banker to the same seats. All
    pairs of active seats among all sets of occupied seats are tried. House and table have separate code for the same
    rule."""
    for count in range(2, 8):
        for occupied in combinations(SEATS, count):
            for player in occupied:
                for banker in set(occupied) - {player}:
                    for outcome in Outcome:
                        tables = controllers.next_actives(
                            controllers.Actives(player, banker), outcome, occupied, on_win, on_tie
                        )
                        says = {"on_win": on_win, "on_tie": on_tie}
                        ours = rotated(Actives(player, banker), outcome.value, occupied, says)
                        assert ours.both == (tables.player, tables.banker), (occupied, player, banker, outcome)
