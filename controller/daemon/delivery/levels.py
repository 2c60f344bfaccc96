"""Keeps the levels (amounts) of the progressive meters as the pit's messages tell them, and says whether the levels are
fresh enough to take bets. The code is pure: the caller passes the time in.

The pit sends the levels every two seconds, each time with a higher number. The broker retains the last message and
hands it to every new connection, whether or not the pit still runs. So the first message on a connection tells the
amounts, but does not prove that a pit runs.

A message that bears an old time does not prove that a pit runs either, because somebody may send again what the pit
once signed. Only a table whose own clock is set can tell that a message is old. A table that knows only the pit's
clock, from an acknowledgement, cannot tell: if the pit's clock was set back, new messages look old although the pit is
well.
"""

from __future__ import annotations

from collections.abc import Collection

from controller.contract.bounds import MOST_AHEAD_MS, MOST_CENTS, MOST_LEAP_MS
from controller.contract.envelope import Stamp
from controller.contract.face.status import MetersRefused
from controller.contract.pit_words import MetersWord, moment_ms
from controller.daemon.delivery.pit_trust import latest_ms, leaps
from controller.table.facts import ToldMeters

_ONE_STEP_WAGERS = 1000
"""Fewer wagers than this come between two messages of the meters, even from a hundred full tables a second."""


class Levels:
    """The levels (amounts) of the progressive meters, as far as the pit's messages have told the table.

    `refused` is the pit's last message on the meters with the reason why it was refused; None if that message was
    taken. `meters` are the meters that a wager at this table can win. If there are no such meters, no level is ever
    stale. `wager_cents` is the highest price of a wager that feeds a meter.
    """

    def __init__(self, meters: Collection[str], stale_after_s: float, wager_cents: int = 0) -> None:
        self._meters = frozenset(meters)
        self._stale_after_s = stale_after_s
        self._one_step_cents = _ONE_STEP_WAGERS * wager_cents
        self._seq = 0
        self._heard_on_connection = False
        self._fresh_at_s: float | None = None
        # By meter, entries of an event and of the most cents that the meter showed since. Event 0 is the start, every
        # other event a hit of this table. Example: [(0, 900), (7, 250)]. The cents fall from entry to entry. For a hit
        # without an entry, the entry before holds.
        self._peaks: dict[str, list[tuple[int, int]]] = {}
        self._said: tuple[MetersWord, str, float] | None = None  # the last word taken, its signature, when it came
        self.cents: dict[str, int] = {}
        self.refused: tuple[MetersWord, str] | None = None

    @property
    def expected(self) -> bool:
        """Tell whether a wager at this table can win a meter, so that the pit should keep sending the levels of the
        meters."""
        return bool(self._meters)

    @property
    def last_at(self) -> str:
        """Return, as text, the time of the last believed message on the meters. The time is computed from the number of
        that message, which is a time in milliseconds since 1970."""
        return Stamp(min(self._seq, latest_ms(Stamp(0, synchronised=False))), synchronised=True).text()

    def of_this_game(self) -> dict[str, int]:
        """Return the levels, in cents, of only those meters that a wager at this table can win. The pit's messages also
        hold the meters of other games."""
        return self._of_this_game(self.cents)

    def refusal(self) -> MetersRefused | None:
        """Return the pit's last message on the meters if it was refused, for people to read: its levels for this game's
        meters and the reason for the refusal. Return None if it was not refused."""
        if self.refused is None:
            return None
        said, why = self.refused
        return MetersRefused(said.seq, said.at, self._of_this_game(said.meters), why)

    def _of_this_game(self, cents: dict[str, int]) -> dict[str, int]:
        return {meter: each for meter, each in cents.items() if meter in self._meters}

    def disconnected(self) -> None:
        """Note that the connection to the broker is gone. The first message on the next connection may be an old
        message that the broker retained."""
        self._heard_on_connection = False

    def heard(
        self, word: MetersWord, now_s: float, now: Stamp, signature: str = "", by_pit: Stamp | None = None
    ) -> str | None:
        """Judge a message of the pit on the meters. If it is sound, take over its levels and return None. Otherwise
        return the reason why it is refused.

        `now` is the time by the table's clock. `by_pit` is the time by the pit's clock, if only that clock is known.
        `by_pit` serves only to refuse a message that is more than a day old or more than a day ahead.
        """
        before_seq = self._seq
        why = self._judge(word, now_s, now, by_pit or now)
        if why is None and (self._said is None or self._seq != before_seq):
            self._said = word, signature, now_s
        self.refused = None if why is None else (word, why)
        return why

    def _judge(self, word: MetersWord, now_s: float, now: Stamp, today: Stamp) -> str | None:
        if (why := leaps(word, today)) is not None:
            return why
        at_ms = moment_ms(word.at)
        assert at_ms is not None, "a word that was read has a moment"
        if today.synchronised and at_ms < today.at_ms - MOST_AHEAD_MS:
            return f"its time {word.at} is more than a day ago"
        if self._seq > latest_ms(today) + MOST_LEAP_MS:
            self._seq = 0  # the clock was wrong when that number came, and has been set since
        if word.seq < self._seq:
            return f"its number {word.seq} is below the number {self._seq}, which came before"
        if word.seq == self._seq:
            self._heard_on_connection = True
            return None
        self._seq, self.cents = word.seq, dict(word.meters)
        for meter, cents in word.meters.items():
            peaks = self._peaks.setdefault(meter, [(0, cents)])
            for place in range(len(peaks) - 1, -1, -1):
                if peaks[place][1] >= cents:
                    break
                peaks[place] = peaks[place][0], cents
        if self._heard_on_connection and self.said_lately(word, now):
            self._fresh_at_s = now_s
        self._heard_on_connection = True
        return None

    def told(self, now_s: float) -> ToldMeters | None:
        """Return the facts about the pit's message that brought the present levels: its number, time, win and
        signature, and its age in milliseconds. Return None before the first message."""
        if self._said is None:
            return None
        word, signature, came_s = self._said
        return ToldMeters(word.seq, word.at, word.win, signature, int(1000 * (now_s - came_s)))

    def said_lately(self, word: MetersWord, now: Stamp) -> bool:
        """Tell whether the time that the message bears lies no more than `stale_after_s` seconds back. `now` is the
        time by the table's clock.

        If the table's clock is not set, every message counts as recent, and only its number can show that a message is
        old.
        """
        at_ms = moment_ms(word.at)
        assert at_ms is not None, "a word that was read has a moment"
        return not now.synchronised or at_ms >= now.at_ms - 1000 * self._stale_after_s

    def hit(self, meter: str, seq: int) -> None:
        """Note that a hit of this table won the meter. `seq` is the number of the hit's event. The highest possible
        award for this hit is later computed without the levels that the meter showed before the hit."""
        cents = self.cents.get(meter, 0)
        peaks = self._peaks.setdefault(meter, [(0, cents)])
        if peaks[-1][1] > cents:
            peaks.append((seq, cents))

    def most_cents(self, meter: str, shown_cents: int | None, seq: int) -> int:
        """Return the highest amount, in cents, that the meter can have had when the pit locked it for a hit. `seq` is
        the number of the hit's event.

        The pit locks the meter when the hit arrives, and until then wagers at other tables make the meter grow. So the
        result is the highest level that the meter has shown since the hit (or since the program's start, if that was
        later), plus the price of 1,000 wagers. Between two messages of the pit there are fewer wagers than that.
        `shown_cents` is what the meter showed at the hit. If it is None, because nobody knows it, the result is the
        highest amount that any message may name.
        """
        if shown_cents is None:
            return MOST_CENTS
        since = [cents for hit, cents in self._peaks.get(meter, ()) if hit <= seq]
        return max([shown_cents, *since[-1:]]) + self._one_step_cents

    def fresh(self, now_s: float) -> bool:
        """Tell whether the pit has sent the level of every meter that can be won at this table within the last
        `stale_after_s` seconds. Return True if no meter can be won at this table."""
        return not self._meters or (self._lately(now_s) and self._meters <= self.cents.keys())

    def unknown(self, now_s: float) -> list[str]:
        """Return the meters of this table's game for which the pit's messages give no level. Return an empty list if
        the pit has sent no recent message."""
        return sorted(self._meters - self.cents.keys()) if self._lately(now_s) else []

    def _lately(self, now_s: float) -> bool:
        return self._fresh_at_s is not None and now_s - self._fresh_at_s <= self._stale_after_s
