"""The control socket of a running pit, on which `pitctl` sends people's decisions. A separate thread serves the socket
while the pit leads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from socket import socket

from msgspec.json import encode

from controller.contract.wire.callers import Connections, bound, peer_of
from controller.pit.reference.desk import Answer, Desk

_LONGEST_LINE = 4096
_WAITING = 100
_ENDS_WITHIN_S = 5.0
_FOR_EVERYBODY = 0o666  # whoever may not decide is refused, and that is kept


@contextmanager
def open_desk(path: Path, desk: Desk) -> Iterator[None]:
    """Context manager that lets the desk answer requests on the socket `path` while the context lasts. Raises
    TableError `control_socket` if the socket cannot be opened."""
    channel = bound(path, _FOR_EVERYBODY, "--control")
    channel.listen(_WAITING)  # from now on a person's command waits for its answer
    loop = asyncio.new_event_loop()
    over = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(_serve(channel, desk, over),), daemon=True)
    thread.start()
    try:
        yield
    finally:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(over.set)
        thread.join(_ENDS_WITHIN_S)
        path.unlink(missing_ok=True)


async def _serve(channel: socket, desk: Desk, over: asyncio.Event) -> None:
    converse = partial(_converse, desk, Connections())
    async with await asyncio.start_unix_server(converse, sock=channel, limit=_LONGEST_LINE):
        await over.wait()


async def _converse(
    desk: Desk, connections: Connections, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    async with connections.of(writer) as connection:
        if connection is None:
            return
        peer = peer_of(writer.get_extra_info("socket"))
        with suppress(ConnectionError, TimeoutError, ValueError):  # gone, silent for long, or a line that is too long
            while line := await connection.line(reader):
                connection.acting = True
                answer: Answer = desk.answer(peer, line)
                connection.acting = False
                await connection.say(encode(answer) + b"\n")
