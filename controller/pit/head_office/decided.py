"""What people decided at a house, as the pit's statement tells, made ready to be played again.

When the terms changed is the house's word. Which terms a meter had is head office's, where head office keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from controller.contract.bounds import MOST_CENTS, MOST_SEQ
from controller.pit.head_office.replay import Replay, Terms, whole

_MOST_TERMS = 100  # of a meter: more of them, in a forged statement, would take hours
_SHARE = re.compile("[0-9]{1,9}(/[1-9][0-9]{0,8})?")

Decision = tuple[int, Callable[[Replay], None]]
"""The position of the last event before the decision, and what the decision does."""

Approved = Mapping[str, Sequence[Terms]]
"""By meter the terms that head office approved, in order."""


def read(stated: Mapping[str, Any], approved: Approved | None) -> tuple[list[Decision], list[str]]:
    """The decisions of a statement in order, and what is wrong with the terms. A change of terms has approved terms.

    Raises KeyError, TypeError or ValueError where the statement holds no such decisions.
    """
    decisions: list[Decision] = []
    last = whole(stated["position"], 0, MOST_SEQ)
    had: dict[str, list[Terms]] = {}
    for each in stated["decisions"]:
        decide: Callable[[Replay], None]
        match each:
            case {"terms": {"meter": str(meter), **said}}:
                seed, most = (whole(said[key], 0, MOST_CENTS) for key in ("seed_cents", "reseed_at_most_cents"))
                before = had.setdefault(meter, [])
                limit = said.get("limit_cents")
                limit = None if limit is None else whole(limit, 0, MOST_CENTS)
                before.append(Terms(seed, _share(said["contribution"]), _share(said["reserve"]), most, limit))
                if len(before) > _MOST_TERMS:
                    raise ValueError(f"{meter!r:.70} had other terms more than {_MOST_TERMS} times")
                may = (approved or {}).get(meter, ())
                terms = may[len(before) - 1] if len(before) <= len(may) else before[-1]
                decide = partial(Replay.set_terms, meter=meter, terms=terms)
            case {"award": str(award), "step": "verified" | "paid" | "rejected" as step, "cents": cents}:
                decide = partial(Replay.decide, id_=award, step=step, cents=whole(cents, 0, MOST_SEQ))
            case {"table": str(table), "set_aside_as": str(stream)}:
                decide = partial(Replay.set_aside, table=table, stream=stream)
            case {"house_rules": {}} | {"slip": int()}:
                decide = _nothing  # it moves no money, and may not change once it was stated
            case {"adopted": str()} | {"retired": str()} | {"dismissed": str()}:
                decide = _nothing
            case _:
                raise ValueError(f"{each!r:.100} is no decision")
        decisions.append((whole(each["after"], 0, last), decide))
    if [after for after, _ in decisions] != sorted(after for after, _ in decisions):
        raise ValueError("the decisions are not in order")
    return decisions, [] if approved is None else _amiss(had, approved)


def _nothing(_: Replay) -> None:
    """What a decision does that moves no money."""


def _amiss(had: Approved, approved: Approved) -> list[str]:
    every = {name: (had.get(name, ()), approved.get(name, ())) for name in sorted(had.keys() | approved.keys())}
    return [
        f"{name} had the terms {_shown(has)}, and head office has approved {_shown(may)}"
        for name, (has, may) in every.items()
        if [*has] != [*may]
    ]


def _shown(terms: Sequence[Terms]) -> str:
    return ", then ".join(map(str, terms)) or "none"


def _share(value: object) -> Fraction:
    """A part of a wager as the pit writes it, for example 3/50."""
    if not (isinstance(value, str) and _SHARE.fullmatch(value)):  # 1e99999999 takes hours to write out
        raise ValueError(f"{value!r:.60} is no part of a wager")
    return Fraction(value)
