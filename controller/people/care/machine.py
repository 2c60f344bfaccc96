"""The machine on which a table runs, as the checks of `tablectl doctor` see it: files below a root folder, and the
output of a few programs.

A test puts the files of a made-up machine below a folder of its own. So a test can show every trouble of a Raspberry Pi
on any computer.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from controller.contract.envelope import Stamp
from controller.daemon.clock import most_wrong_ms, stamp_now

_PATIENCE_S = 10.0


def _printed(command: Sequence[str]) -> str | None:
    """Run a command and return what it prints, whatever its exit code is. Return None if the program does not exist or
    takes longer than ten seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout


def _leads_to(link: Path, real: str) -> bool:
    """Tell whether the symbolic link `link` points at the file `real`. Return False if the link no longer exists,
    because a process closed the file."""
    try:
        return str(link.readlink()) == real
    except OSError:
        return False


class Mount(Struct, frozen=True):
    """A mounted file system. `device` is the kernel's number of its device, `at` its mount point, `kind` its type, and
    `options` its mount options."""

    device: str
    at: Path
    kind: str
    options: frozenset[str]


class Machine(Struct, frozen=True):
    """The machine whose files lie below `root`. `run` runs a command and returns what it prints, or None if the command
    cannot be run. `now` reads the machine's clock, and `most_wrong_ms` returns by how many ms that clock can be wrong.
    """

    root: Path = Path("/")
    run: Callable[[Sequence[str]], str | None] = _printed
    now: Callable[[], Stamp] = stamp_now
    most_wrong_ms: Callable[[], int | None] = most_wrong_ms

    def at(self, path: Path | str) -> Path:
        """Return the path below `root` that stands for the absolute path `path` of the machine."""
        return self.root / str(path).lstrip("/")

    def text(self, path: Path | str) -> str | None:
        """Return the file's text without surrounding white space, or None if the file cannot be read."""
        try:
            return self.at(path).read_text("utf-8", "replace").strip("\0 \n")
        except OSError:
            return None

    def number(self, path: Path | str, base: int = 10) -> int | None:
        """Return the number that the file holds, read in the base `base`, or None if the file holds no number."""
        try:
            return int(self.text(path) or "", base)
        except ValueError:
            return None

    def touched_ms(self, path: Path | str) -> int | None:
        """Return when the file was last modified, in milliseconds since 1970, or None if the file does not exist."""
        try:
            return int(self.at(path).stat().st_mtime * 1000)
        except OSError:
            return None

    @property
    def board(self) -> str | None:
        """Return the model's name as a Raspberry Pi reports it, for example "Raspberry Pi 4 Model B Rev 1.4". Return
        None on any other machine."""
        model = self.text("/proc/device-tree/model") or ""
        return model if model.startswith("Raspberry Pi") else None

    def mount_of(self, path: Path) -> Mount | None:
        """Return the mounted file system that holds the path, or would hold it once the file exists. Return None if the
        kernel does not say."""
        real = Path("/") / self.at(path).resolve().relative_to(self.root.resolve())
        found: Mount | None = None
        for line in (self.text("/proc/self/mountinfo") or "").splitlines():
            fields, _, rest = line.partition(" - ")
            _, _, device, _, at, options, *_ = fields.split()
            kind, _, more = (rest.split() + [""] * 3)[:3]
            there = Path(re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), at))
            if real.is_relative_to(there) and (found is None or len(there.parts) >= len(found.at.parts)):
                found = Mount(device, there, kind, frozenset((*options.split(","), *more.split(","))))
        return found

    def holders(self, path: Path) -> list[tuple[int, str]]:
        """Return the processes that have the file open, as pairs of process number and command line. Only root sees the
        processes of other users."""
        try:
            real = str(self.at(path).resolve())
        except OSError:
            return []
        found = []
        for process in sorted(self.at("/proc").glob("[0-9]*")):
            try:
                if any(_leads_to(handle, real) for handle in (process / "fd").iterdir()):
                    words = (process / "cmdline").read_text("utf-8", "replace").replace("\0", " ").strip()
                    found.append((int(process.name), words))
            except OSError:
                continue
        return found

    def group(self, gid: int) -> str:
        """Return the name of the group with the number `gid`, or the number itself if no group has that number."""
        return next((name for name, number in self._named("/etc/group") if number == str(gid)), str(gid))

    def account(self, name: str) -> int | None:
        """Return the user number of the account `name`, or None if the machine has no such account."""
        return next((int(number) for account, number in self._named("/etc/passwd") if account == name), None)

    def _named(self, path: str) -> list[tuple[str, str]]:
        """Return each name in the list of accounts or groups at `path` (such as /etc/passwd), with its number."""
        lines = [line.split(":") for line in (self.text(path) or "").splitlines()]
        return [(line[0], line[2]) for line in lines if len(line) > 2]
