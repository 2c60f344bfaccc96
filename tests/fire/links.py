"""Proxies between the broker and its clients (tables and pit), for the stress test. They cut, delay and half-close
connections after random numbers of bytes.

The bytes that pass are TLS. For this reason a proxy counts bytes and TLS records, and knows nothing of their content.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable

from tests.fire.cuts import Cut, Records
from tests.fire.schedule import ENDINGS, Direction, Plan, Trouble

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is not sent yet is thrown away, and the peer gets a reset
_CHUNK = 65536


class Links:
    """All proxies of one stress test. They run in a thread of their own until `close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="links", daemon=True)
        self._thread.start()

    def link(self, to_port: int, plan: Callable[[int], Plan]) -> Link:
        """Open a proxy to a port of this machine, and return it. `plan(n)` returns the troubles of the proxy's
        connection number n, counted from 0."""
        return asyncio.run_coroutine_threadsafe(_opened(Link(self._loop, to_port, plan)), self._loop).result()

    def close(self) -> None:
        """End all proxies and their thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


class Link:
    """One proxy that troubles its connections. `suffered` counts the troubles by kind and direction, and `cuts` lists
    the connections that the proxy has cut."""

    def __init__(self, loop: asyncio.AbstractEventLoop, to_port: int, plan: Callable[[int], Plan]) -> None:
        self._loop = loop
        self._to_port = to_port
        self._plan = plan
        self._open: set[_Connection] = set()
        self._passes = True
        self._calm = False
        self.connections = 0
        self.suffered: Counter[tuple[str, str]] = Counter()
        self.cuts: list[Cut] = []
        self.port = 0

    def calm(self) -> None:
        """Cause no more troubles on this proxy's connections from now on."""
        self._loop.call_soon_threadsafe(self._be_calm)

    def shut(self) -> None:
        """Reset every connection of this proxy, and let no new one through until `reopen` is called."""
        self._loop.call_soon_threadsafe(self._shut)

    def reopen(self) -> None:
        """Let connections through this proxy again."""
        self._loop.call_soon_threadsafe(setattr, self, "_passes", True)

    def _be_calm(self) -> None:
        self._calm = True
        for connection in self._open:
            connection.calm()

    def _shut(self) -> None:
        self._passes = False
        for connection in self._open:
            connection.reset()

    async def listen(self) -> None:
        """Open the proxy's port, and begin to accept connections."""
        server = await asyncio.start_server(self._took, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server  # or it would be closed with its last reference

    async def _took(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not self._passes:
                raise ConnectionRefusedError
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        except OSError:
            writer.transport.abort()
            return
        plan: Plan = {} if self._calm else self._plan(self.connections)
        self.connections += 1
        connection = _Connection(plan, (writer, far_writer), self.suffered, self.cuts)
        self._open.add(connection)
        await connection.run(reader, far_reader)
        self._open.discard(connection)


async def _opened(link: Link) -> Link:
    await link.listen()
    return link


class _Connection:
    def __init__(
        self,
        plan: Plan,
        ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
        suffered: Counter[tuple[str, str]],
        cuts: list[Cut],
    ) -> None:
        self._plan = {direction: list(troubles) for direction, troubles in plan.items()}
        self._ends = ends
        self._suffered = suffered
        self._cuts = cuts
        self._broker_port: int = ends[1].get_extra_info("sockname")[1]
        self._from_broker = Records()
        self._speaks = asyncio.Event()
        self._speaks.set()

    async def run(self, reader: asyncio.StreamReader, far_reader: asyncio.StreamReader) -> None:
        """Pass bytes in both directions until the connection ends in one direction."""
        near, far = self._ends
        ways = [
            asyncio.ensure_future(self._pass(reader, far, "to_broker")),
            asyncio.ensure_future(self._pass(far_reader, near, "from_broker")),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for end in self._ends:
            end.close()

    def calm(self) -> None:
        """Cause no more troubles on this connection through the proxy."""
        self._plan.clear()

    def reset(self) -> None:
        """End the connection through the proxy with a TCP reset in both directions."""
        for end in self._ends:
            with contextlib.suppress(OSError):
                line: socket.socket = end.get_extra_info("socket")
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: Direction) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                while (ahead := self._plan.get(direction)) and passed + len(data) >= ahead[0].at_byte:
                    trouble = ahead.pop(0)
                    before = trouble.at_byte - passed
                    await self._write(writer, data[:before], direction)
                    passed, data = passed + before, data[before:]
                    self._suffered[trouble.kind, direction] += 1
                    if trouble.kind in ENDINGS:
                        self._cuts.append(Cut(self._broker_port, time.time(), self._from_broker))
                    if await self._suffer(trouble, writer):
                        return
                await self._write(writer, data, direction)
                passed += len(data)

    async def _write(self, writer: asyncio.StreamWriter, data: bytes, direction: Direction) -> None:
        await self._speaks.wait()
        if direction == "from_broker":
            self._from_broker.pass_on(data)
        writer.write(data)
        await writer.drain()

    async def _suffer(self, trouble: Trouble, writer: asyncio.StreamWriter) -> bool:
        """Cause a planned trouble on the connection, such as a delay or a reset. Returns whether the trouble ends the
        connection."""
        match trouble.kind:
            case "delay":
                await asyncio.sleep(trouble.lasts_s)
                return False
            case "half_close":
                writer.write_eof()
                await asyncio.sleep(trouble.lasts_s)
            case "silence":
                self._speaks.clear()
                await asyncio.sleep(trouble.lasts_s)
                self.reset()
            case "reset":
                self.reset()
        return True
