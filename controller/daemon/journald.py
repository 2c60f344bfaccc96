"""The log as systemd's journal takes it: each line with its priority and its fields, in journald's own protocol.

So `journalctl -p err` finds faults, and `journalctl TABLE_EVENT_TYPE=void` the voids. A line that is no event has the
fields of any line. Where the log goes elsewhere, to a terminal or a file, it is lines of text (`counted_log`).
"""

from __future__ import annotations

import logging
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO
from uuid import NAMESPACE_URL, uuid5

from controller.daemon.counted_log import CountedLog

_SOCKET = Path("/run/systemd/journal/socket")
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))
_DEBUG = 7

Fields = Mapping[str, object]
"""The fields of a line, by their names at journald. A value of None is left out."""


def message_id(kind: str) -> str:
    """The MESSAGE_ID of a kind of line: of the type of an event, such as "fault", or of "refused"."""
    return uuid5(NAMESPACE_URL, f"table-controller/log/{kind}").hex


def of_event(table: str, seq: int, event: Mapping[str, object]) -> dict[str, Fields]:
    """The `extra=` fields of an event's line."""
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
    """The `extra=` fields of a refusal's line."""
    return {"fields": {"MESSAGE_ID": message_id("refused"), "TABLE_ID": table, "TABLE_CODE": code}}


def log_to(stream: TextIO) -> CountedLog:
    """The daemon's log: to journald where this stream is what systemd connected to it, and else lines on the stream."""
    try:
        there = os.fstat(stream.fileno())
        to_journald = os.environ.get("JOURNAL_STREAM") == f"{there.st_dev}:{there.st_ino}"
    except (OSError, ValueError):  # a stream without a file
        to_journald = False
    return JournaldLog(stream) if to_journald else CountedLog(stream)


class JournaldLog(CountedLog):
    """Sends each line to journald, and where journald does not take it, writes it to the stream."""

    def __init__(self, stream: TextIO, to: Path = _SOCKET) -> None:
        super().__init__(stream)
        self._to = str(to)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)

    def write(self, record: logging.LogRecord) -> None:
        """Send the line. This never waits."""
        try:
            self._socket.sendto(b"".join(_sent(*field) for field in _fields_of(record)), self._to)
        except OSError:
            super().write(record)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()
        super().close()


def _fields_of(record: logging.LogRecord) -> Iterator[tuple[str, str]]:
    text = record.getMessage()
    if record.exc_info:
        text = f"{text}\n{logging.Formatter().formatException(record.exc_info)}"
    yield "MESSAGE", text
    yield "PRIORITY", str(next((number for level, number in _PRIORITIES if record.levelno >= level), _DEBUG))
    yield "SYSLOG_IDENTIFIER", "tablectl"
    yield "LOGGER", record.name
    fields: Fields = getattr(record, "fields", {})
    for name, value in fields.items():
        if value is not None:
            yield name, str(value)


def _sent(name: str, value: str) -> bytes:
    """A field in journald's protocol. A value of several lines is sent with its length."""
    data = value.encode("utf-8", "replace")
    if "\n" in value:
        return name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"
    return name.encode() + b"=" + data + b"\n"
