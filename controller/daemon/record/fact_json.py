"""Facts to JSON and back. The journal keeps facts in this form.

A card and a K9 are text (`KS`), odds are text (`3:2`), an enum is its value. The name of the fact's class stands under
`fact`, and nowhere inside of another fact, but for the reports that a shoe's opening carries. Bytes that cannot be read
back raise TableError `fact_unreadable`: there is never half a fact.
"""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Union, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.daemon.record.old_facts import as_bets, fact_as_now
from controller.rules.game.bets import Bet, ratio, ratio_text
from controller.rules.game.games import GAMES, Game
from controller.table.acts.corrections import SeatsRoundCorrected
from controller.table.acts.every import ACTS
from controller.table.facts import AwardRefused, Fact, OwnFact, ShoeFact, ShoeOpened, TableFact


def _text(value: object) -> str:
    """What JSON has in place of a value that it does not know."""
    return ratio_text(value) if isinstance(value, Fraction) else str(value)


def _value(type_: Any, json_value: Any) -> Any:
    """The value of a type that JSON does not know."""
    if type_ is Game:
        return msgspec.convert(json_value, _GAME, dec_hook=_value, str_keys=True)
    return ratio(json_value) if type_ is Fraction else type_.parse(json_value)


_OF_ACTS = tuple(fact for act in ACTS for fact in act.becomes)
_ANY: Any = Union[(*get_args(ShoeFact | OwnFact | TableFact), *_OF_ACTS)]  # of computed types

_GAME: Any = Union[GAMES]  # noqa: UP007  # a computed type: no `|` can write it

_ENCODER = msgspec.json.Encoder(enc_hook=_text, order="sorted")


def fact_to_json(fact: Fact) -> bytes:
    """The fact's canonical bytes."""
    match fact:
        case ShoeOpened(rules=rules, measured=measured):
            value = _values(fact)
            value["rules"]["bets"] = _said_bets(rules.bets)
            value["measured"] = measured and _unnamed(value["measured"])
            value["disputed"] = [dispute | {"step": _unnamed(dispute["step"])} for dispute in value["disputed"]]
        case AwardRefused():
            value = _values(fact)
            value["step"] = _unnamed(value["step"])
        case SeatsRoundCorrected():
            value = _values(fact)
        case _:
            return _ENCODER.encode(fact)
    return canonical(value)


def _values(fact: Fact) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(fact, enc_hook=_text)
    return values


def _unnamed(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a fact that stands inside another fact, without the name of its class, which is known there."""
    return {name: value for name, value in values.items() if name != "fact"}


def _said(value: object) -> object:
    """What a bet says: its fields without those that have their defaults."""
    match value:
        case tuple():
            return [*map(_said, value)]
        case Struct():
            own = ((field, getattr(value, field.name)) for field in _fields(type(value)))
            return {field.name: _said(said) for field, said in own if field.required or said != field.default}
        case Fraction():
            return ratio_text(value)
    return value


@lru_cache(8)
def _said_bets(bets: tuple[Bet, ...]) -> object:
    """Return what a game's bets say. A journal has the same bets in each of its shoes, and to work out what they say
    takes most of the time of reading a shoe's opening."""
    return _said(bets)


@cache
def _fields(type_: type[Struct]) -> tuple[FieldInfo, ...]:
    """Return the fields of a type. msgspec works its annotations out anew for each who asks: most of a millisecond."""
    return fields(type_)


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    """Make the decoder of all facts, when the first fact is read: a new table reads none, and need not wait for it."""
    return msgspec.json.Decoder(_ANY, dec_hook=_value)


def _of_now(data: bytes) -> Fact | None:
    """The fact in bytes that this version writes."""
    with suppress(msgspec.ValidationError):
        fact: Fact = _decoder().decode(data)
        return fact if fact_to_json(fact) == data else None
    return None


def _of_before(data: bytes) -> Fact:
    """The fact in bytes of an earlier version."""
    value: Any = json.loads(data)
    if data not in (canonical(value), canonical(json.loads(data, object_pairs_hook=_numbered))):
        raise ValueError("these bytes are not canonical, and a journal writes no others")
    value = fact_as_now(value)
    if "rules" in value:
        value |= {"rules": as_bets(value["rules"])}
    fact: Fact = msgspec.convert(value, _ANY, dec_hook=_value, str_keys=True)
    return fact


def _numbered(pairs: list[tuple[str, object]]) -> dict[Any, object]:
    """An object with numbers for keys, such as seats: the journal has them in the order of the numbers."""
    return {int(key): value for key, value in pairs} if all(key.isdecimal() for key, _ in pairs) else dict(pairs)


def fact_from_json(data: bytes) -> Fact:
    """The fact in these bytes. Raises TableError `fact_unreadable` where this program knows no such fact."""
    try:
        fact = _of_now(data) or _of_before(data)
    except Exception as error:
        raise TableError(
            "fact_unreadable",
            "This version of the program does not know a fact in the journal.",
            "Run the version that wrote the journal, or set the journal aside and report this.",
        ) from error
    return fact
