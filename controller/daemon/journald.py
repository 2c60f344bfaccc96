"""Writes a table's log to systemd's journal: each line with its priority and with fields that can be searched for.

For example, `journalctl -p err` finds faults, and `journalctl TABLE_EVENT_TYPE=void` finds voids. A line that is about
no event has only the usual fields. If the log goes to a terminal or a file instead, it is plain lines of text
(`counted_log`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from controller.basics.journald import SOCKET, Fields, Kind, Priority, datagram, is_journal, message_id, new_socket
from controller.daemon.counted_log import CountedLog

_PRIORITIES = (
    (logging.CRITICAL, Priority.CRITICAL),
    (logging.ERROR, Priority.ERR),
    (logging.WARNING, Priority.WARNING),
    (logging.INFO, Priority.INFO),
)


def of_event(table: str, seq: int, event: Mapping[str, object]) -> dict[str, Fields]:
    """Return the argument `extra` for a log call about an event: the fields of the event that systemd's journal
    stores."""
    kind = str(event.get("type"))
    return {
        "fields": {
            "MESSAGE_ID": message_id(kind),
            "TABLE_ID": table,
            "TABLE_SHOE": event.get("shoe"),
            "TABLE_ROUND": event.get("round"),
            "TABLE_EVENT": seq,
            "TABLE_EVENT_TYPE": kind,
            "TABLE_CODE": event.get("code"),
        }
    }


def of_refusal(table: str, code: str) -> dict[str, Fields]:
    """Return the argument `extra` for a log call about a refusal: the fields of the refusal that systemd's journal
    stores."""
    return {"fields": {"MESSAGE_ID": message_id(Kind.REFUSED.value), "TABLE_ID": table, "TABLE_CODE": code}}


def log_to(stream: TextIO) -> CountedLog:
    """Return the daemon's log handler. If systemd has connected `stream` to its journal, the handler writes to that
    journal. Otherwise it writes lines of text to `stream`."""
    return JournaldLog(stream) if is_journal(stream) else CountedLog(stream)


class JournaldLog(CountedLog):
    """A log handler that sends each line to systemd's journal. If that fails, it writes the line to the stream."""

    def __init__(self, stream: TextIO, to: Path = SOCKET) -> None:
        super().__init__(stream)
        self._to = str(to)
        self._socket = new_socket()

    def write(self, record: logging.LogRecord) -> None:
        """Send the line to systemd's journal without waiting. If that fails, write the line to the stream."""
        try:
            self._socket.sendto(datagram(_fields_of(record)), self._to)
        except OSError:
            super().write(record)

    def close(self) -> None:
        """Close the socket to systemd's journal."""
        self._socket.close()
        super().close()


def _fields_of(record: logging.LogRecord) -> Iterator[tuple[str, str]]:
    text = record.getMessage()
    if record.exc_info:
        text = f"{text}\n{logging.Formatter().formatException(record.exc_info)}"
    yield "MESSAGE", text
    priority = next((number for level, number in _PRIORITIES if record.levelno >= level), Priority.DEBUG)
    yield "PRIORITY", str(int(priority))
    yield "SYSLOG_IDENTIFIER", "tablectl"
    yield "LOGGER", record.name
    fields: Fields = getattr(record, "fields", {})
    for name, value in fields.items():
        if value is not None:
            yield name, str(value)
