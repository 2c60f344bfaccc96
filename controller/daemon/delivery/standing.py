"""How the table finds the pit: one code, with details for people. Pure: the time is an argument.

The broker retains the pit's last messages and hands them to every new connection, so a retained message does not prove
that a pit runs. Nor does a message that is repeated. The pit is *heard* only by a message that the pit's key has
signed, that the broker did not retain, and that differs from the message before. For example: a table that gets the
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
    """When and how the table heard the pit. Times are seconds of a monotonic clock.

    `since_s` is when the connection to the broker was made, or was lost. `adopted` tells whether the pit's last
    acknowledgement on this connection is of this journal; None before any. `other_s` is when the last message came that
    another key than the pit's had signed. `meters_old` is when the pit sent its last message on the meters, where that
    is too long ago by this table's clock. `moving` is true while the table has left a broker on which no pit is heard,
    and is not at the next broker yet.
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
        """Note that the connection to the broker was made, or was lost."""
        if (connected or self.connected) != self.moving:  # a move's own end and beginning are no news
            self.since_s = now_s
        self.moving = self.moving and self.connected and not connected
        self.connected, self.adopted, self.meters_old, self._refused = connected, None, None, None

    def moves(self) -> None:
        """Note that the table goes to another broker, because no pit is heard on this one. The time without a pit
        counts on at the next broker."""
        self.since_s, self.heard_s, self.moving = max(self.since_s, self.heard_s), -math.inf, True

    def is_news(self, kind: str, message: bytes) -> bool:
        """Tell whether this message differs from the last message of its kind. A signed message that is repeated does
        not prove that the pit runs."""
        last, self._last[kind] = self._last.get(kind), message
        return message != last

    def refuses(self, clocks: Standing, now_s: float) -> None:
        """Note that a signed message was refused because of its time. `clocks` says how the clocks of table and pit
        seem to stand."""
        self._refused = clocks, now_s

    def word(self, now_s: float) -> None:
        """Note that the pit sent a new message just now."""
        self.heard_s = now_s

    def present(self, now_s: float) -> bool:
        """Tell whether the table has heard the pit on this connection until now, and nobody with another key in the
        pit's name.

        A pit stops for its rotation, so its last message may be some minutes ago. A pit says its levels every two
        seconds, so a pit with another key that is connected now was heard within the last seconds.
        """
        heard = self.connected and self.heard_s >= self.since_s and now_s - self.heard_s < _AWAY_FROM_S
        return heard and now_s - self.other_s >= _OTHERS_HEARD_WITHIN_S

    def standing(self, stale_after_s: float, waits_s: float, says_meters: bool, now_s: float) -> Standing:
        """Return how the table finds the pit, on a connection on which no event is refused.

        `waits_s` is for how long events have waited without progress; 0.0 where none waits. With `says_meters` the pit
        has meters to say at this table, so it should be heard all the time.
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
