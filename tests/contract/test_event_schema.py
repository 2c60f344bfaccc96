"""The events' schema can fail: of each type a sound event passes, and every way of spoiling one field does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.contract.canonical import canonical
from controller.contract.events import Event
from controller.table.facts import HitUnheard
from controller.table.requests import CorrectRound
from tests.support.contract import EVENT_SCHEMA, check_event
from tests.support.tables import TableUnderTest, cards, house

# A shoe in which everything is said: hits of both kinds, a void, a fault left, an alarm, and its end.
_TABLE = TableUnderTest(house(decks=8)).open_shoe().lock(1, 2).draw("2S KH 3D 9H").lock(2).draw("KS").void()
_TABLE.lock().draw("4S CUT ??").name("TH").draw("5D 9C").lock().draw("4S TH 5D 9C").believe(HitUnheard(4))
_TABLE.do(CorrectRound(1, tuple(cards("KS 9S")), tuple(cards("KH 9H")), "Smith", "Jones"))
SOUND = {event["type"]: event for event in _TABLE.events}
SOUND["progressive hit"], SOUND["fixed hit"] = _TABLE.of_type("hit")
KINDS = [pytest.param(event, id=kind) for kind, event in SOUND.items()]
OF_ALL = set(EVENT_SCHEMA["properties"]) - {"signature"}


def _refused(event: dict[str, Any]) -> bool:
    try:
        check_event(canonical(event), signed=False)
    except AssertionError:
        return True
    return False


def test_every_type_of_event_is_here() -> None:
    types = {type_.TYPE for type_ in Event.__subclasses__()}
    assert {event["type"] for event in SOUND.values()} == types == set(EVENT_SCHEMA["properties"]["type"]["enum"])


@pytest.mark.parametrize("event", KINDS)
def test_a_sound_event_passes(event: dict[str, Any]) -> None:
    assert not _refused(event)


@pytest.mark.parametrize("event", KINDS)
def test_no_field_may_be_missing(event: dict[str, Any]) -> None:
    for name in event:
        assert _refused({other: value for other, value in event.items() if other != name}), name


@pytest.mark.parametrize("event", KINDS)
def test_no_field_may_be_added(event: dict[str, Any]) -> None:
    assert _refused(event | {"dealer": "Smith"})
    for name, value in event.items():
        if isinstance(value, dict) and name != "details":
            assert _refused(event | {name: value | {"more": 1}}), name
        if isinstance(value, list) and value and isinstance(value[0], dict):
            assert _refused(event | {name: [value[0] | {"more": 1}]}), name


@pytest.mark.parametrize("event", KINDS)
def test_no_field_may_be_of_another_kind(event: dict[str, Any]) -> None:
    """Nothing said is a fraction or, but for what may be unknown, null."""
    for name, value in event.items():
        for wrong in (1.5, [[]], {"no": {}}, *([] if value is None else [str(value)] * (not isinstance(value, str)))):
            assert _refused(event | {name: wrong}), (name, wrong)


@pytest.mark.parametrize("event", KINDS)
def test_one_types_fields_are_not_anothers(event: dict[str, Any]) -> None:
    for other in SOUND.values():
        if other["type"] != event["type"]:
            assert _refused(event | {"type": other["type"]}), other["type"]


@pytest.mark.parametrize(
    ("kind", "spoiled"),
    [
        ("round", {"outcome": "banco"}),
        ("round", {"margin": 10}),
        ("round", {"cards_left": -1}),
        ("round", {"royal9_seats": [2, 2]}),
        ("round", {"royal9": [{"seat": 0, "tier": "any_royal"}]}),
        ("round", {"royal9": [{"seat": 1, "tier": "royal"}]}),
        ("round", {"player": {"cards": ["4S"], "total": 4}}),
        ("round", {"player": {"cards": ["10S", "5D"], "total": 5}}),
        ("round", {"player": {"cards": ["4S", "5D"], "total": 10}}),
        ("round", {"dragon_bonus": {"player": "won", "banker": "lose", "pays_to_one": 1}}),
        ("round", {"dragon_bonus": {"player": "lose", "banker": "lose", "pays_to_one": 0}}),
        ("progressive hit", {"fixed": {"cents": 2500}}),
        ("progressive hit", {"progressive": None}),
        ("fixed hit", {"progressive": {"meter": "player_personal"}}),
        ("fixed hit", {"fixed": {"cents": -1}}),
        ("wagers_locked", {"by": "Smith"}),
        ("wagers_locked", {"royal9_price_cents": -500}),
        ("shoe_opened", {"decks": 0}),
        ("shoe_opened", {"config_digest": "84d1"}),
        ("shoe_opened", {"seats": [{"seat": 1, "k9": "9S KS"}]}),
        ("shoe_closed", {"reason": "lunch"}),
        ("fault", {"exits": ["clear", "clear"]}),
        ("fault", {"exits": ["forget"]}),
        ("fault", {"details": {"card": None}}),
        ("fault", {"what": ""}),
        ("fault_cleared", {"exit": "forget"}),
        ("void", {"reason": "Lunch!"}),
        ("alarm", {"code": "Hit Unheard"}),
        *(
            ("alarm", spoiled)
            for spoiled in (
                {"id": "royal9-01/0/0"},
                {"contract": 2},
                {"table": "Royal 9"},
                {"epoch": ""},
                {"seq": 0},
                {"at": "2026-01-01 00:00:00"},
                {"chain": "00"},
                {"shoe": 0},
                {"round": 0},
                {"type": "lunch"},
                {"signature": "A" * 86 + "=="},
            )
        ),
    ],
)
def test_no_field_may_say_what_it_cannot_mean(kind: str, spoiled: dict[str, Any]) -> None:
    assert _refused(SOUND[kind] | spoiled)


def test_the_id_is_made_of_its_parts() -> None:
    assert _refused(SOUND["round"] | {"id": "royal9-01/0/999"})


def test_a_signed_event_has_its_signature() -> None:
    event = SOUND["round"]
    check_event(canonical(event | {"signature": "A" * 86 + "=="}))
    for spoiled in (event, event | {"signature": "A" * 87 + "="}, event | {"signature": None}):
        with pytest.raises(AssertionError, match="breaks the contract"):
            check_event(canonical(spoiled))


def test_bytes_that_are_not_canonical_are_refused() -> None:
    for other in (json.dumps(SOUND["round"]), json.dumps(SOUND["round"], indent=1, sort_keys=True)):
        with pytest.raises(AssertionError, match="same bytes"):
            check_event(other.encode(), signed=False)
