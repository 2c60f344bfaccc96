"""Checks the pit's ledger: the inspector calculates anew, from the committed events, what every meter must show.

The inspector reads the ledger's file with a database connection of its own. It calculates by itself how wagers feed the
meters, what hits win, and the amount with which a meter begins again, in exact fractions of a cent. If several rounds
win a meter, their levels are assigned in the order in which the rounds' wagers were locked. Each round gets no less
than its table showed when the wagers were locked.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from controller.contract.pit_words import AwardStep
from controller.pit.reference.award import Award
from controller.pit.reference.meters import Terms
from tests.simulation.broken import hold

_Round = tuple[str, int, int]  # table, shoe, round


@dataclass
class _Meter:
    """The amount of a meter and of its reserve, in exact fractions of a cent, and the meter's wins. A win may be
    removed if all its hits were rejected. A voided round does not change a meter."""

    holds: Fraction
    reserve: Fraction = Fraction(0)
    wins: list[_Win] = field(default_factory=list)


@dataclass
class _Win:
    """A win of a meter by one round: the `level` that was won, and the hits that share it. `from_reserve` and
    `from_house` are the amounts with which the meter began again. `added` is what the house pays on top of the level,
    because the round's table had shown a higher one."""

    meter: str
    level: int
    from_reserve: int
    from_house: int
    round: _Round
    added: int = 0
    hits: list[_Due] = field(default_factory=list)


@dataclass
class _Due:
    """What the pit owes for a hit: the amount in cents, and the step that the award has reached. `win` is the win of a
    meter in which the hit has a share; None for a fixed amount."""

    cents: int
    step: str = "pending"
    win: _Win | None = None


@dataclass(eq=False)
class Inspector:
    """Reads the pit's ledger in the file `path`, and checks it against its own calculation. `terms` are the terms of
    the meters."""

    def __init__(self, path: Path, terms: Mapping[str, Terms]) -> None:
        self.committed: Counter[str] = Counter()  # events, by table
        self._db = sqlite3.connect(path, isolation_level=None)
        self._terms = terms
        self._meters = {name: _Meter(Fraction(each.seed_cents)) for name, each in terms.items()}
        self._number = 0
        self._wins: dict[tuple[_Round, str], _Win] = {}
        self._due: dict[str, _Due] = {}  # by hit
        self._shown: dict[tuple[_Round, str], int] = {}  # what a round's table showed of a meter at the lock
        self._locked_ms: dict[_Round, int] = {}  # by the pit's clock; of no round that locked by no word of the pit
        self._last_ms: Counter[str] = Counter()  # of each table's last lock
        self._stepped: Counter[str] = Counter()

    def close(self) -> None:
        """Close the inspector's connection to the ledger's file."""
        self._db.close()

    def read(self, journals: Mapping[str, Sequence[bytes]]) -> None:
        """Read the new events of the ledger, and check that they are the events in the tables' own journals. `journals`
        maps each table's id to the messages in its journal."""
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
        """Check the level of every meter and the state of every award against the inspector's own calculation. All
        money accounts of the ledger together must be zero."""
        levels = dict(self._db.execute("SELECT substr(account, 7), cents FROM fund WHERE account LIKE 'meter:%'"))
        ours = {name: floor(meter.holds) for name, meter in self._meters.items()}
        hold("every meter is its seed and its share of wagers, less what was won", levels == ours, (levels, ours))
        reserves = dict(self._db.execute("SELECT substr(account, 9), cents FROM fund WHERE account LIKE 'reserve:%'"))
        ours = {name: floor(meter.reserve) for name, meter in self._meters.items()}
        hold("every reserve is its share of wagers, less what was begun with", reserves == ours, (reserves, ours))
        (total,) = self._db.execute("SELECT sum(cents) FROM fund").fetchone()
        hold("the pit's accounts together are nothing", total == 0, total)
        awards = {hit: (cents, step) for hit, cents, step in self._db.execute("SELECT hit, cents, step FROM award")}
        due = {hit: (due.cents, due.step) for hit, due in self._due.items()}
        hold("every hit has its award", awards == due, (awards, due))

    def decided(self, award: Award) -> None:
        """Take into account that a person verified, paid or rejected this award."""
        hit = next(hit for (hit,) in self._db.execute("SELECT hit FROM award WHERE id = ?", (award.id,)))
        due = self._due[hit]
        due.step = award.step
        if due.win is not None and award.step == "rejected":
            self._rejected(due, due.win)
        self.check()

    def _rejected(self, due: _Due, win: _Win) -> None:
        """Take a rejected hit out of the win `win`. If other hits are left and none of them is paid, they share the
        whole amount.

        In every other case the rejected hit's amount goes back. The house gets back the amount that it had added to the
        level. The meter gets the rest. Example: a hit of $110 is rejected; the level was $100, and the house had added
        $10. The house gets $10, and the meter $100. If all hits of the meter's last win are rejected, the win is
        undone, and the meter gives back the amount with which it had begun again.
        """
        left = [other for other in win.hits if other.step != "rejected"]
        if left and all(other.step != "paid" for other in left):
            self._share(left, win.level + win.added)
            return
        meter = self._meters[win.meter]
        of_house = min(due.cents, win.added)
        win.added -= of_house
        meter.holds += due.cents - of_house
        while meter.wins and all(hit.step == "rejected" for hit in meter.wins[-1].hits):  # it never was won
            undone = meter.wins.pop()
            meter.holds -= undone.from_reserve + undone.from_house
            meter.reserve += undone.from_reserve

    @staticmethod
    def _share(hits: list[_Due], level: int) -> None:
        """Divide the cents `level` equally among the hits. Cents that are left over go to the first hits. A hit whose
        share changes must be verified anew."""
        each, over = divmod(level, len(hits))
        for place, hit in enumerate(hits):
            part = each + (place < over)
            if part != hit.cents:
                hit.cents, hit.step = part, "pending"

    def step(self, table: str, seq: int) -> AwardStep | None:
        """Return the award step with the number `seq` that the pit took for a table; None if there is no such step."""
        row = self._db.execute(
            "SELECT id, hit, step.table_id, seat, tier, meter, step.cents, step.step, by_whom, at, seq"
            " FROM step JOIN award ON award.number = step.award WHERE step.table_id = ? AND seq = ?",
            (table, seq),
        ).fetchone()
        return None if row is None else AwardStep(*row)

    def last_steps(self, table: str) -> dict[str, str]:
        """Return a dict for a table's awards. It maps the id of each award's hit to the step that the award has
        reached."""
        return dict(self._db.execute("SELECT hit, step FROM award WHERE table_id = ?", (table,)))

    def _take(self, message: dict[str, Any]) -> None:
        round_ = (message["table"], message["shoe"], message["round"])
        match message["type"]:
            case "wagers_locked":
                (royal9,) = message["progressive"]
                cents = royal9["price_cents"] * len(royal9["seats"])
                for name, meter in self._meters.items():
                    meter.holds += cents * self._terms[name].contribution
                    meter.reserve += cents * self._terms[name].reserve
                if cents and message["told"] is not None:
                    self._told(round_, message["told"])
            case "hit" if message["progressive"] is None:
                self._due[message["id"]] = _Due(message["fixed"]["cents"])
            case "hit":
                won = self._win(round_, message["progressive"]["meter"])
                self._due[message["id"]] = due = _Due(0, win=won)
                won.hits.append(due)
                self._share(won.hits, won.level + won.added)
                self._put_in_order(won)

    def _win(self, round_: _Round, name: str) -> _Win:
        if (round_, name) not in self._wins:
            meter, terms = self._meters[name], self._terms[name]
            level, reserve = floor(meter.holds), floor(meter.reserve)
            from_reserve = min(reserve, terms.reseed_at_most_cents)
            from_house = max(0, terms.seed_cents - from_reserve)
            meter.holds += from_reserve + from_house - level
            meter.reserve -= from_reserve
            added = self._house_adds(round_, name, level)
            self._wins[round_, name] = won = _Win(name, level, from_reserve, from_house, round_, added)
            meter.wins.append(won)
        return self._wins[round_, name]

    def _told(self, round_: _Round, told: Mapping[str, Any]) -> None:
        """Note when the round's wagers were locked, and which levels its table showed at that moment. Both are taken
        from `told`, which holds the pit's last signed message to the table before the lock, and the message's age."""
        word, (table, *_) = told["word"], round_
        ms = round(datetime.fromisoformat(word["at"]).timestamp() * 1000) + told["ago_ms"]
        self._last_ms[table] = self._locked_ms[round_] = max(ms, self._last_ms[table])  # a table's locks never go back
        self._shown |= {(round_, name): cents for name, cents in word["meters"].items()}

    def _house_adds(self, round_: _Round, meter: str, level: int) -> int:
        """Return the cents that the house adds to a won level. The house adds the difference if the round's table had
        shown a higher level when the wagers were locked."""
        return max(0, self._shown.get((round_, meter), 0) - level)

    def _put_in_order(self, won: _Win) -> None:
        """Assign the won levels to the rounds anew, in the order in which the rounds' wagers were locked. Rounds that
        were locked before the round of `won` keep their levels. A level also stays with its round if a person has
        decided on one of its hits."""
        if won.round not in self._locked_ms:
            return
        free = [
            win
            for win in self._meters[won.meter].wins
            if self._locked_ms.get(win.round, -1) >= self._locked_ms[won.round]
            and all(hit.step == "pending" for hit in win.hits)
        ]
        in_order = sorted(((win.round, win.hits) for win in free), key=lambda each: self._locked_ms[each[0]])
        for win, (round_, hits) in zip(free, in_order, strict=True):
            if win.round != round_:
                win.round, win.hits, win.added = round_, hits, self._house_adds(round_, win.meter, win.level)
                self._wins[round_, win.meter] = win
                for hit in hits:
                    hit.win = win
                self._share(hits, win.level + win.added)
