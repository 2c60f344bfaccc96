"""Checks which refused acts a table records in its journal. Each refused act of a person is recorded with the reason,
up to a limited number in a day."""

from __future__ import annotations

from controller.daemon.refusals import MOST_OF_A_DAY, MOST_OF_AN_ACCOUNT, Refusals
from controller.table.facts import ActRefused

DAY = "2026-11-25"


def test_a_flood_of_refusals_is_counted_and_the_next_day_tells_how_many_there_were() -> None:
    refusals = Refusals()
    flood = [refusals.fact("socket eve(4001)", "void", "Eve", "no_round", DAY) for _ in range(1_000)]
    assert [each for each in flood if each is not None] == [ActRefused("void", "Eve", "no_round")] * MOST_OF_AN_ACCOUNT
    assert refusals.fact("socket ann(4002)", "count", None, "fault_unnamed", DAY) is not None, "another has room"
    tomorrow = refusals.fact("socket eve(4001)", "void", "Eve", "no_round", "2026-11-26")
    assert tomorrow == ActRefused("void", "Eve", "no_round", 1_000 - MOST_OF_AN_ACCOUNT)


def test_many_accounts_fill_it_neither() -> None:
    refusals = Refusals()
    kept = [refusals.fact(f"socket ?({uid})", "void", None, "no_round", DAY) for uid in range(5_000)]
    assert sum(each is not None for each in kept) == MOST_OF_A_DAY
    assert len(refusals._more) <= MOST_OF_A_DAY
