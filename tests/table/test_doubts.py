"""Checks of doubts. A doubt is a sign that a round's cards are perhaps not those that the shoe reported. The table
finds doubts in the times and counts of the cards."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from controller.rules.game.cards import Card
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import CountCards
from controller.table.facts import CardDrawn, Fact, ShoePoweredUp, ShoeResult, ShoeResultReported, ShoeUnheard
from controller.table.rules import TableRules
from tests.support.five_games import call
from tests.support.tables import MIDI, ROYAL9, TableUnderTest, house

WINS = "KS 2D 9S 3C"  # for seat 1, and a natural
TIE = "4S TH 5D 9C"
PACE = replace(ROYAL9, fastest_card_ms=150, longest_lock_s=60)


def timed(cards: str, *after_ms: int | None) -> list[Fact]:
    """Return the facts that these cards were drawn. Each number in `after_ms` is the time in ms between the previous
    card and this card. The first number counts from the lock of the wagers. A single number holds for every card."""
    times = after_ms if len(after_ms) > 1 else after_ms * len(cards.split())
    return [CardDrawn(Card.parse(card), after_ms=ms) for card, ms in zip(cards.split(), times, strict=True)]


def at(rules: TableRules = PACE) -> TableUnderTest:
    return TableUnderTest(rules).open_shoe()


def hits(table: TableUnderTest) -> list[Any]:
    return [hit["doubts"] for hit in table.of_type("hit")]


def alarms(table: TableUnderTest) -> list[str]:
    return [alarm["code"] for alarm in table.of_type("alarm")]


def count(table: TableUnderTest, more: int = 0) -> str | None:
    return table.ask(CountCards((table.face.cards_left or 0) + more, "Smith"))


# The pace of hands.


def test_a_round_that_hands_dealt_is_in_no_doubt() -> None:
    table = at().lock(1).believe(*timed(WINS, 4000, 700, 300, 900))
    assert (table.fault, hits(table), alarms(table)) == (None, [[]], [])


@pytest.mark.parametrize(("last_ms", "fast"), [(149, True), (150, False)])
def test_a_round_faster_than_hands_stops_the_table_and_its_hit_is_in_doubt(last_ms: int, fast: bool) -> None:
    table = at().lock(1).believe(*timed(WINS, 4000, 150, 150, last_ms))
    assert hits(table) == [["round_too_fast"] if fast else []]
    assert table.told_types()[-1] == ("fault round_too_fast" if fast else "hit")
    if fast:
        left = {"cards_left": 410, "last_round": 1, "last_result": "player"}
        assert table.details == {"cards": 4, "round_ms": 449} | left
        assert table.exits == {"count", "new_shoe"}
        assert count(table) is None
        assert table.lock(1).believe(*timed(WINS, 4000, 700, 300, 900)).fault is None
        assert hits(table) == [["round_too_fast"], []], "the next round is another"


def test_where_nobody_knows_a_time_the_round_is_in_no_doubt() -> None:
    """A round gets no doubt about its speed if the time of one of its cards is unknown. Example: after a restart, or if
    the program stood still while the kernel kept the bytes, several cards arrive together."""
    for times in ((4000, 1, None, 1), (None, 1, 1, None), (None,) * 4):
        table = at().lock(1).believe(*timed(WINS, *times))
        assert (table.fault, hits(table)) == (None, [[]])


def test_a_house_may_turn_it_off_and_an_older_shoe_never_had_it() -> None:
    off = replace(PACE, fastest_card_ms=0, longest_lock_s=0)  # as of a shoe that was opened before there was a pace
    for rules in (off, replace(off, procedure=2)):
        table = at(rules).lock(1).believe(*timed(WINS, 900_000, 1, 1, 1))
        assert (table.fault, hits(table), alarms(table)) == (None, [[]], [])


def test_cards_that_a_fault_held_keep_the_times_at_which_they_came() -> None:
    table = at().lock(1).believe(ShoeUnheard(1000), *timed(WINS, 4000, 700, 300, 900))
    assert count(table) is None
    assert (table.fault, hits(table)) == (None, [[]])


def test_the_shoes_last_round_stops_the_table_too() -> None:
    table = at().lock(1).draw("CUT").believe(*timed(WINS, 4000, 1, 1, 1))
    assert (table.face.phase, table.fault, table.exits) == ("shoe_ended", "round_too_fast", {"count"})
    assert count(table, -3) is None, "no card that is missing can be of a round"
    assert table.fault is None


def test_what_waited_for_the_reveal_of_a_fast_round_waits_for_its_count() -> None:
    """A report of the shoe waits until the cards of a round are turned up. If that round was dealt too fast, the report
    must then wait until a person has counted the cards. Otherwise the report could raise a second fault in place of the
    first, and nobody would count."""
    table = at(replace(MIDI, fastest_card_ms=150)).lock().believe(*timed(WINS, 70_000, 1, 1, 1))
    table.believe(ShoeResultReported(ShoeResult.BANKER, player_pair=False, banker_pair=False)).do(call("reveal"))
    assert table.fault == "round_too_fast"
    assert count(table) is None
    assert table.fault == "result_differs"


def test_face_down_the_moment_and_the_doubt_tell_nothing_of_the_cards() -> None:
    """Two rounds that differ only in cards nobody has seen, drawn at the same moments, give the same events and the
    same public state."""
    told = []
    rules = replace(MIDI, fastest_card_ms=150, longest_lock_s=60)
    for cards in (TIE, "KS 2D 9S 3C"):
        table = at(rules).lock().believe(*timed(cards, 70_000, 1, 1, 1))
        told.append(([(event["type"], event.get("code"), event.get("details")) for event in table.told()], table.face))
    assert told[0] == told[1]
    assert told[0][0][-1][1] == "lock_lay_long"


# A lock that lies.


@pytest.mark.parametrize(("lay_ms", "long"), [(60_000, False), (60_001, True), (3_600_000, True)])
def test_a_lock_that_lay_longer_than_the_houses_pace_is_told_and_puts_its_hits_in_doubt(
    lay_ms: int, long: bool
) -> None:
    table = at().lock(1)
    table.told()
    table.believe(*timed(WINS, lay_ms, 700, 300, 900))
    assert (table.fault, hits(table)) == (None, [["lock_lay_long"] if long else []])
    assert table.told_types() == [*(["alarm"] if long else []), "round", "hit"], "told when the first card comes"
    if long:
        assert table.of_type("alarm")[0]["details"] == {"lay_s": lay_ms // 1000, "cards_left": 413}


def test_where_the_first_card_locks_no_lock_lies() -> None:
    table = at(house(PACE, lock_on="first_card")).believe(*timed(TIE, 900_000, 700, 300, 900))
    assert alarms(table) == []


# The cut card and the count.


def test_a_cut_card_out_of_its_place_puts_the_shoe_in_doubt_until_a_count_agrees() -> None:
    table = at(house(PACE, hands_after_cut_card_first=4)).draw("CUT")
    assert alarms(table) == ["cut_card_misplaced"]
    table.lock(1).draw(WINS)
    assert hits(table)[-1] == ["cut_card_misplaced"]
    assert count(table) is None
    assert table.lock(1).draw(WINS).fault is None
    assert hits(table)[-1] == []


def test_a_cut_card_that_is_overdue_is_told_once() -> None:
    table = at(house(PACE, decks=1, cut_card_from_end=40, cut_card_tolerance=0))
    for cards in ("4S TH 5D 9C", "4H TD 5C 9S", "4D TC 5S 9H", "4C TS 5H 9D"):
        table.lock().draw(cards)
    assert alarms(table)[0] == "cut_card_misplaced"
    assert alarms(table).count("cut_card_misplaced") == 1
    overdue = table.of_type("alarm")[0]["details"]
    assert overdue == {"cards_left": 38, "cut_card_from_end": 40}


@pytest.mark.parametrize("more", [-6, 6])
def test_a_count_that_differs_is_told_and_puts_the_shoe_in_doubt(more: int) -> None:
    table = at()
    assert count(table, more) is None
    assert table.of_type("alarm")[0]["code"] == "count_differs"
    assert table.of_type("alarm")[0]["details"] == {"cards_left": 414, "counted": 414 + more}
    assert table.face.cards_left == 414 + min(more, 0), "cards that are fewer are gone"
    table.lock(1).draw(WINS)
    assert hits(table) == [["count_differs"]]
    assert table.replayed() == (table.table, None)


def test_a_shoe_that_has_ended_may_be_counted() -> None:
    table = at().lock().draw("CUT").draw(TIE)
    assert table.face.phase == "shoe_ended"
    assert count(table) is None
    assert alarms(table) == ["cut_card_misplaced"]
    assert count(table, -1) is None
    assert alarms(table)[-1] == "count_differs"
    assert table.do(NewShoe()).table.shoe_doubts == ()


def test_a_round_may_be_in_several_doubts_each_once() -> None:
    table = at(house(PACE, hands_after_cut_card_first=9)).draw("CUT")
    table.lock(1).believe(*timed(WINS, 70_000, 1, 1, 1))
    assert hits(table) == [["lock_lay_long", "round_too_fast", "cut_card_misplaced"]]


def test_a_card_that_a_person_typed_puts_the_rounds_hit_in_doubt() -> None:
    table = at().lock(1).draw("KS 2D ??").name("9S").draw("3C")
    assert hits(table) == [["typed_card"]]
    assert table.lock(1).draw(WINS).fault is None
    assert hits(table)[-1] == []


# A shoe that was switched off.


@pytest.mark.parametrize("procedure", [2, 3])
def test_after_a_power_up_the_cards_are_counted_and_an_older_shoe_is_cleared_as_before(procedure: int) -> None:
    table = at(replace(PACE, procedure=procedure)).lock().draw(TIE).believe(ShoePoweredUp())
    if procedure <= 2:
        assert (table.fault, table.exits, table.details) == ("shoe_restarted", {"clear", "card", "new_shoe"}, {})
        assert table.clear().fault is None
        return
    assert (table.fault, table.exits) == ("shoe_restarted", {"count", "new_shoe"})
    assert table.details == {"cards_left": 410, "last_round": 1, "last_result": "tie"}
    assert count(table, -6) is None
    assert (table.fault, table.face.cards_left) == (None, 404)
    assert table.of_type("fault_cleared")[-1]["cards_unheard"] == 6


def test_one_count_answers_for_the_silence_and_the_power_up() -> None:
    table = at().believe(ShoeUnheard(5000), ShoePoweredUp())
    assert count(table, -6) is None
    assert table.fault is None
