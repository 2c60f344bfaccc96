"""Explores every state of a small model of a table's delivery to its pit. It checks the rules in each state, and that
no state is a dead end.

The numbers of events and of acknowledgements that can be on their way are small, so this is a proof for small model
worlds only. No state is missed, because each state is stored with all its properties, and not as a digest of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from types import ModuleType

from tests.model.world import Bounds, BrokenError, State, World

INVARIANTS: dict[str, Callable[[State], bool]] = {
    "nothing counts as acknowledged that the pit never committed": lambda state: (
        state.delivery.phase.name == "BEHIND" or state.journal[: state.delivery.acked_seq] in state.ever
    ),
    "nothing is marked as acknowledged that the pit never committed": lambda state: (
        state.journal[: state.marked] in state.ever or state.delivery.phase.name == "BEHIND"
    ),
    "the pit has one history, and counts no number twice": lambda state: (
        all(len(each) <= len(state.ledger) or each.startswith(state.ledger) for each in state.ever)
        or bool(state.spent.goes_back or state.spent.restores)
    ),
    "a table with the pit's own journal is never told that it is another": lambda state: (
        state.delivery.phase.name != "BEHIND" or bool(state.spent.restores)
    ),
}


WORLDS = (
    Bounds(1, 1, 0, 1),
    Bounds(1, 1, 0, 0, 2),
    Bounds(2, 0, 0, 0, 0, 1),
    Bounds(2, 1, 1, 0, 1),
    Bounds(4, 1, 1),
)
"""Worlds in which all must hold. The last has 385,023 states, which take some three minutes and 413 MB. The one before
has 252,293: an older journal comes together with a kill and an older ledger at two events, and at no more."""

DEAD_END = "from here no calm way leads to the end at which all is acknowledged"


@dataclass(frozen=True)
class Found:
    """The result of exploring a model: the number of states, the number of steps to the farthest state, and the seconds
    that it took. `broken` names the rule that does not hold, or is None if all rules hold. `way` has the steps that
    lead to the broken rule."""

    states: int
    depth: int
    took_s: float
    broken: str | None = None
    way: tuple[str, ...] = ()


def explore(
    guarantee: ModuleType,
    bounds: Bounds,
    most_states: int = 3_000_000,
    starts_noted: bool = True,
    tell: Callable[[State], object] = lambda state: None,
) -> Found:
    """Explore every state of the delivery model, the nearest first, and call `tell` with each. The exploration stops at
    the first broken rule. `guarantee` is the module whose delivery is tested. `bounds` is the size of the model world.
    If `starts_noted` is True, each start of the table writes a row of its journal, as in the product."""
    begun_s, world = perf_counter(), World(guarantee, bounds, starts_noted)
    first = world.begin()
    numbers, depth = {first.key(): 0}, [0]
    came: list[tuple[int, str]] = [(0, "")]
    before: list[list[int]] = [[]]
    good: list[int] = []
    open_ = deque([(0, first)])

    def found(broken: str | None = None, at: int = 0) -> Found:
        way = []
        while at:
            way.append(came[at][1])
            at = came[at][0]
        return Found(len(numbers), max(depth), perf_counter() - begun_s, broken, tuple(reversed(way)))

    while open_:
        number, state = open_.popleft()
        tell(state)
        if (broken := next((rule for rule, holds in INVARIANTS.items() if not holds(state)), None)) is not None:
            return found(broken, number)
        if _all_acknowledged(state, bounds):
            good.append(number)
        steps = world.steps(state)
        while True:
            try:
                name, calm, after = next(steps, ("", False, None))
            except BrokenError as error:
                return found(str(error), number)
            if after is None:
                break
            key = after.key()
            if (known := numbers.get(key)) is None:
                known = numbers[key] = len(numbers)
                depth.append(depth[number] + 1)
                came.append((number, name))
                before.append([])
                open_.append((known, after))
                if known > most_states:
                    return found("the world is larger than was allowed", known)
            if calm:
                before[known].append(number)
    alive = {*good}
    while good:
        for earlier in before[good.pop()]:
            if earlier not in alive:
                alive.add(earlier)
                good.append(earlier)
    dead = next((number for number in range(len(numbers)) if number not in alive), None)
    return found() if dead is None else found(DEAD_END, dead)


def _all_acknowledged(state: State, bounds: Bounds) -> bool:
    """Return True if the pit has every event and the table knows so. If the table's journal was replaced by an older
    copy, return True also if the table has stopped by the fault that says so."""
    done = len(state.journal) == bounds.events and state.ledger == state.journal
    if state.spent.restores and state.delivery.phase.name == "BEHIND":
        return True
    return done and state.delivery.acked_seq == len(state.journal)
