"""Read the decisions of people from a pit's statement, and turn each decision into a function that head office applies
to its own computation (`Replay`).

Head office believes the house when it says at which moment a meter's terms changed. The terms themselves come from head
office's own files, if head office keeps such files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from controller.contract.bounds import MOST_CENTS, MOST_SEQ
from controller.pit.head_office.approved import prices
from controller.pit.head_office.replay import Approval, Replay, whole
from controller.pit.head_office.terms import Terms

_MOST_TERMS = 100  # of a meter: more of them, in a forged statement, would take hours
_SHARE = re.compile("[0-9]{1,9}(/[1-9][0-9]{0,8})?")

Decision = tuple[int, Callable[[Replay], None]]
"""The position of the last event before the decision, and what the decision does."""

Approved = Mapping[str, Sequence[Terms]]
"""By meter the terms that head office approved, in order."""


def read(stated: Mapping[str, Any], approved: Approved | None) -> tuple[list[Decision], list[str]]:
    """Return the decisions of a statement in order, and a list of what is wrong with them. Each decision is a pair: the
    position of the last event before the decision, and the function that applies the decision. A decision on terms gets
    the terms that head office approved in the same place of the meter's list. If there are none, the decision gets the
    terms that the pit states.

    Raises KeyError, TypeError or ValueError if the statement's decisions do not have the expected form.
    """
    last, every = whole(stated["position"], 0, MOST_SEQ), stated["decisions"]
    terms = _TermsSaid(approved or {}, _taken_back(every))
    decisions = [(whole(each["after"], 0, last), _decide(place, each, terms)) for place, each in enumerate(every)]
    if [after for after, _ in decisions] != sorted(after for after, _ in decisions):
        raise ValueError("the decisions are not in order")
    if any("voids_stay" in each for each in every):
        decisions.insert(0, (0, Replay.let_voids_lower))
    return decisions, [*_amiss_of_voids(every), *(() if approved is None else _amiss(terms.had, approved))]


def _decide(place: int, decision: Mapping[str, Any], terms: _TermsSaid) -> Callable[[Replay], None]:
    """Return the function that applies this decision to a `Replay`. Raises KeyError, TypeError or ValueError if the
    form of the decision is unknown."""
    match decision:
        case {"terms": {"meter": str(meter)}}:
            return partial(Replay.set_terms, meter=meter, approval=terms.approval(place, meter, decision))
        case {"withdrawn": str(meter)}:
            return partial(Replay.withdraw_terms, meter=meter, people=_people(decision))
        case {"closed": str(meter), "into": str() | None as into, "cents": cents}:
            moved = whole(cents, 0, MOST_SEQ)
            return partial(Replay.close, meter=meter, into=into, cents=moved, people=_people(decision))
        case {"reserve_moved_to": str(into), "cents": cents}:
            moved = whole(cents, 0, MOST_SEQ)
            return partial(Replay.move_reserve, into=into, cents=moved, people=_people(decision))
        case {"corrected": str(void)}:
            return partial(Replay.correct, void=void, people=_people(decision))
        case {"voids_stay": True}:
            return Replay.let_voids_stay
        case {"award": str(award), "step": "verified" | "paid" | "rejected" as step, "cents": cents}:
            recalled = decision.get("recalled") is True
            return partial(Replay.decide, id_=award, step=step, cents=whole(cents, 0, MOST_SEQ), recalled=recalled)
        case {"table": str(table), "set_aside_as": str(stream)}:
            return partial(Replay.set_aside, table=table, stream=stream)
        case {"house_rules": {}} | {"slip": int()}:
            return _nothing  # it moves no money, and may not change once it was stated
        case {"adopted": str()} | {"retired": str()} | {"dismissed": str()} | {"measure": str()}:
            return _nothing
        case _:
            raise ValueError(f"{decision!r:.100} is no decision")


class _TermsSaid:
    """Collects the meters' terms that the decisions of a statement give, while the decisions are read. `had` maps each
    meter to the list of its terms in order, without terms that people took back before they came into force."""

    def __init__(self, approved: Approved, back: set[int]) -> None:
        self.had: dict[str, list[Terms]] = {}
        self._approved = approved
        self._back = back
        self._counted: Counter[str] = Counter()

    def approval(self, place: int, meter: str, decision: Mapping[str, Any]) -> Approval:
        """Return the approval of a meter's terms that the decision at index `place` made. The approval holds the terms
        that head office approved in the same place of the meter's list. It holds the terms that the pit states if head
        office has none there, or if people took the terms back."""
        said = decision["terms"]
        seed, most = (whole(said[key], 0, MOST_CENTS) for key in ("seed_cents", "reseed_at_most_cents"))
        limit = said.get("limit_cents")
        limit = None if limit is None else whole(limit, 0, MOST_CENTS)
        shares = _share(said["contribution"]), _share(said["reserve"])
        terms = stated_as = Terms(seed, *shares, most, limit, prices(said.get("prices_cents")))
        self._counted[meter] += 1
        if self._counted[meter] > _MOST_TERMS:
            raise ValueError(f"{meter!r:.70} had other terms more than {_MOST_TERMS} times")
        before = self.had.setdefault(meter, [])
        if place not in self._back:
            before.append(stated_as)
            may = self._approved.get(meter, ())
            terms = may[len(before) - 1] if len(before) <= len(may) else stated_as
        waits, digest, is_signed = decision.get("waits") is True, decision.get("digest"), "signature" in decision
        return Approval(terms, stated_as, waits, digest, _people(decision), is_signed)


def _taken_back(decisions: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the indexes of the decisions that approved new terms which people took back before the terms came into
    force."""
    waits: dict[str, int] = {}
    back: set[int] = set()
    for place, each in enumerate(decisions):
        match each:
            case {"terms": {"meter": str(meter)}, "waits": True}:
                waits[meter] = place
            case {"withdrawn": str(meter)} if meter in waits:
                back.add(waits.pop(meter))
    return back


def _people(decision: Mapping[str, Any]) -> str:
    """Describe in words which accounts took the decision, for what reason, and by which document."""
    accounts = [str(each["account"]) for each in (decision.get("by"), decision.get("witness")) if each]
    why = decision.get("reason")
    document = f", document {named}" if (named := decision.get("document")) else ""
    return f"{' and '.join(accounts) or 'nobody named'}{f': {why}' if why else ''}{document}"


def _nothing(_: Replay) -> None:
    """Do nothing. This function stands for a decision that does not change the meters or awards."""


def _amiss_of_voids(every: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the decision "from now on a void lowers no meter". The pit's program records this
    decision when it is updated from an earlier version, and does so only one time. The decision must come before any
    correction of a void."""
    said = [place for place, each in enumerate(every) if "voids_stay" in each]
    if len(said) > 1:
        yield f"that voids stay was decided {len(said)} times"
    if said and any("corrected" in each for each in every[: said[-1]]):
        yield "that voids stay was decided after a void was corrected"


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
    """Parse the part of a wager that a meter or its reserve gets, from the text that the pit writes, for example 3/50.
    Raises ValueError."""
    if not (isinstance(value, str) and _SHARE.fullmatch(value)):  # 1e99999999 takes hours to write out
        raise ValueError(f"{value!r:.60} is no part of a wager")
    return Fraction(value)
