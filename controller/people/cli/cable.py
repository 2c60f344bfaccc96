"""A simulated network cable: it carries TCP connections from one port of this machine to another. A test or the demo
can pull it while the programs at both ends run."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

_HOST = "127.0.0.1"
_BYTES = 65536


class NetworkCable:
    """A simulated network cable, which carries TCP connections from `port` to `to_port` of this machine. A new cable is
    plugged in; `pull` unplugs it."""

    def __init__(self, port: int, to_port: int) -> None:
        self.port = port
        self._to_port = to_port
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self.plug()

    def plug(self) -> None:
        """Plug the simulated network cable in. Does nothing if it is plugged in already."""
        if self._ends:
            return
        listener = socket.create_server((_HOST, self.port))
        self._ends = [listener]
        threading.Thread(target=self._answer, args=(listener,), name="cable", daemon=True).start()

    def pull(self) -> None:
        """Pull the simulated network cable: close every connection at both ends immediately, and accept no new
        connection."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # this also wakes the thread that waits for it
            end.close()

    def _answer(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection((_HOST, self._to_port))
                for end in (near, far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    if listener not in self._ends:  # the cable was pulled meanwhile
                        near.close()
                        far.close()
                        return
                    self._ends += [near, far]
                for from_, to in ((near, far), (far, near)):
                    threading.Thread(target=_carry, args=(from_, to), name="cable", daemon=True).start()


def _carry(from_: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while data := from_.recv(_BYTES):
            to.sendall(data)
    with suppress(OSError):
        to.shutdown(socket.SHUT_RDWR)
