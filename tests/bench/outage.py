"""Measures what an outage of the pit does to many tables: how long it takes until the meters' levels are back, until
wagers are taken again, and until all waiting events are acknowledged."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from controller.pit.reference.ledger import Ledger
from tests.bench.house import cell, cpu_ms, kill
from tests.bench.light_table import LightTable
from tests.bench.report import Section, judged
from tests.bench.scale import CELL_PACE_S, Tables

_BEFORE_S = 5.0
_PATIENCE_S = 150.0
_LOOK_EVERY_S = 0.05
_LEVELS_AIM_S = 3.0


class _Marks:
    """The times at which the tables recovered. For each table, an object of this class stores when the condition `has`
    first held for the table, in seconds after the pit's restart."""

    def __init__(self, tables: list[LightTable], has: Callable[[LightTable], bool]) -> None:
        self._waiting = tables
        self._has = has
        self.at_s: list[float] = []

    def look(self, since_s: float) -> int:
        """Check the condition for every table that has not met it yet. Returns how many tables still do not meet it.
        `since_s` is the time of the pit's restart."""
        still = [table for table in self._waiting if not self._has(table)]
        self.at_s += [time.monotonic() - since_s] * (len(self._waiting) - len(still))
        self._waiting = still
        return len(still)

    def last_s(self) -> float:
        """Return when the last of the tables met the condition, in seconds after the pit's restart; infinity if one
        does not meet it yet."""
        return math.inf if self._waiting else max(self.at_s)


def measure(folder: Path, number: int, outage_s: float) -> Iterator[Section]:
    """Let `number` tables play ten times faster than real ones, without a pit for `outage_s` seconds. Measure how long
    they take to recover once the pit is back."""
    with cell(folder / "outage") as house:
        tables = Tables(number, house.port, play=1)
        play = tables.pace(CELL_PACE_S)
        _go_on(tables, play, _BEFORE_S)
        kill(house.pit)
        before = sum(table.acknowledged for table in tables.all)
        _go_on(tables, play, outage_s)
        backlog = {table: table.events for table in tables.all}
        sent = sum(table.sent for table in tables.all)
        acked = sum(table.acknowledged for table in tables.all)
        back_s = time.monotonic()
        with house.another_pit():
            marks = {
                "levels": _Marks(tables.all, lambda table: table.levels_since(back_s)),
                "bets": _Marks(tables.all, lambda table: table.bets(time.monotonic())),
                "drained": _Marks(tables.all, lambda table: table.acknowledged >= backlog[table]),
            }
            while sum(mark.look(back_s) for mark in marks.values()) and time.monotonic() < back_s + _PATIENCE_S:
                _go_on(tables, play, _LOOK_EVERY_S)
            pit_ms = cpu_ms(house.pit)
            sent = sum(table.sent for table in tables.all) - sent
            acked = sum(table.acknowledged for table in tables.all) - acked
            waiting = tables.unacknowledged()
            said = sum(table.events for table in tables.all)
            tables.close()
        with closing(Ledger(house.ledger, begin=False)) as ledger:
            findings = ledger.account().findings
            committed = sum(ack.seq for ack in ledger.acks().values())
    amiss = [*findings[:3], *([f"{waiting} of {said} events wait"] if waiting or committed != said else [])]
    levels_s, drained_s = marks["levels"].last_s(), marks["drained"].last_s()
    yield Section(
        "A cell without its pit for a while",
        f"{number} light tables on a cell as above, ten times what is dealt. The pit is killed, and started again after"
        f" {outage_s:g} s. Seconds after its process began; median and last of the tables. Bets: the levels are fresh"
        " and the pit keeps up. Drained: all that was said without a pit is acknowledged. Sent: events that went to the"
        " broker until then.",
        ("", "median", "last", "aim"),
        [
            ("levels, s", *_in_s(marks["levels"]), judged(levels_s, _LEVELS_AIM_S, "s")),
            ("bets, s", *_in_s(marks["bets"]), ""),
            ("drained, s", *_in_s(marks["drained"]), ""),
            ("drained, of the time without a pit", "", f"{drained_s / outage_s:.2f}", ""),
            ("events said without a pit", "", str(sum(backlog.values()) - before), ""),
            ("sent for one that is committed", "", f"{sent / max(1, acked):.2f}", ""),
            ("CPU of the pit for one, ms", "", f"{pit_ms / max(1, acked):.2f}", ""),
            ("amiss at the end", "", "; ".join(amiss) or f"nothing, of {said} events", ""),
        ],
    )


def _in_s(marks: _Marks) -> tuple[str, str]:
    median = f"{statistics.median(marks.at_s):.1f}" if marks.at_s else "-"
    return median, f"{marks.last_s():.1f}" if marks.last_s() < math.inf else f"not within {_PATIENCE_S:g}"


def _go_on(tables: Tables, play: Callable[[], float], for_s: float) -> None:
    until_s = time.monotonic() + for_s
    while time.monotonic() < until_s:
        tables.turn(play())
