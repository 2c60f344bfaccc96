"""Another operating-system user at a table's control socket, played by a process that starts as root and becomes that
user before it connects."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534

# The folder is opened before, as the user may not pass those above it: `/proc/self/fd` leads past them.
_PROGRAM = """
import json, os, socket, sys
folder, name, uid, gid, request = sys.argv[1:]
there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
with socket.socket(socket.AF_UNIX) as channel:
    os.setgroups([])
    os.setresgid(int(gid), int(gid), int(gid))
    os.setresuid(int(uid), int(uid), int(uid))
    channel.settimeout(20)
    channel.connect(f"/proc/self/fd/{there}/{name}")
    channel.sendall(request.encode() + b"\\n")
    sys.stdout.buffer.write(channel.makefile("rb").readline())
"""

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


def ask_as(uid: int, control: Path, request: dict[str, object], group: int = 0) -> dict[str, Any]:
    """Send the table a request as the user `uid`, who is a member of `group`, and return the table's answer. If `group`
    is 0, the user is in the socket's own group. Raises PermissionError if the user may not connect."""
    control.parent.chmod(0o750)
    command = [
        sys.executable,
        "-c",
        _PROGRAM,
        str(control.parent),
        control.name,
        str(uid),
        str(group),
        json.dumps(request),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    if "PermissionError" in done.stderr:
        raise PermissionError(done.stderr)
    done.check_returncode()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
