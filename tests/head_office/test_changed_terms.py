"""Checks that head office reports each change of a meter's terms, and finds a house that changes terms while people
play for the meter."""

from __future__ import annotations

import json
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.pit.head_office.audit import House, audit
from controller.pit.reference.meters import Terms
from tests.head_office.evenings import Lines, pits_ledger, signed_by_the_pit
from tests.head_office.test_lying_houses import agreeing, lied, lines_of
from tests.pit.evening import TableEvening
from tests.pit.test_meters import give

BIG = {"big": Terms(100_000, Fraction(1, 10), Fraction(0), 100_000)}
MEAN = {"big": Terms(100_000, Fraction(1, 1_000), Fraction(0), 100_000)}


def evening(path: Path, hit: bool = True) -> Lines:
    """Return the log of a house whose manager lowers the rate at which wagers feed the meter, before a big night. If
    `hit` is true, somebody wins the meter in that night. Otherwise people take the new rate back."""
    with closing(pits_ledger(path, BIG)) as ledger:
        table = TableEvening("t-0", ["big"])
        give(ledger, table, table.lock(1), table.finish())
        ledger.set_terms(MEAN, "ann", "bob", "a big night")
        give(ledger, table, table.lock(1, 2))
        if hit:
            give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big"), table.lock(1))
        else:
            ledger.withdraw_terms("big", "cas", "bob", "wrong rate")
    return lines_of(path)


def audited(lines: Lines, folder: Path) -> House:
    (folder / "log").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return audit("north", [folder / "log"], None)


def test_head_office_is_told_who_changed_terms_and_when_they_run(tmp_path: Path) -> None:
    house = audited(evening(tmp_path / "won"), tmp_path)
    assert house.findings == []
    approved, runs = house.alarms
    assert approved.startswith("big got other terms, which wait until it is won: seed 1,000.00, 1/1000 of a wager")
    assert approved.endswith("(ann and bob: a big night)")
    assert runs.startswith("big was won (table t-0, shoe 1, round 2): the terms that waited run, seed 1,000.00, 1/1000")
    house = audited(evening(tmp_path / "back", hit=False), tmp_path)
    assert (house.findings, len(house.alarms)) == ([], 2)
    assert house.alarms[1].startswith("big: the terms that waited were taken back (cas and bob: wrong rate)")


def test_what_head_office_was_told_once_it_is_not_told_again(tmp_path: Path) -> None:
    lines = evening(tmp_path / "won")
    before = audited(lines, tmp_path).seen
    (tmp_path / "log").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert audit("north", [tmp_path / "log"], None, before).alarms == []


def at_once(said: dict[str, object]) -> None:
    decisions = said["decisions"]
    assert isinstance(decisions, list)
    decisions[-1].pop("waits")


def test_a_house_that_changes_terms_at_once_while_people_play_is_found(tmp_path: Path) -> None:
    """Head office finds a house that puts a meter's new terms in force while people are playing for the meter, although
    every figure of the house's statement follows from its own decisions."""
    told = audited(agreeing(lied(evening(tmp_path / "house"), at_once)), tmp_path).findings
    what = "big got other terms at once (ann and bob: a big night), and people had played for it"
    assert told == [f"{what}: they wait until it is won"]


@pytest.mark.parametrize(
    ("forged", "finding"),
    [
        ({"terms_digest": "0" * 64}, "the terms that run have the digest"),
        ({"digest": "0" * 64}, "the terms of big, seed 1,000.00, 1/1000"),
        ({"witness": None}, "takes two"),
    ],
)
def test_another_digest_or_one_person_alone_is_found(tmp_path: Path, forged: dict[str, object], finding: str) -> None:
    lines = evening(tmp_path / "house")

    def forge(said: dict[str, object]) -> None:
        decisions = said["decisions"]
        assert isinstance(decisions, list)
        (said if "terms_digest" in forged else decisions[-1]).update(forged)

    told = audited([*lines[:-1], signed_by_the_pit(lied(lines, forge)[-1])], tmp_path).findings
    assert any(finding in each for each in told), told


def test_terms_that_were_taken_back_by_one_person_are_found(tmp_path: Path) -> None:
    lines = evening(tmp_path / "house", hit=False)

    def forge(said: dict[str, object]) -> None:
        decisions = said["decisions"]
        assert isinstance(decisions, list)
        decisions[-1].update(witness=None)

    assert any("takes two" in each for each in audited(lied(lines, forge), tmp_path).findings)


def test_other_prices_run_at_once_and_a_wager_at_none_of_them_is_found(tmp_path: Path) -> None:
    """Head office accepts that new prices of a wager are in force at once. It reports a wager at a price that the
    meter's terms do not list, because a friend's table could feed the meter ten times as fast by such wagers."""
    priced = {"big": replace(BIG["big"], prices_cents=(500,))}
    told = {}
    for price_cents in (500, 5_000):
        path = tmp_path / f"{price_cents}"
        with closing(pits_ledger(path, BIG)) as ledger:
            ledger._intake.refuse_strange_price = lambda *_: None  # type: ignore[method-assign]
            table = TableEvening("t-0", ["big"])
            give(ledger, table, table.lock(1, price_cents=7), table.finish())
            ledger.set_terms(priced, "ann", "bob", "the sheet")
            give(ledger, table, table.lock(1, price_cents=price_cents), table.finish())
        house = audited(lines_of(path), tmp_path)
        assert "big got other terms, which run at once" in house.alarms[0]
        told[price_cents] = house.findings
    place = "table t-0, shoe 1, round 2"
    assert told == {500: [], 5_000: [f"{place}: a wager of 50.00 feeds big, whose terms have no such price"]}
