"""Finds out in what state the link to the pit is, as one code with details for people. The code is pure: the caller
passes the time in.

The broker retains the pit's last messages and hands them to every new connection, so a retained message does not prove
that a pit runs. A repeated message does not prove it either. The pit is *heard* only by a message that the pit's key
has signed, that the broker did not retain, and that differs from the message before. For example: a table that gets the
retained acknowledgement of yesterday, and nothing else for ten seconds, finds no pit.
"""

from __future__ import annotations

import math

from msgspec import Struct, field

from controller.contract.face.status import Standing

GOOD = frozenset({"well", "listening"})
"""The codes after which nobody needs to do anything."""

_AWAY_FROM_S = 1800.0
_OTHERS_HEARD_WITHIN_S = 10.0


class PitHeard(Struct):
    """When and how the table last heard the pit. Times are seconds of a monotonic clock.

    `since_s` is when the connection to the broker was made, or was lost. `adopted` tells whether the pit's last
    acknowledgement on this connection names this journal; None before any acknowledgement. `heard_s` is when the pit's
    last new message came. `other_s` is when the last message came that the pit's key had not signed. `meters_old` is
    the time of the pit's last message on the meters, if that time is too long ago by this table's clock. `moving` is
    true between two brokers: the table has left a broker on which no pit is heard, and has not reached the next broker.
    """

    since_s: float
    connected: bool = False
    adopted: bool | None = None
    heard_s: float = -math.inf
    other_s: float = -math.inf
    meters_old: str | None = None
    moving: bool = False
    _refused: tuple[Standing, float] | None = None  # how the clocks stand by a word that was refused, and when it came
    _last: dict[str, bytes] = field(default_factory=dict)  # the last message of each kind

    def link(self, connected: bool, now_s: float) -> None:
        """Note that the connection to the broker was made (`connected` is True) or lost. `since_s` stays as it is while
        the table moves to another broker."""
        if (connected or self.connected) != self.moving:  # a move's own end and beginning are no news
            self.since_s = now_s
        self.moving = self.moving and self.connected and not connected
        self.connected, self.adopted, self.meters_old, self._refused = connected, None, None, None

    def moves(self) -> None:
        """Note that the table goes to another broker, because no pit is heard on the present broker. The count of the
        seconds without a pit goes on during the move."""
        self.since_s, self.heard_s, self.moving = max(self.since_s, self.heard_s), -math.inf, True

    def is_news(self, kind: str, message: bytes) -> bool:
        """Tell whether this message differs from the last message of its kind, and remember it. Somebody can repeat a
        signed message, so a repeated message does not prove that the pit runs."""
        last, self._last[kind] = self._last.get(kind), message
        return message != last

    def refuses(self, clocks: Standing, now_s: float) -> None:
        """Note that a signed message of the pit was refused because of its time. `clocks` says whether the pit's clock
        seems to be ahead or to have gone back."""
        self._refused = clocks, now_s

    def word(self, now_s: float) -> None:
        """Note that the pit sent a new message just now."""
        self.heard_s = now_s

    def present(self, now_s: float) -> bool:
        """Return True if the table has heard the pit on this connection without a long break until now, and if nobody
        with another key has sent messages in the pit's name.

        The pit stops while it rotates its key, so its last message may be some minutes old (half an hour at most). A
        pit sends its levels every two seconds, so a connected pit with another key would have been heard within the
        last ten seconds.
        """
        heard = self.connected and self.heard_s >= self.since_s and now_s - self.heard_s < _AWAY_FROM_S
        return heard and now_s - self.other_s >= _OTHERS_HEARD_WITHIN_S

    def standing(self, stale_after_s: float, waits_s: float, says_meters: bool, now_s: float) -> Standing:
        """Return the state of the link to the pit, as a code such as "well" or "silent" with details for people. A lost
        connection, or events that the broker refuses, are not considered.

        `waits_s` is for how many seconds events have waited without progress; 0.0 if none waits. `says_meters` is True
        if the pit should keep sending levels of meters to this table. Then a silence of `stale_after_s` seconds is a
        fault.
        """
        on_connection = self.heard_s >= self.since_s
        silent_s = now_s - max(self.heard_s, self.since_s)
        expected = says_meters or waits_s > 0
        if self.adopted is False or (on_connection and self.adopted is None):
            return Standing("not_adopted")
        if self.meters_old is not None:
            return Standing("meters_old", {"at": self.meters_old})
        poor = waits_s >= stale_after_s or (expected and silent_s >= stale_after_s)
        if poor and self._refused is not None and now_s - self._refused[1] < stale_after_s:
            return self._refused[0]
        if expected and silent_s >= stale_after_s:
            return Standing("silent" if on_connection else "no_pit", {"for_s": int(silent_s)})
        if waits_s >= stale_after_s:
            return Standing("behind", {"for_s": int(waits_s)})
        return Standing("listening" if expected and not on_connection else "well")
