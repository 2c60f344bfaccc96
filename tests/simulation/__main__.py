"""`python -m tests.simulation` plays the simulated house with many seeds, or with one. For each failure it prints the
shortest sequence of actions that it finds to cause the failure, and the command that repeats it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.simulation.run import STEPS, Failure, play_seed, smallest


def main() -> int:
    """Play the simulation's seeds that the command line asks for. Returns 1 if a seed failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds to play")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="N", help="the first of them")
    parser.add_argument("--seed", type=int, help="play this one alone")
    parser.add_argument("--steps", type=int, default=STEPS, help="actions a seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes, each with tables of its own")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds) if asked.seed is None else range(asked.seed, asked.seed + 1)
    began = time.perf_counter()
    failures = list(_failures(seeds, asked.steps, asked.jobs))
    took_s = time.perf_counter() - began
    by_invariant = {failure.invariant: failure for failure in reversed(failures)}
    for failure in by_invariant.values():
        print(smallest(failure), end="\n\n")
    if len(failures) > len(by_invariant):
        print("seeds that failed:", *(failure.seed for failure in failures))
    print(
        f"{len(seeds)} seeds, {len(seeds) * asked.steps} actions, {len(failures)} failed; "
        f"{len(seeds) / took_s:.1f} seeds/s, {len(seeds) * asked.steps / took_s:.0f} actions/s"
    )
    return 1 if failures else 0


def _failures(seeds: range, steps: int, jobs: int) -> Iterable[Failure]:
    play = partial(play_seed, steps=steps)
    if jobs == 1 or len(seeds) == 1:
        yield from filter(None, map(play, seeds))
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from filter(None, pool.map(play, seeds, chunksize=8))


if __name__ == "__main__":
    sys.exit(main())
