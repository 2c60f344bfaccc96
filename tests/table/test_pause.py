"""Checks of a pause between rounds: what the table refuses during the pause, and that nobody gains by a card seen
during it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.rules.game.cards import Card
from controller.rules.game.wagers import Wager
from controller.table.acts.itself import PauseTable, ResumeTable
from controller.table.acts.rounds import LockWagers, OddCardFate, TellOddCard
from controller.table.acts.seats import PlaceWager
from controller.table.acts.shoe import SeeCutCard
from controller.table.acts.stopped import ClearFault, CountCards
from controller.table.facts import (
    CardDrawn,
    CardKept,
    ShoeResult,
    ShoeResultReported,
    ShoeUnheard,
    Target,
    WagerSeen,
)
from controller.table.rules import TableRules
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, ROYAL9, TableUnderTest, house

PAUSE, RESUME = PauseTable("Smith"), ResumeTable("Smith")
LOCKS_ON = {"deal": ROYAL9, "first_card": house(lock_on="first_card")}
KNOWN = replace(ROYAL9, bet_recognition=True)


def paused(rules: TableRules = ROYAL9) -> TableUnderTest:
    return TableUnderTest(rules).open_shoe().do(PAUSE)


@pytest.mark.parametrize("rules", LOCKS_ON.values(), ids=LOCKS_ON)
def test_a_card_seen_in_a_pause_plays_in_no_round(rules: TableRules) -> None:
    """A card that is drawn during a pause is burned. So a player who puts a chip down after seeing the card gains
    nothing."""
    table = paused(rules).draw("KS")
    table.wagers = {1}
    assert (table.fault, table.exits, table.face.hands) == ("card_not_due", {"clear", "new_shoe"}, ())
    assert table.ask(RESUME) == table.ask(PAUSE) == "fault_stands"
    left = table.face.cards_left
    table.told()
    table.clear()
    assert table.told_types() == ["fault_cleared", "odd_card"]
    assert [table.events[-1][name] for name in ("fate", "by", "cards")] == ["burn", "Smith", 1]
    assert (table.fault, table.face.phase, table.face.cards_left) == (None, "paused", left)
    assert table.face.wagers_stand is None, "the card is of no round"
    table.do(RESUME)
    if rules.lock_on == "deal":
        table.do(LockWagers())
    table.draw("2S")
    (hand,) = [hand for hand in table.face.hands if hand.cards]
    assert hand.cards == ("2S",), "the round begins with the next card"
    assert table.replayed()[0] == table.table


@pytest.mark.parametrize("rules", LOCKS_ON.values(), ids=LOCKS_ON)
def test_each_card_of_a_pause_stops_the_table_and_none_locks(rules: TableRules) -> None:
    table = paused(rules).draw("KS 9S ??").believe(CardKept(Card.parse("4S"), Target.PLAYER, 1))
    for left in (3, 2, 1, 0):
        assert (table.fault, len(table.table.held)) == ("card_not_due", left)
        table.clear()
    assert (table.fault, table.face.phase, table.face.round) == (None, "paused", None)
    assert table.face.cards_left == 416 - 2 - 4
    assert not table.of_type("wagers_locked")


def test_the_shoes_opinions_of_a_card_burned_in_a_pause_stop_nothing() -> None:
    """A card burned during a pause does not make the shoe's reports raise a fault. An Angel Eye (a card-reading shoe)
    takes the card for the first one of its own round, and later reports a result for that round."""
    table = paused().to(Target.PLAYER, 1, "KS").clear().do(RESUME)
    table.believe(ShoeResultReported(ShoeResult.FORCE_QUIT, player_pair=False, banker_pair=False))
    table.do(LockWagers()).to(Target.PLAYER, 1, "2S")
    assert (table.fault, table.face.phase) == (None, "round_in_play")


def test_nothing_is_wagered_locked_or_announced_in_a_pause() -> None:
    table = paused(KNOWN)
    wager = PlaceWager(Wager(1, "royal9", 500), "dealer")
    before = table.table
    assert {table.ask(act) for act in (wager, LockWagers(), SeeCutCard(), PAUSE)} == {"paused"}
    assert table.table == before
    assert table.do(RESUME).ask(wager) is None


def test_bet_recognitions_word_in_a_pause_is_refused_and_its_number_counts() -> None:
    table = paused(KNOWN)
    table.believe(WagerSeen(Wager(1, "royal9", 500), 7, 1, 1, "paused"))
    assert (table.table.placed, table.table.wager_seq) == ((), 7)


def test_chips_lie_through_a_pause_as_they_lay() -> None:
    table = TableUnderTest(KNOWN).open_shoe().do(PlaceWager(Wager(1, "royal9", 500), "dealer"), PAUSE)
    assert [wager.seat for wager in table.face.wagers] == [1]
    assert [wager.seat for wager in table.do(RESUME).face.wagers] == [1]


def test_a_card_that_was_out_before_the_pause_still_forbids_wagers_after_it() -> None:
    """If a card of the next round left the shoe before the pause, wagers stay forbidden after the pause, because a
    person who saw the card may have waited."""
    table = TableUnderTest(KNOWN).open_shoe().draw("KS").do(TellOddCard(OddCardFate.NEXT_CARD, "dealer"), PAUSE)
    assert table.face.wagers_stand == ()
    assert table.do(RESUME).ask(PlaceWager(Wager(1, "royal9", 500), "dealer")) == "card_out"


def test_after_a_pause_a_stale_pit_plays_no_progressive_wager() -> None:
    table = paused()
    table.wagers, table.pit_fresh = {1}, False
    table.do(RESUME, LockWagers())
    (bet,) = table.face.progressive
    assert (bet.seats, bet.refused_seats, bet.refusal) == ((), (1,), "pit_stale")


def test_a_table_that_was_unheard_in_a_pause_counts_and_stays_paused() -> None:
    table = paused().believe(ShoeUnheard(60_000))
    assert table.exits == {"count", "new_shoe"}
    table.do(CountCards(412, "Smith"))  # two were drawn unheard
    assert (table.fault, table.face.phase, table.face.cards_left) == (None, "paused", 412)


def test_a_pause_ends_with_the_shoe() -> None:
    table = paused().draw("KS").new_shoe_by_supervisor()
    assert (table.fault, table.face.phase) == (None, "first_card_due")
    assert table.ask(RESUME) == "not_paused"


@pytest.mark.parametrize(
    ("rules", "nobody"), [(BACCARAT_ROYAL, "no_actives"), (LUCKY9, "no_seats")], ids=["royal", "lucky9"]
)
def test_what_forbids_the_dealers_lock_forbids_a_first_cards(rules: TableRules, nobody: str) -> None:
    """If a rule forbids the dealer to lock the wagers, the rule also forbids that a first card locks them. No
    configuration combines such a rule with a lock by the first card yet, but a later one might."""
    assert TableUnderTest(rules).open_shoe().ask(LockWagers()) == nobody
    table = TableUnderTest(replace(rules, lock_on="first_card")).open_shoe().believe(CardDrawn(Card.parse("KS")))
    assert (table.fault, table.face.round, table.of_type("wagers_locked")) == ("card_not_due", None, [])
    table.do(ClearFault("Smith"))
    assert (table.fault, table.face.phase, table.face.wagers_stand) == (None, "wagers_open", None)
