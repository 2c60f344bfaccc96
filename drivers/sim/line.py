"""The shoe's end of its line: a pty that stands in for the cable, or a real serial port."""

from __future__ import annotations

import contextlib
import os
import select
import tty
from pathlib import Path
from typing import Protocol

import serial

from controller.errors import TableError

_PTYS = Path("/dev/pts")


class Line(Protocol):
    """The shoe's end of a serial line. Only the shoe writes on that line."""

    def write(self, data: bytes) -> None:
        """Put bytes on the line, without waiting. As on a wire, bytes that nobody reads are lost."""


class PtyLine:
    """A pty whose host end is a raw terminal behind the symbolic link `link`.

    Bytes written while no program has the host end open are dropped; so are bytes for which the pty has no room. Bytes
    left unread when a program closes its end stay for the next program that opens it, unless that program flushes its
    input on opening, as pyserial does.

    Where a signal may end the program, make it with `plugged=False`, see to it that `unplug` comes in the end, and only
    then `plug` it: between any two steps the signal may come.
    """

    def __init__(self, link: Path, *, plugged: bool = True) -> None:
        self._link = link
        self._master: int | None = None
        self._device = ""
        if plugged:
            self.plug()

    def plug(self) -> None:
        """Make the device appear under its name, with a new pty each time.

        Raises TableError: `sim_port_taken` where something else has that name, `sim_port` where it cannot be made.
        """
        if self._link.exists() and self._link.resolve().parent != _PTYS:
            raise TableError(
                "sim_port_taken",
                f"{self._link} exists and is not a pty, so the simulated shoe does not replace it",
                "give the simulated shoe another `[shoe] port` in the table file",
            )
        self._master, slave = os.openpty()
        os.set_blocking(self._master, False)
        tty.setraw(slave)
        self._device = os.ttyname(slave)
        os.close(slave)
        fresh = self._link.with_name(f"{self._link.name}.{os.getpid()}")
        try:
            fresh.symlink_to(self._device)
            fresh.replace(self._link)
        except OSError as error:
            self.unplug()
            raise TableError(
                "sim_port",
                f"the simulated shoe cannot appear as {self._link}: {error}",
                "set `[shoe] port` in the table file to a name in a folder that you may write to",
            ) from error

    def unplug(self) -> None:
        """Make the device vanish: the link goes, and a program that has the host end open loses it."""
        if self._master is None:
            return
        if self._link.is_symlink() and str(self._link.readlink()) == self._device:
            self._link.unlink()
        os.close(self._master)
        self._master = None

    @property
    def heard(self) -> bool:
        """Whether a program has the host end open."""
        if self._master is None:
            return False
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def write(self, data: bytes) -> None:
        """Put bytes on the line. They are lost where the line is unplugged, or full, or nobody has it open."""
        if self._master is not None and self.heard:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, data)


class SerialLine:
    """The shoe's end of a real cable, on a port name or pyserial URL. Raises TableError `sim_port`."""

    def __init__(self, port: str, baud: int) -> None:
        try:
            self._port = serial.serial_for_url(port, baudrate=baud, timeout=0)
        except (OSError, ValueError) as error:
            raise TableError(
                "sim_port", f"the simulated shoe cannot open {port}: {error}", "check the port's name and its rights"
            ) from error

    def write(self, data: bytes) -> None:
        """Put bytes on the cable."""
        self._port.write(data)

    def unplug(self) -> None:
        """Close the port."""
        self._port.close()
