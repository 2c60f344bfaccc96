"""A simulated cashier at a pit, as a program: `python -m tests.fire.cashier LEDGER SEED` decides on awards until
standard input ends, and then prints how many decisions it made.

The cashier is a process of its own, as the commands of real people are. A decision locks the ledger's file, and in the
test's own process each step of a decision would wait for all other threads.
"""

from __future__ import annotations

import select
import sys
from contextlib import closing, suppress
from pathlib import Path
from zlib import crc32

from controller.basics.errors import TableError
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Step
from controller.pit.reference.commands.asking import ask
from controller.pit.reference.ledger import Ledger

_EVERY_S = 1.0
_BETWEEN_DECISIONS_S = 0.02  # no person is as fast: who takes the ledger again at once leaves the pit no room


def main(path: Path, seed: str) -> int:
    """Decide on the awards in the ledger at `path` until standard input ends: pay some, reject some, and leave some
    open. Returns the number of decisions."""
    decided = 0
    while not _is_over(_EVERY_S):
        with suppress(TableError), closing(Ledger(path)) as ledger:  # the pit may be at its files
            for award in ledger.awards():
                step = _next_step(award, seed)
                if step is None:
                    continue
                with suppress(TableError):  # its table may dispute it, and the pit may be killed
                    _decide(path.with_name(f"{path.name}.control"), award.id, step)
                    decided += 1
                if _is_over(_BETWEEN_DECISIONS_S):
                    return decided
    return decided


def _decide(control: Path, award: str, step: Step) -> None:
    """Decide on an award at the pit's control socket. `step` is the award's next step: "verified", "paid" or
    "rejected".

    The pit runs for practice, so that it accepts any names: Ben verifies, Cleo pays, and both together reject.
    """
    do = {"verified": "verify", "paid": "pay", "rejected": "reject"}[step]
    answer = ask(control, {"do": do, "award": award, "as": "Cleo" if step == "paid" else "Ben"})
    for waits in answer.waits:
        ask(control, {"do": "confirm", "proposal": waits.number, "digest": waits.digest, "as": "Cleo"})


def _next_step(award: Award, seed: str) -> Step | None:
    fate = crc32(f"{seed} {award.table} {award.shoe} {award.round} {award.seat}".encode()) % 8
    if award.more:
        return None
    if award.step == "pending" and fate < 3:
        return "rejected" if fate == 0 else "verified"
    return "paid" if award.step == "verified" and fate == 1 else None


def _is_over(after_s: float) -> bool:
    return bool(select.select([sys.stdin], [], [], after_s)[0])


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2]))
