"""Checks of a bet that the house closes after a certain round of the shoe, or in the shoe's last round.

The checks matter because of bettors who count the cards and wait for rounds in which a side bet is worth more than its
price. Such a bettor puts chips down just before the bet closes, leaves them there, and has somebody move the round at
which the bet closes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from controller.rules.game.bets import Bet, Row, When
from controller.rules.game.wagers import RoundAhead, closed_spots
from controller.table.acts.rounds import LockWagers, OddCardFate, TellOddCard, VoidRound
from controller.table.lamps import Pattern, lamps
from controller.table.rules import TableRules
from tests.support.five_games import HEALTHY, ROYAL9_SEEN_TWICE, Watched, wager, wagers
from tests.support.tables import ROYAL9, SUGARHOUSE, TableUnderTest

ROUND = "4S TH 5D 9C"
"""Player's natural 9 against Banker's 9 on two cards: nobody draws."""


def closing(rules: TableRules, **words: dict[str, Any]) -> TableRules:
    """Return the table's rules with changed bets. `words` maps the spot of a bet to the settings that change, such as
    the last round in which the bet is open."""
    return replace(rules, bets=tuple(replace(bet, **words.get(bet.spot, {})) for bet in rules.bets))


TIE_TWICE = closing(SUGARHOUSE, tie={"no_bets_after_round": 2})
NO_TIE_IN_FINAL = closing(SUGARHOUSE, tie={"no_bets_in_final_round": True})


def opened(rules: TableRules) -> Watched:
    return Watched(rules).open_shoe("AS 2D")


def lock(table: Watched) -> tuple[list[str], dict[str, str]]:
    """Lock the wagers. Return the spots whose wagers count, and a dictionary from each refused spot to the code of its
    refusal. Check that a replay of the table's journal gives the same table."""
    table.do(LockWagers())
    event: dict[str, Any] = table.of_type("wagers_locked")[-1]
    assert table.replayed() == (table.table, None)
    plays = [each["spot"] for each in event["wagers"]]
    return plays, {each["spot"]: each["code"] for each in event["refused"]}


def played(table: Watched, *spots: str) -> None:
    """Place a wager on each of these spots, check that exactly these wagers count, and play the round."""
    table.do(*(wager(f"2 {spot} 2000") for spot in spots))
    assert lock(table) == ([*spots], {})
    table.draw(ROUND)


def test_no_wager_is_taken_after_the_round_of_the_sign() -> None:
    table = opened(TIE_TWICE)
    for _ in range(2):
        assert [*table.face.closed] == []
        played(table, "player", "tie")
    assert [*table.face.closed] == ["tie"]
    assert table.ask(wager("2 tie 2000")) == "bet_closed"
    assert table.ask(wager("2 tie 0")) == "wager_lies_there", "there is nothing to take away"
    played(table, "player")
    table.new_shoe_by_supervisor().draw("AS 2D")
    assert [*table.face.closed] == []
    played(table, "player", "tie")


def test_chips_that_lay_over_the_border_do_not_play_and_may_be_taken_away() -> None:
    """Chips that still lie on Tie after the bet on Tie has closed do not count. Here the bet closes after round 2, and
    round 2 was a simulated hand (a round without wagers)."""
    table = opened(TIE_TWICE)
    played(table, "tie")
    table.do(*wagers("2 tie 2000, 3 tie 2000, 3 player 2000"))
    table.draw(ROUND)
    assert (table.face.round, [*table.face.closed]) == (2, ["tie"])
    assert table.ask(wager("2 tie 2500")) == "bet_closed", "no chip is added"
    table.do(wager("2 tie 0"))
    assert lock(table) == (["player"], {"tie": "bet_closed"})


def test_a_round_that_was_none_moves_the_border_back() -> None:
    """A simulated hand (a round without wagers) is undone if the dealer says that its first card was drawn in error and
    burns the card. Its round number is used again. Here this is round 2, so the bet on Tie is open again."""
    table = opened(TIE_TWICE)
    played(table, "tie")
    table.draw("4S")
    assert (table.face.next_round, [*table.face.closed]) == (3, ["tie"])
    table.do(TellOddCard(OddCardFate.BURN, "dealer", "Smith"))
    assert (table.face.next_round, [*table.face.closed]) == (2, [])
    played(table, "tie")
    assert [*table.face.closed] == ["tie"]


def test_a_void_round_opens_nothing_again() -> None:
    table = opened(TIE_TWICE)
    played(table, "tie")
    table.do(wager("2 tie 2000"))
    assert lock(table) == (["tie"], {})
    table.draw("4S").do(VoidRound("Smith", "Jones"))
    assert table.ask(wager("2 tie 2000")) == "bet_closed"


def test_a_wager_put_down_an_instant_before_the_cut_card_does_not_play_in_the_last_round() -> None:
    table = opened(NO_TIE_IN_FINAL).do(*wagers("2 tie 2000, 3 player 2000"))
    assert [*table.face.closed] == []
    table.draw("CUT")
    assert [*table.face.closed] == ["tie"]
    assert table.ask(wager("4 tie 2000")) == "bet_closed"
    assert lock(table) == (["player"], {"tie": "bet_closed"})
    table.draw(ROUND)
    assert (table.face.phase, [*table.face.closed]) == ("shoe_ended", [])


def test_a_wager_that_was_locked_before_the_cut_card_plays() -> None:
    """A wager on a bet that closes in the shoe's last round counts if it was locked before the cut card came, because
    nobody could know at that time that the round would be the last."""
    table = opened(NO_TIE_IN_FINAL).do(wager("2 tie 2000"))
    assert lock(table) == (["tie"], {})
    table.draw(f"CUT {ROUND}")
    [row] = table.of_type("round")[-1]["settlement"]["wagers"]
    assert (row["spot"], row["result"]) == ("tie", "won")


def test_the_round_after_the_one_with_the_cut_card_is_closed_also_while_a_simulated_hand_is_dealt() -> None:
    table = opened(NO_TIE_IN_FINAL).do(wager("2 tie 2000"))
    assert lock(table) == (["tie"], {})
    table.draw("4S CUT TH 5D 9C")
    assert table.ask(wager("2 tie 2000")) == "bet_closed"
    table.draw("4S TH 5D")
    assert table.ask(wager("2 tie 2000")) == "bet_closed"
    table.draw("9C")
    assert lock(table) == ([], {})


@pytest.mark.parametrize("counts", [True, False])
def test_where_a_void_round_does_not_count_the_last_round_is_another(counts: bool) -> None:
    rules = replace(NO_TIE_IN_FINAL, shoe=replace(SUGARHOUSE.shoe, voided_hand_counts=counts))
    table = opened(rules)
    assert lock(table) == ([], {})
    table.draw("4S CUT").do(VoidRound("Smith", "Jones"))
    assert "tie" * counts == "".join(table.face.closed)


# What is closed with what.


def test_a_bet_is_closed_with_all_that_it_may_stand_beside() -> None:
    rows = (Row(When(), pays=Fraction(1)),)
    bets = [
        Bet("player", no_bets_after_round=2, rows=rows),
        Bet("banker", no_bets_after_round=4, rows=rows),
        Bet("dragon", needs=("player", "banker"), rows=rows),
        Bet("on_dragon", needs=("dragon",), rows=rows),
    ]
    closed = {number: closed_spots(SUGARHOUSE.wagers, bets, RoundAhead(number)) for number in (2, 3, 5)}
    assert closed == {2: frozenset(), 3: {"player"}, 5: {"player", "banker", "dragon", "on_dragon"}}


def test_a_house_may_close_every_bet() -> None:
    rules = replace(SUGARHOUSE, wagers=replace(SUGARHOUSE.wagers, no_bets_after_round=1))
    table = opened(rules)
    played(table, "player", "tie")
    assert {*table.face.closed} == {bet.spot for bet in rules.bets}
    assert table.ask(wager("2 player 2000")) == "bet_closed"
    assert lock(table) == ([], {}), "a round without wagers is dealt all the same"


# Where sensors see the wager.

NO_ROYAL = {"royal9": {"no_bets_after_round": 1}}


def test_a_chip_on_a_sensor_does_not_play_where_its_bet_is_closed() -> None:
    table = TableUnderTest(closing(ROYAL9, **NO_ROYAL)).open_shoe().lock(2).draw(ROUND)
    table.lock(2)
    [on] = table.of_type("wagers_locked")[-1]["progressive"]
    assert (on["seats"], on["refused_seats"], on["refusal"]) == ([], [2], "bet_closed")
    table.draw("KH 2S 9H 3D")  # the King and 9 of seat 2
    assert table.of_type("hit") == []


def test_a_chip_that_stays_on_a_sensor_of_a_closed_bet_does_not_stop_the_table() -> None:
    """A chip left on the sensor of a closed bet does not stop the table, although bet recognition reports no chips on
    closed bets. Otherwise sensor and bet recognition would disagree at every lock."""
    table = Watched(closing(ROYAL9_SEEN_TWICE, **NO_ROYAL)).open_shoe("AS 2D")
    table.do(*wagers("2 player 2000, 2 royal9 500"))
    table.wagers = {2}
    assert lock(table) == (["player", "royal9"], {})
    table.draw(ROUND)
    assert table.ask(wager("2 royal9 500")) == "bet_closed"
    assert lock(table) == ([], {})
    assert table.fault is None


def test_the_seat_s_lamp_invites_nobody_to_a_closed_bet() -> None:
    table = TableUnderTest(closing(ROYAL9, **NO_ROYAL)).open_shoe()
    chip = replace(HEALTHY, sensed_seats=frozenset({2}))
    lit = lamps(table.face, chip)
    assert (lit["seat_1"], lit["seat_2"]) == (Pattern.FLASH, Pattern.SLOW_BLINK)
    table.lock(2).draw(ROUND)
    lit = lamps(table.face, replace(chip, sensed_open=False))
    assert (lit["seat_1"], lit["seat_2"]) == (Pattern.DARK, Pattern.DOUBLE_FLASH)
