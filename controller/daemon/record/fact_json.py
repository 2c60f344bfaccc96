"""Facts to JSON and back. The journal keeps facts in this form.

A card and a K9 are text (`KS`), odds are text (`3:2`), an enum is its value. The name of the fact's class stands under
`fact`. Bytes that cannot be read back raise TableError `fact_unreadable`: there is never half a fact.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, cast, get_args

import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.daemon.record.old_facts import as_bets, fact_as_now
from controller.rules.game.bets import Bet, CardsAre, HandIs, Has, Row, When, ratio, ratio_text
from controller.rules.game.cards import Card, PersonalK9
from controller.rules.game.games import GAMES, Game
from controller.table.acts.every import ACTS
from controller.table.facts import Fact, OwnFact, ShoeFact, TableFact
from controller.table.rules import TableRules


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for type_ in (Card, PersonalK9):
        converter.register_unstructure_hook(type_, str)
    converter.register_structure_hook(Card, lambda text, _: Card.parse(text))
    converter.register_structure_hook(PersonalK9, lambda text, _: PersonalK9.parse(text))
    converter.register_unstructure_hook(Fraction, ratio_text)
    converter.register_structure_hook(Fraction, lambda text, _: ratio(text))
    # Fields of a bet that have their defaults are not written. cattrs makes its code for a type late, as in `_tag`.
    converter.register_unstructure_hook_factory(
        lambda type_: type_ in (Bet, Row, When, HandIs, CardsAre, Has),
        lambda type_: make_dict_unstructure_fn(type_, converter, _cattrs_omit_if_default=True),
    )
    converter.register_structure_hook_factory(lambda type_: type_ is TableRules, lambda _: _rules(converter))
    _tag(converter, Game, "kind", GAMES)
    _tag(converter, ShoeFact | OwnFact, "fact", get_args(ShoeFact | OwnFact))
    of_acts = (fact for act in ACTS for fact in act.becomes)
    _tag(converter, Fact, "fact", (*get_args(ShoeFact | OwnFact | TableFact), *of_acts))
    return converter


def _rules(converter: cattrs.Converter) -> Callable[[dict[str, Any], object], TableRules]:
    structure = make_dict_structure_fn(TableRules, converter, _cattrs_forbid_extra_keys=True)
    return lambda value, type_: structure(as_bets(value), type_)


def _tag(converter: cattrs.Converter, union: Any, tag: str, members: Iterable[type]) -> None:
    """Write the type's name under `tag`.

    cattrs makes its code for a type when the first value of that type comes. In cattrs's own way of tagging it makes
    the code for all types at once, which takes a fifth of a table's start.
    """
    types = {type_.__name__: type_ for type_ in members}

    def unstructure(value: object) -> dict[str, Any]:
        return {tag: type(value).__name__, **converter.unstructure(value)}

    def structure(value: dict[str, Any], _: object) -> object:
        fields = dict(value)
        return converter.structure(fields, types[fields.pop(tag)])

    converter.register_unstructure_hook_func(lambda type_: type_ == union, unstructure)
    converter.register_structure_hook_func(lambda type_: type_ == union, structure)


_CONVERTER = _converter()


def fact_to_json(fact: Fact) -> bytes:
    """The fact's canonical bytes."""
    return canonical(_CONVERTER.unstructure(fact, unstructure_as=Fact))


def fact_from_json(data: bytes) -> Fact:
    """The fact in these bytes. Raises TableError `fact_unreadable` where this program knows no such fact."""
    try:
        value: Any = json.loads(data)
        if canonical(value) != data:
            raise ValueError("these bytes are not canonical, and a journal writes no others")
        fact: Fact = _CONVERTER.structure(fact_as_now(value), cast(Any, Fact))  # a union is no class to mypy
    except Exception as error:
        raise TableError(
            "fact_unreadable",
            "This version of the program does not know a fact in the journal.",
            "Run the version that wrote the journal, or set the journal aside and report this.",
        ) from error
    return fact
