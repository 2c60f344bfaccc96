"""A container without network that boots a clean Debian with systemd as its init, like a table's machine before
anything is installed.

The program mmdebstrap makes the Debian system once, in `build/roots`. Each test writes to a layer of its own on top of
that system.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLEAN = "systemd,systemd-sysv,dbus,python3,udev,tzdata"
"""The packages of a clean Debian, as mmdebstrap takes them."""
_BOOTS_WITHIN_S = 120.0
_POLL_S = 0.2


def lacking() -> str:
    """Return what this machine lacks for booting a Debian container, in words; empty if it lacks nothing."""
    programs = [
        name for name in ("mmdebstrap", "systemd-nspawn", "nsenter", "apt-ftparchive") if shutil.which(name) is None
    ]
    return ", ".join(programs + (["root"] if os.geteuid() else []))


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Hold a lock on the file for the length of a `with` block, so that only one process at a time runs the block."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_root(release: str) -> Path:
    """Return the folder of the Debian system in which the package for this release is built. `make_package` makes that
    folder."""
    return ROOT / "build" / "roots" / release


def make_package(folder: Path, architecture: str = "amd64", release: str = "bookworm") -> Path:
    """Return the Debian package of this working copy for a release of Debian. The first caller builds it, in `folder`;
    later callers get the same file."""
    cache = str(ROOT / "build" / "cache")  # the tools keep what they fetch; the tests' own cache cannot be written to
    environment = os.environ | {"ARCHITECTURES": architecture, "DIST": str(folder), "XDG_CACHE_HOME": cache}
    with alone(folder / "lock"):
        if not (made := list(folder.glob("*.deb"))):
            subprocess.run([str(ROOT / "tools" / "package.sh"), release], env=environment, check=True)
            made = list(folder.glob("*.deb"))
    return made[0]


def clean_root(release: str) -> Path:
    """Return the folder of a clean Debian system of this release. The first caller makes it."""
    root = ROOT / "build" / "roots" / f"clean-{release}-{zlib.crc32(CLEAN.encode()):08x}"  # other packages, another one
    with alone(root.with_name(f"{root.name}.lock")):
        if not root.is_dir():
            new = root.with_name(f"{root.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            command = ["mmdebstrap", "--quiet", "--variant=apt", "--format=directory", f"--include={CLEAN}", release]
            subprocess.run([*command, str(new)], check=True)
            new.rename(root)
    return root


class Machine:
    """A running container with a booted Debian, which stands for a table's machine."""

    def __init__(self, root: Path, leader: int) -> None:
        self.root = root
        self.on_its_network = ["nsenter", f"--target={leader}", "--net"]
        """What goes before a command that sees this machine's disk and the container's network."""
        self._enter = [*self.on_its_network, "--mount", "--uts", "--ipc", "--pid", "--cgroup"]

    def command(self, *words: str) -> list[str]:
        """Return the command line that runs these words inside the container, as root."""
        return [*self._enter, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", *words]

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run these words as a command inside the container, as root, and return the result. With `check` the command
        must succeed."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, cwd="/", timeout=300)
        assert not check or done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}\n{self.log()}"
        return done

    def log(self) -> str:
        """Return the last lines of the container's system log."""
        return self.run("journalctl", "--lines", "40", "--output", "short-monotonic", "--no-pager", check=False).stdout


@contextmanager
def layer(lower: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Yield a folder that shows the content of the folders `lower`, of which the first hides files of the later ones.
    Whatever is written to the yielded folder goes to `folder`."""
    for name in ("root", "over", "work"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    options = f"lowerdir={':'.join(map(str, lower))},upperdir={folder / 'over'},workdir={folder / 'work'}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(folder / "root")], check=True)
    try:
        yield folder / "root"
    finally:
        subprocess.run(["umount", "--lazy", str(folder / "root")], check=True)


@contextmanager
def booted(root: Path, name: str, state: Path) -> Iterator[Machine]:
    """Boot a container from the Debian system in `root`, for the length of a `with` block. At the block's end the
    container is killed, as by a power cut.

    The folder `state` becomes the container's /var/lib/table-controller. It lies outside of `root`, and outlives the
    container.
    """
    state.mkdir(exist_ok=True)
    options = ["--quiet", "--register=no", "--keep-unit", "--private-network", f"--machine={name}"]
    command = ["systemd-nspawn", *options, f"--bind={state}:/var/lib/table-controller", "--boot", "-D", str(root)]
    with ExitStack() as ends:
        log = ends.enter_context((state.parent / f"{name}.log").open("ab"))
        nspawn = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        ends.callback(nspawn.wait)
        ends.callback(nspawn.kill)
        leader = _leader(nspawn)
        ends.callback(os.kill, leader, signal.SIGKILL)
        machine = Machine(root, leader)
        deadline = time.monotonic() + _BOOTS_WITHIN_S
        while machine.run("systemctl", "is-system-running", check=False).stdout.strip() not in ("running", "degraded"):
            assert time.monotonic() < deadline, "the container did not boot"
            time.sleep(_POLL_S)
        yield machine


def _leader(nspawn: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children")
    deadline = time.monotonic() + _BOOTS_WITHIN_S
    while time.monotonic() < deadline and nspawn.poll() is None:
        for child in children.read_text().split():
            if (Path("/proc") / child / "comm").read_text().strip() == "systemd":
                return int(child)
        time.sleep(_POLL_S)
    raise AssertionError(f"the container did not start: {nspawn.poll()}")
