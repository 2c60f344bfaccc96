"""Checks of an award for which the pit names an impossible amount. The table raises an alarm, and does not accept the
amount until people have decided. Other awards go on meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from controller.table.acts.pit import AcceptAward, SeeAward
from controller.table.acts.shoe import NewShoe
from controller.table.facts import AwardStepped
from tests.support.tables import ROYAL9, TableUnderTest

FIRST = AwardStepped(1, "t.1", "t/e/7", 1, 1, "royal9", 1, "banker_personal", "banker_personal", 15, "pending", "pit")
LEAST_CENTS, MOST_CENTS = 10, 20


def see(table: TableUnderTest, **said: Any) -> str | None:
    """Let the pit report a step of an award to the table. `said` replaces fields of the usual report. Return the code
    of the table's refusal, or None if the table took the step."""
    step = replace(FIRST, **said)
    return table.ask(SeeAward(step, LEAST_CENTS, MOST_CENTS))


def told(table: TableUnderTest) -> list[tuple[str, object]]:
    """Return the award steps and alarms that the table sent since the last call, with their amounts."""
    return [
        (event["step"], event["cents"]) if event["type"] == "award" else (event["code"], event["details"])
        for event in table.told()
        if event["type"] in ("award", "alarm")
    ]


@pytest.fixture
def table() -> TableUnderTest:
    return TableUnderTest(ROYAL9)


def disputed(table: TableUnderTest) -> TableUnderTest:
    """Let the pit report an award with a larger amount than its hit can have. Check that the table raises an alarm, and
    return the table."""
    assert see(table, cents=21) is None
    details = {"award": "t.1", "hit": "t/e/7", "seat": 1, "cents": 21, "least_cents": 10, "most_cents": 20}
    assert told(table) == [("award_impossible", details)]
    return table


@pytest.mark.parametrize(("cents", "possible"), [(9, False), (10, True), (20, True), (21, False)])
def test_an_amount_outside_of_its_bounds_is_told_and_not_believed(
    table: TableUnderTest, cents: int, possible: bool
) -> None:
    assert see(table, cents=cents) is None
    assert [what for what, _ in told(table)] == ["pending" if possible else "award_impossible"]
    assert see(table, cents=cents) == ("award_old" if possible else "award_impossible")
    assert told(table) == [], "once, however often it comes"


def test_the_awards_of_other_hits_go_on_meanwhile(table: TableUnderTest) -> None:
    disputed(table)
    assert see(table, seq=2, award="t.2", hit="t/e/8", seat=2) is None
    assert told(table) == [("pending", 15)]


def test_the_hit_is_told_as_disputed_until_people_have_accepted_its_amount(table: TableUnderTest) -> None:
    table.open_shoe("2H 3H 4H").lock(1, 2).draw("KS 2C 9S 5D").told()
    first, second = table.face.hits
    its = {"spot": first.spot, "tier": first.tier, "meter": first.meter}
    assert (first.seat, first.step, second.step) == (1, "hit", "hit")
    assert see(table, **its, cents=21) is None
    assert [hit.step for hit in table.face.hits] == ["disputed", "hit"]
    table.do(AcceptAward("t.1", 21, "Ann", "Bea"))
    assert [(hit.step, hit.cents) for hit in table.face.hits] == [("pending", 21), ("hit", None)]


def test_two_people_accept_the_amount_that_was_refused_and_no_other(table: TableUnderTest) -> None:
    assert table.ask(AcceptAward("t.1", 21, "Ann", "Bea")) == "no_disputed_award"
    disputed(table)
    assert table.ask(AcceptAward("t.1", 22, "Ann", "Bea")) == "award_differs"
    assert table.ask(AcceptAward("t.2", 21, "Ann", "Bea")) == "no_disputed_award"
    assert table.ask(AcceptAward("t.1", 21, "Ann")) == "second_person_due"
    assert table.ask(AcceptAward("t.1", 21, "Ann", "ann.")) == "not_two_people"
    table.do(AcceptAward("t.1", 21, "Ann", "Bea"))
    assert told(table) == [("pending", 21)]
    assert table.ask(AcceptAward("t.1", 21, "Ann", "Bea")) == "no_disputed_award"


def test_what_follows_of_an_accepted_award_is_believed_at_that_amount_in_later_shoes_too(table: TableUnderTest) -> None:
    disputed(table).do(NewShoe("Ann"), AcceptAward("t.1", 21, "Ann", "Bea"), NewShoe("Ann"))
    assert see(table, seq=2, step="verified", cents=21) is None
    assert see(table, seq=3, step="paid", cents=21) is None
    assert told(table) == [("pending", 21), ("verified", 21), ("paid", 21)]
    assert table.table.disputed == (), "nothing of it is to come"


def test_a_later_amount_that_can_be_ends_the_dispute(table: TableUnderTest) -> None:
    """A dispute about an award's amount ends when the pit reports a later step with a possible amount. The pit does
    this if another hit that shared the meter was rejected, or if the pit corrected its books."""
    disputed(table)
    assert see(table, seq=2, cents=20) is None
    assert table.ask(AcceptAward("t.1", 21, "Ann", "Bea")) == "no_disputed_award"


def test_each_hit_has_a_dispute_of_its_own(table: TableUnderTest) -> None:
    disputed(table)
    assert see(table, seq=2, award="t.2", hit="t/e/8", seat=2, cents=22) is None
    assert [what for what, _ in told(table)] == ["award_impossible"]
    assert see(table, cents=21) == "award_impossible", "still in dispute"
    for award, cents in (("t.1", 21), ("t.2", 22)):
        assert table.ask(AcceptAward(award, cents + 1, "Ann", "Bea")) == "award_differs"
        table.do(AcceptAward(award, cents, "Ann", "Bea"))
    assert told(table) == [("pending", 21), ("pending", 22)]


def test_a_rejected_award_pays_nothing_and_is_believed_at_any_amount(table: TableUnderTest) -> None:
    disputed(table)
    assert see(table, seq=2, step="rejected", cents=21) is None
    assert told(table) == [("rejected", 21)]
    assert table.table.disputed == ()


def test_an_accepted_award_makes_no_later_step_of_another_old(table: TableUnderTest) -> None:
    disputed(table)
    assert see(table, seq=5, award="t.2", hit="t/e/8", seat=2) is None
    table.do(AcceptAward("t.1", 21, "Ann", "Bea"))
    assert see(table, seq=5, award="t.2", hit="t/e/8", seat=2) == "award_old"
    assert see(table, seq=6, award="t.2", hit="t/e/8", seat=2, step="verified") is None
