"""Checks that an award is not verified or paid while its table doubts the round, unless two people confirm that they
looked into the doubts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from controller.pit.reference.__main__ import main
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Step
from controller.pit.reference.doubts import OF_THE_SHOE, sentence
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from controller.table.faults import ALARMS
from controller.words.language import language
from tests.pit.evening import ROYAL9_METERS, TableEvening
from tests.pit.house import TABLE, House, ack
from tests.pit.test_meters import amounts, balanced, code_of, give, opened
from tests.support.waiting import until

AWARD = "t-0.1"
Told = pytest.CaptureFixture[str]


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        yield ledger


@pytest.fixture
def table() -> TableEvening:
    return TableEvening("t-0")


def win(ledger: Ledger, table: TableEvening, *doubts: str, seat: int = 1) -> None:
    """Play a round that the seat wins. With the hit, the table reports `doubts`, codes that say why it doubts the
    round."""
    won = (table.lock(seat), table.finish((seat, "all")), table.hit(seat, "all", "small", doubts=doubts))
    assert give(ledger, table, *won) == []


def alarm(ledger: Ledger, table: TableEvening, code: str, shoe: int = 1) -> None:
    assert give(ledger, table, table.say("alarm", shoe=shoe, round=None, code=code, details={})) == []


def award(ledger: Ledger) -> Award:
    return ledger.awards()[0]


def take(ledger: Ledger, step: Step, witness: str | None = None) -> str:
    by = "Cas" if step == "paid" else "Ann"
    return ledger.take_step(AWARD, step, by, witness).step


def test_an_award_in_no_doubt_is_one_persons_to_verify(ledger: Ledger, table: TableEvening) -> None:
    win(ledger, table)
    assert (award(ledger).doubts, award(ledger).doubted) == ((), False)
    assert [take(ledger, "verified"), take(ledger, "paid")] == ["verified", "paid"]


def test_an_award_in_doubt_waits_for_two_people_who_are_not_one(ledger: Ledger, table: TableEvening) -> None:
    win(ledger, table, "lock_lay_long", "round_too_fast")
    assert [doubt.code for doubt in award(ledger).doubts] == ["lock_lay_long", "round_too_fast"]
    assert code_of(lambda: take(ledger, "verified")) == "award_doubted"
    assert code_of(lambda: take(ledger, "verified", "")) == "name_missing"
    assert code_of(lambda: take(ledger, "verified", "Ann")) == "not_two_people"
    assert (award(ledger).step, award(ledger).doubted) == ("pending", True)
    assert take(ledger, "verified", "Bea") == "verified"
    assert {(doubt.decided_by, doubt.witness) for doubt in award(ledger).doubts} == {("Ann", "Bea")}
    assert not award(ledger).doubted
    assert take(ledger, "paid") == "paid", "that was decided"
    balanced(ledger)


def test_an_award_in_doubt_is_rejected_by_one_person(ledger: Ledger, table: TableEvening) -> None:
    win(ledger, table, "count_differs")
    assert take(ledger, "rejected") == "rejected"
    assert not award(ledger).doubted
    balanced(ledger)


@pytest.mark.parametrize("code", OF_THE_SHOE)
@pytest.mark.parametrize("step", ["pending", "verified"])
def test_an_alarm_about_a_shoe_holds_its_awards_that_are_not_paid(
    ledger: Ledger, table: TableEvening, code: str, step: str
) -> None:
    win(ledger, table)
    if step == "verified":
        take(ledger, "verified")
    alarm(ledger, table, code, shoe=2)
    assert not award(ledger).doubted, "that is another shoe"
    alarm(ledger, table, code)
    alarm(ledger, table, code)
    assert [doubt.code for doubt in award(ledger).doubts] == [code], "told again it is one doubt"
    following: Step = "paid" if step == "verified" else "verified"
    assert code_of(lambda: take(ledger, following)) == "award_doubted"
    assert take(ledger, following, "Bea") == following
    alarm(ledger, table, code)
    assert not award(ledger).doubted, "people have decided despite that"


def test_what_is_paid_is_in_no_doubt_any_more(ledger: Ledger, table: TableEvening) -> None:
    win(ledger, table)
    take(ledger, "verified")
    take(ledger, "paid")
    alarm(ledger, table, "count_differs")
    assert award(ledger).doubts == ()


def test_a_hit_that_shares_a_level_keeps_its_own_doubts(ledger: Ledger, table: TableEvening) -> None:
    won = (table.lock(1, 2), table.finish((1, "all"), (2, "all")))
    give(ledger, table, *won, table.hit(1, "all", "small", doubts=("round_too_fast",)), table.hit(2, "all", "small"))
    assert [bool(each.doubts) for each in ledger.awards()] == [True, False]
    assert len(amounts(ledger)) == 2


@pytest.mark.parametrize("doubts", [None, "lock_lay_long", [7], ["Not a code"]])
def test_doubts_that_are_none_are_not_understood(ledger: Ledger, table: TableEvening, doubts: object) -> None:
    won = {"progressive": {"meter": "small", "share": "1:1"}, "fixed": None}
    bodies = (
        table.lock(1),
        table.finish((1, "all")),
        table.say("hit", spot="royal9", seat=1, tier="all", doubts=doubts, **won),
    )
    assert give(ledger, table, *bodies) == ["event_not_understood"]
    assert ledger.awards() == []


def test_a_doubt_has_its_sentence_and_a_newer_tables_doubt_holds_all_the_same(
    ledger: Ledger, table: TableEvening
) -> None:
    for code, says in language().sections["doubt"].items():
        assert sentence(code) == says
    assert set(OF_THE_SHOE) <= ALARMS.keys()
    win(ledger, table, "seen_by_nobody_yet")
    assert str(award(ledger).doubts[0]) == "seen_by_nobody_yet."
    assert code_of(lambda: take(ledger, "verified")) == "award_doubted"


def test_a_person_sees_the_doubt_and_says_so_with_a_second_one(house: House, capsys: Told) -> None:
    table, far = TableEvening(TABLE, ROYAL9_METERS), house.far()
    far.publish(f"pit/v1/{TABLE}/state", table.state(), retain=True)
    pit = house.pit("--adopt-new")
    far.ack(ack(0))
    table.lock(1)
    table.finish((1, "player_personal"))
    table.hit(1, "player_personal", "player_personal", doubts=("lock_lay_long",))
    far.publish(f"pit/v1/{TABLE}/state", table.state(), retain=True)
    far.send_events(*table.sent)
    far.ack(ack(3))
    until(pit.err, "awards can be decided on")
    at, one = ("--ledger", str(house.ledger)), ("award", "verify", f"{TABLE}.1")
    assert main(["award", "list", *at]) == 0
    assert f"    ? {sentence('lock_lay_long')}\n" in capsys.readouterr().out
    assert house.decide(*one) == 1, "who does not say that there are doubts has not seen them"
    said = capsys.readouterr().err
    assert said.startswith("award_doubted")
    assert "--despite-doubts" in said
    assert house.decide(*one, "--despite-doubts", witness="Ann") == 1
    assert capsys.readouterr().err.startswith("not_two_people")
    assert house.decide(*one, "--despite-doubts", witness="Bea") == 0
    assert main(["award", "list", *at]) == 0
    assert "(practice:Ann, witness practice:Bea, decided despite this)" in capsys.readouterr().out


def test_a_ledger_of_form_6_gets_a_place_for_doubts(form_6: Path) -> None:
    with closing(Ledger(form_6)) as ledger:
        assert {doubt for each in ledger.awards() for doubt in each.doubts} == set()
