"""Checks a meter's limit and its overflow (the money above the limit) against a model that computes both without the
pit's code. The tests assume a house that would like to keep the overflow."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from fractions import Fraction
from math import floor
from pathlib import Path

import pytest

from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place
from controller.pit.reference.standing import read_standing
from tests.pit.evening import TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import balanced, correct, give, opened
from tests.support import samples
from tests.support.errors import raising

LIMITED = {"big": Terms(1_000, Fraction(1, 5), Fraction(1, 10), 1_000, 1_150)}


KEPT = """UPDATE fund SET cents = 0 WHERE account = 'overflow:big';
INSERT INTO posting (number, why) VALUES (99, 'kept');
INSERT INTO entry VALUES (99, 'overflow:big', -50), (99, 'house', 50)"""


def stands(ledger: Ledger) -> tuple[int, int, int]:
    """Return the level, the overflow and the reserve of the meter, in cents. Check that the pit's bookkeeping balances
    (the accounts agree with each other)."""
    (meter,) = ledger.account().meters
    balanced(ledger)
    assert ledger.levels() == {"big": meter.level_cents}, "the players' screens show the level alone"
    return meter.level_cents, meter.overflow_cents, meter.reserve_cents


def evening(at: Place, terms: Mapping[str, Terms] = LIMITED) -> tuple[Ledger, TableEvening]:
    return opened(at, terms), TableEvening("t-0", ["big"])


@over_both
def test_a_meter_stops_at_its_limit_and_what_comes_then_goes_on_the_next_level(at: Place) -> None:
    ledger, table = evening(at)
    with closing(ledger):
        give(ledger, table, table.lock(1))
        assert stands(ledger) == (1_100, 0, 50)
        give(ledger, table, table.lock(1, 2))
        assert stands(ledger) == (1_150, 150, 150)
        assert read_standing(at).overflows == {"big": 150}
        give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big", share="1:10"))
        assert stands(ledger) == (1_150, 35, 150), "a tenth of the level was won, and the overflow fills it up"
        give(ledger, table, table.lock(1), table.finish((1, "x")), table.hit(1, "x", "big"))
        assert [award.cents for award in ledger.awards()] == [115, 1_150]
        assert stands(ledger) == (1_135, 0, 0), "seed 1000, of which 200 from the reserve, and the overflow of 135"
        ledger.take_step("t-0.2", "rejected", "Ann")
        assert stands(ledger) == (1_150, 135, 200), "as if it had not been won"
        give(ledger, table, table.lock(1), table.void(1))
        assert stands(ledger) == (1_150, 235, 250), "a void takes nothing"
        correct(ledger)
        assert stands(ledger) == (1_150, 135, 200), "a correction takes from the overflow first"


def test_an_evening_at_the_limit_is_that_of_an_arithmetic_of_its_own(at: Place) -> None:
    ledger, table = evening(at)
    chance, holds, reserve = random.Random(3), 1_000, 0
    reached = 0
    with closing(ledger):
        ledger.watch_voids(100)
        for _ in range(300 if samples.at_length else 30):
            seats = chance.sample(range(1, 8), chance.randint(1, 3))
            give(ledger, table, table.lock(*seats))
            if chance.random() < 0.2:
                give(ledger, table, table.void(*seats))
                correct(ledger)
                continue
            holds, reserve = holds + 100 * len(seats), reserve + 50 * len(seats)
            if chance.random() < 0.25:
                share = chance.choice([Fraction(1), Fraction(1, 7)])
                give(ledger, table, table.finish((seats[0], "x")))
                give(ledger, table, table.hit(seats[0], "x", "big", share=f"{share.numerator}:{share.denominator}"))
                won = floor(min(holds, 1_150) * share)
                assert ledger.awards()[-1].cents == won
                holds -= won
                if share == 1:
                    reached += holds > 0
                    holds, reserve = holds + 1_000, reserve - min(reserve, 1_000)
            assert stands(ledger) == (min(holds, 1_150), max(holds - 1_150, 0), reserve)
    assert reached > 2, "the overflow was tried"


def test_with_a_limit_players_get_in_the_long_run_what_they_get_without(tmp_path: Path) -> None:
    """In the long run, a limit of the meter changes neither what the house adds nor what players get. The par sheet
    (`tablectl par`) therefore need not consider limits."""
    came = []
    for limit in (1_150, None):
        ledger, table = evening(
            tmp_path / f"{limit}", {"big": Terms(1_000, Fraction(1, 5), Fraction(1, 10), 1_000, limit)}
        )
        chance = random.Random(8)
        with closing(ledger):
            for _ in range(200 if samples.at_length else 20):
                hit = chance.random() < 0.2
                give(ledger, table, table.lock(1, 2), table.finish(*[(1, "x")] * hit))
                if hit:
                    give(ledger, table, table.hit(1, "x", "big"))
            account = ledger.account()
            (meter,) = account.meters
            came.append((meter.seeds_cents, account.owed_cents + meter.level_cents + meter.overflow_cents))
    assert came[0] == came[1]


def test_a_limit_below_the_level_lowers_nothing_and_another_limit_waits_until_the_meter_is_won(path: Path) -> None:
    ledger, table = evening(path)
    low, high = (Terms(1_000, Fraction(1, 5), Fraction(1, 10), 1_000, limit) for limit in (1_000, 1_170))
    with closing(ledger):
        for limit in (999, 900):
            with raising("limit_below_level"):  # nobody has played, and so the limit would hold at once
                ledger.set_terms({"big": Terms(900, Fraction(1, 5), Fraction(1, 10), 900, limit)})
        give(ledger, table, table.lock(1, 2))
        assert stands(ledger) == (1_150, 50, 100)
        for terms in (low, high):
            (line,) = ledger.set_terms({"big": terms})
            assert line.endswith("; this waits until the meter is won")
            assert stands(ledger) == (1_150, 50, 100), "what players play for does not change"
            if terms is low:
                ledger.withdraw_terms("big", "Ann", "Bob", "a mistake")
        give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big"))
        assert stands(ledger)[:2] == (1_050, 0), "seed 1000 and the overflow, by the higher limit"


@pytest.mark.parametrize(
    ("forged", "finding"),
    [
        ("UPDATE fund SET cents = 0 WHERE account = 'overflow:big'", "overflow:big says 0 cents"),
        (KEPT, "the level of big does not follow"),
        ("UPDATE terms SET limit_cents = 9000", "big has 1150 cents and 50 in its overflow, and its limit is 9000"),
    ],
)
def test_a_house_that_keeps_the_overflow_is_found(path: Path, forged: str, finding: str) -> None:
    ledger, table = evening(path)
    with closing(ledger):
        give(ledger, table, table.lock(1, 2))
        with closing(sqlite3.connect(path)) as db:
            db.executescript(forged)
        findings = ledger.account().findings
        assert any(each.startswith(finding) for each in findings), findings
