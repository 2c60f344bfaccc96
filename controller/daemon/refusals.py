"""Decides which refused acts the journal records: who asked for what, when, and why the table refused.

On one day (UTC) the journal records at most MOST_OF_AN_ACCOUNT refusals of one account, and MOST_OF_A_DAY of all
accounts. So nobody can fill the disk by being refused. Refusals beyond that are counted, and the count is recorded with
the account's next refusal that the journal keeps.
"""

from __future__ import annotations

from collections import Counter

from controller.table.facts import ActRefused

MOST_OF_AN_ACCOUNT = 50
MOST_OF_A_DAY = 200


class Refusals:
    """Counts of how many refusals the journal has recorded today, for each account. A restart of the program begins the
    counts anew."""

    def __init__(self) -> None:
        self._day = ""
        self._kept: Counter[str] = Counter()
        self._more: Counter[str] = Counter()

    def fact(self, via: str, act: str, by: str | None, code: str, day: str) -> ActRefused | None:
        """Return the fact that records a refused act of the account `via` in the journal. Return None if the journal
        already holds as many refusals of `day` as it may."""
        if day != self._day:
            self._day = day
            self._kept.clear()
        if self._kept[via] >= MOST_OF_AN_ACCOUNT or self._kept.total() >= MOST_OF_A_DAY:
            if via in self._more or len(self._more) < MOST_OF_A_DAY:
                self._more[via] += 1
            return None
        self._kept[via] += 1
        return ActRefused(act, by, code, self._more.pop(via, 0))
