"""Writes log lines for people: to systemd's journal with a priority and fields, and otherwise as plain text.

If systemd connected the output stream to its journal, a line is sent in journald's own protocol. So `journalctl -p err`
finds what is wrong, and a log shipper reads fields and need not parse a sentence.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import Enum, IntEnum
from functools import cache
from pathlib import Path
from typing import TextIO
from uuid import NAMESPACE_URL, uuid5

from controller.basics.errors import TableError

SOCKET = Path("/run/systemd/journal/socket")
"""Where journald listens."""

Fields = Mapping[str, object]
"""The fields of a line, by their names at journald. A value of None is left out."""


class Priority(IntEnum):
    """The priority of a log line, with the numbers that syslog uses."""

    CRITICAL = 2
    ERR = 3
    WARNING = 4
    INFO = 6
    DEBUG = 7


class Kind(Enum):
    """The kinds of log lines that do not report an event of a table. Each value is a name that `message_id` accepts."""

    REFUSED = "refused"
    """A table refused an act."""

    ERROR = "error"
    """A program ended, and `TABLE_CODE` says why."""

    PIT_EVENT = "pit_event"
    """The pit committed an event of a table."""

    PIT_ALARM = "pit_alarm"
    """The pit's own alarm: what came is wrong, or was not taken."""

    PIT_CUT = "pit_cut"
    """The pit lost its broker, or its place as the pit that leads."""

    PIT_TOLD = "pit_told"
    """What else the pit says: its key, its broker, new terms, who was adopted, whether awards can be decided on."""

    PAGE_SERVED = "page_served"
    """A server of pages began to listen."""

    PAGE_BLIND = "page_blind"
    """A server of pages cannot see what its pages show."""

    PAGE_SEES = "page_sees"
    """It sees that again."""

    KIOSK_AGAIN = "kiosk_again"
    """The browser on the attached monitor is started again."""

    HOUSE_SHOWN = "house_shown"
    """What a house's log says: its keys, its meters and its hits."""

    HOUSE_SOUND = "house_sound"
    """Head office checked a house's log, and everything holds."""

    HOUSE_FINDING = "house_finding"
    """Head office found something wrong in a house's log."""

    HOUSE_ALARM = "house_alarm"
    """The terms of a house's meter changed: somebody at head office must look."""

    HOUSE_NOTE = "house_note"
    """Head office should know this of a house, and it need not be wrong."""


def message_id(kind: str) -> str:
    """Return the MESSAGE_ID by which systemd's journal knows this kind of log line. `kind` is a value of `Kind`, or the
    type of a table's event, such as "fault"."""
    return uuid5(NAMESPACE_URL, f"table-controller/log/{kind}").hex


def is_journal(stream: TextIO) -> bool:
    """Tell whether systemd connected this output stream to its journal."""
    try:
        there = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{there.st_dev}:{there.st_ino}"


def new_socket() -> socket.socket:
    """Return a datagram socket for messages to journald. Sending on this socket never blocks."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)


def datagram(fields: Iterable[tuple[str, str]]) -> bytes:
    """Encode the fields of a log line in journald's protocol. A value of several lines is preceded by its length."""
    return b"".join(_sent(*field) for field in fields)


def tell(
    text: str,
    kind: Kind,
    stream: TextIO,
    program: str,
    priority: Priority = Priority.INFO,
    fields: Fields | None = None,
) -> None:
    """Write a log line in one piece. Never raises OSError: if nobody reads the log lines, the program goes on.

    `program` is the name of the program in the log (SYSLOG_IDENTIFIER). If `stream` is not systemd's journal, only the
    text is written.
    """
    if is_journal(stream):
        of_line = {
            "MESSAGE": text,
            "PRIORITY": int(priority),
            "SYSLOG_IDENTIFIER": program,
            "MESSAGE_ID": message_id(kind.value),
            **(fields or {}),
        }
        with suppress(OSError):
            given = ((name, str(value)) for name, value in of_line.items() if value is not None)
            _own_socket().sendto(datagram(given), str(SOCKET))
            return
    with suppress(OSError):
        stream.write(f"{text}\n")
        stream.flush()


def tell_error(error: TableError, stream: TextIO, program: str) -> None:
    """Write a log line about the error that makes this program exit."""
    tell(str(error), Kind.ERROR, stream, program, Priority.ERR, {"TABLE_CODE": error.code})


@cache
def _own_socket() -> socket.socket:
    return new_socket()


def _sent(name: str, value: str) -> bytes:
    data = value.encode("utf-8", "replace")
    if "\n" in value:
        return name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"
    return name.encode() + b"=" + data + b"\n"
