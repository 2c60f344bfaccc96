"""Checks that two people can close a meter, and that all its money is moved to another meter or to the reserve, to the
fraction of a cent.

The tests play these cases: a manager closes a meter while somebody's win waits or while the winning round is being
dealt; a manager moves a meter's money to another meter, for which a friend plays; the settings file lacks the meter;
the pit crashes between moving the money and closing the meter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place
from tests.pit.evening import EPOCH, TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import TERMS, balanced, code_of, correct, give, opened
from tests.support.errors import raising

BY = ("Ann", "Bob", "F-17", "the game ends")


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        yield ledger


def close(ledger: Ledger, meter: str = "big", into: str | None = "small") -> int:
    with ledger.closing_meters() as closings:
        return closings.close(meter, into, *BY)


def held(ledger: Ledger) -> Fraction:
    """Return the exact cents on all accounts of the pit's bookkeeping except the accounts `wagers` and `house`. The
    result is the money that players gave to meters and reserves, plus the seeds (the amounts with which meters began).
    """
    rows = ledger._db.execute("SELECT cents, remainder FROM fund WHERE account NOT IN ('wagers', 'house')")
    return sum((cents + Fraction(remainder) for cents, remainder in rows.fetchall()), Fraction(0))


def played(ledger: Ledger) -> TableEvening:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish(), table.lock(2, 3), table.finish())
    return table


@over_both
def test_all_that_a_meter_holds_moves_to_another_and_nothing_is_lost(ledger: Ledger) -> None:
    table = played(ledger)
    before, small = held(ledger), ledger.levels()["small"]
    assert close(ledger) == 1_000 + 500 + 214, "level, and reserve"
    assert held(ledger) == before
    assert ledger.levels() == {"small": small + 1_500}
    big, now = ledger.account().meters
    assert (big.level_cents, big.reserve_cents, big.moved_cents) == (0, 0, -1_500)
    assert (now.reserve_cents, now.reserve_carried) == (214, Fraction(2, 7))
    balanced(ledger)
    give(
        ledger, table, table.void_on(("royal9", [2]))
    )  # long after: what it gave has gone on, and the other meter's part can be corrected
    correct(ledger)
    assert ledger.levels() == {"small": small + 1_500 - 5}
    balanced(ledger)


def test_the_houses_reserve_keeps_it_until_two_people_move_it_on(ledger: Ledger) -> None:
    played(ledger)
    before = held(ledger)
    close(ledger, into=None)
    assert (held(ledger), ledger.account().house_reserve_cents) == (before, 1_714)
    balanced(ledger)
    with ledger.closing_meters() as closings:
        assert closings.move_reserve("small", *BY) == 1_714
        assert code_of(lambda: closings.move_reserve("small", *BY)) == "reserve_empty"
    assert (held(ledger), ledger.account().house_reserve_cents) == (before, 0)
    balanced(ledger)


def test_a_meter_with_a_limit_takes_what_came_into_its_overflow(path: Path) -> None:
    terms = {
        "big": Terms(1_000, Fraction(1, 5), Fraction(0), 1_000),
        "low": Terms(10, Fraction(0), Fraction(0), 10, 300),
    }
    with closing(opened(path, terms)) as ledger:
        close(ledger, into="low")
        (_, low) = ledger.account().meters
        assert (low.level_cents, low.overflow_cents) == (300, 710)
        balanced(ledger)


def test_nobody_closes_a_meter_under_a_win_or_a_round_in_play(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1))
    assert code_of(lambda: close(ledger)) == "wagers_in_play"
    give(ledger, table, table.finish((1, "x")))
    assert code_of(lambda: close(ledger)) == "awards_open", "its hit is still to come"
    give(ledger, table, table.hit(1, "x", "big"))
    assert code_of(lambda: close(ledger)) == "awards_open"
    ledger.take_step("t-0.1", "verified", "Ann")
    assert code_of(lambda: close(ledger)) == "awards_open"
    ledger.take_step("t-0.1", "paid", "Cas")
    close(ledger)
    balanced(ledger)


def test_who_may_not_close_and_what_is_no_meter_to_close(ledger: Ledger) -> None:
    for witness, document, why, code in (
        ("Ann", "F-17", "the game ends", "not_two_people"),
        ("Bob", " ", "the game ends", "reason_missing"),
        ("Bob", "F-17", "", "reason_missing"),
    ):
        with raising(code), ledger.closing_meters() as closings:
            closings.close("big", "small", "Ann", witness, document, why)
    for meter, into, code in (("huge", "big", "meter_not_open"), ("big", "huge", "meter_not_open"),
                              ("big", "big", "not_another_meter")):  # fmt: skip
        with raising(code):
            close(ledger, meter, into)
    assert ledger.levels() == {"big": 1_000, "small": 70}


def test_a_closed_meter_takes_no_wager_and_opens_again_by_two_people_alone(ledger: Ledger) -> None:
    """The pit refuses a wager on a closed meter. A table may have closed the betting before it hears that the meter is
    closed. The table then keeps that event, and the pit books the wager once two people open the meter again."""
    table = played(ledger)
    close(ledger)
    received = ledger.receive([("t-0", table.lock(1))])
    assert [refusal.code for _, refusal in received.refused] == ["meter_closed"]
    assert received.acks["t-0"].seq == 4
    assert ledger.set_terms(TERMS) == (), "a settings file that still names it opens nothing, also at a restart"
    (line,) = ledger.set_terms(TERMS, "Ann", "Bob", "a wager waits", ("big",))
    assert line.startswith("meter big: new")
    received = ledger.receive([("t-0", body) for body in table.sent[4:]])
    assert (received.acks["t-0"].seq, ledger.levels()["big"]) == (5, 1_166)
    balanced(ledger)
    give(ledger, table, table.finish())
    close(ledger, into=None)
    balanced(ledger)


def test_a_pit_that_dies_between_moving_and_closing_has_done_neither(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(ledger)
    before = ledger.levels()

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("controller.pit.reference.decisions.Decisions.note", dies)
        with pytest.raises(KeyboardInterrupt):
            close(ledger)
    assert ledger.levels() == before
    balanced(ledger)


def test_a_stream_that_was_set_aside_before_a_closing_is_counted_before_it(ledger: Ledger) -> None:
    """The pit's bookkeeping still balances if people take back a table's adoption, so that its events count no more,
    and then close a meter. In the test no event is committed between these two decisions."""
    played(ledger)
    ledger.unadopt("t-0", EPOCH, "Ann", "the wrong key", "Bob")
    close(ledger)
    assert ledger.levels() == {"small": 70 + 1_000}
    balanced(ledger)


def test_a_settings_file_without_the_meter_starts_no_pit_unless_the_meter_is_closed(ledger: Ledger) -> None:
    assert code_of(lambda: ledger.set_terms({"small": TERMS["small"]})) == "meter_left_out"
    close(ledger)
    assert ledger.set_terms({"small": TERMS["small"]}) == ()


@pytest.mark.parametrize(
    ("forged", "finding"),
    [
        ("DELETE FROM moved WHERE account = 'meter:small'", "what wagers gave to meter:small"),
        ("UPDATE fund SET cents = 5 WHERE account = 'meter:big'", "big is closed and not empty"),
        ("DELETE FROM closing", "the generation of big is not the number of its locks and closings"),
    ],
)
def test_a_house_that_keeps_what_moved_is_found(path: Path, forged: str, finding: str) -> None:
    with closing(opened(path)) as ledger:
        played(ledger)
        close(ledger)
        with closing(sqlite3.connect(path)) as db:
            db.executescript(forged)
        findings = ledger.account().findings
        assert any(each.startswith(finding) for each in findings), findings
