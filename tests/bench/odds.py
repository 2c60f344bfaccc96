"""`tablectl par`: how long it takes to count every bet of a game, and again with other cards in the shoe."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator

from controller.people.par.counting import kinds
from controller.people.par.sheet import Subject, par, subject
from controller.people.par.shoe import Shoe, fresh
from controller.rules.game.baccarat import Tableau
from controller.rules.game.cards import DECK
from tests.bench.report import Section, judged
from tests.game.test_enumeration import every_hand
from tests.support.tables import TABLES

_TABLES = (
    *("royal9", "kansas_star", "ez_baccarat", "pairs", "punto_2000", "even_draw", "grand_fortune"),
    *("baccarat_royal", "lucky9"),
)
_MOST_MS, _MOST_AGAIN_MS = 1000, 50
_MOST_OF_CHOICES_MS = 2000
"""Where seats choose and their best play is found first: with fresh cards or with others."""


def measure(times: int) -> Iterator[Section]:
    """Measure each table so many times: counted from nothing, and again once cards have left the shoe."""
    yield Section(
        "The odds",
        "Every bet of a table counted exactly, Royal 9 at each of its seats: from nothing, which asks the rules for "
        "each sort of deal, and again from a shoe that cards have left. The floor asks the rules for every deal by its "
        f"points, in plain Python, and counts the winners alone: once. CPU time, median of {times}.",
        ("table", "bets", "from nothing ms", "aim", "other cards ms", "aim", "floor ms"),
        [_row(table, times) for table in _TABLES],
    )


def _row(table: str, times: int) -> tuple[str, ...]:
    of = subject(TABLES / f"{table}.toml")
    bets, tableau = len(par(of).bets), of.play.tableau
    first_ms = statistics.median(_ms(lambda: _from_nothing(of)) for _ in range(times))
    again_ms = statistics.median(_ms(lambda: par(of, _later(of))) for _ in range(times))
    return (
        table,
        str(bets),
        f"{first_ms:.0f}",
        judged(first_ms, _MOST_MS if tableau else _MOST_OF_CHOICES_MS),
        f"{again_ms:.0f}",
        judged(again_ms, _MOST_AGAIN_MS if tableau else _MOST_OF_CHOICES_MS),
        f"{_ms(lambda: _floor(tableau)):.0f}" if tableau else "-",
    )


def _from_nothing(of: Subject) -> None:
    kinds.cache_clear()
    par(of)


def _later(of: Subject) -> Shoe:
    """The shoe after sixty cards have left it, more of some ranks than of others."""
    left = dict(fresh(of.shoe.decks))
    for card in DECK[:30]:
        left[card] -= 2
    return left


def _floor(tableau: Tableau) -> None:
    ways: Counter[object] = Counter()
    for done, many in every_hand(tableau):
        ways[done.outcome] += many


def _ms(do: Callable[[], object]) -> float:
    begun = time.process_time()
    do()
    return 1000 * (time.process_time() - begun)
