"""Judges, by the network's messages alone, what a table heard from its pit, and whether the table could take wagers on
a progressive at that moment.

Whether the meters' levels were fresh is judged exactly. Whether the pit answered the table's events in time cannot
always be judged, because the messages may not show it. In that case the verdict is None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from controller.contract.envelope import Stamp

_MARGIN_S = 0.5
"""So near to its limit, whether the stream is stale is left open."""


@dataclass(frozen=True)
class Verdict:
    """A judgement of a table's pit at one moment, by the network's messages. It says whether the meters' levels were
    fresh, which levels were shown, and whether the pit answered the table's events in time (`stream_fresh`).
    `stream_fresh` is None if the messages do not show it."""

    levels_fresh: bool
    shown: dict[str, int]
    stream_fresh: bool | None

    @property
    def fresh(self) -> bool | None:
        """Return True if the table heard its pit well enough to take wagers on a progressive, False if not, and None if
        the messages do not show it."""
        return self.stream_fresh if self.levels_fresh else False


class Hearing:
    """Follows what one run of a table's program hears from its pit. `epoch` names the table's journal, and `acked_seq`
    is the number of the last event that the journal marks as acknowledged.

    `now_s` returns the seconds of a clock that nobody can set, and `stamp` reads the table's wall clock, which may be
    wrong.
    """

    def __init__(
        self,
        now_s: Callable[[], float],
        stamp: Callable[[], Stamp],
        epoch: str,
        acked_seq: int,
        meters: Collection[str],
        stale_after_s: float,
    ) -> None:
        self._now_s = now_s
        self._stamp = stamp
        self._epoch = epoch
        self._meters = set(meters)
        self._stale_after_s = stale_after_s
        self.slow_until_s = 0.0  # the table's disk is slow, or was: what it heard it may not have understood yet
        self._connected_s: float | None = None
        self._ended_s: float | None = None  # when the last connection ended; None before
        self._refused = False  # on this connection
        self._levels: list[tuple[int, dict[str, int]]] = []  # the words taken on this connection
        self._level = (0, dict[str, int]())  # the newest word
        self._news_s: float | None = None  # when a newer word that is not old came after another of its connection
        self._sent, self._acked, self._acked_most = acked_seq, acked_seq, acked_seq
        self._waits_since_s: float | None = None
        self._progress_s = 0.0

    # What happened.

    def connected(self) -> None:
        """Note that the table is connected to the broker now."""
        self._connected_s, self._refused = self._now_s(), False
        self._levels.clear()

    def disconnected(self) -> None:
        """Note that the table's connection to the broker has ended."""
        self._connected_s, self._ended_s = None, self._now_s()

    def published(self, payload: bytes) -> None:
        """Note that the table sent an event."""
        self._sent = max(self._sent, int(json.loads(payload)["seq"]))
        if self._sent > self._acked_most and self._waits_since_s is None:
            self._waits_since_s = self._now_s()

    def answered(self, reason_code: int) -> None:
        """Note that the broker answered a message of the table."""
        self._refused |= reason_code >= 0x80

    def message(self, kind: str, payload: bytes) -> None:
        """Note that the broker brought the table a message."""
        try:
            said = json.loads(payload)
        except ValueError:
            return
        if kind == "ack" and said["epoch"] == self._epoch:
            self._heard_ack(said["seq"])
        elif kind == "meters" and said["seq"] > 0:
            self._heard_levels(said["seq"], said["at"], said["meters"])

    def _heard_ack(self, seq: int) -> None:
        if seq > self._acked:
            self._progress_s = self._now_s()
        self._acked = seq
        if seq > self._acked_most:
            self._acked_most = seq
            self._waits_since_s = self._now_s() if seq < self._sent else None

    def _heard_levels(self, seq: int, at: str, cents: dict[str, int]) -> None:
        if seq < self._level[0]:
            return
        if seq > self._level[0] and self._levels and not self._is_old(at):
            self._news_s = self._now_s()
        self._level = (seq, cents)
        self._levels.append(self._level)

    def _is_old(self, at: str) -> bool:
        """Tell whether a message with the time `at` is old by the table's clock. While that clock is not set, no
        message is old."""
        now = self._stamp()
        old_ms = now.at_ms - round(1000 * datetime.fromisoformat(at).timestamp())
        return now.synchronised and old_ms > 1000 * self._stale_after_s

    # What follows.

    def verdict(self) -> Verdict:
        """Return what the messages show at this moment: whether a progressive can be bet on, and which levels the table
        shows."""
        lately = self._news_s is not None and self._now_s() - self._news_s <= self._stale_after_s
        return Verdict(lately and self._meters <= self._level[1].keys(), self._level[1], self._stream_fresh())

    def _stream_fresh(self) -> bool | None:
        now_s, stale_s = self._now_s(), self._stale_after_s
        if now_s < self.slow_until_s:
            return None
        if self._connected_s is None:
            return False if self._ended_s is None or now_s - self._ended_s > stale_s + _MARGIN_S else None
        if self._refused or now_s - self._connected_s < _MARGIN_S:
            return None
        if self._waits_since_s is None:
            return True if self._acked >= self._sent else None  # an older word came after a newer one
        if now_s - max(self._waits_since_s, self._progress_s) > stale_s + _MARGIN_S:
            return False
        just_sent = now_s - self._waits_since_s < stale_s - _MARGIN_S
        sent_when_made = self._waits_since_s - self._connected_s > _MARGIN_S  # it had not waited for the connection
        return True if just_sent and sent_when_made and self._acked == self._acked_most else None
