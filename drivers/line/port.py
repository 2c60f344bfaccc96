"""The serial port of a card-reading shoe of any brand: passes on bytes as they come, and tells whether the port is
open.

The port is a device (`/dev/serial/by-id/...`, a symbolic link that vanishes with the adapter and comes back) or
`socket://HOST:PORT`, a serial server on the network. A thread opens the port, because a network shoe can take seconds.
The event loop reads the port. A port that vanishes is opened again under the same name for as long as `run` runs.

pyserial opens and sets up the port, and reads its modem lines. Its `read` can block or spin, so bytes are read from and
written to the file descriptor. Opening the port throws away the bytes that wait to be read. So if the shoe dealt while
the port was closed, only a gap in its report numbers shows that. An open port cannot tell that a cable was pulled
between adapter and shoe: `shoe_on_line` asks the shoe, or looks at a modem line.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import termios
from collections.abc import Callable, Iterator

import serial

from controller.basics.errors import TableError

_log = logging.getLogger(__name__)

NETWORK = "socket://"
MODEM_LINES = ("cts", "dsr", "dcd")
"""The modem lines that an adapter reads, in lower case."""

_READ_SIZE = 4096

_WHAT_TO_DO = {
    errno.ENOENT: "no such device; plug the adapter in, or set [shoe] port to a name in /dev/serial/by-id",
    errno.ENODEV: "the device has gone; plug the adapter in again",
    errno.EIO: "the device has gone; plug the adapter in again",
    errno.ENXIO: "the device has gone; plug the adapter in again",
    errno.EACCES: "permission denied; add the daemon's user to the device's group, usually dialout",
    errno.EAGAIN: "another program has locked the device; `fuser -v` on the device names that program: stop it",
    errno.EBUSY: "another program uses the device alone; `fuser -v` on the device names that program: stop it",
}


class ShoePort:
    """The serial port of one shoe. While `run` runs, the port is opened, and opened again whenever it vanishes.

    `url` is `[shoe] port` of the table file. A network shoe ignores `baud`. `on_bytes` gets 1 to 4096 bytes as they
    come. `on_link(up, why)` is called with the first result of opening and with every change after it, but not when
    `run` is cancelled; `why` is a sentence for people. The event loop calls both functions, and an exception from them
    ends `run`. While the port is closed, it is tried again after `first_retry_s`. That time doubles up to
    `longest_retry_s`, and starts anew once bytes have come. So a serial server that takes each connection and drops it
    is not flooded with attempts. `modem_line` is the one of `MODEM_LINES` that will be read, or None. Raises TableError
    for a URL that is neither a device nor `socket://`; `run` raises TableError if the port cannot read the modem line.
    """

    def __init__(
        self,
        url: str,
        baud: int,
        on_bytes: Callable[[bytes], None],
        on_link: Callable[[bool, str], None],
        first_retry_s: float = 0.2,
        longest_retry_s: float = 5.0,
        modem_line: str | None = None,
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
        self._modem_line = modem_line
        self._open_port: serial.Serial | None = None
        self._link: bool | None = None  # the last link that on_link got
        self._settle_down()

    async def run(self) -> None:
        """Keep the shoe's port open and read it, until cancelled. Close the port at the end."""
        while True:
            try:
                port = await self._open()
                try:
                    self._check_modem_line(port)
                    self._open_port = port
                    self._tell(True, f"the shoe's port {self._url} is open")
                    await self._read(port.fileno())
                finally:
                    self._open_port = None
                    # Not on the loop: closing a device waits for output, and pyserial sleeps after closing a socket.
                    await asyncio.to_thread(port.close)
            except _LinkDownError as down:
                self._tell(False, str(down))
            await asyncio.sleep(next(self._retries_s))

    def write(self, data: bytes) -> None:
        """Send bytes to the shoe. If the port is not open, or its output buffer is full, bytes are lost without an
        error."""
        if self._open_port is not None:
            with contextlib.suppress(OSError):  # a port that is gone is noticed where it is read
                os.write(self._open_port.fileno(), data)

    def modem_level(self) -> bool | None:
        """Return True if the port's modem line is on, and False if it is off. Return None if the port is not open or no
        modem line is to be read. Any thread may call this."""
        port = self._open_port
        if port is None or self._modem_line is None:
            return None
        try:
            return bool(getattr(port, _PYSERIAL[self._modem_line]))
        except (OSError, TypeError, ValueError):  # the port goes at this moment
            return None

    def _check_modem_line(self, port: serial.Serial) -> None:
        """Raise TableError if this port cannot read its modem line, because nobody would then notice that the shoe is
        gone. Raise _LinkDownError if the port has just gone."""
        if self._modem_line is None:
            return
        try:
            getattr(port, _PYSERIAL[self._modem_line])
        except OSError as error:
            if error.errno in (errno.EIO, errno.ENODEV, errno.ENXIO):
                raise _LinkDownError(_gone(self._url, error.strerror)) from error
            raise unreadable_modem_line(self._url, self._modem_line, error) from error

    async def _open(self) -> serial.Serial:
        opening = asyncio.get_running_loop().run_in_executor(None, _open_port, self._url, self._baud)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_late)  # the thread cannot be stopped, and may still open the port
            raise
        except (OSError, termios.error) as error:  # termios.error: a device that goes while it is set up
            raise _LinkDownError(_why_not_open(self._url, error)) from error

    async def _read(self, descriptor: int) -> None:
        """Pass on the bytes that come from the port until the port is gone. Then raise _LinkDownError."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def read() -> None:
            try:
                self._hand_on(descriptor)
            except Exception as error:  # noqa: BLE001  # whatever was raised, `run` raises it again
                loop.remove_reader(descriptor)
                if not ended.done():
                    ended.set_exception(error)

        loop.add_reader(descriptor, read)
        try:
            await ended
        finally:
            loop.remove_reader(descriptor)

    def _hand_on(self, descriptor: int) -> None:
        """Read the bytes that wait in the port, and pass them on. Raises _LinkDownError if the port is gone."""
        try:
            data = os.read(descriptor, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._lost(error.strerror) from error
        if not data:  # ready and empty: the device was unplugged, or the far end hung up
            raise self._lost("the far end closed it")
        self._settle_down()
        self._on_bytes(data)

    def _lost(self, how: str | None) -> _LinkDownError:
        """Tell the listener that the port is gone, and return the exception that the caller then raises.

        The listener is told before the port is closed, because closing takes a while.
        """
        why = _gone(self._url, how)
        self._tell(False, why)
        return _LinkDownError(why)

    def _tell(self, up: bool, why: str) -> None:
        """Log that the port is open (`up`) or not, and tell the listener if that has changed.

        A reason that is already logged for this outage is logged again only at debug level.
        """
        loudly = logging.INFO if up else logging.WARNING
        _log.log(logging.DEBUG if why in self._logged else loudly, "%s", why)
        self._logged.add(why)
        if up != self._link:
            self._link = up
            self._on_link(up, why)

    def _settle_down(self) -> None:
        """Take note that the port works. After this, the next outage is logged in full, and its attempts begin again
        with the shortest wait."""
        self._logged: set[str] = set()
        self._retries_s = _doubling(self._first_retry_s, self._longest_retry_s)


_PYSERIAL = {"cts": "cts", "dsr": "dsr", "dcd": "cd"}


def unreadable_modem_line(url: str, line: str, error: OSError) -> TableError:
    """Return a TableError that says that the port `url` cannot read its modem line, and what a person can do about
    it."""
    return TableError(
        "shoe_present",
        f"the shoe's port {url} cannot tell its modem line {line.upper()}, which [shoe] present names ({error})",
        "use an adapter with modem lines; or wire the shoe's supply to an input of the header and write "
        'present = "input"; or remove present: docs/wiring.md, A plug pulled at the shoe',
    )


class _LinkDownError(Exception):
    """The error that the shoe's port is not open. Its text says why and what to do."""


def _open_port(url: str, baud: int) -> serial.Serial:
    """Open the shoe's port, and block until it is open. A device is locked, so that no second controller can open it. A
    network socket has no lock."""
    port = serial.serial_for_url(url, baudrate=baud, timeout=0, exclusive=True)
    if url.startswith(NETWORK):
        _keep_alive(port.fileno())
    return port


def _keep_alive(descriptor: int) -> None:
    """Let the kernel probe a silent network connection. So a serial server that loses its power is noticed after about
    11 s."""
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
        do = "check that the serial server has power, is on the network, and has no other client"
    else:
        do = _WHAT_TO_DO.get(getattr(error, "errno", None) or 0, "check that [shoe] port names a serial device")
    return f"cannot open the shoe's port {url}: {do} ({error})"


def _gone(url: str, how: str | None) -> str:
    return f"the shoe's port {url} went away ({how}); check cable and adapter; the table opens the port again by itself"
