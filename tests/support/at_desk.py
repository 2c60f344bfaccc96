"""A person at a pit's desk, played by a thread of the test's process. The thread has the credentials of the person's
user account while it connects.

The C library gives new credentials to every thread of a process. The kernel's own calls, which this module uses, give
them to one thread alone, so that no process has to be started for each request of a person.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controller.contract.signing import Signer
from controller.pit.reference.desk import Desk
from controller.pit.reference.desk_socket import open_desk
from controller.pit.reference.ledger import Ledger

_SETGROUPS, _SETRESGID, _SETRESUID = {"x86_64": (116, 119, 117), "aarch64": (159, 149, 147)}[platform.machine()]
_LIBC = ctypes.CDLL(None, use_errno=True)
ANSWERS_WITHIN_S = 20


@contextmanager
def practising(ledger: Ledger, at: Path, key: Signer) -> Iterator[Path]:
    """Open a pit's desk for practice on this ledger: at such a desk each command names the person who decides, instead
    of taking the user account. Yields the path of the desk's control socket."""
    control = at.with_name(f"{at.name}.control")
    with open_desk(control, Desk(at, ledger.session(), key, {}, practice=True)):
        yield control


def connected_as(uid: int, control: Path, groups: Sequence[int] = ()) -> socket.socket:
    """Connect to the control socket `control`. To the kernel, the connecting process is the user account `uid`, a
    member of `groups`. Returns the connection."""
    control.parent.chmod(0o755)
    folder = os.open(control.parent, os.O_RDONLY | os.O_DIRECTORY)  # the account may not pass the folders above
    channel = socket.socket(socket.AF_UNIX)
    channel.settimeout(ANSWERS_WITHIN_S)
    failed: list[OSError] = []

    def connect() -> None:
        try:
            for call in (
                (_SETGROUPS, len(groups), (ctypes.c_uint32 * len(groups))(*groups)),
                (_SETRESGID, uid, uid, uid),
                (_SETRESUID, uid, uid, uid),
            ):
                if _LIBC.syscall(*call):
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            channel.connect(f"/proc/self/fd/{folder}/{control.name}")
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    os.close(folder)
    if failed:
        channel.close()
        raise failed[0]
    return channel


def said(channel: socket.socket, request: object) -> dict[str, Any]:
    """Send a request on this connection, and return the desk's answer. A request that is a text is sent unchanged, so
    that it may be malformed."""
    channel.sendall((request if isinstance(request, str) else json.dumps(request)).encode() + b"\n")
    with channel.makefile("rb") as answers:
        answer: dict[str, Any] = json.loads(answers.readline())
    return answer


def ask_desk(uid: int, control: Path, groups: Sequence[int], **request: object) -> dict[str, Any]:
    """Send the desk a request as the user account `uid`, a member of `groups`, and return the desk's answer."""
    with connected_as(uid, control, groups) as channel:
        return said(channel, request)
