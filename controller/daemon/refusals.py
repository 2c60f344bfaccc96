"""Which refused acts of people the journal keeps: who asked for what, when, and why it was refused.

There is room for MOST_OF_AN_ACCOUNT refusals of an account on a day (UTC), and for MOST_OF_A_DAY of all accounts. So
nobody fills the disk by being refused. What finds no room is counted with the account's next refusal that does.
"""

from __future__ import annotations

from collections import Counter

from controller.table.facts import ActRefused

MOST_OF_AN_ACCOUNT = 50
MOST_OF_A_DAY = 200


class Refusals:
    """The refusals of a day. A restart begins the day anew."""

    def __init__(self) -> None:
        self._day = ""
        self._kept: Counter[str] = Counter()
        self._more: Counter[str] = Counter()

    def fact(self, via: str, act: str, by: str | None, code: str, day: str) -> ActRefused | None:
        """The fact that the account on this way was refused; None where the day has no room for it."""
        if day != self._day:
            self._day = day
            self._kept.clear()
        if self._kept[via] >= MOST_OF_AN_ACCOUNT or self._kept.total() >= MOST_OF_A_DAY:
            if via in self._more or len(self._more) < MOST_OF_A_DAY:
                self._more[via] += 1
            return None
        self._kept[via] += 1
        return ActRefused(act, by, code, self._more.pop(via, 0))
