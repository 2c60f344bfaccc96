"""Measures `tablectl par` and `tablectl check`: how long it takes to compute the odds of every bet of a game, to
compute them again after cards have left the shoe, and to compute the odds of the slowest bets."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

from msgspec.structs import replace

from controller.people.par.counting import kinds
from controller.people.par.reach import idle_rows, least_meters
from controller.people.par.sheet import Par, Subject, par, subject
from controller.people.par.shoe import Shoe, fresh
from controller.people.par.together import together
from controller.rules.game.baccarat import Tableau
from controller.rules.game.bets import Bet, CardsAre, HandIs, Has, Row, When
from controller.rules.game.cards import DECK, RANKS
from tests.bench.report import Section, judged
from tests.game.test_enumeration import every_hand
from tests.support.tables import TABLES

_TABLES = (
    *("royal9", "kansas_star", "ez_baccarat", "pairs", "punto_2000", "even_draw", "grand_fortune"),
    *("baccarat_royal", "lucky9"),
)
_MOST_MS, _MOST_AGAIN_MS = 1000, 50
_MOST_OF_CHOICES_MS = 1000
"""Where seats choose and their best play is found first: with fresh cards or with others."""


def measure(times: int) -> Iterator[Section]:
    """Measure how long it takes to compute the odds of each table's bets: first from nothing, and then after cards have
    left the shoe. Each is measured `times` times."""
    yield Section(
        "The odds",
        "Every bet of a table counted exactly, Royal 9 at each of its seats: from nothing, which asks the rules for "
        "each sort of deal, and again from a shoe that cards have left. The floor asks the rules for every deal by its "
        f"points, in plain Python, and counts the winners alone: once. CPU time, median of {times}.",
        ("table", "bets", "from nothing ms", "aim", "other cards ms", "aim", "floor ms"),
        [_row(table, times) for table in _TABLES],
    )


def measure_worst() -> Iterator[Section]:
    """Measure the bets whose odds take longest to compute. Measure also the rest of `tablectl check` for each table.
    Each is measured once."""
    house = subject(TABLES / "ez_baccarat.toml")
    cases = {spot: replace(house, bets=(*house.bets, bet)) for spot, bet in _WORST.items()}
    cases |= {table: subject(TABLES / f"{table}.toml") for table in _TABLES}
    yield Section(
        "The odds at their worst, and check",
        "EZ Baccarat with one bet more, each time one that tells many cards apart. "
        "Then each table: what `check` counts beside the odds, the rows that no round reaches and how high each meter "
        "begins; and all bets of a round together. CPU time, once.",
        ("bet or table", "odds ms", "aim", "check's rows ms", "together ms"),
        [_worst(name, of) for name, of in cases.items()],
    )


def _worst(name: str, of: Subject) -> tuple[str, ...]:
    sheets: list[Par] = []
    odds_ms = _ms(lambda: sheets.append(par(of)))
    rows_ms = _ms(lambda: (idle_rows(sheets[0]), least_meters(of.play, of.bets, of.shoe.decks)))
    together_ms = _ms(lambda: together(of))
    return name, f"{odds_ms:.0f}", judged(odds_ms, _MOST_AT_WORST_MS), f"{rows_ms:.0f}", f"{together_ms:.0f}"


def _pays(*whens: When) -> tuple[Row, ...]:
    return tuple(Row(when, pays=Fraction(1)) for when in whens)


_MOST_AT_WORST_MS = 10_000
_FLUSH, _STRAIGHT = CardsAre(straight=True, same_suit=True), CardsAre(straight=True)
_TIMES = [(rank, times) for times in (6, 5, 4, 3, 2) for rank in RANKS]
_WORST = {
    "65 rows on 13 ranks": Bet(
        "ranks", rows=_pays(*(When(all_cards=CardsAre(has=Has((rank,), (times,)))) for rank, times in _TIMES))
    ),
    "poker values of the first four": Bet(
        "poker", rows=_pays(*(When(first_four=are) for are in (_FLUSH, _STRAIGHT, CardsAre(of_one_rank=(3,)))))
    ),
    "mixed looks": Bet(
        "mixed",
        rows=_pays(
            When(all_cards=CardsAre(has=Has(("9",), (4, 5, 6)))),
            When(first_four=CardsAre(of_one_rank=(3,))),
            When(either=HandIs(first_two=(("A",), ("8",)), suited=True)),
            When(color=("red",)),
            When(losing=HandIs(third=("8", "9"))),
        ),
    ),
    "five of one suit, and all red": Bet(
        "suit", rows=_pays(When(all_cards=CardsAre(of_one_suit=(5, 6))), When(color=("red",), winner=("tie",)))
    ),
    "three of one suit and rank": Bet(
        "suited",
        rows=_pays(When(both=HandIs(cards=(3,), same_rank=True, same_suit=True)), When(both=HandIs(cards=(3,)))),
    ),
}


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
    """Return the cards that are left in a shoe after sixty cards have left it. Of some ranks more cards are gone than
    of others."""
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
