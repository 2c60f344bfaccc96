"""Checks that an award is never smaller than the meter level that its table showed when betting closed, provided that
the pit had signed that level. The house adds the difference."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from controller.basics.money import amount
from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.contract.pit_words import MetersWord
from controller.pit.paper.slip_page import slip_page
from controller.pit.reference.clock import now_text
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from controller.pit.reference.store import Rows
from tests.pit.evening import SPOT, TableEvening
from tests.pit.test_meters import amounts, balanced, give, opened

PIT = SigningKey(bytes([9] * 32))


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        ledger.sign_by(PIT, [PIT.public])
        yield ledger


def word(ledger: Ledger, key: SigningKey = PIT, at: str | None = None, **other: int) -> bytes:
    """Return the pit's signed message with the meters' present levels. `other` gives other levels for some meters, by
    name. `at` is the message's time, by default the present time."""
    return MetersWord(1, at or now_text(), ledger.levels() | other).payload(key)


def locked(table: TableEvening, said: bytes | None, *seats: int) -> bytes:
    return table.lock_on((SPOT, seats or (1,), 3, ("big", "small")), word=said)


def rival(ledger: Ledger) -> None:
    """Let another table win the meter "big". The meter begins again at a level from 1,000 to 1,332 cents."""
    other = TableEvening("t-1")
    give(ledger, other, locked(other, None), other.finish((1, "top")), other.hit(1, "top", "big"))


def booked(ledger: Ledger) -> int:
    with ledger._db.explained():
        rows: Rows = ledger._db.execute("SELECT coalesce(sum(cents), 0) FROM entry WHERE account = 'shown'")
        return int(rows.fetchone()[0])


def grown(ledger: Ledger) -> TableEvening:
    """Return a table whose wagers have raised the meter "big" to 1,333 cents."""
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, 4), table.finish())
    assert ledger.levels()["big"] == 1_333
    return table


def test_a_table_that_another_was_before_is_paid_what_it_showed_and_the_house_books_the_rest(ledger: Ledger) -> None:
    table = grown(ledger)
    give(ledger, table, locked(table, word(ledger)))
    rival(ledger)
    level = ledger.levels()["big"]
    assert level < 1_333
    give(ledger, table, table.finish((1, "top")), table.hit(1, "top", "big"))
    assert amounts(ledger)[-1] == ("pending", 1_333)
    assert booked(ledger) == level - 1_333, "the house's, in an account of its own"
    award = ledger.awards()[-1]
    assert award.shown_cents == ledger.account().shown_cents == 1_333 - level
    balanced(ledger)
    ledger.take_step(award.id, "verified", "Ann")
    text = re.sub(r"<[^>]*>", " ", slip_page(ledger.print_slip(award.id, "Ann")))
    assert f"big: {amount(level)}" in text
    assert re.search(rf"Added by the house[^$]*{re.escape(amount(1_333 - level))} ", text), "whose money it is"


def test_hits_that_share_the_level_share_what_was_shown_and_a_rejected_one_gives_the_houses_part_back(
    ledger: Ledger,
) -> None:
    table = grown(ledger)
    give(ledger, table, locked(table, word(ledger), 1, 2))
    rival(ledger)
    give(ledger, table, table.finish((1, "top"), (2, "top")), table.hit(1, "top", "big"), table.hit(2, "top", "big"))
    assert [cents for _, cents in amounts(ledger)[-2:]] == [667, 666]
    first, second = (award.id for award in ledger.awards()[-2:])
    ledger.take_step(first, "rejected", "Ann")
    assert amounts(ledger)[-1] == ("pending", 1_333)
    before = ledger.levels()["big"]
    balanced(ledger)
    ledger.take_step(second, "rejected", "Ann")
    assert booked(ledger) == 0, "what the house added is the house's again, and not the meter's"
    assert ledger.levels()["big"] >= before
    balanced(ledger)


def test_a_tenth_is_a_tenth_of_what_was_shown_and_the_whole_is_the_rest(ledger: Ledger) -> None:
    table = grown(ledger)
    give(ledger, table, locked(table, word(ledger), 1, 2))
    rival(ledger)
    give(ledger, table, table.finish((1, "ten"), (2, "top")))
    give(ledger, table, table.hit(1, "ten", "big", "1:10"), table.hit(2, "top", "big"))
    assert [cents for _, cents in amounts(ledger)[-2:]] == [133, 1_200]
    balanced(ledger)


def test_a_table_that_nobody_was_before_costs_the_house_nothing(ledger: Ledger) -> None:
    table = grown(ledger)
    give(ledger, table, locked(table, word(ledger)), table.finish((1, "top")), table.hit(1, "top", "big"))
    assert amounts(ledger) == [("pending", 1_334)]
    assert booked(ledger) == 0
    balanced(ledger)


def test_a_level_that_the_pit_did_not_say_counts_not_and_is_told(ledger: Ledger) -> None:
    """If a table claims a high meter level that the pit did not sign, the pit ignores the level and raises an alarm.
    The claim has no signature, or a signature by another key, or a signature that the pit made for another message."""
    table = grown(ledger)
    good, high = json.loads(word(ledger)), json.loads(word(ledger, big=90_000))
    for said in (
        canonical(good | {"meters": high["meters"]}),
        word(ledger, SigningKey(bytes(32)), big=90_000),
        canonical(high | {"signature": "A" * 86 + "=="}),
    ):
        assert give(ledger, table, locked(table, said)) == ["lock_unproven"]
        give(ledger, table, table.finish((1, "top")), table.hit(1, "top", "big"))
    assert max(cents for _, cents in amounts(ledger)) < 1_400
    assert booked(ledger) == 0
    balanced(ledger)


def test_an_old_word_of_the_pit_is_told_beside_the_award(ledger: Ledger) -> None:
    table = grown(ledger)
    old = word(ledger, at="2026-01-01T20:00:00.000Z", big=90_000)
    assert give(ledger, table, locked(table, old)) == ["lock_heard_late"]
    give(ledger, table, table.finish((1, "top")), table.hit(1, "top", "big"))
    assert "heard of that lock" in ledger.awards()[-1].alarms[0]
