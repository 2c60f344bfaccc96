"""A TCP proxy between a client and the MQTT broker, which passes bytes on but cuts, freezes and slows connections at
random.

A real network causes the same trouble, and a pit and a table must be able to bear it. The connection may use TLS,
because the proxy does not look into the bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections import Counter

from controller.basics.errors import TableError

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is not sent yet is thrown away, and the peer gets a reset
_CHUNK_BYTES = 65536
_TROUBLE_AFTER_S = 0.5, 6.0
_FROZEN_S = 0.3, 4.0
_SLOW_S = 0.05, 0.4
_KINDS = ("cut", "cut", "freeze", "slow")


class TroubledLink:
    """A TCP proxy from a port of this machine to the MQTT broker, which cuts, freezes and slows connections at random.
    While `calm` is True, the proxy causes no trouble. At first `calm` is True.

    `came` counts the connections, and `suffered` maps each kind of trouble to how often it was caused. The proxy runs
    in its own thread until `close` is called. If `port` is 0, any free port is taken. Raises TableError `port_unusable`
    if the port is not free.
    """

    def __init__(self, broker: tuple[str, int], port: int = 0) -> None:
        self.calm, self.came = True, 0
        self.suffered: Counter[str] = Counter()
        self._broker = broker
        self._loop = asyncio.new_event_loop()
        try:
            self._server = self._loop.run_until_complete(asyncio.start_server(self._took, "127.0.0.1", port))
        except OSError as error:
            self._loop.close()
            what = f"The port {port} of this machine cannot be used: {error}."
            raise TableError("port_unusable", what, "Name a free port, or end the program that has it.") from error
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, name="troubled link", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End every connection through the proxy, and the proxy's thread."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        ends = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)

    async def _took(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._broker)
        except OSError:
            writer.transport.abort()
            return
        self.came += 1
        ends = writer, far_writer
        for end in ends:
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        passes, slow = asyncio.Event(), [0.0]
        passes.set()
        tasks = [
            asyncio.ensure_future(_pass(reader, far_writer, passes, slow)),
            asyncio.ensure_future(_pass(far_reader, writer, passes, slow)),
            asyncio.ensure_future(self._trouble(ends, passes, slow)),
        ]
        with contextlib.suppress(asyncio.CancelledError):  # the kit ends
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for end in ends:
            end.transport.abort()

    async def _trouble(self, ends: tuple[asyncio.StreamWriter, ...], passes: asyncio.Event, slow: list[float]) -> None:
        """Slow or freeze one connection through the proxy at random times, and cut it in the end.

        `ends` are the connection's two sockets. `passes` is cleared while the connection is frozen. `slow[0]` is the
        delay of its bytes in seconds.
        """
        while True:
            await asyncio.sleep(random.uniform(*_TROUBLE_AFTER_S))
            slow[0] = 0.0
            if self.calm:
                continue
            kind = random.choice(_KINDS)
            self.suffered[kind] += 1
            if kind == "slow":
                slow[0] = random.uniform(*_SLOW_S)
            elif kind == "freeze":
                passes.clear()
                await asyncio.sleep(random.uniform(*_FROZEN_S))
                passes.set()
            else:
                for end in ends:
                    with contextlib.suppress(OSError):
                        end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return


async def _pass(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passes: asyncio.Event, slow: list[float]
) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            await asyncio.sleep(slow[0])
            await passes.wait()
            writer.write(data)
            await writer.drain()
