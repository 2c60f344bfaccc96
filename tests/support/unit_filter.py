"""Runs a program under the filter of system calls that a systemd unit sets, as systemd would:

python -m tests.support.unit_filter UNIT PROGRAM ARGUMENT...

libseccomp sets the filter, which needs neither root nor an init, and holds for the program and all that it starts.
"""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000  # libseccomp's SCMP_ACT_KILL_PROCESS, …_ERRNO, …_ALLOW


_LISTS = ("EnvironmentFile", "SystemCallFilter", "DeviceAllow")
"""The keys that a unit gives more than once; each adds to those before. Any other key given twice is an error."""


class _Unit(ConfigParser):
    def __init__(self) -> None:
        super().__init__(interpolation=None)

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def read_unit(path: Path) -> ConfigParser:
    """Read a systemd unit's file by section and key. If a key is given several times, its value has one line for each
    time."""
    lines: list[str] = []
    values: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        key, _, value = line.partition("=")
        if key in _LISTS and key in values:
            values[key].append(value)
        else:
            lines.append(line)
            if key in _LISTS:
                values[key] = [value]
    unit = _Unit()
    unit.read_string("\n".join(lines))
    for key, each in values.items():
        unit["Service"][key] = "\n".join(each)
    return unit


def allowed_calls(filters: str) -> set[str]:
    """Return the names of the system calls that `SystemCallFilter=` allows. `filters` has one line for each time that
    the unit gives the key."""
    first, *rest = filters.splitlines()
    assert not first.startswith("~"), "a filter begins with what is allowed"
    allowed = _calls(f"@default {first}")  # systemd's own: what every program needs to begin and to end
    for line in rest:
        allowed = allowed - (_calls(line[1:]) - _calls("@default")) if line.startswith("~") else allowed | _calls(line)
    return allowed


def _calls(words: str) -> set[str]:
    told = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True).stdout
    sets: dict[str, list[str]] = {}
    for line in told.splitlines():
        if line.startswith("@"):
            members = sets.setdefault(line, [])
        elif line.startswith("    ") and not line.lstrip().startswith("#"):
            members.append(line.strip())
    calls: set[str] = set()
    unfolded = words.split()
    while unfolded:
        word = unfolded.pop()
        unfolded += sets[word] if word.startswith("@") else ()
        calls |= set() if word.startswith("@") else {word}
    return calls


def set_filter(service: dict[str, str]) -> None:
    """Restrict this process and its children, for good, to what the section `[Service]` of a systemd unit allows.
    `service` is that section."""
    number = service.get("SystemCallErrorNumber")
    otherwise = _KILL if number is None else _ERRNO | getattr(errno, number)
    seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(otherwise)))
    for name in allowed_calls(service["SystemCallFilter"]):
        call = seccomp.seccomp_syscall_resolve_name(name.encode())
        if call >= 0:  # otherwise this machine's kernel has none of that name
            added = seccomp.seccomp_rule_add(context, ctypes.c_uint32(_ALLOW), call, 0)
            assert added == 0, f"{name}: {os.strerror(-added)}"
    loaded = seccomp.seccomp_load(context)
    assert loaded == 0, os.strerror(-loaded)


if __name__ == "__main__":
    set_filter(dict(read_unit(Path(sys.argv[1]))["Service"]))
    os.execv(sys.argv[2], sys.argv[2:])
