"""Tests of the address that moves between two brokers, with the shipped file config/ha/keepalived.conf: tables and pit
follow the address to the second broker.

The two machines are network namespaces. Each runs a broker, and keepalived with the shipped file.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from controller.people.cli import programs
from controller.people.cli.client import status_of
from tests.fire import noted, reckoning
from tests.fire.ha_demo import BROKER, answering, keepalived_file
from tests.support.brokers import MOSQUITTO, needs_mosquitto
from tests.support.network import KEEPALIVED, Network, needs_keepalived, needs_namespaces
from tests.support.waiting import eventually_now

_PORT = 1883
pytestmark = [pytest.mark.proof, needs_keepalived]


@pytest.mark.parametrize("machine", ["one", "two"])
def test_keepalived_takes_its_file(machine: str, tmp_path: Path) -> None:
    (tmp_path / "keepalived.conf").write_text(keepalived_file(machine), "utf-8")
    command = [KEEPALIVED or "", "-t", "-f", str(tmp_path / "keepalived.conf")]
    tried = subprocess.run(command, capture_output=True, text=True)
    assert (tried.returncode, tried.stdout + tried.stderr) == (0, "")


class _House:
    """Two machines with a broker each, and a pit and a table that know only the address that moves between the two."""

    def __init__(self, folder: Path, network: Network, ends: ExitStack) -> None:
        self._folder = folder
        self._network = network
        for machine in ("one", "two"):
            self._start_machine(machine, ends)
        eventually_now(self.holders, "for the address")
        pit = programs.python("-m", "controller.pit.reference", "run", "--broker", f"{BROKER}:{_PORT}", "--adopt-new")
        pit += ["--ledger", str(folder / "ledger")]
        ends.enter_context(programs.started([*network.on("pit"), *pit], folder / "pit.log"))
        self.table = programs.simulated_table(folder, _PORT, pit={"host": BROKER})
        daemon = [
            *network.on("table"),
            *programs.python("-m", "tests.fire.noted", str(folder / "notes"), "run", str(self.table)),
        ]
        started = ends.enter_context(programs.started(daemon, folder / "table.log"))
        programs.await_table(self.table, started, folder / "table.log")
        people = programs.python("-m", "drivers.sim", str(self.table), "--account", str(folder / "account"))
        people += ["--speed", "10", "--seed", "17"]
        self._people = ends.enter_context(programs.started(people, folder / "people.log"))

    def _start_machine(self, machine: str, ends: ExitStack) -> None:
        own = self._folder / machine
        (own.with_suffix(".keepalived")).write_text(keepalived_file(machine, own), "utf-8")
        own.mkdir()
        broker = f"listener {_PORT}\n{answering(own)}allow_anonymous true\nuser root\n"
        own.with_suffix(".mosquitto").write_text(broker, "utf-8")
        script = f"{MOSQUITTO} -c {own}.mosquitto & exec {KEEPALIVED} -nlD -f {own}.keepalived -p {own}.p -r {own}.r"
        apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script]
        ends.enter_context(programs.started([*self._network.on(machine), *apart], own.with_suffix(".log")))

    def holders(self) -> list[str]:
        """Return the machines that hold the moving address now."""
        shown = {
            machine: subprocess.run([*self._network.on(machine), "ip", "address"], capture_output=True, text=True)
            for machine in ("one", "two")
        }
        return [machine for machine, addresses in shown.items() if f"{BROKER}/" in addresses.stdout]

    def follows(self, since_s: float = 0.0) -> float:
        """Wait until the pit acknowledges an event that the table made after this call. Returns the seconds from the
        time `since_s` (monotonic clock) until then."""
        head = status_of(self.table).pit.head_seq
        eventually_now(lambda: status_of(self.table).pit.acked_seq > head)
        return time.monotonic() - since_s

    def follows_from(self, number: signal.Signals) -> float:
        """Send this signal to the broker that holds the moving address, and wait until the pit acknowledges an event
        through the second broker. Returns how many seconds that took."""
        (holder,) = self.holders()
        since_s = time.monotonic()
        self.signal_broker(holder, number)
        eventually_now(lambda: self.holders() not in ([], [holder]), "for the address on the other machine")
        taken_s = self.follows(since_s)
        self.signal_broker(holder, signal.SIGCONT)
        return taken_s

    def strange_steps(self) -> list[str]:
        """Stop the simulated people, and wait until every event is acknowledged. Returns a text for each call of the
        table's event delivery that broke the contract's rules, by the notes of its calls."""
        programs.stop(self._people)
        eventually_now(lambda: (pit := status_of(self.table).pit).acked_seq == pit.head_seq)
        sent = reckoning.messages(self._folder / "table.journal")
        _, strange = noted.findings("the table", self._folder / "notes", sent)
        return strange

    def signal_broker(self, machine: str, number: signal.Signals) -> None:
        """Send this signal to the broker's process on this machine."""
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            words = process.read_bytes().split(b"\0")
            if words[0] == str(MOSQUITTO).encode() and words[2] == f"{self._folder / machine}.mosquitto".encode():
                os.kill(int(process.parent.name), number)


@pytest.fixture
def network() -> Iterator[Network]:
    with Network("one", "two", "pit", "table", network="10.20.0") as network:
        yield network


@needs_namespaces
@needs_mosquitto
def test_table_and_pit_follow_the_address_to_the_other_broker(network: Network, figure: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        house = _House(Path(folder), network, ends)
        house.follows()
        (first,) = house.holders()
        since_s = time.monotonic()
        with network.cut_off(first):
            eventually_now(lambda: len(house.holders()) == 2, "for the address on the other machine too")
            cut_s = house.follows(since_s)
        eventually_now(lambda: len(house.holders()) == 1, "for one machine with the address")
        mended_s = house.follows(time.monotonic())
        hung_s = house.follows_from(signal.SIGSTOP)
        killed_s = house.follows_from(signal.SIGKILL)
        assert house.strange_steps() == []
    figure(
        f"the address of the brokers moved: {cut_s:.1f} s after a machine was cut off, {hung_s:.1f} s after its broker"
        f" hung, and {killed_s:.1f} s after its broker was killed, the pit acknowledged what the table told at the"
        f" other broker; {mended_s:.1f} s after the cut was mended, the pit acknowledged again"
    )
