"""Checks that new terms of a meter wait until the meter is won, so that nobody changes the terms of a prize for which
people are already playing.

The adversaries are people of the house. One manager would lower the meter's rate before a big night. Another would
report a false hit and reject it later, so that other terms are in force in the meantime.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest

from controller.pit.reference.__main__ import main
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place
from controller.pit.reference.standing import read_standing
from tests.pit.evening import TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import TERMS, balanced, code_of, correct, give, opened

MEAN = TERMS | {"big": Terms(2_000, Fraction(1, 100), Fraction(0), 2_000)}
BY = ("Ann", "Bob", "the summer")


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        yield ledger


def test_who_plays_for_a_meter_plays_on_the_terms_that_ran_until_all_of_it_is_won(ledger: Ledger, at: Place) -> None:
    table = TableEvening("t-0", ["big"])
    give(ledger, table, table.lock(1))
    (line,) = ledger.set_terms(MEAN, *BY)
    assert line.endswith("; this waits until the meter is won")
    give(ledger, table, table.lock(1))
    assert ledger.levels()["big"] == 1_333, "a third of $5, twice"
    give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big", share="1:10"))
    assert ledger.terms() == TERMS, "a part was won, and the rest is in play"
    give(ledger, table, table.lock(1))
    assert ledger.levels()["big"] == 1_200 + 167
    assert give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big")) == ["terms_in_force"]
    assert (ledger.terms(), ledger.levels()["big"]) == (MEAN, 2_000)
    give(ledger, table, table.lock(1))
    assert ledger.levels()["big"] == 2_005
    assert [alarm.code for alarm in read_standing(at).alarms] == ["terms_in_force"]
    balanced(ledger)


@over_both
def test_a_hit_that_is_rejected_brings_the_former_terms_back_and_the_others_wait_again(ledger: Ledger) -> None:
    """A hit puts new terms of the meter in force. If the hit is rejected, the former terms are in force again, so a
    manager cannot introduce new terms by a false hit. A wager that was made in between counts by the terms that were in
    force when its betting closed."""
    table, other = TableEvening("t-0", ["big"]), TableEvening("t-1", ["big"])
    give(ledger, table, table.lock(1))
    ledger.set_terms(MEAN, *BY)
    give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big"))
    give(ledger, other, other.lock(1))
    ledger.take_step("t-0.1", "rejected", "Ann", "Bob")
    assert (ledger.terms(), ledger.levels()["big"]) == (TERMS, 1_166 + 5)
    balanced(ledger)
    give(ledger, other, other.void(1))
    correct(ledger)
    assert ledger.levels()["big"] == 1_166
    assert code_of(lambda: ledger.withdraw_terms("big", *BY)) == "terms_have_run"
    ledger.set_terms(TERMS | {"big": Terms(3_000, Fraction(1, 3), Fraction(0), 3_000)}, *BY)  # these take their place
    give(ledger, table, table.lock(1), table.finish((1, "x")), table.hit(1, "x", "big"))
    assert ledger.levels()["big"] == 3_000
    balanced(ledger)


def test_terms_of_a_meter_for_which_nobody_has_played_run_at_once(ledger: Ledger) -> None:
    table = TableEvening("t-0", ["small"])
    give(ledger, table, table.lock(1))
    (line,) = ledger.set_terms(MEAN, *BY)
    assert not line.endswith("is won")
    assert ledger.terms() == MEAN
    assert ledger.levels()["big"] == 1_000, "and the level stays"
    balanced(ledger)


def test_terms_show_names_who_when_why_and_a_digest_that_anybody_can_make(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(opened(path)) as ledger:
        table = TableEvening("t-0", ["big"])
        give(ledger, table, table.lock(1))
        ledger.set_terms(MEAN, *BY)
        shown = ["terms", "show", "--ledger", str(path)]
        assert main(shown) == 0
        said = capsys.readouterr().out
        big = {"contribution": "1/100", "reserve": "0", "seed_cents": 2000, "reseed_at_most_cents": 2000}
        with ledger.meter_terms() as terms:
            (waits,) = [each for each in terms.approved().terms if each.waits]
        assert waits.digest == digest({"big": big})
        assert "by Ann and Bob: the summer" in said
        assert "big  waits until the meter is won" in said
        give(ledger, table, table.finish((1, "x")), table.hit(1, "x", "big"))
        assert main([*shown, "--json"]) == 0
        shown_now = json.loads(capsys.readouterr().out)
        small = {"contribution": "1/100", "reserve": "0", "seed_cents": 70, "reseed_at_most_cents": 70}
        assert shown_now["digest"] == digest({"big": big, "small": small})
        assert [each["runs_since"] for each in shown_now["terms"]] == ["t-0/ab12cd/3", None]


def digest(terms: dict[str, object]) -> str:
    return sha256(json.dumps(terms, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
