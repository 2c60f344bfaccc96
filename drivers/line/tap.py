"""A tap on a live shoe's wire: the table sends a copy of all bytes to a listening program, and never waits for that
program.

The listener binds a datagram socket in the journal's folder, which belongs to the table's user alone. There it can read
every card as soon as it is drawn. It learns nothing that the journal does not hold. The table sends each piece without
waiting. If nobody listens, this costs only a check whether the socket's file exists. Pieces are numbered, so a slow
listener sees how many it has lost.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from controller.basics.errors import TableError
from drivers.line.wire import Piece, Way, lines_of, pieces_of

_log = logging.getLogger(__name__)

_MOST_BYTES = 1 << 16


def tap_of(journal: Path) -> Path:
    """Return the path of the socket at which a program can listen to the shoe's wire. It lies beside the file `journal`
    of the table."""
    return journal.with_name(f"{journal.name}.wire")


class Tap:
    """The table's end of the tap on a shoe's wire, which sends copies of the bytes. `clock_ms` returns the milliseconds
    since some fixed moment."""

    def __init__(self, path: Path, clock_ms: Callable[[], int]) -> None:
        self._path = str(path)
        self._clock_ms = clock_ms
        self._socket: socket.socket | None = None
        self._number = 0
        self._listens = False

    def tell(self, way: Way, data: bytes = b"") -> None:
        """Send a copy of the bytes that passed on the shoe's wire to the listening program, if one listens. This
        neither waits nor raises. `way` says who sent the bytes, or that the port was opened or vanished."""
        self._number += 1
        if not os.path.exists(self._path):  # noqa: PTH110  # a Path takes five times as long, three times a card
            self._note(False)
            return
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        text = "\n".join((str(self._number), *lines_of(Piece(self._clock_ms(), way, data))))
        try:
            self._socket.sendto(text.encode("ascii"), self._path)
        except BlockingIOError:
            return  # the listener is there, and sees by the numbers what it lost
        except OSError:
            self._note(False)
        else:
            self._note(True)

    def _note(self, listens: bool) -> None:
        if listens != self._listens:
            self._listens = listens
            _log.warning("the shoe's wire %s recorded", "is being" if listens else "is no longer")


class TapListener:
    """The listening program's end of the tap on a shoe's wire, a context manager.

    Raises TableError `wire_taken` if another program listens already, and `wire_tap` if the socket cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._last: int | None = None
        self.lost = 0

    def __enter__(self) -> TapListener:
        try:
            if self._is_taken():
                what = f"Another program records this shoe already: it listens at {self._path}."
                raise TableError("wire_taken", what, "End that program first: `fuser` on that name tells which it is.")
            self._path.unlink(missing_ok=True)
            former = os.umask(0o177)
            try:
                self._socket.bind(str(self._path))
            finally:
                os.umask(former)
            folder = self._path.parent.stat()
            os.chown(self._path, folder.st_uid, folder.st_gid)  # the table's user must be able to send
        except OSError as error:
            self._socket.close()
            what = f"The shoe's wire cannot be listened to at {self._path}: {error.strerror or error}."
            raise TableError("wire_tap", what, "Run this as root, or as the table's user.") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)
        self._socket.close()

    def pieces(self, within_s: float | None = None) -> Iterator[Piece]:
        """Yield what passes on the shoe's wire, as it comes, with moments of the table's clock. End if nothing came for
        `within_s` seconds.

        The attribute `lost` counts the pieces that did not arrive.
        """
        self._socket.settimeout(within_s)
        while True:
            try:
                number, *lines = self._socket.recv(_MOST_BYTES).decode("ascii").split("\n")
            except (TimeoutError, BlockingIOError):
                return
            self.lost += 0 if self._last is None else int(number) - self._last - 1
            self._last = int(number)
            yield from pieces_of(lines, "the table")

    def _is_taken(self) -> bool:
        """Return True if a running program listens on this socket already. A socket file that a killed program left
        behind does not count."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(str(self._path))
            except (FileNotFoundError, ConnectionRefusedError):
                return False
            return True
