"""The program behind `make model`. It explores all states of three models. The first is how a table delivers its events
to the pit, in model worlds of growing size. The second is how one award goes through the pit's ledger. The third is
which of two pits on one database leads. The program checks that no rule is broken, and that every defect planted on
purpose is found. If SPIN is installed, a second model of the delivery is explored too, and must reach the same states.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.model import award_defects, awards, leadership, second
from tests.model.award_defects import Defect
from tests.model.defects import DEFECTS, with_defect
from tests.model.explore import DEAD_END, INVARIANTS, WORLDS, Found, explore


def main() -> int:
    """Explore all models, and print the number of states, the depth and the time of each, and the rule that each
    planted defect breaks. Returns 1 if the product breaks a rule, or if a planted defect is not found."""
    print("Always:", *(f"  {rule}" for rule in INVARIANTS), "Never:", f"  {DEAD_END}", sep="\n")
    wrong = 0
    for world in WORLDS:
        found = explore(with_defect(None), world)
        wrong += found.broken is not None
        _say(f"{world}", found)
    for number, defect in enumerate(DEFECTS, 1):
        found = explore(with_defect(defect), defect.world)
        wrong += found.broken is None
        _say(f"defect {number}: {defect.becomes.strip()!r}", found)
    wrong += _second_statement()
    print("One award.", "Never:", *(f"  {rule}" for rule in (*awards.RULES, awards.DEAD_END)), sep="\n")
    for restores in (False, True):
        found_of = _award(None, restores)
        wrong += found_of.broken is not None
    for planted in award_defects.DEFECTS:
        wrong += _award(planted, planted.restores).broken is None
    print("Who leads.", "Never:", *(f"  {rule}" for rule in (*leadership.RULES, leadership.DEAD_END)), sep="\n")
    for most in leadership.WORLDS:
        wrong += _lead(None, most).broken is not None
    for each in leadership.DEFECTS:
        wrong += all(_lead(each, most).broken is None for most in leadership.WORLDS)
    return min(wrong, 1)


def _lead(defect: Defect | None, most: leadership.Spent) -> awards.Found:
    """Explore the model of two pits on one database. `defect` is planted in the code, unless it is None. `most` says
    how often each misfortune may happen. Print the result and return it."""
    begun_s = perf_counter()
    found = awards.explore(leadership.World(leadership.with_defect(defect), most), 100_000, leadership.DEAD_END)
    what = f"two pits, {most}" if defect is None else f"two pits, {most}, defect {defect.becomes.strip()!r}"
    _say(what, Found(found.states, found.depth, perf_counter() - begun_s, found.broken))
    return found


def _second_statement() -> int:
    """Compare two models of a table's delivery to the pit: the product's own code, and a second model for the program
    SPIN. Return the number of model worlds in which the two reach different states."""
    if not second.installed():
        print("The second statement of the delivery was not explored: apt-get install -y spin gcc libc6-dev")
        return 0
    wrong = 0
    for world in second.WORLDS:
        ours: set[int] = set()
        explore(with_defect(None), world, tell=lambda state, ours=ours: ours.add(second.projected(state)))  # type: ignore[misc]
        theirs = second.reached(world)
        wrong += ours != theirs
        agree = "the same" if ours == theirs else f"NOT the same: {len(ours - theirs)} and {len(theirs - ours)} differ"
        print(f"{world}: the product reaches {len(ours):,} states, the second statement {len(theirs):,}: {agree}")
    return wrong


def _award(defect: award_defects.Defect | None, restores: bool) -> awards.Found:
    """Explore all ways of one award through the pit's ledger. `defect` is planted in the ledger's code, unless it is
    None. If `restores` is True, the ledger may be replaced by an older copy. Print the result and return it."""
    begun_s = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        world = awards.World(awards.fresh(Path(folder) / "ledger"), restores, award_defects.with_defect(defect))
        found = awards.explore(world)
    what = "an award" if defect is None else f"an award, defect {defect.becomes.strip()!r}"
    _say(
        f"{what}{', and a ledger that is restored' if restores else ''}",
        Found(found.states, found.depth, perf_counter() - begun_s, found.broken),
    )
    return found


def _say(what: str, found: Found) -> None:
    holds = found.broken or "every rule holds"
    print(f"{what}: {found.states:,} states, {found.depth} deep, {found.took_s:.1f} s: {holds}", flush=True)
    for step in found.way if "Bounds" in what else ():
        print(f"    {step}")


if __name__ == "__main__":
    sys.exit(main())
