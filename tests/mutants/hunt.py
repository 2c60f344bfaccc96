"""`python -m tests.mutants.hunt SEEDS [FIRST]`: play seeds of the simulation until one fails. A defect (mutant) may be
planted in the process.

Prints the seed and the broken promise with a tab between them, or nothing if no seed failed.
"""

from __future__ import annotations

import sys

import tests.mutants.plant  # noqa: F401  # first: before the program is imported
from tests.simulation.run import play_seed


def main(seeds: int, first: int = 0) -> None:
    """Play the simulation with `seeds` seeds, beginning with `first`, and print the first failure."""
    for seed in range(first, first + seeds):
        failure = play_seed(seed)
        if failure is not None:
            print(seed, failure.invariant, sep="\t")
            return


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
