"""Measures the pure core of the program, without journal and lamps: how long one fact and one complete round take. It
measures a table of each of the five rule sheets."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from controller.contract.events import Event, Round, WagersLocked
from controller.daemon.config import load
from controller.rules.game.play import Call
from controller.rules.game.seating import Actives
from controller.rules.roads.marks import Roads
from controller.rules.roads.text import rounds_from
from controller.table.acts.entry import Request
from controller.table.acts.rounds import MakeCall
from controller.table.acts.seats import ChooseActives, TakeSeats
from controller.table.facts import Fact
from controller.table.states import Table
from controller.table.step import step
from tests.bench.report import Section
from tests.support.five_games import wagers
from tests.support.tables import TABLES, TableUnderTest

_BY = "bench"
_SHOE_ROUNDS = 80


@dataclass(frozen=True)
class PlannedRound:
    """A planned round at one of the tables in `config/tables`: the requests before its lock, the seats with Royal 9
    wagers, the cards and the calls."""

    table: str
    requests: tuple[Request, ...]
    cards: str
    sensed_seats: tuple[int, ...] = ()


_SIX_CARDS = "2C AS 3D 2D 6H 4C"
_TWO_SEATS = (TakeSeats((2, 5), _BY),)
ROYAL9 = PlannedRound("royal9", (), _SIX_CARDS, sensed_seats=(2, 5))
ROUNDS = (
    ROYAL9,
    PlannedRound("kansas_star", tuple(wagers("2 player 2000, 5 banker 2000")), _SIX_CARDS),
    PlannedRound("sugarhouse", tuple(wagers("2 player 2000, 5 banker 2000, 5 dragon_banker 500")), _SIX_CARDS),
    PlannedRound(
        "baccarat_royal",
        (*_TWO_SEATS, ChooseActives(Actives(2, 5), _BY), *wagers("2 stake 2000, 5 stake 3000")),
        "2S 3H 2D 2C hit 8S reveal hit 4H reveal",
    ),
    PlannedRound("lucky9", (*_TWO_SEATS, *wagers("2 hand 1000, 5 hand 1000")), "2S 3S KD 2C 4C 5D hit TH stand reveal"),
)


def measure(times: int) -> Iterator[Section]:
    """Measure how long a round of each game takes in the pure core. Each round is played `times` times."""
    yield Section(
        "The core",
        "One round from its first wager to its round event, folded by `step` alone: no journal, no lamps. Median of "
        f"{times} rounds; a step is a round's time by the facts it has.",
        ("game", "facts a round", "one step us", "one round us"),
        [_row(dealt, times) for dealt in ROUNDS],
    )

    yield Section(
        "The roads",
        "A round on all five roads, its ask marks among them, as the screen's server draws it; shoes of "
        f"{_SHOE_ROUNDS} rounds.",
        ("", "median us", "p99 us", "aim"),
        [_roads_row(times)],
    )


def _roads_row(times: int) -> tuple[str, ...]:
    chance = random.Random(9)
    taken_us = []
    for _ in range(1 + times // 10):
        roads = Roads()
        for letter in chance.choices("BPT", (46, 45, 9), k=_SHOE_ROUNDS):
            dealt = rounds_from(letter)[0]
            begun = time.perf_counter()
            roads.add(dealt)
            roads.ask("banker"), roads.ask("player")
            taken_us.append(1e6 * (time.perf_counter() - begun))
    median_us, p99_us = statistics.median(taken_us), statistics.quantiles(taken_us, n=100)[98]
    return "a round", f"{median_us:.1f}", f"{p99_us:.1f}", f"50 us: {'met' if median_us < 50 else 'missed'}"


def played(dealt: PlannedRound) -> tuple[Table, list[Fact], list[Event]]:
    """Play the planned round `dealt`. Returns the table before the round, the round's facts, and the events that they
    made."""
    table = TableUnderTest(load(TABLES / f"{dealt.table}.toml").rules).open_shoe("2H 3H 4H")
    before, first = table.table, len(table.entries)
    table.do(*dealt.requests).lock(*dealt.sensed_seats)
    for word in dealt.cards.split():
        table.do(MakeCall(Call(word), _BY)) if word.islower() else table.draw(word)
    entries = table.entries[first:]
    events = [event for entry in entries for event in entry.events]
    assert events[-1].TYPE == "round", f"{dealt.table}: {dealt.cards} is no whole round: {table.face}"
    return before, [entry.fact for entry in entries], events


def numbered(shoe: int, round_: int, template: Sequence[Event]) -> list[Event]:
    """Return copies of a round's events that carry the numbers of another shoe and round."""
    return [replace(event, shoe=shoe, round=round_) for event in template]


def royal9_events() -> list[Event]:
    """Return the two events that a round of Royal 9 with two wagers sends to the pit: the lock, and the round."""
    _, _, events = played(ROYAL9)
    return [event for event in events if isinstance(event, WagersLocked | Round)]


def _row(dealt: PlannedRound, times: int) -> tuple[str, ...]:
    before, facts, _ = played(dealt)
    round_us = statistics.median(_fold_us(before, facts) for _ in range(times))
    return dealt.table, str(len(facts)), f"{round_us / len(facts):.0f}", f"{round_us:.0f}"


def _fold_us(table: Table, facts: Sequence[Fact]) -> float:
    begun = time.perf_counter()
    for fact in facts:
        table, _ = step(table, fact)
    return 1e6 * (time.perf_counter() - begun)
