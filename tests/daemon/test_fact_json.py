"""Checks how the journal stores facts: as the bytes that Python's own JSON module writes. They are read back with every
field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.daemon.record import fact_json
from controller.daemon.record.fact_json import fact_from_json, fact_to_json
from controller.rules.game.cards import Card
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import SeatsRoundCorrected
from controller.table.acts.itself import LampsTested
from controller.table.facts import (
    ActRefused,
    AwardRefused,
    AwardStepped,
    CardDrawn,
    CommitFailed,
    DisputedAward,
    Fact,
    LevelsNoted,
    ProgramMeasured,
    ProgramStarted,
    Report,
    SeatHit,
    ShoeOpened,
    StepFailed,
)
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, ROYAL9

_CARD = Card.parse("KS")
_STEP = AwardStepped(1, "a", "h", 1, 2, "royal9", 3, "tier", None, 500, "paid", "Ana")
_ODD = 'é "quoted" \\ \x00\x1f\x7f\b\f\n\r\t \u2028 \U0001f0a1'
OPENED = ShoeOpened(
    1,
    "dealer",
    LUCKY9,
    "digest",
    "version",
    last_report=Report(3, "00"),
    carried=(CardDrawn(_CARD, report=Report(4, "01")), StepFailed("why")),
    commission_owed={2: 100, 10: 250},
    placed=(Wager(2, "hand", 500),),
    hits=(SeatHit(1, 2, "royal9", 3, "tier"),),
    disputed=(DisputedAward(_STEP),),
    measured=ProgramMeasured("version", "program", "configuration"),
)
CORRECTED = SeatsRoundCorrected(4, {2: ((_CARD, _CARD),), 10: ((_CARD,), ())}, (_CARD,), "Smith", "Jones")
FACTS: tuple[Fact, ...] = (
    OPENED,
    ShoeOpened(1, "dealer", ROYAL9, "digest", "version"),
    ShoeOpened(1, "dealer", BACCARAT_ROYAL, "digest", "version"),
    CORRECTED,
    AwardRefused(_STEP, 100, 200),
    _STEP,
    ProgramStarted(7),
    ProgramMeasured("version", "program", "configuration"),
    CardDrawn(_CARD, report=Report(None, "00")),
    CommitFailed(_ODD),
    LevelsNoted({_ODD: 2**63, "a": -1, "Z": 0}),
    LampsTested(_ODD),
    ActRefused("void", _ODD, "no_round", 3),
)


@pytest.mark.parametrize("fact", [OPENED, CORRECTED], ids=lambda fact: type(fact).__name__)
def test_a_seat_above_nine_is_read_back(fact: Fact) -> None:
    """A fact with a seat above 9 is read back unchanged. The journal orders seats by number, so 2 comes before 10."""
    written = fact_to_json(fact)
    assert b'"2":' in written.partition(b'"10":')[0]
    assert fact_from_json(written) == fact


def test_a_seat_above_nine_is_read_back_of_an_earlier_version() -> None:
    """The first row of a shoe from an earlier version is read back. Its hits name no spot, because Royal 9 was then the
    only progressive bet."""
    before = json.loads(fact_to_json(OPENED))
    del before["hits"][0]["spot"]
    before["commission_owed"] = {2: 100, 10: 250}
    assert fact_from_json(canonical(before)) == OPENED


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_a_facts_bytes_are_canonical(fact: Fact) -> None:
    """A fact is stored as the bytes that Python's own JSON module writes, and not as those of msgspec."""
    written = fact_to_json(fact)
    assert json.loads(written)["fact"] == type(fact).__name__
    assert fact_from_json(written) == fact
    written = written.replace(b'{"2":', b'{"02":')  # as many digits, so that text has the numbers' order
    assert canonical(json.loads(written)) == written


def test_what_fields_a_bet_has_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields of a bet's type are looked up once and then cached.

    The fact that opens a shoe holds every bet of the house, and the shoe's first card waits until that fact is
    committed.
    """
    fact_to_json(OPENED)
    monkeypatch.setattr(fact_json, "fields", lambda type_: pytest.fail(f"the fields of {type_} were asked for again"))
    fact_to_json(OPENED)


def test_a_fact_inside_of_another_has_no_name() -> None:
    """A fact that is stored inside another fact is written without the name of its class, because its place there shows
    the class. The journals of commit 0f50807 have no such name either."""
    opened = json.loads(fact_to_json(OPENED))
    assert [fact["fact"] for fact in opened["carried"]] == ["CardDrawn", "StepFailed"]
    assert "fact" not in opened["measured"] | opened["disputed"][0]["step"]
    assert "fact" not in json.loads(fact_to_json(AwardRefused(_STEP, 100, 200)))["step"]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_an_unknown_field_is_never_passed_over(fact: Fact) -> None:
    """An unknown field anywhere in a stored fact is refused, because the fact without the field would be another
    fact."""
    value = json.loads(fact_to_json(fact))
    for known in _objects(value):
        known["unknown"] = 1
        with pytest.raises(TableError, match="does not know a fact"):
            fact_from_json(canonical(value))
        del known["unknown"]


_ANY_KEYS = ("levels", "commission_owed", "hands", "banker_draws_on_third_card")


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every JSON object inside `value` whose keys are the fields of a type. Objects with free keys are left
    out."""
    if isinstance(value, dict):
        yield value
        for name, inner in value.items():
            if name not in _ANY_KEYS:
                yield from _objects(inner)
    if isinstance(value, list):
        for inner in value:
            yield from _objects(inner)
