"""Checks the JSON schema of the events: a sound event of each type is valid, and an event with any single spoiled field
is invalid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from controller.contract.canonical import canonical
from controller.contract.events import Event, Win
from controller.rules.game.play import Call
from controller.rules.game.seating import Actives
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import CorrectRound, CorrectSeatsRound
from controller.table.acts.itself import HitTest
from controller.table.acts.pit import SeeAward, SeeWin
from controller.table.acts.rounds import MakeCall, OddCardFate, TellOddCard
from controller.table.acts.seats import ChooseActives, CollectCommission, PlaceWager, ResetHits, TakeSeats
from controller.table.acts.shoe import CloseShoe, InspectShoe, ReconcileShoe
from controller.table.facts import AwardStepped, HitUnheard
from tests.support import samples
from tests.support.contract import EVENT_SCHEMA, check_event, validator_of, whole_validator
from tests.support.each import each
from tests.support.tables import BACCARAT_ROYAL, LUCKY9, SUGARHOUSE, TableUnderTest, cards, house

_OF_WAGERS = {"wagers_locked", "round", "correction", "void", "commission", "shoe_closed"}

# A shoe in which everything is said: hits of both kinds, a void, a fault left, an alarm, and its end.
_TABLE = TableUnderTest(house(decks=8)).open_shoe().lock(1, 2).draw("2S KH 3D 9H").lock(2).draw("KS").void()
_TABLE.draw("7C").do(TellOddCard(OddCardFate.BURN, "dealer")).lock().draw("4S CUT ??").name("TH").draw(
    "5D 9C"
).lock().draw("4S TH 5D 9C").believe(HitUnheard(4))
_TABLE.do(CorrectRound(1, tuple(cards("KS 9S")), tuple(cards("KH 9H")), "Smith", "Jones"))
SOUND = {event["type"]: event for event in _TABLE.events}
SOUND["progressive hit"], SOUND["fixed hit"] = _TABLE.of_type("hit")


def _wager(seat: int, spot: str, cents: int) -> PlaceWager:
    return PlaceWager(Wager(seat, spot, cents), "dealer")


# Where wagers are known: one stands and one does not, a hand is settled, corrected, void, and commission is owed.
_SETTLED = TableUnderTest(SUGARHOUSE).open_shoe()
_SETTLED.do(_wager(2, "banker", 2000), _wager(3, "dragon_banker", 500)).lock().draw("5S 8H KD TC")
_SETTLED.do(CorrectRound(1, tuple(cards("5S KD")), tuple(cards("9H TC")), "Smith", "Jones"))
_SETTLED.do(_wager(2, "banker", 2000)).lock().draw("KS").void().do(CloseShoe("Smith"), CollectCommission(2, "Smith"))
SOUND |= {f"{event['type']}, settled": event for event in reversed(_SETTLED.events) if event["type"] in _OF_WAGERS}

# Games of seats: Baccarat Royal's two active ones, and a seat of Lucky 9 that splits.
_ROYAL = TableUnderTest(BACCARAT_ROYAL).open_shoe()
_ROYAL.do(TakeSeats((2, 5), "dealer"), ChooseActives(Actives(player=2, banker=5), "Smith"))
_ROYAL.do(_wager(2, "stake", 2000), _wager(5, "stake", 2000)).lock().draw("4S 5H 2D 3C")
SOUND |= {f"{event['type']}, of actives": event for event in _ROYAL.events if event["type"] in _OF_WAGERS}
_LUCKY9 = TableUnderTest(LUCKY9).open_shoe().do(_wager(3, "hand", 2000)).lock().draw("8S 2H 8D 9C")
_LUCKY9.do(MakeCall(Call.SPLIT, "dealer")).draw("KS QS").do(MakeCall(Call.REVEAL, "dealer")).draw("TC")
_SPLIT = {3: tuple(tuple(cards(hand)) for hand in ("8S KS", "8D 3S"))}
_LUCKY9.do(CorrectSeatsRound(1, _SPLIT, tuple(cards("2H 9C TC")), "Smith", "Jones"))
SOUND |= {f"{event['type']}, of seats": event for event in _LUCKY9.events if event["type"] in _OF_WAGERS}

# A progressive hit, what the pit says of it, and somebody who saw to it.
_HIT = TableUnderTest(levels={"player_personal": 250_000}).open_shoe().lock(2).draw("KH 2S 9H 3D")
_OWN = "player_personal"
_HIT.do(
    SeeAward(AwardStepped(1, "royal9-01.1", "royal9-01/0/3", 1, 1, "royal9", 2, _OWN, _OWN, 250_000, "pending", "pit"))
)
_HIT.do(ResetHits(2, "Smith")).do(HitTest(3, "Smith")).do(InspectShoe("AE-22314", "4.17", "Smith"))
_HIT.do(SeeWin(Win(1, "2026-01-01T20:00:00.000Z", "t", "t.1", "royal9", _OWN, _OWN, 250_000, 100_000), True, 2))
_HIT.do(CloseShoe("Smith"), ReconcileShoe(tuple(cards("KS 9H")), "Smith"))
_PROGRESSIVE = _HIT.of_type("wagers_locked")[0]["progressive"][0]
_OF_HITS = ("hit", "award", "hit_reset", "test_hit", "win_told", "shoe_inspected", "shoe_reconciled")
SOUND |= {f"{event['type']}, progressive": event for event in _HIT.events if event["type"] in _OF_HITS}

KINDS = [pytest.param(event, id=kind) for kind, event in SOUND.items()]


def _refused(event: dict[str, Any]) -> bool:
    """Return True if the event is invalid under the contract's schema. With `pytest --proof`, also check that the
    published schema gives the same answer."""
    refused = not (_is_named(event) and validator_of(event, signed=False).is_valid(event))
    assert not samples.at_length or refused is not _is_in_order(event)
    return refused


def _is_in_order(event: dict[str, Any]) -> bool:
    """Return True if the event is valid under the published JSON schema of the contract."""
    return _is_named(event) and whole_validator(signed=False).is_valid(event)


def _is_named(event: dict[str, Any]) -> bool:
    return bool(event.get("id") == f"{event.get('table')}/{event.get('epoch')}/{event.get('seq')}")


def _with_more(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value, each with one unknown field added to one of its objects, at any depth. Of a list,
    only the first item is changed."""
    if isinstance(value, dict):
        yield value | {"more": 1}
        for name, inner in value.items():
            yield from (value | {name: more} for more in _with_more(inner))
    if isinstance(value, list) and value:
        yield from ([more] for more in _with_more(value[0]))


def _settled(settled: dict[str, Any] | None = None, totals: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the settlement of a sample round with changed fields. `settled` replaces fields of the first wager, and
    `totals` replaces fields of the totals."""
    settlement = SOUND["round, settled"]["settlement"]
    (first, *others) = settlement["wagers"]
    return {
        "settlement": {
            "wagers": [first | (settled or {}), *others],
            "totals": settlement["totals"] | (totals or {}),
        }
    }


def test_every_type_of_event_is_here() -> None:
    types = {type_.TYPE for type_ in Event.__subclasses__()}
    assert {event["type"] for event in SOUND.values()} == types == set(EVENT_SCHEMA["properties"]["type"]["enum"])


@each("event", KINDS)
def test_a_sound_event_passes(event: dict[str, Any]) -> None:
    assert not _refused(event)


@each("event", KINDS)
def test_what_tests_take_for_the_contract_judges_as_the_published_schema_does(event: dict[str, Any]) -> None:
    """The schema that other tests use gives the same answer as the published schema, for valid and for spoiled events.
    Other tests use a schema of their own, written out for each type of event, because it is quicker."""
    own = [name for name in event if name not in EVENT_SCHEMA["properties"]]
    inner = next((more for name in own for more in _with_more(event[name]) if name != "details"), 1)
    spoiled = [event | {"type": "void"}, event | {"type": "nothing"}, event | {"dealer": []}, event | {own[0]: inner}]
    spoiled += [{name: value for name, value in event.items() if name != left_out} for left_out in ("at", own[-1])]
    judged = [(_refused(each), not _is_in_order(each)) for each in (event, *spoiled)]
    assert [by_type for by_type, _ in judged] == [by_the_whole for _, by_the_whole in judged]
    assert judged[0] == (False, False)


@each("event", KINDS)
def test_no_field_may_be_missing(event: dict[str, Any]) -> None:
    for name in event:
        assert _refused({other: value for other, value in event.items() if other != name}), name


@each("event", KINDS)
def test_no_field_may_be_added(event: dict[str, Any]) -> None:
    assert _refused(event | {"dealer": "Smith"})
    for name, value in event.items():
        for more in _with_more(value) if name != "details" else ():
            assert _refused(event | {name: more}), (name, more)


@each("event", KINDS)
def test_no_field_may_be_of_another_kind(event: dict[str, Any]) -> None:
    """The schema refuses a fraction or an object in any field of an event. With `pytest --proof`, two more wrong values
    are tried: a nested list, and text in a field that holds something else."""
    for name, value in event.items():
        wrongs = (1.5, {"no": {}}, [[]], *([] if value is None else [str(value)] * (not isinstance(value, str))))
        for wrong in wrongs if samples.at_length else wrongs[:2]:
            assert _refused(event | {name: wrong}), (name, wrong)


@each("event", KINDS)
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
        ("round", {"progressive": [{"spot": "royal9", "seats": [2, 2]}]}),
        ("round", {"awards": [{"spot": "royal9", "seat": 0, "tier": "any_royal"}]}),
        ("round", {"awards": [{"spot": "royal9", "seat": 1, "tier": "Royal 9"}]}),
        ("round", {"player": {"cards": ["4S"], "total": 4}}),
        ("round", {"player": {"cards": ["10S", "5D"], "total": 5}}),
        ("round", {"player": {"cards": ["4S", "5D"], "total": 10}}),
        ("round", {"dragon_bonus": {"player": "won", "banker": "lose", "pays_to_one": 1}}),
        ("round", {"dragon_bonus": {"player": "lose", "banker": "lose", "pays_to_one": 0}}),
        ("progressive hit", {"fixed": {"cents": 2500}}),
        ("progressive hit", {"progressive": None}),
        ("fixed hit", {"progressive": {"meter": "player_personal", "share": "1:1", "shown_cents": None}}),
        ("fixed hit", {"fixed": {"cents": -1}}),
        ("wagers_locked", {"by": "Smith"}),
        ("wagers_locked", {"progressive": [_PROGRESSIVE | {"price_cents": -500}]}),
        ("wagers_locked", {"progressive": [_PROGRESSIVE | {"meters": ["Grand!"]}]}),
        ("progressive hit", {"progressive": {"meter": "grand", "share": "0.1", "shown_cents": None}}),
        ("wagers_locked", {"in_play": [2, 2]}),
        ("wagers_locked", {"actives": {"player": 0, "banker": 5}}),
        ("wagers_locked, settled", {"wagers": [{"seat": 2, "back": False, "spot": "the corner", "cents": 500}]}),
        ("wagers_locked, settled", {"wagers": [{"seat": 2, "back": False, "spot": "tie", "cents": -500}]}),
        ("wagers_locked, settled", {"refused": [{"seat": 2, "back": False, "spot": "tie", "cents": 5, "code": "No!"}]}),
        ("round, settled", _settled({"result": "drawn"})),
        ("round, settled", _settled({"hand": 5})),
        ("round, settled", _settled({"pays_cents": -1})),
        ("round, settled", _settled({"commission_cents": -1})),
        ("round, settled", _settled({"returned_cents": 0.5})),
        ("round, settled", _settled(totals={"staked_cents": -1})),
        ("round, settled", _settled(totals={"house_cents": None})),
        ("round, of seats", {"dealer": {"cards": ["4S"], "total": 4}}),
        ("round, of seats", {"hands": [{"seat": 3, "hand": 0, "cards": ["4S", "5D"], "total": 9, "result": "won"}]}),
        ("round, of seats", {"hands": [{"seat": 3, "hand": 1, "cards": ["4S", "5D"], "total": 9, "result": "nine"}]}),
        ("correction, of seats", {"dealer": {"cards": ["4S"], "total": 4}}),
        ("correction, of seats", {"hands": []}),
        (
            "correction, of seats",
            {"hands": [{"seat": 3, "hand": 5, "cards": ["4S", "5D"], "total": 9, "result": "won"}]},
        ),
        ("correction, of seats", {"witness": ""}),
        ("commission, settled", {"seat": 0}),
        ("commission, settled", {"cents": 0.5}),
        ("commission, settled", {"by": ""}),
        ("shoe_closed", {"commission_owed": [{"seat": 2, "cents": 0.5}]}),
        ("shoe_opened", {"decks": 0}),
        ("shoe_opened", {"config_digest": "84d1"}),
        ("shoe_opened", {"seats": [{"seat": 1, "k9": "9S KS"}]}),
        ("shoe_closed", {"reason": "lunch"}),
        ("fault", {"exits": ["clear", "clear"]}),
        ("fault", {"exits": ["forget"]}),
        ("fault", {"details": {"card": None}}),
        ("fault", {"what": "A sentence."}),
        ("fault_cleared", {"exit": "forget"}),
        ("void", {"reason": "Lunch!"}),
        ("alarm", {"code": "Hit Unheard"}),
        *(
            ("alarm", spoiled)
            for spoiled in (
                {"id": "royal9-01/0/0"},
                {"contract": 5},
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
