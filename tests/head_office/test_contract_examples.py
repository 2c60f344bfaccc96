"""Checks the examples of voids and rejections in the contract: the pit's meters must show the figures of the examples,
and head office must find nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from tests.head_office.evenings import pits_ledger
from tests.head_office.test_lying_houses import findings, lines_of
from tests.pit.evening import TableEvening
from tests.pit.test_meters import give

TERMS = {"grand": Terms(1_000_000, Fraction(1, 10), Fraction(0), 1_000_000)}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """The ledger of a pit. When the test ends, head office checks the ledger's log, and must find nothing wrong."""
    with closing(pits_ledger(tmp_path / "ledger", TERMS)) as ledger:
        yield ledger
    assert findings(lines_of(tmp_path / "ledger"), tmp_path) == []


def wagered(ledger: Ledger, table: TableEvening, cents: int) -> None:
    """Close the betting of a round with a wager that adds `cents` to the meter."""
    give(ledger, table, table.lock(1, price_cents=cents * 10))


def hit(ledger: Ledger, table: TableEvening, share: str = "1:1", seats: int = 1) -> None:
    """Finish the table's last round. Each of the seats 1 to `seats` hits the fraction `share` of the meter."""
    give(ledger, table, table.finish(*((seat, "tier") for seat in range(1, seats + 1))))
    for seat in range(1, seats + 1):
        give(ledger, table, table.hit(seat, "tier", "grand", share))


def reject(ledger: Ledger, award: str) -> int:
    """Reject the award, and return the meter's new level in cents."""
    ledger.take_step(award, "rejected", "Ann", "Bob")
    return ledger.levels()["grand"]


def correct(ledger: Ledger) -> bool:
    """Correct the meters after the oldest void that left something on them. Return False if there is no such void."""
    with ledger.closing_meters() as closings:
        if left := closings.corrections.waiting():
            closings.corrections.correct(left[0].void, "Ann", "Bob", "F-19", "a card fell")
    return bool(left)


@pytest.mark.parametrize(("share", "takes_cents"), [("1:10", 54), ("1:1", 0)])
def test_a_correction_takes_what_is_left_of_a_void_and_a_rejection_the_rest(
    ledger: Ledger, share: str, takes_cents: int
) -> None:
    table, other = TableEvening("t-0", TERMS), TableEvening("t-1", TERMS)
    wagered(ledger, table, 60)
    give(ledger, other, other.lock(1, price_cents=0))
    hit(ledger, other, share)
    before_cents = ledger.levels()["grand"]
    give(ledger, table, table.void(1))
    assert ledger.levels()["grand"] == before_cents, "a void lowers no meter"
    assert correct(ledger) is (takes_cents > 0)
    assert ledger.levels()["grand"] == before_cents - takes_cents
    assert reject(ledger, "t-1.1") == 1_000_000 + (0 if takes_cents else 60), "as if nobody had won"
    assert correct(ledger) is (takes_cents == 0)
    assert ledger.levels()["grand"] == 1_000_000, "as if nobody had wagered nor won"


@pytest.mark.parametrize("another_wins_first", [False, True])
def test_the_seed_of_a_rejected_hit_comes_out_once_no_later_hit_stands(
    ledger: Ledger, another_wins_first: bool
) -> None:
    table = TableEvening("t-0", TERMS)
    wagered(ledger, table, 200_000)
    assert ledger.levels() == {"grand": 1_200_000}
    hit(ledger, table)
    assert ledger.levels() == {"grand": 1_000_000}
    wagered(ledger, table, 3_000)
    if another_wins_first:
        hit(ledger, table)
        assert reject(ledger, "t-0.1") == 2_200_000
        assert reject(ledger, "t-0.2") == 1_203_000
    else:
        assert reject(ledger, "t-0.1") == 1_203_000


def test_of_a_level_that_two_hits_share_the_rejected_part_goes_to_the_other(ledger: Ledger) -> None:
    table = TableEvening("t-0", TERMS)
    wagered(ledger, table, 3)
    before_cents = ledger.levels()["grand"]
    assert before_cents % 2 == 1
    hit(ledger, table, seats=2)
    assert [award.cents for award in ledger.awards()] == [before_cents // 2 + 1, before_cents // 2]
    assert reject(ledger, "t-0.1") == 1_000_000
    assert [(award.step, award.cents) for award in ledger.awards()][1] == ("pending", before_cents)
    assert reject(ledger, "t-0.2") == before_cents
