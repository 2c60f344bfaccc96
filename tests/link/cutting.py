"""A proxy between a client and its MQTT broker that breaks the connections on request. It forwards bytes without
parsing them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

Ending = Literal["reset", "end", "half", "garbage"]
"""A reset both ways, an end both ways, an end towards the broker alone, or bytes of nobody's towards the broker."""

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is not sent yet is thrown away, and the peer gets a reset


class CuttingProxy:
    """A proxy that listens on `port` and forwards all bytes to a broker. `cut` breaks the connections."""

    port: int

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._ends: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []

    async def took(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one new client: forward the client's bytes to the broker, and the broker's bytes to the client."""
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        ends = writer, far_writer
        self._ends.append(ends)
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        for end in ends:
            end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # the latter after an end of ours
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()

    def cut(self, ending: Ending) -> None:
        """Break every connection in the given way: "reset" (a TCP reset), "end" (a proper end), "half" (an end only
        towards the broker), or "garbage" (random bytes to the broker)."""
        ends, self._ends = self._ends, []
        for near, far in ends:
            match ending:
                case "reset":
                    for end in (near, far):
                        line: socket.socket = end.get_extra_info("socket")
                        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                        end.transport.abort()
                case "end":
                    near.close()
                    far.close()
                case "half":
                    far.write_eof()
                case "garbage":
                    far.write(b"garbage" * 10)


@asynccontextmanager
async def cutting_proxy(to_port: int) -> AsyncIterator[CuttingProxy]:
    """Run a proxy to the broker on this port of the machine while the `with` block runs."""
    proxy = CuttingProxy(to_port)
    server = await asyncio.start_server(proxy.took, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    yield proxy
    server.close()
