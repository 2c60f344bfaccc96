"""From one table to two hundred on one Mosquitto and one reference pit, first at a pace, then as fast as they go."""

from __future__ import annotations

import heapq
import selectors
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import core
from tests.bench.house import House, cell, cpu_ms, house, resident_kib, tree
from tests.bench.light_table import LightTable
from tests.bench.report import Section, spread

PACE_S = 3.0
"""A round a table in so many seconds: ten times what a table deals."""

_CONNECT_S, _CONNECT_EACH_S = 30.0, 0.1
_KEEP_EVERY_S = 0.25


@dataclass(frozen=True)
class Spell:
    """What was seen over a spell: rounds a second, delays in ms, and how much of a core each process took."""

    rounds_s: float
    delays_ms: list[float]
    pit: float
    broker: float
    tables: float
    databases: float

    @property
    def delay(self) -> str:
        """Median and p99."""
        if not self.delays_ms:
            return "-"
        median, p99 = spread(self.delays_ms)
        return f"{median:.1f} / {p99:.1f}"


@dataclass(frozen=True)
class Step:
    """What was seen with so many tables."""

    tables: int
    paced: Spell
    flat_out: Spell
    pit_kib: int
    broker_kib: int


class Tables:
    """Light tables in this process, turned by hand."""

    def __init__(self, number: int, port: int) -> None:
        events = core.royal9_events()
        self._all = [LightTable(one, port, events) for one in range(1, number + 1)]
        self._selector = selectors.DefaultSelector()
        for table in self._all:
            self._selector.register(table.socket, selectors.EVENT_READ, table)
        self._kept_s = 0.0
        deadline_s = time.monotonic() + _CONNECT_S + number * _CONNECT_EACH_S
        while not all(table.streams for table in self._all):
            assert time.monotonic() < deadline_s, "the tables cannot reach the broker"
            self._turn(0.1)

    def paced(self, house: House, for_s: float) -> Spell:
        """Each table a round every `PACE_S`, evenly spread."""
        begun_s = time.monotonic()
        due = [(begun_s + PACE_S * place / len(self._all), place) for place in range(len(self._all))]

        def play_what_is_due() -> float:
            while due[0][0] <= time.monotonic():
                at_s, place = due[0]
                self._all[place].play_round()
                heapq.heapreplace(due, (at_s + PACE_S, place))
            return due[0][0] - time.monotonic()

        return self._spell(house, for_s, play_what_is_due)

    def flat_out(self, house: House, for_s: float) -> Spell:
        """Each table its next round as soon as the pit has acknowledged the one before."""
        for table in self._all:
            table.when_done = table.play_round
            table.play_round()
        spell = self._spell(house, for_s, lambda: 0.1)
        for table in self._all:
            table.when_done = lambda: None
        return spell

    def close(self) -> None:
        """All leave."""
        for table in self._all:
            self._selector.unregister(table.socket)
            table.close()
        self._selector.close()

    def _spell(self, house: House, for_s: float, play: Callable[[], float]) -> Spell:
        """`play` plays what is due, and says how long nothing is."""
        for table in self._all:
            table.delays_s.clear()
        begun_s, before = time.monotonic(), _cpu_ms(house)
        while time.monotonic() < begun_s + for_s:
            self._turn(play())
        took_s = time.monotonic() - begun_s
        after = _cpu_ms(house)
        pit, broker, tables, databases = (
            (then - first) / 1000 / took_s for first, then in zip(before, after, strict=True)
        )
        delays_ms = [1000 * delay_s for table in self._all for delay_s in table.delays_s]
        return Spell(len(delays_ms) / took_s, delays_ms, pit, broker, tables, databases)

    def _turn(self, wait_s: float) -> None:
        for key, _ in self._selector.select(max(0.0, min(wait_s, _KEEP_EVERY_S))):
            key.data.turn()
        if time.monotonic() - self._kept_s > _KEEP_EVERY_S:
            self._kept_s = time.monotonic()
            for table in self._all:
                table.keep()


def _cpu_ms(house: House) -> tuple[float, ...]:
    """Of pit, broker, tables and databases, whose processes last as long as a spell."""
    of_databases = sum(cpu_ms(pid) for server in house.databases for pid in tree(server))
    return cpu_ms(house.pit), cpu_ms(house.broker), 1000 * time.process_time(), of_databases


def measure_cell(folder: Path, numbers: Sequence[int], spell_s: float, longest_s: float) -> Iterator[Section]:
    """So many tables on one pit with a replicated ledger, at a pace; the last number of tables for `longest_s`."""
    rows: list[tuple[str, ...]] = []
    for number in numbers:
        with cell(folder / f"cell-{number}") as one:
            tables = Tables(number, one.port)
            spell = tables.paced(one, longest_s if number == numbers[-1] else spell_s)
            memory = resident_kib(one.pit), resident_kib(one.broker)
            tables.close()
        shares = (*_shares(spell), f"{100 * spell.databases:.0f}")
        cpu_ms_a_round = 1000 * (spell.pit + spell.broker + spell.databases) / (spell.rounds_s or 1.0)
        held = (f"{kib / 1024:.1f}" for kib in memory)
        rows.append((str(number), f"{spell.rounds_s:.1f}", spell.delay, *shares, *held, f"{cpu_ms_a_round:.2f} ms"))
    yield Section(
        "A cell over PostgreSQL",
        "Light tables at one pit, whose ledger has a synchronous standby on the same machine. A round every"
        f" {PACE_S:g} s at each; the last row for {longest_s:g} s. Delay: median / p99 in ms. CPU in % of one core; the"
        " last column is that of pit, broker and both databases for each round.",
        (
            "tables",
            "rounds/s",
            "delay ms",
            "CPU: pit",
            "broker",
            "tables",
            "databases",
            "MiB: pit",
            "broker",
            "a round",
        ),
        rows,
    )


def measure(folder: Path, numbers: Sequence[int], spell_s: float, rounds: int) -> Iterator[Section]:
    """So many tables, each number with a fresh broker and ledger, at a pace and flat out for so long each; at a pace
    until there are so many `rounds`, which a few tables take their time for."""
    steps = [_step(folder / f"scale-{number}", number, spell_s, rounds) for number in numbers]
    yield Section(
        "Scale",
        f"Light tables in one process, the real wire. Paced: a round every {PACE_S:g} s at each, ten times what is "
        "dealt. Flat out: each its next round at the pit's acknowledgement of the last. Delay: from a round's end to "
        "the acknowledgement, median / p99 in ms. CPU in % of one core; the tables' own shows what the machine had "
        "left for the others.",
        (
            "tables",
            "paced rounds",
            "a second",
            "delay ms",
            "CPU: pit",
            "broker",
            "tables",
            "MiB: pit",
            "broker",
            "flat out rounds/s",
            "delay ms",
            "CPU: pit",
            "broker",
            "tables",
        ),
        [_row(step) for step in steps],
    )
    yield Section(
        "How it grows",
        "The slope of a straight line through the steps above, paced; and the last step's CPU a round.",
        ("", "a table more", "of a core", "CPU a round"),
        [
            _growth("pit", steps, lambda step: step.pit_kib, lambda step: step.paced.pit),
            _growth("broker", steps, lambda step: step.broker_kib, lambda step: step.paced.broker),
            ("delay", f"{_slope(steps, lambda step: statistics.median(step.paced.delays_ms)):.3f} ms", "", ""),
        ],
    )


def _step(folder: Path, number: int, spell_s: float, rounds: int) -> Step:
    with house(folder) as one:
        tables = Tables(number, one.port)
        paced = tables.paced(one, max(spell_s, rounds * PACE_S / number))
        pit_kib, broker_kib = resident_kib(one.pit), resident_kib(one.broker)
        flat_out = tables.flat_out(one, spell_s)
        tables.close()
    return Step(number, paced, flat_out, pit_kib, broker_kib)


def _row(step: Step) -> tuple[str, ...]:
    return (
        str(step.tables),
        str(len(step.paced.delays_ms)),
        f"{step.paced.rounds_s:.1f}",
        step.paced.delay,
        *_shares(step.paced),
        f"{step.pit_kib / 1024:.1f}",
        f"{step.broker_kib / 1024:.1f}",
        f"{step.flat_out.rounds_s:.0f}",
        step.flat_out.delay,
        *_shares(step.flat_out),
    )


def _shares(spell: Spell) -> tuple[str, ...]:
    return tuple(f"{100 * share:.0f}" for share in (spell.pit, spell.broker, spell.tables))


def _growth(
    what: str, steps: Sequence[Step], kib: Callable[[Step], float], share: Callable[[Step], float]
) -> tuple[str, ...]:
    last = steps[-1]
    return (
        what,
        f"{_slope(steps, kib):.1f} KiB",
        f"{100 * _slope(steps, share):.2f} %",
        f"{1000 * share(last) / last.paced.rounds_s:.2f} ms",
    )


def _slope(steps: Sequence[Step], figure: Callable[[Step], float]) -> float:
    """How much more of it a table more brings, by least squares."""
    return statistics.linear_regression([step.tables for step in steps], [figure(step) for step in steps]).slope
