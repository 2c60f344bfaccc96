"""Serves a running table's past: past events to anybody on this machine, and the record of a finished round to
supervisors.

Both are read from the journal's file and its archives, with a separate database connection, in a separate thread, one
request at a time. So no commit waits for them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from controller.contract.face.record import RoundRecord
from controller.contract.old_events import as_now
from controller.daemon.record.journal_reading import read_events, read_origin, read_shoe
from controller.daemon.round_record import round_named, round_record

SUFFIX = ".past"

MOST_ROUNDS = 500
"""Events are told from this many finished rounds back."""

MOST_ROUNDS_SINCE = 3000
"""Of a day: more than two rounds a minute, around the clock."""

_TYPES = (
    "shoe_opened",
    "round",
    "void",
    "correction",
    "hit",
    "award",
    "fault",
    "fault_cleared",
    "alarm",
    "shoe_closed",
)
_ROUNDS = ("round", "void", "correction")
_LEFT_OUT = ("signature", "contract", "settlement", "settlement_before", "exits")
_MOST_DIGITS = 18
"""SQLite holds every number with this many digits."""

_PATIENCE_S = 5.0


def past_of(control: Path) -> Path:
    """Return the path of the socket for past events, which lies beside the control socket `control`."""
    return control.with_name(control.name + SUFFIX)


class Past:
    """Reads a table's past events and rounds from its journal and the journal's archives, which may lie in the folder
    `archives`."""

    def __init__(self, journal: Path, archives: Path) -> None:
        self._journal, self._archives = journal, archives
        self._one_at_a_time = asyncio.Lock()

    async def tell(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one line from the caller, with the number of the last event that the caller has. Send the later events,
        from at most MOST_ROUNDS finished rounds back, and only those of the types in `_TYPES`.

        If a time follows the number, written as in events, only the rounds since that time are sent, with their
        corrections, and at most MOST_ROUNDS_SINCE rounds. Each event is sent as a line of JSON without its signature
        and its settlement. Raises TimeoutError, or ValueError if the line is not the number of an event.
        """
        async with asyncio.timeout(_PATIENCE_S):
            said, _, since = (await reader.readline()).decode("ascii").strip().partition(" ")
        if not said.isdigit() or len(said) > _MOST_DIGITS:
            raise ValueError("not the number of an event")
        if since:
            datetime.fromisoformat(since)
        async with self._one_at_a_time:
            told = await asyncio.to_thread(lambda: list(_events(self._journal, self._archives, int(said), since)))
        for place in range(0, len(told), 100):
            writer.write(b"".join(told[place : place + 100]))
            async with asyncio.timeout(_PATIENCE_S):
                await writer.drain()

    async def hand(self, which: str) -> RoundRecord:
        """Return the record of the finished round that `which` names, such as "3/12". Raises TableError `no_such_round`
        if the journal holds no such finished round."""
        shoe, _ = round_named(which)
        path, archives = self._journal, self._archives
        async with self._one_at_a_time:
            return await asyncio.to_thread(
                lambda: round_record(read_shoe(path, shoe, archives), read_origin(path), which)
            )


def _events(journal: Path, archives: Path, after: int, since: str) -> Iterator[bytes]:
    rounds, types = (MOST_ROUNDS_SINCE, _ROUNDS) if since else (MOST_ROUNDS, _TYPES)
    for body in read_events(journal, after, rounds, archives, since=since):
        event = as_now(json.loads(body))
        if event["type"] in types:
            yield json.dumps({name: said for name, said in event.items() if name not in _LEFT_OUT}).encode() + b"\n"
