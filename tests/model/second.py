"""Runs a second, independent model of a table's delivery to the pit: `delivery.pml`, which the program SPIN explores.
The states that both models reach are compared.

The rules of `delivery.pml` are written from the contract's page. Which misfortunes the link may have is taken from
`world.py`. Of each state, the part that both models have is packed into one number, in the order of `tell` in
`delivery.pml`. That part is what is on the disks, how far the table believes the pit to be, the table's phase, what may
arrive, and the misfortunes so far. So the two sets of states themselves are compared, and not only their sizes.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.model.world import Bounds, State

WORLDS = (Bounds(2, 1, 1, 0, 1), Bounds(2, 1, 0), Bounds(2, 0, 1), Bounds(3, 0, 0), Bounds(4, 1, 0))
"""Worlds that both statements know: no broker that refuses, at most one older journal, and no clock that is set back.

The page forbids a pit such a clock ("The `at` of a table's acks never goes back", P21). So of what follows from one the
page has no rule that could be stated a second time: here an ack is as late as its place. What the product does then is
explored in `make model`'s worlds with `clock_back` alone."""

DEFECTS = (
    ("LENGTH(event) == LENGTH(ledger) + 1", "LENGTH(event) >= LENGTH(ledger)"),
    ("LARGER(acked, claimed) + window", "LARGER(acked, claimed) + 1"),
    ("n <= held_or_sent &&", "n < held_or_sent &&"),
    ("AT(i) < believed ->", "false ->"),
    ("if :: phase != BEHIND -> phase = ASKING :: else fi", "stream(WINDOW)"),
    ("held_or_sent = LENGTH(journal);", "held_or_sent = marked;"),
)
"""Changes of the second statement, each of which a world of these tells from the product: so they can disagree."""

STATEMENT = Path(__file__).with_name("delivery.pml").read_text()
_PHASES = ("OFFLINE", "ASKING", "STREAMING", "BEHIND")


def installed() -> bool:
    """Tell whether this machine has the program SPIN, and the C compiler that SPIN needs."""
    return shutil.which("spin") is not None and shutil.which("gcc") is not None


def reached(bounds: Bounds, statement: str = STATEMENT) -> frozenset[int]:
    """Run SPIN, and return every state that its model reaches, each as a number. Raises RuntimeError if one of that
    model's own rules does not hold. `statement` is the model's source."""
    sizes = {"EVENTS": bounds.events, "KILLS": bounds.kills, "BACKS": bounds.goes_back, "RESTORES": bounds.restores}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "delivery.pml").write_text(statement)
        _run(folder, "spin", *(f"-D{name}={size}" for name, size in sizes.items()), "-a", "delivery.pml")
        _run(folder, "gcc", "-O1", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c")
        told = _run(folder, "./pan", "-m2000000").splitlines()
    if not any("errors: 0" in line for line in told):
        raise RuntimeError("\n".join(line for line in told if not line.startswith("state ")))
    return frozenset(int(line.split()[1], 16) for line in told if line.startswith("state "))


def _run(folder: str, *command: str) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300).stdout


def projected(state: State) -> int:
    """Return the number by which `delivery.pml`, the model for SPIN, prints this state."""
    table, said = state.delivery, [_node(ack.history.removeprefix("+")) for ack in state.said]
    word = 1
    for value, width in (
        (_node(state.journal), 5),
        (state.marked, 3),
        (_node(state.ledger), 5),
        (table.acked_seq, 3),
        (_PHASES.index(table.phase.name), 2),
        (state.connected, 1),
        (state.spent.kills, 1),
        (state.spent.goes_back, 1),
        (state.spent.restores, 1),
        (sum(1 << _node(event) for event in state.sent), 32),
        *((node, 5) for node in (*said, 0, 0, 0)[:3]),
    ):
        word = word << width | value
    return word


def _node(history: str) -> int:
    """Return a number that stands for a history of events. Each event is a letter, a or b, and chooses a branch of a
    binary tree. The number is that of the tree's node to which the branches lead."""
    node = 1
    for letter in history:
        node = 2 * node + "ab".index(letter)
    return node
