"""Limit how many alarms of one kind are shown to people in a minute. The module reads no clock: each call gives the
time.

Alarms are of one kind if they have the same code and the same room. Each adopted table is a room of its own. All tables
that nobody ever adopted share one room. People see the first alarms of a minute at once. Further alarms are only
counted, and one line shows their number when the minute is over.
"""

from __future__ import annotations

from msgspec import Struct

from controller.basics.errors import TableError

MINUTE_S = 60.0
_AT_ONCE = 3
_AT_ONCE_OF_NEW_TABLES = 30  # a house that begins has many tables to adopt


class _Minute(Struct):
    began_s: float
    said: int = 0
    more: int = 0
    left_out: int = 0
    last: TableError | None = None


class Counted(Struct, frozen=True):
    """The alarms of one kind within a minute that people did not see one by one. `more` is the number of alarms that
    people were not shown. `left_out` is the number of alarms that the ledger did not store, because it had no room for
    them."""

    room: str
    code: str
    more: int
    left_out: int
    last: TableError | None

    def __str__(self) -> str:
        whose = f"table {self.room}" if self.room else "tables that nobody adopted"
        return f"{self.code}: {self.more:,} more of {whose} within a minute. The last of them:\n{self.last}"


class AlarmLimit:
    """A counter of the alarms of the last minute, by kind. It counts the alarms that people were shown, and those that
    they were not shown."""

    def __init__(self) -> None:
        self._minutes: dict[tuple[str, str], _Minute] = {}

    def may_say(self, room: str, alarm: TableError, kept: bool, now_s: float) -> bool:
        """Return True if this alarm is to be shown to people now. Otherwise count the alarm and return False. `kept`
        says whether the ledger had room to store the alarm."""
        minute = self._minutes.setdefault((room, alarm.code), _Minute(now_s))
        minute.left_out += not kept
        if minute.said < (_AT_ONCE if room else _AT_ONCE_OF_NEW_TABLES):
            minute.said += 1
            return True
        minute.more += 1
        minute.last = alarm
        return False

    def over(self, now_s: float) -> list[Counted]:
        """End each minute that is over, and return its counts. A count is left out if people were shown all of its
        alarms and the ledger stored all of them."""
        over = {key: minute for key, minute in self._minutes.items() if now_s - minute.began_s >= MINUTE_S}
        for key in over:
            del self._minutes[key]
        return [
            Counted(room, code, minute.more, minute.left_out, minute.last)
            for (room, code), minute in over.items()
            if minute.more or minute.left_out
        ]
