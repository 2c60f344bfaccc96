"""Checks of which act may end which fault, and of which acts need two people. Only pure functions are tested here."""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.contract.names import same_name
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import Request
from controller.table.acts.every import ACTS
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import ShoeError, ShoeErrorRaised, StepFailed
from controller.table.faults import Exit
from controller.table.requests import not_answered
from controller.table.step import step
from tests.support.tables import TableUnderTest, cards

ERROR = ShoeErrorRaised(ShoeError.OVERDRAW)
KS = cards("KS")[0]


def fault_id(table: TableUnderTest) -> str | None:
    return table.face.fault.id if table.face.fault else None


def test_each_stop_of_the_table_has_a_name_of_its_own() -> None:
    table = TableUnderTest().draw("AS")
    assert fault_id(table) == "0-1", "before the first shoe"
    table.do(NewShoe("Smith")).draw("2D").believe(ERROR)
    assert fault_id(table) == "1-1"
    table.clear().believe(ERROR)
    assert fault_id(table) == "1-2", "the same code, and another fault"
    table.do(NewShoe("Smith")).believe(ERROR)
    assert fault_id(table) == "2-1"


def test_naming_a_missed_card_leaves_the_fault_that_it_was() -> None:
    table = TableUnderTest().open_shoe().lock().believe(StepFailed("KeyError in CardDrawn"))
    assert (table.fault, fault_id(table)) == ("internal", "1-1")
    table.do(NameCard(KS, "Smith"))
    assert (table.fault, fault_id(table)) == ("internal", "1-1")


def test_a_fault_has_the_same_name_after_a_restart() -> None:
    table = TableUnderTest().draw("AS").do(NewShoe("Smith")).draw("2D").believe(ERROR)
    replayed = TableUnderTest().table
    for row in table.rows:
        replayed, _ = step(replayed, row.fact)
    assert replayed == table.table


def test_every_exit_is_a_request_that_names_its_fault() -> None:
    assert sorted((act.exit for act in ACTS if act.exit is not None), key=str) == sorted(Exit, key=str)


@pytest.mark.parametrize("act", [ClearFault("Bea"), VoidRound("Bea"), NameCard(KS, "Bea"), NewShoe("Bea")])
def test_an_exit_answers_the_fault_that_it_names(act: Request) -> None:
    stopped = TableUnderTest().open_shoe().believe(ERROR).table
    goes_on = TableUnderTest().open_shoe().table
    told = {
        (where, fault): None if (refused := not_answered(table, act, fault)) is None else refused.code
        for where, table in (("stopped", stopped), ("goes on", goes_on))
        for fault in (None, "1-1", "1-2")
    }
    assert told == {
        ("stopped", None): "fault_unnamed",
        ("stopped", "1-1"): None,
        ("stopped", "1-2"): "fault_changed",
        ("goes on", None): None,
        ("goes on", "1-1"): "fault_changed",
        ("goes on", "1-2"): "fault_changed",
    }


def test_what_is_no_exit_and_what_nobody_signs_answers_nothing() -> None:
    stopped = TableUnderTest().open_shoe().believe(ERROR).table
    for act in (LockWagers(), ClearFault(None), NewShoe(None)):
        assert not_answered(stopped, act, None) is None, "it is refused for what it is"


def test_a_correction_is_allowed_first_and_then_waits_for_a_second_person() -> None:
    table = TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C")
    right = tuple(cards("4S 6D")), tuple(cards("TH 9C"))
    same = tuple(cards("4S 5D")), tuple(cards("TH 9C"))
    assert table.ask(CorrectRound(1, *same, "Ann")) == "nothing_differs"
    assert table.ask(CorrectRound(1, *right, "Ann")) == "second_person_due"
    assert table.ask(CorrectRound(1, *right, "Ann", "Ann.")) == "not_two_people"
    table.do(CorrectRound(1, *right, "Ann", "Bea"))
    (event,) = table.of_type("correction")
    assert (event["by"], event["witness"]) == ("Ann", "Bea")


@pytest.mark.parametrize(
    "other", ["Ann Lee", "ann lee", " ANN  LEE ", "Ann.Lee", "Ann-Lee!", "Ann\N{NO-BREAK SPACE}Lee", "Ａｎｎ Ｌｅｅ"]
)
def test_one_person_under_another_spelling(other: str) -> None:
    assert same_name("Ann Lee", other)


@pytest.mark.parametrize(("one", "other"), [("Ann", "Anna"), ("Jörg", "Jorg"), ("Ann 1", "Ann 2"), ("山田", "山本")])
def test_two_people(one: str, other: str) -> None:
    assert not same_name(one, other)


@given(st.text(min_size=1), st.sampled_from(string.punctuation + " "), st.data())
def test_no_sign_case_or_form_makes_another_person(name: str, sign: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name)))
    assert same_name(name, unicodedata.normalize("NFKC", name))
    assert same_name(unicodedata.normalize("NFD", name), unicodedata.normalize("NFC", name))
    assert same_name(name[:at] + sign + name[at:], name) or unicodedata.combining(name[at : at + 1] or " ")
