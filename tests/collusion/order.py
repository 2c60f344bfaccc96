"""In which order people do their acts: at random, or steered to what brings the cheats nearer to money.

An order is a `Way`: the shoe's seed, and who did what by which die. The same way leads to the same evening. A guide
keeps the ways by what they gave the cheats in hand (`Evening.in_round`). It sets out again from those with the most,
from short ones and from those that were seldom taken. The guide knows no sequence that pays.
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
    """What was done in an evening so far."""

    seed: int
    acts: tuple[Act, ...] = ()


def at_random(seed: int, opens: Opens) -> Iterator[tuple[Way, Evening]]:
    """Evenings of one shoe after the other, with a random order of acts in each."""
    while True:
        yield _played(Way(seed), opens, random.Random(f"{seed} order"))
        seed += 1


def guided(seed: int, opens: Opens) -> Iterator[tuple[Way, Evening]]:
    """Evenings that set out from the best of the evenings before."""
    guide, luck = _Guide(), random.Random(f"{seed} guide")
    while True:
        way = guide.start(luck) if luck.random() >= _FRESH else None
        yield _played(way or Way(seed), opens, luck, guide)
        seed += way is None


@dataclass(slots=True)
class _Kept:
    """A way, how near it brought the cheats to a gain, and how often a guide set out from it."""

    way: Way
    value: int
    taken: int = 0


@dataclass
class _Guide:
    kept: dict[frozenset[str], _Kept] = field(default_factory=dict)

    def start(self, luck: random.Random) -> Way | None:
        """A way to set out from; None while there is none."""
        if not (kept := [*self.kept.values()]):
            return None
        (chosen,) = luck.choices(kept, [2**each.value / (1 + each.taken) / (1 + len(each.way.acts)) for each in kept])
        chosen.taken += 1
        return chosen.way

    def note(self, in_round: frozenset[str], way: Way) -> None:
        """Keep the way, where no shorter one gave as much."""
        if not in_round or len(way.acts) > _LAST_START:
            return
        known = self.kept.get(in_round)
        if known is None or len(way.acts) < len(known.way.acts):
            self.kept[in_round] = _Kept(way, len(in_round), 0 if known is None else known.taken)


def _played(way: Way, opens: Opens, luck: random.Random, guide: _Guide | None = None) -> tuple[Way, Evening]:
    """The evening that follows this way, and goes on at random from the way's end."""
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
