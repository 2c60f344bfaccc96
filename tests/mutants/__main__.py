"""`python -m tests.mutants`: plant each known defect (mutant) in the program in turn, let the simulation look for it,
and print what the simulation found."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.defects import MUTANTS

_ROOT = Path(__file__).parents[2]
SEEDS = 300
"""A defect that so many seeds do not find is not found. The proof plays as many of the program as it is."""


@dataclass(frozen=True)
class Found:
    """What the simulation found with one defect (mutant) planted in the program: the seed that failed, and the promise
    that was broken. `mutant` is None for the unchanged program."""

    mutant: str | None
    seed: int | None
    invariant: str


def hunt(mutant: str | None, seeds: int = SEEDS) -> Found:
    """Play the simulation with one seed after another until a seed fails, in a process in which this defect (mutant) is
    planted. Returns what was found."""
    environment = {name: value for name, value in os.environ.items() if name != "TABLE_MUTANT"}
    if mutant is not None:
        environment["TABLE_MUTANT"] = mutant
    run = subprocess.run(
        [sys.executable, "-m", "tests.mutants.hunt", str(seeds)],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{mutant} cannot be planted:\n{run.stderr}")
    if not run.stdout:
        return Found(mutant, None, "not found")
    seed, _, invariant = run.stdout.strip().partition("\t")
    return Found(mutant, int(seed), invariant)


def hunt_all(seeds: int) -> Iterator[Found]:
    """Let the simulation look for every planted defect (mutant), and yield what it found. The unchanged program is
    played too; nothing may be found in it."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda name: hunt(name, seeds), [None, *(mutant.name for mutant in MUTANTS)])


def main() -> int:
    """Let the simulation look for every planted defect (mutant), and print what it found. Returns 1 if a defect was not
    found, or if something was found in the unchanged program."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds to look for each")
    bad = False
    for found in hunt_all(parser.parse_args().seeds):
        bad |= (found.seed is None) != (found.mutant is None)
        place = "-" if found.seed is None else f"seed {found.seed}"
        print(f"{found.mutant or '(no mutant)':30} {place:10} {found.invariant}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
