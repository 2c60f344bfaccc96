"""Plays the simulation with one seed, repeats a recorded run, and shortens a failing run to few actions."""

from __future__ import annotations

import logging
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.simulation.broken import Broken
from tests.simulation.people import People
from tests.simulation.world import Action, Happening, World

STEPS = 300


@dataclass(frozen=True)
class Failure:
    """A promise that did not hold in a run of the simulation, and the actions that led to it."""

    seed: int
    invariant: str
    detail: str
    actions: tuple[Action, ...]

    def __str__(self) -> str:
        steps = "\n".join(f"{number:4}  {action}" for number, action in enumerate(self.actions, 1))
        detail = self.detail if len(self.detail) < 3000 else f"{self.detail[:3000]} ..."
        return (
            f"seed {self.seed}: {self.invariant}\n{detail}\n"
            f"after {len(self.actions)} actions, and then everything mended:\n{steps}\n"
            f"repeat it: python -m tests.simulation --seed {self.seed}"
        )


@dataclass
class Record:
    """The record of a run of the simulation: the actions, and how often each kind of action took effect."""

    actions: list[Action] = field(default_factory=list)
    happened: Counter[Happening] = field(default_factory=Counter)


def play_seed(seed: int, steps: int = STEPS, record: Record | None = None) -> Failure | None:
    """Play one seed of the simulation, and return its first failure, or None. The actions and their effects are added
    to `record`."""
    actions: list[Action] = []

    def perform(world: World) -> None:
        people = People(seed)
        for _ in range(steps):
            actions.append(people.next(world))
            world.do(actions[-1])
        world.settle()
        if record is not None:
            record.actions += actions
            record.happened += world.happened

    return _failure(seed, perform, actions)


def play_again(seed: int, actions: Sequence[Action]) -> Failure | None:
    """Perform these recorded actions in the simulated house that the seed makes. Return the first failure, or None."""

    def perform(world: World) -> None:
        for action in actions:
            world.do(action)
        world.settle()

    return _failure(seed, perform, actions)


def smallest(failure: Failure) -> Failure:
    """Return a failure that breaks the same promise with as few actions as can be found. Parts of the actions are left
    out one after another. A part stays out if the failure still comes without it."""
    chunk = len(failure.actions) // 2
    while chunk:
        start = 0
        while start < len(failure.actions):
            fewer = play_again(failure.seed, failure.actions[:start] + failure.actions[start + chunk :])
            if fewer is not None and fewer.invariant == failure.invariant:
                failure = fewer
            else:
                start += chunk
        chunk //= 2
    return failure


def _failure(seed: int, perform: Callable[[World], None], actions: Sequence[Action]) -> Failure | None:
    logging.disable(logging.CRITICAL)  # thousands of mishaps, each logged as it should be
    try:
        with World(seed) as world:
            perform(world)
    except Broken as broken:
        return Failure(seed, broken.invariant, str(broken), tuple(actions))
    except Exception as error:  # noqa: BLE001  # nothing may raise anything else
        return Failure(seed, f"nothing raises {type(error).__name__}", traceback.format_exc(), tuple(actions))
    finally:
        logging.disable(logging.NOTSET)
    return None
