"""The progressive levels as the pit says them, and whether they are fresh enough to bet on. Pure: time comes in.

The pit says them every two seconds, each time with a higher number. The broker keeps the last word and hands it to
whoever connects, whether or not the pit still lives: so the first word on a connection tells amounts and no more.
"""

from __future__ import annotations

from collections.abc import Collection

from controller.contract.bounds import MOST_AHEAD_MS, MOST_CENTS, MOST_LEAP_MS
from controller.contract.envelope import Stamp
from controller.contract.pit_words import MetersWord, moment_ms
from controller.delivery.pit_trust import latest_ms, leaps

_ONE_STEP_WAGERS = 1000
"""So many wagers no two words on the meters lie apart: it takes more than a hundred full tables a second."""


class Levels:
    """What is known of the levels. `meters` are those that a wager here can win; without any, no level is stale.

    `wager_cents` is the highest price of a wager that a meter grows by, in part.
    """

    def __init__(self, meters: Collection[str], stale_after_s: float, wager_cents: int = 0) -> None:
        self._meters = frozenset(meters)
        self._stale_after_s = stale_after_s
        self._one_step_cents = _ONE_STEP_WAGERS * wager_cents
        self._seq = 0
        self._heard_on_connection = False
        self._fresh_at_s: float | None = None
        self._peaks: dict[str, list[tuple[int, int]]] = {}  # of each meter: what it showed at most since the start (0),
        # and since an event of this table that hit it; so they fall, and a hit that has none has that of the one before
        self.cents: dict[str, int] = {}

    @property
    def expected(self) -> bool:
        """Whether the game at this table has meters, which a pit says again and again."""
        return bool(self._meters)

    def disconnected(self) -> None:
        """The connection is gone: what comes first on the next one may be an old word."""
        self._heard_on_connection = False

    def heard(self, said: MetersWord, now_s: float, now: Stamp) -> str | None:
        """Take the pit's word; why it is refused, None when it is taken."""
        if (why := leaps(said, now)) is not None:
            return why
        at_ms = moment_ms(said.at)
        assert at_ms is not None, "a word that was read has a moment"
        if now.synchronised and at_ms < now.at_ms - MOST_AHEAD_MS:
            return f"its time {said.at} is more than a day ago"
        if self._seq > latest_ms(now) + MOST_LEAP_MS:
            self._seq = 0  # the clock has been set since: it was no number of this time
        if said.seq < self._seq:
            return f"it is older ({said.seq}) than one already seen ({self._seq})"
        if said.seq == self._seq:
            self._heard_on_connection = True
            return None
        self._seq, self.cents = said.seq, dict(said.meters)
        for meter, cents in said.meters.items():
            peaks = self._peaks.setdefault(meter, [(0, cents)])
            for place in range(len(peaks) - 1, -1, -1):
                if peaks[place][1] >= cents:
                    break
                peaks[place] = peaks[place][0], cents
        if self._heard_on_connection:
            self._fresh_at_s = now_s
        self._heard_on_connection = True
        return None

    def hit(self, meter: str, seq: int) -> None:
        """This table hit the meter, by its event of this number: what the meter showed before bounds no award of it."""
        cents = self.cents.get(meter, 0)
        peaks = self._peaks.setdefault(meter, [(0, cents)])
        if peaks[-1][1] > cents:
            peaks.append((seq, cents))

    def most_cents(self, meter: str, shown_cents: int | None, seq: int) -> int:
        """The most that an award of a hit, the event of this number, can be: what its meter has shown since the hit, or
        since the start where that was later, and one step more.

        The meter is locked when the pit hears of the hit. Until then it grows by other tables' wagers, and between two
        words on it by so much at most. `shown_cents` is what it was shown at for the hit; None where nobody knows.
        """
        if shown_cents is None:
            return MOST_CENTS
        since = [cents for hit, cents in self._peaks.get(meter, ()) if hit <= seq]
        return max([shown_cents, *since[-1:]]) + self._one_step_cents

    def fresh(self, now_s: float) -> bool:
        """Whether every level that can be won here was said lately."""
        if not self._meters:
            return True
        lately = self._fresh_at_s is not None and now_s - self._fresh_at_s <= self._stale_after_s
        return lately and self._meters <= self.cents.keys()
