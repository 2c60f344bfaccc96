"""Checks of cards that left the shoe too early and are kept for the next round. In the next round, the kept cards are
dealt before the cards in the shoe. A round can go on as long as a kept card is left, even if the shoe is empty. While
kept cards wait, they lie face down."""

from __future__ import annotations

import json
from random import Random

import pytest
from msgspec import to_builtins

from controller.rules.game.cards import DECK, Card
from controller.rules.game.seating import Actives
from controller.table.acts.rounds import OddCardFate, TellOddCard
from controller.table.acts.seats import ChooseActives
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import CardNamed, NameCard
from controller.table.facts import (
    CardDrawn,
    CardKept,
    Fact,
    ShoeError,
    ShoeErrorRaised,
    ShoeResult,
    ShoeResultReported,
    Target,
)
from controller.table.rules import TableRules
from controller.table.step import step
from tests.support.five_games import KANSAS_STAR, Watched, call, seats, wager
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, MIDI, ROYAL9, SUGARHOUSE, TableUnderTest, cards, hand, house

BURN = "2D 3H 4C"
FIVE_GAMES = {
    "royal9": ROYAL9,
    "kansas_star": KANSAS_STAR,
    "sugarhouse": SUGARHOUSE,
    "midi": MIDI,
    "baccarat_royal": BACCARAT_ROYAL,
    "lucky9": LUCKY9,
}
EACH_GAME = pytest.mark.parametrize("rules", FIVE_GAMES.values(), ids=FIVE_GAMES)


def seated(rules: TableRules) -> Watched:
    """Return a table after the burn of three cards, with the seats and wagers that a round of its game needs."""
    table = Watched(rules).open_shoe(BURN)
    if rules.game == BACCARAT_ROYAL.game:
        table.do(seats(2, 5), ChooseActives(Actives(player=2, banker=5), "dealer"))
    if rules.game == LUCKY9.game:
        table.do(wager("3 hand 1000"))
    return table


def emptied(game: TableRules, kept: str) -> Watched:
    """Return a table with one deck whose shoe is empty. Its last cards, `kept`, were kept one by one for the next
    round. All other cards went out of play with a void round."""
    table = seated(house(game, decks=1, fewest_cards_to_open=1, drawn_in_error="next_card"))
    others = [str(card) for card in DECK if str(card) not in f"{BURN} {kept}".split()]
    table.lock().believe(ShoeErrorRaised(ShoeError.CANNOT_READ)).draw(" ".join(others)).void()
    if game.game == LUCKY9.game:
        table.do(wager("3 hand 1000"))
    table.draw(kept)
    assert (table.face.phase, table.face.cards_left, table.fault) == ("wagers_open", 0, None)
    table.told()
    return table


# The shoe is empty, and kept cards are still to be played.


RAN_OUT = ["wagers_locked", "void", "shoe_closed", "fault shoe_exhausted"]
PLAYED = ["wagers_locked", "round", "alarm", "shoe_closed"]  # the cut card never came


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("4S", RAN_OUT),
        ("4S TH AD", RAN_OUT),
        ("4S TH AD 2C", RAN_OUT),  # Player's 5 draws
        ("4S TH AD 2C 3C", RAN_OUT),  # Banker's 2 draws
        ("4S TH AD 2C 3C KD", PLAYED),
        ("4S TH 5D 9C", PLAYED),  # naturals
        ("4S 2H 2S 5C", PLAYED),  # 6 and 7 stand
    ],
)
def test_the_kept_cards_are_played_and_run_out_when_none_is_left_and_one_is_due(kept: str, told: list[str]) -> None:
    table = emptied(ROYAL9, kept).lock()
    assert table.told_types() == told
    assert (table.face.phase, table.table.kept) == ("shoe_ended", ())
    assert table.replayed() == (table.table, None)


@pytest.mark.parametrize("seed", range(5))
def test_kept_cards_are_whole_hands_as_long_as_six_are_left(seed: int) -> None:
    table = Watched(house(ROYAL9, decks=1, drawn_in_error="next_card")).open_shoe(BURN)
    order = [str(card) for card in DECK if str(card) not in BURN.split()]
    Random(seed).shuffle(order)
    table.draw(" ".join(order))
    played: list[str] = []
    while table.face.phase == "wagers_open":
        assert len(order) - len(played) >= 6
        round_ = table.lock().of_type("round")[-1]
        player, banker = round_["player"]["cards"], round_["banker"]["cards"]
        played += [player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:]]
    assert played == order[: len(played)]
    assert len(order) - len(played) < 6
    assert (table.fault, [event["reason"] for event in table.of_type("shoe_closed")]) == (None, ["too_few_cards"])


@pytest.mark.parametrize(
    ("game", "kept", "calls"),
    [
        (MIDI, "4S TH AD 2C 3C KD", "reveal reveal reveal"),
        (BACCARAT_ROYAL, "2S 3S 2H 2C 8S 4H", "hit reveal hit reveal"),
        (LUCKY9, "2S 2C 3S KD 5H 4H", "hit reveal"),
    ],
    ids=["midi", "baccarat_royal", "lucky9"],
)
def test_what_is_kept_for_after_a_call_is_dealt_then(game: TableRules, kept: str, calls: str) -> None:
    table = emptied(game, kept).lock()
    for name in calls.split():
        assert (table.fault, table.of_type("round")) == (None, [])
        table.do(call(name))
    (round_,) = table.of_type("round")
    hands = (round_["player"], round_["banker"]) if "player" in round_ else (round_["dealer"], *round_["hands"])
    assert sorted(card for lies in hands for card in lies["cards"]) == sorted(kept.split())
    assert (table.fault, table.replayed()) == (None, (table.table, None))


def test_after_a_call_the_cards_run_out_when_none_is_left_and_one_is_due() -> None:
    table = emptied(BACCARAT_ROYAL, "2S 3S 2H 2C").lock()
    assert table.fault is None, "Player's call is due, and no card"
    assert table.do(call("hit")).fault == "shoe_exhausted"


def test_an_odd_card_that_is_kept_is_one_of_the_six_that_a_hand_can_take() -> None:
    table = TableUnderTest(house(ROYAL9, decks=1)).open_shoe(BURN)
    others = [str(card) for card in DECK if str(card) not in f"{BURN} 4S TH AD 2C 3C KD".split()]
    table.lock().believe(ShoeErrorRaised(ShoeError.CANNOT_READ)).draw(" ".join(others)).void()
    table.draw("4S").do(TellOddCard(OddCardFate.NEXT_CARD, "dealer"))
    assert (table.face.phase, table.face.cards_left) == ("wagers_open", 5)
    assert table.lock().draw("TH AD 2C 3C KD").of_type("round")[-1]["player"]["cards"] == ["4S", "AD", "3C"]


# A card that lies face down is named by no fault.


def names_it(table: TableUnderTest, card: str) -> bool:
    """Tell whether the table names the card in anything that it sent or shows. The event `shoe_opened` is left out,
    because it lists the king and the nine printed at each seat."""
    assert table.fault == "impossible_card"
    told = [event for event in table.events if event["type"] != "shoe_opened"]
    return f'"{card}"' in json.dumps([told, to_builtins(table.face)])


@EACH_GAME
@pytest.mark.parametrize("drawn_in_error", ["burn", "next_card"])
def test_an_impossible_card_that_would_be_burned_or_kept_is_not_named(rules: TableRules, drawn_in_error: str) -> None:
    table = seated(house(rules, decks=1, drawn_in_error=drawn_in_error)).draw("2D")
    assert not names_it(table, "2D")


@EACH_GAME
def test_an_impossible_card_that_the_shoe_kept_inside_a_hand_is_not_named(rules: TableRules) -> None:
    table = seated(house(rules, decks=1)).lock().draw("KS")
    assert not names_it(table.believe(CardKept(Card.parse("2D"))), "2D")


@EACH_GAME
def test_one_that_it_kept_between_hands_is_named_where_it_opens_a_simulated_hand(rules: TableRules) -> None:
    exposed = rules in (ROYAL9, KANSAS_STAR, SUGARHOUSE)
    table = seated(house(rules, decks=1)).believe(CardKept(Card.parse("2D")))
    assert names_it(table, "2D") == exposed


@pytest.mark.parametrize("rules", [ROYAL9, KANSAS_STAR, SUGARHOUSE])
def test_one_that_opens_a_simulated_hand_is_exposed_and_named(rules: TableRules) -> None:
    assert names_it(seated(house(rules, decks=1)).draw("2D"), "2D")


def test_one_dealt_at_once_to_a_hand_that_is_locked_lies_as_that_hand_does() -> None:
    dealt = [seated(house(rules, decks=1)).lock().believe(CardKept(Card.parse("2D"))) for rules in (ROYAL9, MIDI)]
    assert [names_it(table, "2D") for table in dealt] == [True, False]


BANKER_NEXT, PLAYER_NEXT, HAND_OVER = "4S 2H 2S 3C", "4S TH AD 2C", "4S TH 5D 9C"
THIRD = Card.parse("7C")


@pytest.mark.parametrize("rules", [ROYAL9, MIDI], ids=["mini", "midi"])
@pytest.mark.parametrize(
    "told_apart",
    [
        [CardDrawn(None)] * 3,
        [CardKept(None)] * 3,
        [ShoeErrorRaised(error) for error in (ShoeError.DRAW_TIMEOUT, ShoeError.CARD_CODE, ShoeError.OVERDRAW)],
        [CardDrawn(THIRD, Target.PLAYER, 3), CardDrawn(THIRD, Target.BANKER, 3), CardDrawn(THIRD, Target.BANKER, 3)],
        [CardDrawn(Card.parse("2D"))] * 3,
    ],
    ids=["unreadable", "kept unreadable", "shoe error", "target", "impossible"],
)
def test_four_kept_cards_are_told_by_no_fault(rules: TableRules, told_apart: list[Fact]) -> None:
    """A fault shows nothing of four cards that are kept for the next round. Before that round begins, nobody may learn
    who takes a third card, or who wins."""
    tables = []
    for kept, fact in zip((BANKER_NEXT, PLAYER_NEXT, HAND_OVER), told_apart, strict=True):
        table = Watched(house(rules, decks=1, drawn_in_error="next_card")).open_shoe(BURN).draw(kept)
        table.believe(fact)
        assert table.fault is not None
        tables.append(table)
    assert [table.seen for table in tables[1:]] == [tables[0].seen] * 2


@pytest.mark.parametrize("rules", [ROYAL9, MIDI], ids=["mini", "midi"])
@pytest.mark.parametrize("says", [ShoeResult.TIE, ShoeResult.PLAYER])
def test_the_shoes_result_of_four_kept_cards_waits_for_their_hand(rules: TableRules, says: ShoeResult) -> None:
    """If the shoe reports a result for four cards that are kept for the next round, the table shows nothing of the
    result until that round. Otherwise people would learn that the four cards are already a whole round."""
    table = Watched(house(rules, drawn_in_error="next_card")).open_shoe(BURN).draw(HAND_OVER)
    as_it_was = (list(table.events), table.face)
    table.believe(ShoeResultReported(says, False, False))
    assert (table.events, table.face) == as_it_was
    assert table.replayed() == (table.table, None)
    table.lock()
    if rules is MIDI:
        assert (table.fault, table.of_type("round")) == (None, [])
        table.do(call("reveal"))
    assert len(table.of_type("round")) == 1
    assert table.fault == (None if says is ShoeResult.TIE else "result_differs")


def test_the_results_of_two_kept_hands_are_each_hands_own() -> None:
    table = Watched(house(ROYAL9, drawn_in_error="next_card")).open_shoe(BURN)
    for kept, says in ((HAND_OVER, ShoeResult.TIE), ("KS 4H 9D 4C", ShoeResult.PLAYER)):
        table.draw(kept).believe(ShoeResultReported(says, False, says is ShoeResult.PLAYER))
    assert [table.lock().fault, table.lock().fault] == [None, None]
    assert [event["outcome"] for event in table.of_type("round")] == ["tie", "player"]
    assert table.table.kept_results == ()


def test_what_the_shoe_said_of_kept_cards_is_gone_with_their_shoe() -> None:
    table = Watched(house(ROYAL9, drawn_in_error="next_card")).open_shoe(BURN).draw(HAND_OVER)
    table.believe(ShoeResultReported(ShoeResult.PLAYER, False, False)).do(NewShoe("Smith"))
    table.draw(BURN).lock().draw(HAND_OVER)
    assert (table.fault, len(table.of_type("round"))) == (None, 1)


@pytest.mark.parametrize(("kept", "takes_it"), [("", "player"), ("4S", "banker"), ("4S TH AD", "banker")])
def test_where_a_card_after_fewer_goes_is_told(kept: str, takes_it: str) -> None:
    table = TableUnderTest(house(ROYAL9, drawn_in_error="next_card")).open_shoe().draw(f"{kept} ??")
    assert table.details == {"where": takes_it}


def test_a_name_that_cannot_be_is_refused_to_whoever_gave_it_and_told_to_nobody() -> None:
    table = Watched(house(MIDI, decks=1)).open_shoe(BURN).lock().draw("4S TH 5D 8C ??")
    as_it_was = (list(table.events), table.rows[-1], table.face)
    hidden = cards("3H 4S 8C")  # one burned, two dealt face down
    assert [table.ask(NameCard(card, "Smith")) for card in hidden] == ["card_cannot_be"] * 3
    assert (table.events, table.rows[-1], table.face) == as_it_was
    believed, told = step(table.table, CardNamed(hidden[0], "Smith"))
    assert believed.fault is not None
    assert (believed.fault.code, len(told)) == ("impossible_card", 3), "which is what believing it would tell everybody"
    assert hand(table.name("7C").face, "player").cards == ("--", "--")
