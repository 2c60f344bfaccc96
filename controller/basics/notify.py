"""Tells systemd that the table is ready, alive or stopping, in one datagram each. Without systemd nothing is sent."""

from __future__ import annotations

import logging
import os
import socket

_log = logging.getLogger(__name__)


def notify(state: str) -> None:
    """Send a notice such as `READY=1`, `WATCHDOG=1` or `STOPPING=1` to systemd. Does nothing if systemd has not asked
    for notices.

    This function never blocks, because a table must not stop when nobody reads the notices.
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as channel:
        try:
            channel.connect("\0" + address[1:] if address.startswith("@") else address)
            channel.sendall(state.encode())
        except OSError as error:
            _log.warning("%s could not be told to %s: %s", state, address, error)
