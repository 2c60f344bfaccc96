"""The lines that the pit writes for people: into systemd's journal with fields, or as plain text."""

from __future__ import annotations

import sys

from controller.basics.errors import TableError
from controller.basics.journald import Kind, Priority, tell
from controller.pit.reference.alarm_limit import Counted
from controller.pit.reference.taking import Committed

_NAME = "pitctl"  # in the log


def say(what: str, kind: Kind = Kind.PIT_TOLD) -> None:
    """Write a line for people to standard error.

    If a pit is killed, it leaves no half line before the next pit's first line. If nobody reads the lines any more, or
    their disk is full, the pit goes on, because its tables wait for its acknowledgements.
    """
    tell(f"pit: {what}", kind, sys.stderr, _NAME, Priority.INFO if kind is Kind.PIT_TOLD else Priority.WARNING)


def say_alarm(alarm: TableError | Counted, table: str = "") -> None:
    """Write an alarm for people to standard error. `table` is the id of the table that the alarm is about. `table` is
    empty if the alarm is not about one table."""
    fields = {"TABLE_ID": table or None, "TABLE_CODE": alarm.code}
    tell(str(alarm), Kind.PIT_ALARM, sys.stderr, _NAME, Priority.ERR, fields)


def say_event(event: Committed) -> None:
    """Write a line about a committed event to standard output."""
    fields = {"TABLE_ID": event.table, "TABLE_EVENT": event.seq, "TABLE_EVENT_TYPE": event.type}
    tell(f"{event.table} {event.seq} {event.type}", Kind.PIT_EVENT, sys.stdout, _NAME, fields=fields)
