"""An imitation of systemd's log (journald) for tests: a socket that receives log lines, and a stream that counts as
connected to the log."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from controller.basics import journald


class Heard:
    """The log lines that were sent to the imitated log of systemd."""

    def __init__(self, at: socket.socket) -> None:
        self._at = at

    def lines(self) -> list[dict[str, str]]:
        """Return the fields of each log line that came since the last call."""
        lines = []
        while True:
            try:
                lines.append(fields_of(self._at.recv(100_000)))
            except BlockingIOError:
                return lines


@contextmanager
def journal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    """Let standard output and standard error count as connected to systemd's log. Yields the lines that this log
    receives."""
    at, stream = folder / "journal", (folder / "stream").open("w", encoding="utf-8")
    with stream, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard, monkeypatch.context() as patch:
        heard.bind(str(at))
        heard.setblocking(False)
        there = os.fstat(stream.fileno())
        patch.setattr(journald, "SOCKET", at)
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        patch.setenv("JOURNAL_STREAM", f"{there.st_dev}:{there.st_ino}")
        yield Heard(heard)


def fields_of(datagram: bytes) -> dict[str, str]:
    """Parse a datagram of systemd's log protocol as its documentation says. A field is NAME=VALUE, or the name alone, a
    length and the value."""
    fields = {}
    while datagram:
        head, _, datagram = datagram.partition(b"\n")
        name, is_short, value = head.partition(b"=")
        if not is_short:
            (length,) = struct.unpack("<Q", datagram[:8])
            value, datagram = datagram[8 : 8 + length], datagram[9 + length :]
        fields[name.decode()] = value.decode()
    return fields
