"""The Unix control socket of a table or a pit: how it is made, and which callers may stay connected to it.

Connections are limited for each user, and for all users together. A caller that connects and stays silent cannot keep
others out, because a connection is ended if there is no room for a new caller. If the new caller's user has too many
connections, that user's longest silent connection is ended. If all users together have too many, the longest silent
connection of the user with the most connections is ended. A connection whose request is being carried out is never
ended for a new caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import pwd
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from controller.basics.errors import TableError

MOST_AT_ONCE = 200
"""The most connections: the program needs descriptors for its own wires too."""

MOST_OF_A_USER = 160

IDLE_S = 60.0
"""The time after which a connection that asks for nothing ends."""

READS_WITHIN_S = 5.0
"""The time within which a caller must read an answer."""

SOCKET = "socket "
"""How the way of a request begins that came on the control socket."""

LONGEST_PATH = 107
"""The most characters of a socket's path: the kernel's limit."""

_WAITS_BYTES = 16_384
"""The most bytes that may wait in memory for a caller, beside the answer that is being made."""


def bound(path: Path, mode: int, setting: str, longest: int = LONGEST_PATH) -> socket.socket:
    """Make a Unix socket at `path` that does not listen yet. `mode` is its file mode, which says who may connect.

    Raises TableError `control_socket` if the socket cannot be made. The error's text names `setting`, the configuration
    key of the path, and `longest`, the most characters that the path may have.
    """
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_socket():
            path.unlink()  # the socket of a dead run: a lock elsewhere keeps a second run away
        channel.bind(str(path))
        path.chmod(mode)
    except OSError as error:
        channel.close()
        raise TableError(
            "control_socket",
            f"The control socket {path} cannot be made: {error.strerror or error}.",
            f"Name a path of at most {longest} characters that the program's user may write: {setting}.",
        ) from error
    return channel


class Connection(Struct, eq=False):
    """One caller on the control socket. `uid` is the user of the caller's process, as the kernel reports it.
    `silent_since_s` is the time since which the caller has been silent. `acting` is True while the caller's request is
    carried out. During that time, the connection is not ended to make room for a new caller."""

    uid: int
    writer: asyncio.StreamWriter
    silent_since_s: float
    acting: bool = False

    @property
    def via(self) -> str:
        """The caller's user as a text, such as "socket ann(1000)". The journal's rows name the source of a request in
        this form."""
        return f"{SOCKET}{_user_name(self.uid)}({self.uid})"

    async def line(self, reader: asyncio.StreamReader) -> bytes:
        """Read the caller's next line. The result is empty if the caller has disconnected. Raises TimeoutError after
        `IDLE_S` seconds, and ValueError for a line that is too long."""
        self.silent_since_s = asyncio.get_running_loop().time()
        async with asyncio.timeout(IDLE_S):  # wait_for of Python 3.11 can swallow a cancellation
            return await reader.readline()

    async def say(self, line: bytes) -> None:
        """Send a line to the caller. If the caller does not read the line within `READS_WITHIN_S` seconds, end the
        connection and raise ConnectionAbortedError. This limits how many unread bytes wait in memory."""
        self.writer.write(line)
        try:
            async with asyncio.timeout(READS_WITHIN_S):
                await self.writer.drain()
        except TimeoutError:
            self.drop()
            raise ConnectionAbortedError("nobody reads the answers") from None

    def drop(self) -> None:
        """End the connection at once, even if the caller has not read all answers yet."""
        self.writer.transport.abort()


class Connections:
    """All callers that are connected to the control socket now."""

    def __init__(self) -> None:
        self._all: set[Connection] = set()

    @contextlib.asynccontextmanager
    async def of(self, writer: asyncio.StreamWriter) -> AsyncIterator[Connection | None]:
        """Register a new caller while the `with` block runs, and yield its connection. If there is no room, end the
        longest silent connection of the new caller's user, or of the user with the most connections. If no connection
        may be ended to make room, yield None."""
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
        """End the connection of this user that has been silent longest. Returns False if none of the user's connections
        may be ended."""
        theirs = [connection for connection in self._all if connection.uid == uid and not connection.acting]
        if not theirs:
            return False
        longest = min(theirs, key=lambda connection: connection.silent_since_s)
        self._all.discard(longest)
        longest.drop()
        return True


class Peer(Struct, frozen=True):
    """The process at the other end of a Unix socket, as the kernel noted it when the connection was made.

    A process can hand its open socket to a process of another user. The kernel then still names the user of the first
    process. That user is responsible, as for a password that was given away.
    """

    pid: int
    uid: int
    groups: frozenset[int]

    def login(self) -> int | None:
        """Return the user id with which the person behind the process logged in, even if the process has changed its
        user since, as `su` does.

        Returns None if the kernel keeps no logins, or if the process does not come from a login. Raises
        ProcessLookupError if the process is gone or may not be inspected.
        """
        try:
            login = int(_login_of(self.pid).read_text("ascii"))
        except (OSError, ValueError) as error:
            if _login_of("self").exists():
                raise ProcessLookupError(self.pid) from error
            return None
        return None if login == _NO_LOGIN else login


_NO_LOGIN = 2**32 - 1
_SO_PEERGROUPS = 59  # Linux; Python does not name it
_MOST_GROUPS = 256


def _login_of(process: int | str) -> Path:
    return Path(f"/proc/{process}/loginuid")


def peer_of(channel: socket.socket) -> Peer:
    """Return the process at the other end of a Unix socket, with its user and the user's groups. If the user is in more
    than 256 groups, the result names only the user's primary group."""
    pid, uid, gid = struct.unpack("iII", channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    try:
        others = channel.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, 4 * _MOST_GROUPS)
    except OSError:
        others = b""
    return Peer(pid, uid, frozenset((gid, *struct.unpack(f"{len(others) // 4}I", others))))


def _peer_uid(writer: asyncio.StreamWriter) -> int:
    """Return the user id at the other end of the connection, as the kernel noted it when the connection was made."""
    credentials: bytes = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _pid, uid, _gid = struct.unpack("iII", credentials)
    return int(uid)


@cache
def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return "?"
