"""The pit's books, said again in the simulation's own words: from the committed events, what every meter must show.

The inspector reads the ledger's file with a connection of its own. What the meters take from wagers, give to hits and
begin again with it counts itself, in exact fractions of a cent.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from controller.pit.awards import Award, AwardStep
from controller.pit.meters import Terms
from tests.simulation.broken import hold

_Hand = tuple[str, int, int]  # table, shoe, round


@dataclass
class _Meter:
    """A meter and its reserve, with their parts of a cent; how often it was won."""

    holds: Fraction
    reserve: Fraction = Fraction(0)
    wins: int = 0


@dataclass
class _Win:
    """A level that a hand won: what the meter began again with, and the hits that share it, by event id."""

    meter: str
    level: int
    from_reserve: int
    from_house: int
    win: int
    hits: list[str] = field(default_factory=list)
    rejected: set[str] = field(default_factory=set)

    def share(self, hit: str) -> int:
        """The hit's part: equal ones, and the cents that are left over to the first."""
        each, left = divmod(self.level, len(self.hits))
        return each + (self.hits.index(hit) < left)


class Inspector:
    """Reads the ledger at `path`; the meters run on `terms`."""

    def __init__(self, path: Path, terms: Mapping[str, Terms]) -> None:
        self.committed: Counter[str] = Counter()  # events, by table
        self._db = sqlite3.connect(path, isolation_level=None)
        self._terms = terms
        self._meters = {name: _Meter(Fraction(each.seed_cents)) for name, each in terms.items()}
        self._number = 0
        self._wagers: dict[_Hand, tuple[int, set[int], dict[str, int]]] = {}  # price, seats, the meters' wins then
        self._wins: dict[tuple[_Hand, str], _Win] = {}
        self._due: dict[str, tuple[int | _Win, str]] = {}  # by hit: the amount or the level it shares, and the step
        self._stepped: Counter[str] = Counter()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def read(self, journals: Mapping[str, Sequence[bytes]]) -> None:
        """Read what the ledger has grown by, and check it against the tables' own journals' messages."""
        rows = self._db.execute(
            "SELECT number, table_id, seq, body FROM event WHERE number > ? ORDER BY number", (self._number,)
        ).fetchall()
        for number, table, seq, body in rows:
            journal = journals[table]
            hold("the pit commits in order", seq == self.committed[table] + 1, (table, seq))
            hold("the pit knows nothing the journal does not", seq <= len(journal), (table, seq))
            hold("the pit's ledger is a prefix of the journal", body == journal[seq - 1], (table, seq))
            self.committed[table] = seq
            self._number = number
            self._take(json.loads(body))
        if rows:
            self.check()

    def check(self) -> None:
        """Every meter shows what it must, every award is what it must be, and all accounts together are nothing."""
        levels = dict(self._db.execute("SELECT substr(account, 7), cents FROM fund WHERE account LIKE 'meter:%'"))
        ours = {name: floor(meter.holds) for name, meter in self._meters.items()}
        hold("every meter is its seed and its share of wagers, less what was won", levels == ours, (levels, ours))
        reserves = dict(self._db.execute("SELECT substr(account, 9), cents FROM fund WHERE account LIKE 'reserve:%'"))
        ours = {name: floor(meter.reserve) for name, meter in self._meters.items()}
        hold("every reserve is its share of wagers, less what was begun with", reserves == ours, (reserves, ours))
        (total,) = self._db.execute("SELECT sum(cents) FROM fund").fetchone()
        hold("the pit's accounts together are nothing", total == 0, total)
        awards = {hit: (cents, step) for hit, cents, step in self._db.execute("SELECT hit, cents, step FROM award")}
        due = {hit: (won.share(hit) if isinstance(won, _Win) else won, step) for hit, (won, step) in self._due.items()}
        hold("every hit has its award", awards == due, (awards, due))

    def decided(self, award: Award) -> None:
        """A person decided on an award."""
        hit = next(hit for (hit,) in self._db.execute("SELECT hit FROM award WHERE id = ?", (award.id,)))
        won, _ = self._due[hit]
        self._due[hit] = won, award.step
        if isinstance(won, _Win) and award.step == "rejected":
            meter = self._meters[won.meter]
            meter.holds += won.share(hit)
            won.rejected.add(hit)
            if won.rejected == set(won.hits) and meter.wins == won.win:
                meter.holds -= won.from_reserve + won.from_house
                meter.reserve += won.from_reserve
        self.check()

    def step(self, table: str, seq: int) -> AwardStep | None:
        """The step of that number that the pit took for a table."""
        row = self._db.execute(
            "SELECT id, hit, step.table_id, seat, tier, meter, step.cents, step.step, by_whom, at, seq"
            " FROM step JOIN award ON award.number = step.award WHERE step.table_id = ? AND seq = ?",
            (table, seq),
        ).fetchone()
        return None if row is None else AwardStep(*row)

    def last_steps(self, table: str) -> dict[str, str]:
        """How far every award of a table has come, by its hit."""
        return dict(self._db.execute("SELECT hit, step FROM award WHERE table_id = ?", (table,)))

    def _take(self, message: dict[str, Any]) -> None:
        hand = (message["table"], message["shoe"], message["round"])
        match message["type"]:
            case "wagers_locked":
                price, seats = message["royal9_price_cents"], message["royal9_seats"]
                self._wagers[hand] = price, set(seats), {name: meter.wins for name, meter in self._meters.items()}
                self._give(hand, price * len(seats))
            case "void" if hand in self._wagers:
                price, seats, _ = self._wagers[hand]
                self._give(hand, -price * len(seats))
                seats.clear()
            case "hit" if message["progressive"] is None:
                self._due[message["id"]] = message["fixed"]["cents"], "pending"
            case "hit":
                won = self._win(hand, message["progressive"]["meter"])
                won.hits.append(message["id"])
                self._due[message["id"]] = won, "pending"

    def _give(self, hand: _Hand, cents: int) -> None:
        """The hand's wagers give so much, by every meter's terms; what was won since bears no voids, the house does."""
        for name, wins in self._wagers[hand][2].items():
            meter, terms = self._meters[name], self._terms[name]
            if meter.wins == wins:
                meter.holds += cents * terms.contribution
                meter.reserve += cents * terms.reserve

    def _win(self, hand: _Hand, name: str) -> _Win:
        if (hand, name) not in self._wins:
            meter, terms = self._meters[name], self._terms[name]
            level, reserve = floor(meter.holds), floor(meter.reserve)
            meter.wins += 1
            from_reserve = min(reserve, terms.reseed_at_most_cents)
            from_house = max(0, terms.seed_cents - from_reserve)
            meter.holds += from_reserve + from_house - level
            meter.reserve -= from_reserve
            self._wins[hand, name] = _Win(name, level, from_reserve, from_house, meter.wins)
        return self._wins[hand, name]
