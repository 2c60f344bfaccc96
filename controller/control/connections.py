"""Who may be connected to the control socket, and for how long: so many silent callers keep nobody away.

A user has so many places and all users together some more. Where a newcomer finds none, the connection that has been
silent longest gives way: of the newcomer's own, or of the user who has most. One whose act is being done never does.
"""

from __future__ import annotations

import asyncio
import contextlib
import pwd
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache

MOST_AT_ONCE = 200
"""Connections: the table needs descriptors for its own wires, too."""

MOST_OF_A_USER = 160

IDLE_S = 60.0
"""How long a connection may ask for nothing."""

READS_WITHIN_S = 5.0
"""How long a caller may leave an answer unread."""

_WAITS_BYTES = 16_384
"""What may wait in memory for a caller to read it, beside the answer that is being made."""


@dataclass(eq=False, slots=True)
class Connection:
    """One caller: the user whose process it is, as the kernel says, since when it is silent, and whether it may go."""

    uid: int
    writer: asyncio.StreamWriter
    silent_since_s: float
    acting: bool = False

    @property
    def via(self) -> str:
        """Who is on the socket, as a row of the journal names the way on which a fact came."""
        return f"socket {_user_name(self.uid)}({self.uid})"

    async def line(self, reader: asyncio.StreamReader) -> bytes:
        """The next line, empty at its end. Raises TimeoutError after `IDLE_S`, ValueError for a line too long."""
        self.silent_since_s = asyncio.get_running_loop().time()
        async with asyncio.timeout(IDLE_S):  # wait_for of Python 3.11 can swallow a cancellation
            return await reader.readline()

    async def say(self, line: bytes) -> None:
        """Send a line. A caller that does not read is let go of, so that what waits for it stays small."""
        self.writer.write(line)
        try:
            async with asyncio.timeout(READS_WITHIN_S):
                await self.writer.drain()
        except TimeoutError:
            self.drop()
            raise ConnectionAbortedError("the answers are not read") from None

    def drop(self) -> None:
        """End it now, whatever it has yet to read."""
        self.writer.transport.abort()


class Connections:
    """Those that are connected."""

    def __init__(self) -> None:
        self._all: set[Connection] = set()

    @contextlib.asynccontextmanager
    async def of(self, writer: asyncio.StreamWriter) -> AsyncIterator[Connection | None]:
        """The place of a newcomer while it is connected; None where nobody can give way."""
        writer.transport.set_write_buffer_limits(high=_WAITS_BYTES)
        newcomer = Connection(_peer_uid(writer), writer, asyncio.get_running_loop().time())
        place = newcomer if self._has_room_for(newcomer) else None
        if place is not None:
            self._all.add(place)
        try:
            yield place
        finally:
            self._all.discard(newcomer)
            writer.close()

    def _has_room_for(self, newcomer: Connection) -> bool:
        places = Counter(connection.uid for connection in self._all)
        if places[newcomer.uid] >= MOST_OF_A_USER:
            return self._gives_way(newcomer.uid)
        if len(self._all) >= MOST_AT_ONCE:
            return any(self._gives_way(uid) for uid, _ in places.most_common())
        return True

    def _gives_way(self, uid: int) -> bool:
        """Let go of this user's connection that has been silent longest, if one may go."""
        theirs = [connection for connection in self._all if connection.uid == uid and not connection.acting]
        if not theirs:
            return False
        longest = min(theirs, key=lambda connection: connection.silent_since_s)
        self._all.discard(longest)
        longest.drop()
        return True


def _peer_uid(writer: asyncio.StreamWriter) -> int:
    """The user at the other end, as the kernel noted it when the connection was made."""
    credentials: bytes = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _pid, uid, _gid = struct.unpack("iII", credentials)
    return int(uid)


@cache
def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return "?"
