"""The serial port of a card shoe, whatever the shoe speaks: bytes as they come, and whether the line is there.

The port is a device (`/dev/serial/by-id/...`, a symlink that vanishes with the adapter and comes back) or
`socket://HOST:PORT`, a serial server on the network. It is opened in a thread, since a network shoe can take seconds,
and read on the event loop. A port that vanishes is opened again under the same name for as long as `run` runs.

pyserial opens and sets up the port; its `read` can wait or spin, so bytes are read from the descriptor. Nothing is ever
sent: no shoe is told anything.
Opening throws away whatever was waiting to be read: a shoe that dealt while the port was closed shows only as a gap in
its sequence numbers, if it has any. What a device cannot tell is a cable pulled between adapter and shoe.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import termios
from collections.abc import Callable, Iterator

import serial

from controller.errors import TableError

_log = logging.getLogger(__name__)

NETWORK = "socket://"
_READ_SIZE = 4096

_WHAT_TO_DO = {
    errno.ENOENT: "no such device; plug the adapter in, or set [shoe] port to a name in /dev/serial/by-id",
    errno.ENODEV: "the device has gone; plug the adapter in again",
    errno.EIO: "the device has gone; plug the adapter in again",
    errno.ENXIO: "the device has gone; plug the adapter in again",
    errno.EACCES: "permission denied; add the service's user to the device's group, usually dialout",
    errno.EAGAIN: "another program has it locked; `fuser -v` on the device names it, stop that program",
    errno.EBUSY: "another program has it to itself; `fuser -v` on the device names it, stop that program",
}


class ShoePort:
    """One shoe's port, opened and re-opened while `run` runs.

    `url` as in the table file's `[shoe] port`; `baud` is ignored by a network shoe. `on_bytes` gets 1 to 4096 bytes as
    they come. `on_link(up, why)` is told the first outcome and every change after it, but not that `run` was stopped;
    `why` is a sentence for people. Both are called on the event loop; what they raise ends `run`. While down, opening
    is tried again after `first_retry_s`, doubling up to `longest_retry_s`, and starting anew once bytes have come: a
    serial server that takes a connection only to drop it is not hammered. Raises TableError for a URL that is neither
    a device nor `socket://`.
    """

    def __init__(
        self,
        url: str,
        baud: int,
        on_bytes: Callable[[bytes], None],
        on_link: Callable[[bool, str], None],
        first_retry_s: float = 0.2,
        longest_retry_s: float = 5.0,
    ) -> None:
        if "://" in url and not url.startswith(NETWORK):
            raise TableError(
                "shoe_port",
                f"the shoe's port {url} is neither a device nor {NETWORK}HOST:PORT",
                "write one of the two as [shoe] port in the table file",
            )
        self._url = url
        self._baud = baud
        self._on_bytes = on_bytes
        self._on_link = on_link
        self._first_retry_s = first_retry_s
        self._longest_retry_s = longest_retry_s
        self._link: bool | None = None  # what on_link was last told
        self._settle_down()

    async def run(self) -> None:
        """Keep the port open and read it, until cancelled. Lets go of the port before it ends."""
        while True:
            try:
                port = await self._open()
                try:
                    self._tell(True, f"the shoe's port {self._url} is open")
                    await self._read(port.fileno())
                finally:
                    # Off the loop: closing a device waits for output, and pyserial sleeps after closing a socket.
                    await asyncio.to_thread(port.close)
            except _LinkDownError as down:
                self._tell(False, str(down))
            await asyncio.sleep(next(self._retries_s))

    async def _open(self) -> serial.Serial:
        opening = asyncio.get_running_loop().run_in_executor(None, _open_port, self._url, self._baud)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_late)  # the thread cannot be stopped, and may open the port yet
            raise
        except (OSError, termios.error) as error:  # the latter from a device that goes while it is set up
            raise _LinkDownError(_why_not_open(self._url, error)) from error

    async def _read(self, descriptor: int) -> None:
        """Hand on bytes until the port is gone, which raises _LinkDownError."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def read() -> None:
            try:
                self._hand_on(descriptor)
            except Exception as error:  # noqa: BLE001  # whatever it is, it goes on in `run`
                loop.remove_reader(descriptor)
                if not ended.done():
                    ended.set_exception(error)

        loop.add_reader(descriptor, read)
        try:
            await ended
        finally:
            loop.remove_reader(descriptor)

    def _hand_on(self, descriptor: int) -> None:
        """Hand on what there is to read, if only the news that the port is gone, which raises _LinkDownError."""
        try:
            data = os.read(descriptor, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._lost(error.strerror) from error
        if not data:  # readiness with no data: the device was unplugged, or the far end hung up
            raise self._lost("it closed")
        self._settle_down()
        self._on_bytes(data)

    def _lost(self, how: str | None) -> _LinkDownError:
        """The port is gone. That is told at once: closing it takes a while, in which nothing is heard already."""
        why = _gone(self._url, how)
        self._tell(False, why)
        return _LinkDownError(why)

    def _tell(self, up: bool, why: str) -> None:
        """Log each new `why` of a bad spell loudly and its repeats quietly; pass on changes of the link."""
        loudly = logging.INFO if up else logging.WARNING
        _log.log(logging.DEBUG if why in self._logged else loudly, "%s", why)
        self._logged.add(why)
        if up != self._link:
            self._link = up
            self._on_link(up, why)

    def _settle_down(self) -> None:
        """The link works: the next bad spell is logged and retried from the start."""
        self._logged: set[str] = set()
        self._retries_s = _doubling(self._first_retry_s, self._longest_retry_s)


class _LinkDownError(Exception):
    """The port is not open, or no longer; the text says why and what to do."""


def _open_port(url: str, baud: int) -> serial.Serial:
    """Open the port, blocking. The lock keeps a second controller off a device; a socket has none."""
    port = serial.serial_for_url(url, baudrate=baud, timeout=0, exclusive=True)
    if url.startswith(NETWORK):
        _keep_alive(port.fileno())
    return port


def _keep_alive(descriptor: int) -> None:
    """Have the kernel probe a silent connection: a serial server that lost its power is noticed after some 11 s."""
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)


def _close_late(opening: asyncio.Future[serial.Serial]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _doubling(first_s: float, longest_s: float) -> Iterator[float]:
    while True:
        yield first_s
        first_s = min(2 * first_s, longest_s)


def _why_not_open(url: str, error: Exception) -> str:
    if url.startswith(NETWORK):
        do = "check that the serial server is on, on the network, and has no other client"
    else:
        do = _WHAT_TO_DO.get(getattr(error, "errno", None) or 0, "check that [shoe] port names a serial device")
    return f"cannot open the shoe's port {url}: {do} ({error})"


def _gone(url: str, how: str | None) -> str:
    return f"the shoe's port {url} went away ({how}); check the cable and the adapter, it is opened again by itself"
