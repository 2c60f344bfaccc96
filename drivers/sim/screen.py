"""A client of the table's control socket, for the simulated bet recognition and the simulated people. Each request and
each answer is one line of JSON."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

from controller.basics.errors import TableError

_POLL_S = 0.02


class Fault(Struct, frozen=True):
    """A fault that has stopped the table: its id, and its exits (the acts that clear it)."""

    id: str
    exits: tuple[str, ...]


class Choice(Struct, frozen=True):
    """The seat whose player may choose now, which of the seat's hands the choice is for, and the options."""

    seat: int
    hand: str = ""
    options: tuple[str, ...] | None = None


class Hit(Struct, frozen=True):
    """An award that a seat has won, and its latest step at the pit, such as "pending" or "paid"."""

    seat: int
    step: str


class Progressive(Struct, frozen=True):
    """The seats whose wager on a progressive bet was accepted, and the seats whose wager on it was refused."""

    seats: tuple[int, ...]
    refused_seats: tuple[int, ...]


class Face(Struct, frozen=True):
    """The part of the table's public status that the simulation reads, such as the phase and the fault."""

    phase: str
    fault: Fault | None = None
    choice: Choice | None = None
    reveal: tuple[str, ...] = ()
    actives: dict[str, int] = {}
    progressive: tuple[Progressive, ...] = ()
    hits: tuple[Hit, ...] = ()
    commission_owed: dict[str, int] = {}


class Link(Struct, frozen=True):
    """The state of the table's connection to its shoe or to its pit."""

    up: bool = False
    unacknowledged: int = 0


class Status(Struct, frozen=True):
    """The part of the table's status that the simulation reads: the public part, and the connections to the shoe and to
    the pit."""

    face: Face
    shoe: Link = Link()
    pit: Link = Link()


class Screen:
    """A client of the table's control socket at `path`. The first request connects, and tries to do so for at most
    `patience_s` seconds."""

    def __init__(self, path: Path, patience_s: float) -> None:
        self._path = path
        self._patience_s = patience_s
        self._channel: socket.socket | None = None

    def ask(self, **request: object) -> dict[str, Any]:
        """Send a request to the table and return the answer. A refusal is an answer too: `{"ok": false, "code": ...}`.
        Raises TableError `sim_no_table` if no table answers."""
        try:
            return self._answer(request)
        except TableError:
            if request["do"] != "status":
                raise
            return self._answer(request)  # this request changes nothing, so a restarted table is asked again

    def _answer(self, request: dict[str, object]) -> dict[str, Any]:
        try:
            self._say(request)
            answer: dict[str, Any] = json.loads(self._lines.readline())
        except (OSError, ValueError):
            raise self._no_table("it went silent") from None
        return answer

    def _say(self, request: dict[str, object]) -> None:
        """Send a request to the table. If the connection is broken because the table was restarted, connect anew and
        send the request on the new connection."""
        line = json.dumps(request).encode() + b"\n"
        if self._channel is not None:
            with contextlib.suppress(OSError):
                return self._channel.sendall(line)
            self.close()
        self._channel = self._connected()
        self._lines = self._channel.makefile("rb")
        return self._channel.sendall(line)

    def status(self) -> Status:
        """Ask the table for its status, and return the answer. Raises TableError `sim_no_table` if no table answers."""
        return convert(self.ask(do="status").get("status"), Status)

    def face(self) -> Face:
        """Ask the table for its status, and return the public part of the answer."""
        return self.status().face

    def close(self) -> None:
        """Close the connection to the control socket."""
        if self._channel is not None:
            self._lines.close()
            self._channel.close()

    def _connected(self) -> socket.socket:
        gives_up_s = time.monotonic() + self._patience_s
        while True:
            channel = socket.socket(socket.AF_UNIX)
            channel.settimeout(self._patience_s)
            try:
                channel.connect(str(self._path))
                return channel
            except OSError as error:
                channel.close()
                if time.monotonic() >= gives_up_s:
                    raise self._no_table(error.strerror or str(error)) from None
                time.sleep(_POLL_S)

    def _no_table(self, why: str) -> TableError:
        return TableError(
            "sim_no_table",
            f"no table answers at {self._path}: {why}",
            "start the controller with the same table file",
        )
