"""Checks what cheats can win at a table if each uses only the rights that this person really has. One person alone wins
nothing, and several together win nothing without leaving a trace."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import get_args

import pytest

from controller.table.rules import LockOn, TableRules
from tests.collusion.evening import Evening, Right
from tests.collusion.mends import MENDS, Mend
from tests.collusion.order import Opens, Way, at_random, guided
from tests.collusion.window import SLIPS, new_ledger
from tests.support.tables import ROYAL9, house

FEW, MANY = 6, 80
MOST = 80
"""So many shoes are played for a gain before it counts as not found."""
HUNTS = 2

Order = Callable[[int, Opens], Iterator[tuple[Way, Evening]]]
ORDERS: tuple[Order, ...] = (at_random, guided)

_LOCKS: tuple[LockOn, ...] = get_args(LockOn)
HOUSES: tuple[TableRules, ...] = tuple(
    house(ROYAL9, drawn_in_error=drawn, lock_on=lock)
    for drawn, lock in product(("simulated_hand", "next_card"), _LOCKS)
)

ALONE: dict[str, frozenset[Right]] = {
    "the dealer": frozenset({"dealer"}),
    "a supervisor": frozenset({"supervisor"}),
    "a cashier": frozenset({"cashier"}),
}
"""One person of the house, with a player. An attendant has a cashier's commands."""

SOON_FOUND: dict[str, int] = {
    "a chip plays that lay before a card was out": 40,
    "two people type a card": 70,
    "a typed card puts the award in doubt": 97,
    "two people void a won round": 6,
    "a key that was turned before confirms nothing": 515,
    "what a button asks for waits for nobody": 120,
    "two names at one account are one person": 30_005,
    "the second person confirms what was looked at": 522,
    "an award is paid once": 1,
    "what the table told holds an award": 5,
    "nobody decides before each table was heard": 29,
}
"""By mend a seed by which a random order finds the gain in its first shoe."""

TOGETHER: dict[str, frozenset[Right]] = {
    "dealer and supervisor": frozenset({"dealer", "supervisor"}),
    "two supervisors": frozenset({"supervisor", "second supervisor"}),
    "a supervisor who has the key too": frozenset({"supervisor", "key"}),
    "supervisor and cashier": frozenset({"supervisor", "cashier"}),
    "dealer and cashier": frozenset({"dealer", "cashier"}),
    "attendant and cashier": frozenset({"attendant", "cashier"}),
    "two supervisors and a cashier": frozenset({"supervisor", "second supervisor", "cashier"}),
}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Yield a folder in memory for the pit's ledgers of the simulated evenings. The folder holds a new ledger, and each
    evening works on a copy of it."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else None) as name:
        new_ledger(Path(name) / "new")
        yield Path(name)


def _opens(rights: frozenset[Right], folder: Path) -> Opens:
    return lambda seed: Evening(seed, HOUSES[seed % len(HOUSES)], rights, folder)


def _untraced(rights: frozenset[Right], folder: Path, shoes: int, orders: tuple[Order, ...] = ORDERS) -> Counter[str]:
    """Play `shoes` shoes in each order of acts, and count what the cheats gained, by kind. Check that they gained
    nothing without leaving a trace.

    One person alone can gain neither money nor false cards. Such a person can only throw an award away, and leaves a
    name in doing so. In one case only the slips in the drawer show that an award was paid twice: two people retired the
    table, and then the ledger was lost.
    """
    gained: Counter[str] = Counter()
    alone = rights in ALONE.values()
    for order in orders:
        for way, evening in islice(order(0, _opens(rights, folder)), shoes):
            for gain in evening.gains:
                assert gain.trace, (gain, way)
                assert gain.trace != {SLIPS} or {"attendant", "cashier"} <= rights, (gain, way)
                assert not (alone and gain.kind != "a won award rejected"), (gain, way)
                told_by = " (told by the drawer's slips alone)" if gain.trace == {SLIPS} else ""
                gained[f"{gain.kind}{' and paid' if gain.cents else ''}{told_by}"] += 1
    return gained


def _shoes_until_found(mend: Mend, order: Order, seed: int, folder: Path, most: int = MOST) -> int:
    """Remove the rule `mend`, and return how many shoes are played until the cheats find the gain that it prevents.
    Return `most` plus one if they do not find it."""
    with pytest.MonkeyPatch.context() as patch:
        mend.take_out(patch)
        for shoes, (_, evening) in enumerate(islice(order(seed, _opens(mend.rights, folder)), most), 1):
            if any(map(mend.is_missing, evening.gains)):
                return shoes
    return most + 1


@pytest.mark.parametrize("person", ALONE)
def test_one_person_alone_gains_nothing_without_a_trace(person: str, folder: Path) -> None:
    _untraced(ALONE[person], folder, FEW)


@pytest.mark.parametrize("mend", MENDS, ids=lambda mend: mend.says)
def test_without_a_mend_its_gain_is_found_again(mend: Mend, folder: Path) -> None:
    """The simulated cheats find the gain that a rule prevents, if the rule is removed. This shows that the simulator is
    able to find gains."""
    assert _shoes_until_found(mend, at_random, SOON_FOUND[mend.says], folder, 1) == 1


def test_the_same_way_leads_to_the_same_evening(folder: Path) -> None:
    opens = _opens(frozenset({"dealer", "cashier"}), folder)
    ((way, evening),) = islice(at_random(7, opens), 1)
    again = opens(way.seed)
    for name, die in way.acts:
        again.act(name, die)
    again.end()
    assert (again.gains, again.events) == (evening.gains, evening.events)


@pytest.mark.proof
@pytest.mark.parametrize("people", [*ALONE, *TOGETHER])
def test_cheats_at_length(people: str, folder: Path, figure: Callable[[str], None]) -> None:
    gained = _untraced((ALONE | TOGETHER)[people], folder, MANY)
    told = ", ".join(f"{gain} {count} times" for gain, count in sorted(gained.items())) or "nothing"
    figure(
        f"{2 * MANY:,} shoes, half of them guided, with a cheating player and {people}: nothing gained without a trace."
        f" Gained with a trace: {told}"
    )


@pytest.mark.proof
@pytest.mark.parametrize("mend", MENDS, ids=lambda mend: mend.says)
def test_guided_and_random_order_find_a_planted_gain(mend: Mend, folder: Path, figure: Callable[[str], None]) -> None:
    """With each rule removed, both the random and the guided order of acts search for the cheats' gain from the same
    seeds. The test reports how soon each of them finds it."""
    seeds = range(0, HUNTS * 10_000, 10_000)
    random_, steered = ([_shoes_until_found(mend, order, seed, folder) for seed in seeds] for order in ORDERS)
    missed = [sum(shoes > MOST for shoes in each) for each in (random_, steered)]
    figure(
        f"{HUNTS} hunts of at most {MOST} shoes. Shoes until the gain was found, in all: {sum(random_)} at random"
        f" ({missed[0]} in vain), {sum(steered)} guided ({missed[1]} in vain): guided/random"
        f" {sum(steered) / sum(random_):.2f}"
    )
