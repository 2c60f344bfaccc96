"""Checks of reports that do not concern the round in play: the pit's next key, another client that uses the table's
name at the broker, and facts that raise no fault."""

from __future__ import annotations

from controller.rules.game.cards import Card
from controller.table.face_down import comes_face_down, hides_cards
from controller.table.facts import (
    CardDrawn,
    CardKept,
    JournalForked,
    JournalFoundBehindPit,
    PitKeyRotated,
    Target,
)
from controller.table.faults import raised_by
from controller.table.journalled import ClientIdTaken, MeasureAnswered, PitLinkBack, PitLinkLost
from controller.table.legality import Row
from controller.table.stops import behind_pit_at
from tests.support.tables import MIDI, TableUnderTest, between

_AT = "2026-01-01T00:00:01.000Z"


def test_the_pits_next_key_is_pinned_without_a_person() -> None:
    table = between().believe(PitKeyRotated("ab" * 32, "cd" * 32))
    assert (table.table.pit_key, table.fault) == ("ab" * 32, None)


def test_a_place_at_the_broker_that_another_took_is_an_alarm_and_no_fault() -> None:
    table = between()
    table.told()
    table.believe(ClientIdTaken())
    assert [(event["type"], event["code"]) for event in table.told()] == [("alarm", "client_id_taken")]
    assert table.fault is None


def test_a_journal_that_the_pit_has_not_cosigned_is_an_alarm_and_no_fault() -> None:
    table = between()
    table.told()
    table.believe(JournalForked(40, 38))
    (event,) = table.told()
    assert (event["type"], event["code"], event["details"]) == ("alarm", "journal_forked", {"size": 40, "rows": 38})
    assert table.fault is None


def test_the_loss_of_the_pit_is_told_and_its_return_and_nothing_stops() -> None:
    table = between()
    table.told()
    lost = [table.believe(fact).table.pit_link_lost for fact in (PitLinkLost("silent"), PitLinkBack(75))]
    assert lost == [True, False]
    told = [(event["code"], event["details"]) for event in table.told()]
    assert told == [("pit_link_lost", {"standing": "silent"}), ("pit_link_back", {"lost_s": 75})]
    assert table.fault is None


def test_the_pits_question_what_runs_is_answered_with_its_nonce_and_answered_once() -> None:
    table = between()
    table.told()
    answer = {"nonce": "1" * 64, "version": "0.2.0", "configuration": "3" * 64, "proof": "4" * 64}
    table.believe(MeasureAnswered(**answer, at=_AT, program="2" * 64))
    (event,) = table.told()
    assert (event["type"], event["code"]) == ("alarm", "program_measured")
    assert event["details"] == answer | {"now": "2" * 64}
    assert table.table.measure_asked_at == _AT, "a question of that moment is the same once more"


def test_a_card_raises_no_fault_by_itself() -> None:
    assert raised_by(CardDrawn(Card.parse("7C"))) is None


def test_a_card_that_waits_beside_an_ack_that_does_not_fit_takes_no_ack_back() -> None:
    table = between().believe(JournalFoundBehindPit(9, 4, chain_differs=False, at=_AT)).draw("5D")
    assert table.face.fault is not None
    assert table.face.fault.held_cards == 1
    assert behind_pit_at(table.table) == _AT


def test_the_first_card_of_a_shoe_is_turned_up_and_a_kept_card_is_seen_by_nobody() -> None:
    announced = TableUnderTest(MIDI).new_shoe_by_supervisor()
    assert not comes_face_down(announced.table, Row.CARD)
    playing = TableUnderTest(MIDI).open_shoe().lock().draw("4S TH")
    playing.believe(CardKept(Card.parse("7H"), Target.PLAYER, 1))
    assert playing.table.kept
    assert hides_cards(playing.table)
