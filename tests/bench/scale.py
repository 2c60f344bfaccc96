"""Measures one to two hundred tables on one Mosquitto and one reference pit, first at a fixed pace, then as fast as the
tables can play. It also measures a cell, which is a pit with a replicated ledger."""

from __future__ import annotations

import heapq
import os
import selectors
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import psycopg

from controller.basics.errors import TableError
from controller.pit.reference.ledger import Ledger
from tests.bench import core
from tests.bench.house import House, cell, cpu_ms, house, resident_kib, tree
from tests.bench.light_table import LightTable
from tests.bench.report import Section, spread

PACE_S = 3.0
"""A round a table in so many seconds: ten times what a table deals."""

CELL_PACE_S = 3600 / 700
"""The same in a cell: a table has about 70 rounds an hour."""

_CONNECT_S, _CONNECT_EACH_S = 30.0, 0.1
_DRAIN_S = 60.0
_BARE_COMMITS, _EVENT_BYTES = 200, 700
_KEEP_EVERY_S = 0.25


@dataclass(frozen=True)
class Spell:
    """The measurements of one period: rounds per second, delays in ms, and how much of a core each process used."""

    rounds_s: float
    delays_ms: list[float]
    pit: float
    broker: float
    tables: float
    databases: float

    @property
    def delay(self) -> str:
        """Return the median and the 99th percentile of the measured delays, as text."""
        if not self.delays_ms:
            return "-"
        median, p99 = spread(self.delays_ms)
        return f"{median:.1f} / {p99:.1f}"


@dataclass(frozen=True)
class Step:
    """The measurements with one number of tables."""

    tables: int
    paced: Spell
    flat_out: Spell
    pit_kib: int
    broker_kib: int


class Tables:
    """Many simulated tables (`LightTable`) in this process. They handle their messages when `turn` is called. A round
    has two events, of which `play` are sent at a time.

    Raises TableError `bench` if some table cannot begin to send its events in time.
    """

    def __init__(self, number: int, port: int, play: int = 2) -> None:
        events = core.royal9_events()
        self._plays_a_round = len(events) // play
        self._play = play
        self._selector = selectors.DefaultSelector()
        self._kept_s = 0.0
        self.all: list[LightTable] = []
        deadline_s = time.monotonic() + _CONNECT_S + number * _CONNECT_EACH_S
        for one in range(1, number + 1):
            self.all.append(LightTable(one, port, events))
            self._selector.register(self.all[-1].line, selectors.EVENT_READ, self.all[-1])
            self.turn(0.0)
        while waiting := sum(not table.streams for table in self.all):
            if time.monotonic() > deadline_s:
                raise TableError("bench", f"{waiting} of {number} tables did not stream in time.", "Run it once more.")
            self.turn(0.1)

    def paced(self, house: House, for_s: float, pace_s: float) -> Spell:
        """Let each table play a round every `pace_s` seconds, evenly spread, for `for_s` seconds, and return the
        measurements."""
        return self._spell(house, for_s, self.pace(pace_s))

    def pace(self, pace_s: float) -> Callable[[], float]:
        """Return a function that plays every round that is due and returns how many seconds remain until the next
        round. Each table has a round every `pace_s` seconds."""
        begun_s, every_s = time.monotonic(), pace_s / self._plays_a_round
        due = [(begun_s + every_s * place / len(self.all), place) for place in range(len(self.all))]

        def play_what_is_due() -> float:
            now_s = time.monotonic()
            while due[0][0] <= now_s:
                at_s, place = due[0]
                self.all[place].play(self._play)
                heapq.heapreplace(due, (at_s + every_s, place))
            return due[0][0] - now_s

        return play_what_is_due

    def flat_out(self, house: House, for_s: float) -> Spell:
        """Let each table play its next round as soon as the pit has acknowledged the previous one, for `for_s` seconds,
        and return the measurements."""
        for table in self.all:
            table.when_done = partial(table.play, self._play)
            table.when_done()
        spell = self._spell(house, for_s, lambda: 0.1)
        for table in self.all:
            table.when_done = lambda: None
        return spell

    def unacknowledged(self) -> int:
        """Wait until the pit has acknowledged every event of the tables, but only for a limited time. Returns how many
        events still wait."""
        deadline_s = time.monotonic() + _DRAIN_S
        while (waiting := sum(table.unacknowledged for table in self.all)) and time.monotonic() < deadline_s:
            self.turn(0.1)
        return waiting

    def close(self) -> None:
        """Disconnect all tables from the broker."""
        for table in self.all:
            self._selector.unregister(table.line)
            table.close()
        self._selector.close()

    def _spell(self, house: House, for_s: float, play: Callable[[], float]) -> Spell:
        """Measure the tables for `for_s` seconds. The function `play` plays the rounds that are due, and returns how
        many seconds remain until the next round."""
        for table in self.all:
            table.delays_s.clear()
        begun_s, before = time.monotonic(), _cpu_ms(house)
        while time.monotonic() < begun_s + for_s:
            self.turn(play())
        took_s = time.monotonic() - begun_s
        after = _cpu_ms(house)
        pit, broker, tables, databases = (
            (then - first) / 1000 / took_s for first, then in zip(before, after, strict=True)
        )
        delays_ms = [1000 * delay_s for table in self.all for delay_s in table.delays_s]
        return Spell(len(delays_ms) / self._plays_a_round / took_s, delays_ms, pit, broker, tables, databases)

    def turn(self, wait_s: float) -> None:
        """Handle the messages that arrive at the tables within `wait_s` seconds, and repeat messages that are due."""
        for key, _ in self._selector.select(max(0.0, min(wait_s, _KEEP_EVERY_S))):
            key.data.turn()
        if time.monotonic() - self._kept_s > _KEEP_EVERY_S:
            self._kept_s = time.monotonic()
            for table in self.all:
                table.keep()


def _cpu_ms(house: House) -> tuple[float, ...]:
    """Return the CPU time that pit, broker, tables and databases have used so far, in ms each. All these processes last
    as long as the measurement."""
    of_databases = sum(cpu_ms(pid) for server in house.databases for pid in tree(server))
    return cpu_ms(house.pit), cpu_ms(house.broker), 1000 * time.process_time(), of_databases


@dataclass(frozen=True)
class CellStep:
    """The measurements with one number of tables at a cell (a pit with a replicated ledger). `amiss` lists what was
    wrong at the end."""

    tables: int
    paced: Spell
    pit_kib: int
    broker_kib: int
    amiss: str


def measure_cell(folder: Path, numbers: Sequence[int], spell_s: float, longest_s: float) -> Iterator[Section]:
    """Measure a pit with a replicated ledger at a fixed pace, with each of these numbers of tables in turn. With the
    last number the measurement lasts `longest_s` seconds, with the others `spell_s`."""
    steps: list[CellStep] = []
    rows: list[tuple[str, ...]] = []
    for number in numbers:
        with cell(folder / f"cell-{number}") as one:
            floor = _bare_commits(one)
            try:
                step = _cell_step(one, number, longest_s if number == numbers[-1] else spell_s)
            except (TableError, OSError) as error:
                rows.append((str(number), *["-"] * 10, str(error).replace("\n", " ")))
                break
        steps.append(step)
        rows.append(_cell_row(step))
    yield Section(
        "A cell over PostgreSQL",
        "Light tables at one pit, whose ledger has a synchronous standby on the same machine. Each table has a round"
        f" every {CELL_PACE_S:.2f} s, which is ten times what a table deals: two events half a round apart, and its"
        f" state after each. Every number of tables for {spell_s:g} s, the last for {longest_s:g} s. Delay: from an"
        " event's publishing to the acknowledgement, median / p99 in ms. CPU in % of one core, and of pit, broker and"
        " both databases for a round. At the end every event is to be acknowledged, be in the ledger once, and the"
        " books are to balance.",
        (
            "tables",
            "rounds/s offered",
            "acknowledged",
            "delay ms",
            "CPU: pit",
            "broker",
            "tables",
            "databases",
            "MiB: pit",
            "broker",
            "a round",
            "amiss at the end",
        ),
        rows,
    )
    if len(steps) > 1:
        yield Section(
            "How a cell grows",
            "The slope of a straight line through the steps above, and the last step's CPU a round. The floor is a bare"
            " commit of an event's bytes on the same two databases, median / p99.",
            ("", "a table more", "of a core", "CPU a round"),
            [
                _growth("pit", steps, lambda step: step.pit_kib, lambda step: step.paced.pit),
                _growth("broker", steps, lambda step: step.broker_kib, lambda step: step.paced.broker),
                ("delay", f"{_slope(steps, lambda step: statistics.median(step.paced.delays_ms)):.3f} ms", "", ""),
                ("the floor of a delay", f"{floor} ms", "", ""),
            ],
        )


def _cell_step(house: House, number: int, for_s: float) -> CellStep:
    tables = Tables(number, house.port, play=1)
    paced = tables.paced(house, for_s, CELL_PACE_S)
    memory = resident_kib(house.pit), resident_kib(house.broker)
    waiting = tables.unacknowledged()
    said = sum(table.events for table in tables.all)
    tables.close()
    if not paced.delays_ms:
        raise TableError("bench", f"The pit acknowledged nothing of {number} tables.", "See the pit's log.")
    with closing(Ledger(house.ledger, begin=False)) as ledger:
        findings = ledger.account().findings
        committed = sum(ack.seq for ack in ledger.acks().values())
    amiss = [*findings[:3]]
    if waiting:
        amiss.append(f"{waiting} of {said} events are not acknowledged")
    elif committed != said:
        amiss.append(f"{said} events were said and acknowledged, and {committed} are in the ledger")
    return CellStep(number, paced, *memory, "; ".join(amiss) or f"nothing, of {said} events")


def _cell_row(step: CellStep) -> tuple[str, ...]:
    spell = step.paced
    cpu_ms_a_round = 1000 * (spell.pit + spell.broker + spell.databases) / (spell.rounds_s or 1.0)
    return (
        str(step.tables),
        f"{step.tables / CELL_PACE_S:.1f}",
        f"{spell.rounds_s:.1f}",
        spell.delay,
        *_shares(spell),
        f"{100 * spell.databases:.0f}",
        f"{step.pit_kib / 1024:.1f}",
        f"{step.broker_kib / 1024:.1f}",
        f"{cpu_ms_a_round:.2f} ms",
        step.amiss,
    )


def _bare_commits(house: House) -> str:
    """Return how long the database takes to commit the bytes of one event and nothing else, as text: median / p99 in
    ms."""
    assert isinstance(house.ledger, str)
    took_ms: list[float] = []
    with psycopg.connect(house.ledger, autocommit=True) as database:
        database.execute("CREATE SCHEMA floor; CREATE TABLE floor.event (body BYTEA)")
        for _ in range(_BARE_COMMITS):
            begun_s = time.perf_counter()
            database.execute("INSERT INTO floor.event VALUES (%s)", (os.urandom(_EVENT_BYTES),))
            took_ms.append(1000 * (time.perf_counter() - begun_s))
    median_ms, p99_ms = spread(took_ms)
    return f"{median_ms:.1f} / {p99_ms:.1f}"


def measure(folder: Path, numbers: Sequence[int], spell_s: float, rounds: int) -> Iterator[Section]:
    """Measure a new broker and pit with each of these numbers of tables: for `spell_s` seconds at a fixed pace, then
    for `spell_s` seconds as fast as the tables can play. If there are few tables, the fixed pace lasts until `rounds`
    rounds are played."""
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


_S = TypeVar("_S", Step, CellStep)


def _step(folder: Path, number: int, spell_s: float, rounds: int) -> Step:
    with house(folder) as one:
        tables = Tables(number, one.port)
        paced = tables.paced(one, max(spell_s, rounds * PACE_S / number), PACE_S)
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
    what: str, steps: Sequence[_S], kib: Callable[[_S], float], share: Callable[[_S], float]
) -> tuple[str, ...]:
    last = steps[-1]
    return (
        what,
        f"{_slope(steps, kib):.1f} KiB",
        f"{100 * _slope(steps, share):.2f} %",
        f"{1000 * share(last) / last.paced.rounds_s:.2f} ms",
    )


def _slope(steps: Sequence[_S], figure: Callable[[_S], float]) -> float:
    """Return by how much the value of `figure` grows with each additional table, as the slope of a line through all
    measurements (least squares)."""
    return statistics.linear_regression([step.tables for step in steps], [figure(step) for step in steps]).slope
