"""The shoe's end of the serial line between a simulated shoe and the controller: a pseudo-terminal (pty) in place of
the cable, or a real serial port."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import serial

from controller.basics.errors import TableError

_PTYS = Path("/dev/pts")


_NOBODY_S = 0.02  # how long to wait before the next look whether a program has the host end open


class Line(Protocol):
    """The shoe's end of the serial line between a simulated shoe and the controller."""

    def write(self, data: bytes) -> None:
        """Send bytes to the controller, without waiting. Bytes that nobody reads are lost, as on a real cable."""

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Start a thread that calls `heard` with the bytes that the controller sends. On a line that carries nothing
        back, `heard` is never called."""


class PtyLine:
    """A pseudo-terminal (pty) in place of the cable between a simulated shoe and a controller. The controller opens the
    symbolic link `link`, which points to a raw terminal.

    Bytes that are written while no program has the link open are dropped. Bytes for which the pty has no room are
    dropped too. Bytes that are unread when a program closes the link stay for the next program that opens it, unless
    that program flushes its input on opening, as pyserial does.

    A signal may end the program between any two steps. To remove the link in that case too, make the line with
    `plugged=False`, arrange that `unplug` is called at the end, and only then call `plug`.

    `unplug_at_shoe` pulls the plug at the shoe: the device stays, and no byte gets through in either direction. If
    `on_plug` is set, it is called with True when that plug goes in and with False when it goes out, so that an input of
    the table can show the plug.
    """

    def __init__(self, link: Path, *, plugged: bool = True) -> None:
        self._link = link
        self._master: int | None = None
        self._device = ""
        self._in_shoe = True
        self.on_plug: Callable[[bool], None] | None = None
        self._heard: Callable[[bytes], None] | None = None
        self._ears: tuple[threading.Thread, int] | None = None  # the thread that listens, and the pipe that ends it
        if plugged:
            self.plug()

    def plug(self) -> None:
        """Make the serial device appear under its name. Each call makes a new pty.

        Raises TableError `sim_port_taken` if something else has that name, and `sim_port` if the link cannot be made.
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
        self._open_ears()

    def unplug(self) -> None:
        """Make the serial device vanish: the link is removed, and a program that has the device open loses it."""
        if self._master is None:
            return
        if self._link.is_symlink() and str(self._link.readlink()) == self._device:
            self._link.unlink()
        self._close_ears()
        os.close(self._master)
        self._master = None

    def unplug_at_shoe(self) -> None:
        """Pull the cable's plug at the shoe. The serial device stays, but no byte gets through."""
        self._move_plug(False)

    def plug_at_shoe(self) -> None:
        """Put the cable's plug back into the shoe, so that bytes get through."""
        self._move_plug(True)

    def _move_plug(self, is_in: bool) -> None:
        self._in_shoe = is_in
        if self.on_plug is not None:
            self.on_plug(is_in)

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Start a thread that calls `heard` with the bytes that a program sends to the shoe."""
        self._heard = heard
        if self._master is not None:
            self._open_ears()

    def _open_ears(self) -> None:
        if self._heard is None or self._master is None or self._ears is not None:
            return
        ended, end = os.pipe()
        thread = threading.Thread(target=self._hear, args=(self._master, ended), name="shoe's ears", daemon=True)
        self._ears = thread, end
        thread.start()

    def _close_ears(self) -> None:
        if self._ears is not None:
            thread, end = self._ears
            self._ears = None
            os.close(end)
            if thread is not threading.current_thread() and thread.is_alive():  # a signal may come before its start
                thread.join()

    def _hear(self, master: int, ended: int) -> None:
        """Read the bytes that a program sends to the shoe from the pty `master`. Return when the other end of the pipe
        `ended` is closed."""
        nobody = False
        with open(ended, "rb"):
            while True:
                ends = [ended] if nobody else [ended, master]
                try:
                    ready, _, _ = select.select(ends, [], [], _NOBODY_S if nobody else None)
                except OSError:  # a signal ended the program while this thread began: nobody waited for it
                    return
                if ended in ready:
                    return
                nobody = False
                try:
                    data = os.read(master, 4096)
                except BlockingIOError:
                    continue
                except OSError:  # no program has the host end open
                    nobody = True
                    continue
                if self._in_shoe and self._heard is not None:
                    self._heard(data)

    @property
    def is_plugged(self) -> bool:
        """True while the serial device exists."""
        return self._master is not None

    @property
    def heard(self) -> bool:
        """True while a program has the serial device open."""
        if self._master is None:
            return False
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def write(self, data: bytes) -> None:
        """Send bytes to the program that has the serial device open. The bytes are lost if the line is unplugged or
        full, or if no program has it open."""
        if self._master is not None and self._in_shoe and self.heard:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, data)


class SerialLine:
    """The shoe's end of a real serial cable. `port` is a serial port's name or a pyserial URL. Raises TableError
    `sim_port` if the port cannot be opened."""

    _end = False

    def __init__(self, port: str, baud: int) -> None:
        try:
            self._port = serial.serial_for_url(port, baudrate=baud, timeout=0)
        except (OSError, ValueError) as error:
            raise TableError(
                "sim_port", f"the simulated shoe cannot open {port}: {error}", "check the port's name and its rights"
            ) from error

    def write(self, data: bytes) -> None:
        """Send bytes over the serial cable."""
        self._port.write(data)

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Start a thread that calls `heard` with the bytes that the controller sends."""

        def hear() -> None:
            while not self._end:
                try:
                    if data := self._port.read(max(1, self._port.in_waiting)):
                        heard(data)
                except (OSError, TypeError):  # the port was closed
                    return

        self._port.timeout = _NOBODY_S
        threading.Thread(target=hear, name="shoe's ears", daemon=True).start()

    def unplug(self) -> None:
        """Close the serial port."""
        self._end = True
        self._port.close()
