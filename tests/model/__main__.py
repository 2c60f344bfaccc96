"""`make model`: every interleaving of the delivery guarantee in worlds of growing size, and every planted defect."""

from __future__ import annotations

import sys

from tests.model.defects import DEFECTS, with_defect
from tests.model.explore import DEAD_END, INVARIANTS, Found, explore
from tests.model.world import Bounds

_WORLDS = (
    Bounds(1, 1, 0, 1),
    Bounds(1, 1, 0, 0, 1),
    Bounds(1, 1, 0, 0, 2),
    Bounds(2, 1, 0),
    Bounds(2, 0, 1),
    Bounds(2, 0, 0, 0, 0, 1),
    Bounds(3, 0, 0),
    Bounds(2, 1, 1),
)


def main() -> int:
    """Print states, depth and time of each world, and what each defect breaks. Returns 1 where a rule does not hold."""
    print("Always:", *(f"  {rule}" for rule in INVARIANTS), "Never:", f"  {DEAD_END}", sep="\n")
    wrong = 0
    for world in _WORLDS:
        found = explore(with_defect(None), world)
        wrong += found.broken is not None
        _say(f"{world}", found)
    for number, defect in enumerate(DEFECTS, 1):
        found = explore(with_defect(defect), defect.world)
        wrong += found.broken is None
        _say(f"defect {number}: {defect.becomes.strip()!r}", found)
    return min(wrong, 1)


def _say(what: str, found: Found) -> None:
    holds = found.broken or "every rule holds"
    print(f"{what}: {found.states:,} states, {found.depth} deep, {found.took_s:.1f} s: {holds}", flush=True)
    for step in found.way if "Bounds" in what else ():
        print(f"    {step}")


if __name__ == "__main__":
    sys.exit(main())
