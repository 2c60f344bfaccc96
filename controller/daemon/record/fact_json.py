"""Writes the table's facts as JSON and reads them back. The journal keeps facts in this form.

A card and a K9 (the king and the nine printed at a seat) are text (`KS`), odds are text (`3:2`), an enum is its value.
The name of a fact's class stands under `fact`. A fact inside another fact has no such name, except for the reports that
a shoe's opening carries. Bytes that cannot be read back raise TableError `fact_unreadable`, so no fact is ever read in
part.
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
    """Return a value for which JSON has no type as text. For example, the odds Fraction(3, 2) become "3:2"."""
    return ratio_text(value) if isinstance(value, Fraction) else str(value)


def _value(type_: Any, json_value: Any) -> Any:
    """Turn text from JSON back into a value of the type `type_`, for which JSON has no type. For example, "3:2" becomes
    the odds Fraction(3, 2)."""
    if type_ is Game:
        return msgspec.convert(json_value, _GAME, dec_hook=_value, str_keys=True)
    return ratio(json_value) if type_ is Fraction else type_.parse(json_value)


_OF_ACTS = tuple(fact for act in ACTS for fact in act.becomes)
_ANY: Any = Union[(*get_args(ShoeFact | OwnFact | TableFact), *_OF_ACTS)]  # of computed types

_GAME: Any = Union[GAMES]  # noqa: UP007  # a computed type: no `|` can write it

_ENCODER = msgspec.json.Encoder(enc_hook=_text, order="sorted")


def fact_to_json(fact: Fact) -> bytes:
    """Return the fact as canonical JSON."""
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
    """Return the values without the entry `fact`, which names the fact's class. A fact inside another fact needs no
    such entry, because its place there tells its class."""
    return {name: value for name, value in values.items() if name != "fact"}


def _said(value: object) -> object:
    """Return a bet, or a part of one, as values that JSON can hold. Fields with their default values are left out."""
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
    """Return a game's bets as values that JSON can hold. The result is cached, because all shoes in a journal have the
    same bets, and making these values takes most of the time of reading a shoe's opening."""
    return _said(bets)


@cache
def _fields(type_: type[Struct]) -> tuple[FieldInfo, ...]:
    """Return the fields of a type. The result is cached, because msgspec works out a type's annotations anew at each
    call, in almost a millisecond."""
    return fields(type_)


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    """Return the JSON decoder for all facts. It is made only when the first fact is read, so that a table with an empty
    journal does not wait for it."""
    return msgspec.json.Decoder(_ANY, dec_hook=_value)


def _of_now(data: bytes) -> Fact | None:
    """Read a fact from JSON that this version of the program wrote. Return None if this version cannot read the fact,
    or would have written other bytes for it."""
    with suppress(msgspec.ValidationError):
        fact: Fact = _decoder().decode(data)
        return fact if fact_to_json(fact) == data else None
    return None


def _of_before(data: bytes) -> Fact:
    """Read a fact from JSON that an earlier version of the program wrote."""
    value: Any = json.loads(data)
    if data not in (canonical(value), canonical(json.loads(data, object_pairs_hook=_numbered))):
        raise ValueError("these bytes are not canonical, and a journal writes no others")
    value = fact_as_now(value)
    if "rules" in value:
        value |= {"rules": as_bets(value["rules"])}
    fact: Fact = msgspec.convert(value, _ANY, dec_hook=_value, str_keys=True)
    return fact


def _numbered(pairs: list[tuple[str, object]]) -> dict[Any, object]:
    """Return a JSON object as a dict. If all keys are numbers, such as seats, make them int, because the journal orders
    such keys by number."""
    return {int(key): value for key, value in pairs} if all(key.isdecimal() for key, _ in pairs) else dict(pairs)


def fact_from_json(data: bytes) -> Fact:
    """Read a fact from its JSON. Raises TableError `fact_unreadable` if this program knows no such fact."""
    try:
        fact = _of_now(data) or _of_before(data)
    except Exception as error:
        raise TableError(
            "fact_unreadable",
            "This version of the program does not know a fact in the journal.",
            "Run the version that wrote the journal, or set the journal aside and report this.",
        ) from error
    return fact
