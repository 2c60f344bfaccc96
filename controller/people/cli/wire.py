"""`tablectl shoe`: record the bytes on a shoe's serial line, replay a recording, and look for the frames (messages of
the shoe) in it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import termios
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from controller.basics.errors import TableError
from controller.basics.near import ended
from controller.daemon.clock import since_boot_ms
from controller.daemon.config import Config, load
from controller.people.cli.client import status_of
from controller.people.cli.files import default_table
from controller.people.cli.wire_frames import frames_told
from drivers import shoe as shoes
from drivers.line.port import ShoePort
from drivers.line.tap import TapListener, tap_of
from drivers.line.wire import Piece, lines_of, read_record
from drivers.sim.line import PtyLine, SerialLine

_HEARD_POLL_S, _READ_WITHIN_S = 0.02, 2.0
_READ_POLLS = 5  # the kernel hands bytes on to the program's end a moment after they were said


def record(of: str, file: Path, baud: int, seconds: float | None, most_bytes: int) -> int:
    """Record the bytes on a shoe's serial line into a new file, until Ctrl-C, for `seconds`, or until `most_bytes` are
    recorded.

    `of` is a table's file, or a port. If a running table has that port open, the table passes copies of the bytes on
    and is not disturbed. Any other port is opened here. Raises TableError if neither is possible, and `wire_file` if
    the file exists already.
    """
    table = _live_table(of)
    with _new_file(file) as out:
        written = _Record(out, most_bytes)
        out.write(f"# The wire of {of}, from {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}.\n")
        print(f"Recording into {file}: Ctrl-C ends it.", file=sys.stderr, flush=True)
        with suppress(KeyboardInterrupt, _FullError):
            if table is None:
                asyncio.run(_from_port(of, baud, written, seconds))
            else:
                _from_table(table, written, seconds)
    print(f"{written.of_shoe} bytes of the shoe and {written.of_host} of the host are in {file}.")
    return 0 if written.of_shoe else 1


def replay(file: Path, pty: Path | None, port: str | None, baud: int, speed: float) -> int:
    """Replay what the shoe sent in a recording of its serial line, on a pty or a port that a daemon reads. With `speed`
    2 the replay takes half of the recorded time, and with 0 there are no pauses. Raises TableError for a recording that
    cannot be read, before any line is opened.
    """
    pieces = read_record(file)
    line = PtyLine(pty) if pty is not None else SerialLine(str(port), baud)
    try:
        if isinstance(line, PtyLine):
            print(f"Waiting until a program opens {pty}.", file=sys.stderr, flush=True)
            while not line.heard:
                time.sleep(_HEARD_POLL_S)
        say_again(pieces, line, speed)
        if pty is not None:
            _await_reader(pty)
    finally:
        line.unplug()
    said = sum(len(piece.data) for piece in pieces if piece.way == "shoe")
    print(f"{said} bytes of the shoe were said again.")
    return 0


def say_again(pieces: Iterable[Piece], line: PtyLine | SerialLine, speed: float) -> None:
    """Write the shoe's bytes from these pieces of a recording to the line, with the recorded pauses divided by `speed`,
    or without pauses if `speed` is 0. If the recording says that the port was lost, the pty's device disappears at that
    point. It comes back when the recording says that the port was open once more."""
    last_ms = 0
    for piece in pieces:
        if speed and piece.at_ms > last_ms:
            time.sleep((piece.at_ms - last_ms) / 1000 / speed)
        last_ms = piece.at_ms
        if piece.way == "shoe":
            line.write(piece.data)
        elif piece.way != "host" and isinstance(line, PtyLine) and last_ms:
            (line.plug if piece.way == "open" and not line.is_plugged else line.unplug)()


def frames(file: Path, driver: str | None) -> int:
    """Print a guess at the form of the frames (messages of the shoe) in a recording. With `driver`, the name of a
    brand, print what the decoder (codec) of that brand reads in the recording."""
    pieces = read_record(file)
    if driver is not None and driver not in shoes.NAMES:
        what = f"No shoe is called {driver}{ended(driver, shoes.NAMES)}"
        raise TableError("wire_driver", what, f"There are: {', '.join(shoes.NAMES)}.")
    if driver is None:
        for line in frames_told(b"".join(piece.data for piece in pieces if piece.way == "shoe")):
            print(line)
        return 0
    codec = shoes.brand(driver).codec(None)
    for piece in pieces:
        for heard in codec.feed(piece.data) if piece.way == "shoe" else ():
            print(f"{piece.at_ms / 1000:10.3f} {heard}")
    return 0


def _await_reader(pty: Path) -> None:
    """Wait, for two seconds at most, until the program that has opened the pty has read all bytes. Bytes that are
    unread when the pty closes would be lost."""
    with suppress(OSError):
        near = os.open(pty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            empty = 0
            for _ in range(int(_READ_WITHIN_S / _HEARD_POLL_S)):
                empty = empty + 1 if fcntl.ioctl(near, termios.FIONREAD, bytes(4)) == bytes(4) else 0
                if empty == _READ_POLLS:
                    return
                time.sleep(_HEARD_POLL_S)
        finally:
            os.close(near)


class _FullError(Exception):
    """Raised when the recording of a shoe's line has reached its limit of bytes."""


class _Record:
    """A recording of a shoe's serial line that is being written. Its times count from its first piece."""

    def __init__(self, out: TextIO, most_bytes: int) -> None:
        self._out = out
        self._left = most_bytes
        self._first_ms: int | None = None
        self.of_shoe = self.of_host = 0

    def add(self, piece: Piece) -> None:
        """Write one piece of the recording. If this piece reaches the recording's limit of bytes, it is written, and
        _FullError is raised."""
        if self._first_ms is None:
            self._first_ms = piece.at_ms
        for line in lines_of(Piece(piece.at_ms - self._first_ms, piece.way, piece.data)):
            self._out.write(f"{line}\n")
        self._out.flush()
        self.of_shoe += len(piece.data) if piece.way == "shoe" else 0
        self.of_host += len(piece.data) if piece.way == "host" else 0
        self._left -= len(piece.data)
        if self._left <= 0:
            self.remark("the record ends here: it has as many bytes as it may have")
            raise _FullError

    def remark(self, text: str) -> None:
        """Write a remark into the recording, as a line that begins with `#`."""
        self._out.write(f"# {text}\n")


def _new_file(file: Path) -> TextIO:
    """Create a new file for a recording, which only its owner may read, because a recording reveals face-down cards, as
    the journal does."""
    try:
        return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii")
    except OSError as error:
        what = f"The record cannot be written to {file}: {error.strerror}."
        raise TableError("wire_file", what, "Name a new file in a folder that you may write to.") from None


def _live_table(of: str) -> Config | None:
    """Return the configuration of the table from which to record. If `of` is the path of a table's file, that table is
    meant. If `of` is a port, this machine's default table is meant, provided that it runs and has its shoe on that
    port. Otherwise return None."""
    if of.endswith(".toml"):
        return load(Path(of))
    try:
        table = default_table("shoe record")
        config = load(table)
        return config if config.file.shoe.port == of and status_of(table) else None
    except TableError:
        return None


def _from_table(table: Config, written: _Record, seconds: float | None) -> None:
    ends_s = None if seconds is None else time.monotonic() + seconds
    with TapListener(tap_of(Path(table.file.journal.path))) as listener:
        while (left_s := None if ends_s is None else ends_s - time.monotonic()) is None or left_s > 0:
            for piece in listener.pieces(left_s):
                if listener.lost:
                    written.remark(f"{listener.lost} pieces are missing here")
                    listener.lost = 0
                written.add(piece)
                if ends_s is not None and time.monotonic() >= ends_s:
                    return


async def _from_port(url: str, baud: int, written: _Record, seconds: float | None) -> None:
    """Open the serial port `url`, and record the bytes that arrive. Nothing is sent to the shoe."""

    def link(up: bool, why: str) -> None:
        print(why, file=sys.stderr, flush=True)
        written.add(Piece(since_boot_ms(), "open" if up else "gone"))

    port = ShoePort(url, baud, lambda data: written.add(Piece(since_boot_ms(), "shoe", data)), link)
    with suppress(TimeoutError):
        await asyncio.wait_for(port.run(), seconds)
