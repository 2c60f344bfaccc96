"""Chooses in which order the simulated people do their acts: at random, or guided towards acts that bring the cheats
nearer to money.

An order is a `Way`: the seed of the shoe, and the acts of each person with the random choices in them. The same way
always leads to the same evening. For each set of steps towards a gain (`Evening.in_round`), the guide remembers a way
that reached them. A new evening begins with one of these ways. The guide prefers ways that reached many steps, short
ways, and ways that were seldom taken. The guide does not know which sequences of acts pay.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.collusion.evening import Evening

ACTS = 60
_LAST_START = 30
"""A way of more acts leaves too little of the evening to set out from its end."""
_FRESH = 0.25
"""So many of the guided evenings begin with another shoe."""

Act = tuple[str, int]
Opens = Callable[[int], Evening]
"""Opens the evening of a shoe's seed."""


@dataclass(frozen=True, slots=True)
class Way:
    """A record of a simulated evening so far: the seed of its shoe, and the acts that people did, in order."""

    seed: int
    acts: tuple[Act, ...] = ()


def at_random(seed: int, opens: Opens) -> Iterator[tuple[Way, Evening]]:
    """Yield simulated evenings without end, each with a new shoe and a random order of acts."""
    while True:
        yield _played(Way(seed), opens, random.Random(f"{seed} order"))
        seed += 1


def guided(seed: int, opens: Opens) -> Iterator[tuple[Way, Evening]]:
    """Yield simulated evenings without end. Most of them begin with the acts of an earlier evening that brought the
    cheats near to a gain."""
    guide, luck = _Guide(), random.Random(f"{seed} guide")
    while True:
        way = guide.start(luck) if luck.random() >= _FRESH else None
        yield _played(way or Way(seed), opens, luck, guide)
        seed += way is None


@dataclass(slots=True)
class _Kept:
    """A sequence of acts that the guide remembers. `value` is how many steps towards a gain the acts reached, and
    `taken` is how many evenings have begun with them."""

    way: Way
    value: int
    taken: int = 0


@dataclass
class _Guide:
    kept: dict[frozenset[str], _Kept] = field(default_factory=dict)

    def start(self, luck: random.Random) -> Way | None:
        """Choose a remembered sequence of acts with which to begin an evening. Return None if there is none yet."""
        if not (kept := [*self.kept.values()]):
            return None
        (chosen,) = luck.choices(kept, [2**each.value / (1 + each.taken) / (1 + len(each.way.acts)) for each in kept])
        chosen.taken += 1
        return chosen.way

    def note(self, in_round: frozenset[str], way: Way) -> None:
        """Remember that the acts in `way` reached the steps towards a gain in `in_round`. Do nothing if the guide
        already remembers acts for the same steps that are fewer or as many."""
        if not in_round or len(way.acts) > _LAST_START:
            return
        known = self.kept.get(in_round)
        if known is None or len(way.acts) < len(known.way.acts):
            self.kept[in_round] = _Kept(way, len(in_round), 0 if known is None else known.taken)


def _played(way: Way, opens: Opens, luck: random.Random, guide: _Guide | None = None) -> tuple[Way, Evening]:
    """Play an evening that begins with the acts in `way` and goes on with random acts. Return all its acts, and the
    evening."""
    evening = opens(way.seed)
    for name, die in way.acts:
        evening.act(name, die)
    acts = list(way.acts)
    bold = luck.choice((0.3, 0.5, 0.7))
    cheats, honest = evening.cheats, evening.honest
    while len(acts) < ACTS:
        name, die = luck.choice(cheats if luck.random() < bold else honest), luck.getrandbits(32)
        evening.act(name, die)
        acts.append((name, die))
        if guide is not None:
            guide.note(evening.in_round, Way(way.seed, (*acts,)))
    evening.end()
    return Way(way.seed, (*acts,)), evening
