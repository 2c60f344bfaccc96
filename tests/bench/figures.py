"""`make bench`: what a running table costs, measured on the real daemon with every wire simulated.

Start is from exec to systemd's READY=1, beside the floor measured in turn with it: the same Python importing the
libraries the daemon stands on. Memory is resident, from /proc. CPU is user and system time over a quiet spell with
wagers open. Disk is `write_bytes` of /proc/PID/io, what the process caused to go to the block layer; syncs are
fsync and fdatasync calls counted by strace in a run of their own, which strace slows down.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.cli import bench
from controller.cli.client import ask
from controller.errors import TableError

STARTS = 11
ROUNDS = 81
QUIET_S = 10.0
FLOOR = "import asyncio, sqlite3, serial, paho.mqtt.client, cattrs, cryptography.hazmat.primitives.asymmetric.ed25519"


def main() -> int:
    """Measure and print the figures."""
    with tempfile.TemporaryDirectory(prefix="table-bench-") as name:
        folder = Path(name)
        port = bench.free_port()
        table = bench.simulated_table(folder, port)
        with bench.mosquitto(folder, port), _pit(folder, port):
            print(
                f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, {os.uname().machine}, {folder} for the disk"
            )
            _measure_start(folder, table)
            _measure_playing(folder, table)
            _measure_syncs(folder, table)
    return 0


def _measure_start(folder: Path, table: Path) -> None:
    floors_ms, starts_ms = [], []
    for _ in range(STARTS):
        begun = time.perf_counter()
        subprocess.run(bench.python("-c", FLOOR), check=True)
        floors_ms.append(1000 * (time.perf_counter() - begun))
        with _daemon(folder, table) as (_, ready_ms):
            starts_ms.append(ready_ms)
    floor_ms, start_ms = statistics.median(floors_ms), statistics.median(starts_ms)
    print(
        f"start to ready: median {start_ms:.0f} ms, {start_ms / floor_ms:.2f} x the imports alone ({floor_ms:.0f} ms)"
    )


def _measure_playing(folder: Path, table: Path) -> None:
    with _daemon(folder, table) as (daemon, _):
        fresh_mib = _resident_mib(daemon.pid)
        written = _written_bytes(daemon.pid)
        _play(folder, table)
        written = _written_bytes(daemon.pid) - written
        played_mib = _resident_mib(daemon.pid)
        print(f"resident memory: {fresh_mib:.1f} MiB at the start, {played_mib:.1f} MiB after {ROUNDS} rounds")
        print(f"disk: {written / ROUNDS / 1024:.0f} KiB written a round")
        cpu_s, begun = _cpu_s(daemon.pid), time.monotonic()
        time.sleep(QUIET_S)
        print(f"idle CPU: {100 * (_cpu_s(daemon.pid) - cpu_s) / (time.monotonic() - begun):.2f} % of one core")


def _measure_syncs(folder: Path, table: Path) -> None:
    if shutil.which("strace") is None:
        print("fsyncs a round: not measured; sudo apt-get install -y strace")
        return
    counts = folder / "strace"
    with _daemon(folder, table, "strace", "-f", "-c", "-e", "trace=fsync,fdatasync", "-o", str(counts)):
        _play(folder, table)
    syncs = sum(int(calls) for calls in re.findall(r"(\d+)\s+(?:fsync|fdatasync)$", counts.read_text(), re.MULTILINE))
    print(f"fsyncs: {syncs / ROUNDS:.1f} a round")


def _play(folder: Path, table: Path) -> None:
    command = ["-m", "drivers.sim", str(table), "--account", str(folder / "account"), "--seed", "1", "--speed", "0"]
    subprocess.run(bench.python(*command, "--rounds", str(ROUNDS)), check=True)
    deadline = time.monotonic() + 10
    while ask(table, {"do": "status"})["status"]["pit"]["unacknowledged"] and time.monotonic() < deadline:
        time.sleep(0.05)


@contextmanager
def _pit(folder: Path, port: int) -> Iterator[None]:
    command = ["-m", "controller.pit", "run", "--broker", f"127.0.0.1:{port}", "--ledger", str(folder / "pit")]
    with bench.started(bench.python(*command, "--adopt-new"), folder / "pit.log"):
        yield


@contextmanager
def _daemon(folder: Path, table: Path, *wrapper: str) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """A daemon on a table without a past, and the milliseconds from exec to its READY=1."""
    for old in folder.glob("table.journal*"):
        old.unlink()
    address = folder / "notify"
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel, (folder / "daemon.log").open("ab") as log:
        channel.bind(str(address))
        channel.settimeout(30)
        begun = time.perf_counter()
        command = [*wrapper, *bench.python("-m", "controller.cli.main", "run", str(table))]
        environment = os.environ | {"NOTIFY_SOCKET": str(address)}
        daemon = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            if channel.recv(64) != b"READY=1":
                raise TableError("bench", "The table did not become ready.", f"See {log.name}.")
            yield daemon, 1000 * (time.perf_counter() - begun)
        finally:
            os.killpg(daemon.pid, signal.SIGTERM)
            daemon.wait(30)


def _resident_mib(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def _written_bytes(pid: int) -> int:
    found = re.search(r"^write_bytes: (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
