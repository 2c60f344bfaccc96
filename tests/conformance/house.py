"""Runs the pit for a conformance test, on a broker that only this test uses. The pit may be any program that implements
a pit, and it is started again whenever it ends."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from controller.people.cli.programs import free_port
from controller.pit.conformance.clauses import clauses
from controller.pit.conformance.deeds import PIT_DEEDS, Deeds
from controller.pit.conformance.fire import try_pit_under_fire
from controller.pit.conformance.main import try_pit
from controller.pit.conformance.report import Report
from controller.pit.conformance.wire import Address, Wire
from tests.pit.house import ROOT
from tests.support.brokers import Broker
from tests.support.waiting import PATIENCE_S

_ON_ITS_MACHINE = """\
import runpy, sys, time
behind_s = int(sys.argv.pop(1))
true_ns = time.time_ns
time.time_ns = lambda: true_ns() - behind_s * 10**9
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Runs a module of Python on a machine whose clock stands so many seconds behind."""


class KeptRunning:
    """The running program of a pit, a Python module. It is started again whenever it ends, until `close` is called.

    The file `behind` in `folder` says by how many seconds the program's clock is slow after the next start. A pit that
    starts with a different clock seems to run on a different machine: it starts in another working folder, and finds no
    file there that it wrote outside its ledger.
    """

    def __init__(self, command: Sequence[str], folder: Path, home: Path) -> None:
        self._pid, self._home, self._command = folder / "pit.pid", home, command
        self._folder = folder
        self._log = (folder / "pit.log").open("wb")
        self._ends = False
        self._start()
        self._watch = threading.Thread(target=self._keep)
        self._watch.start()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(self._home)}
        behind = self._folder / "behind"
        behind_s = behind.read_text("utf-8").strip() if behind.exists() else "0"
        machine = self._folder / f"machine-{behind_s}"
        machine.mkdir(exist_ok=True)
        started = [sys.executable, "-c", _ON_ITS_MACHINE, behind_s, *self._command]
        self._process = subprocess.Popen(started, cwd=machine, env=environment, stdout=self._log, stderr=self._log)
        self._pid.write_text(str(self._process.pid))

    def _keep(self) -> None:
        while not self._ends:
            self._process.wait()
            if not self._ends:
                self._start()

    def close(self) -> None:
        """End the pit's program, and do not start it again."""
        self._ends = True
        self._process.send_signal(signal.SIGKILL)
        self._watch.join()
        self._process.kill()
        self._process.wait()
        self._log.close()


def try_reference_pit(
    folder: Path, home: Path = ROOT, only: Sequence[str] = (), fire_minutes: float | None = None
) -> Report:
    """Run the conformance kit on the reference pit whose program is in `home`, and return the report. The pit has a
    broker and a ledger of its own. If `fire_minutes` is given, run only the kit's stress test (its "fire"), for so many
    minutes."""
    program = [sys.executable, "-m", "controller.pit.reference"]
    ledger = str(folder / "ledger.sqlite")
    act = f"cd {shlex.quote(str(home))} && PYTHONPATH=. {shlex.join(program)}"
    desk = f"--control {shlex.quote(ledger)}.control --as"
    people = {"verify": "Ann", "pay": "Bob", "reject": "Ann --with Bob"}
    awards = {deed: f"{act} award {deed} {{award}} {desk} {who}" for deed, who in people.items()}
    adopt = f"{act} adopt {{table}} {{epoch}} {{key}} {desk} Ann --with Bob"
    settings = folder / "pit.toml"
    settings.write_text(re.sub("(?m)^prices_cents.*", "", (ROOT / "config/pit.toml").read_text("utf-8")), "utf-8")
    run = [program[-1], "run", "--practice", "--broker", "{broker}", "--ledger", ledger, "--settings", str(settings)]
    return try_program(run, {"adopt": adopt, **awards, **_terms(act, desk, settings)}, folder, home, only, fire_minutes)


def _terms(act: str, desk: str, settings: Path) -> dict[str, str]:
    """Return the shell commands by which two people change a meter at the reference pit. The dict maps "limit",
    "price", "close" and "correct" to a command. The commands for a limit and a price first write the new value into the
    file `settings`."""

    def write(key: str, value: str) -> str:
        edits = f"-e '/^{key}/d' -e 's/^.meters.{{meter}}.$/&\\n{key} = {value}/'"
        return f"sed -i {edits} {shlex.quote(str(settings))} && {act} terms propose --reason kit {desk} Ann --with Bob"

    correct = f"{act} meter correct {{event}} --document kit --reason kit {desk} Ann --with Bob"
    close = f"{act} meter close {{meter}} --into {{into}} --document kit --reason kit {desk} Ann --with Bob"
    return {
        "limit": write("limit_cents", "{limit_cents}"),
        "price": write("prices_cents", "[{price_cents}]"),
        "close": close,
        "correct": correct,
    }


def try_program(
    command: Sequence[str],
    deeds: dict[str, str],
    folder: Path,
    home: Path,
    only: Sequence[str],
    fire_minutes: float | None = None,
) -> Report:
    """Start a pit by `command` (a Python module with its arguments), run the conformance kit on that pit, and return
    the report. `deeds` maps each act of people, such as "verify", to its shell command.

    In `command`, {broker} is replaced by the broker's address or, in the kit's stress test, by the address of the kit's
    own proxy.
    """
    broker = Broker(folder).start()
    pit_port = broker.port if fire_minutes is None else free_port()
    pit = KeptRunning([word.replace("{broker}", f"127.0.0.1:{pit_port}") for word in command], folder, home)
    kill = f"kill -9 $(cat {shlex.quote(str(folder / 'pit.pid'))})"
    clock = f"echo {{behind_s}} >{shlex.quote(str(folder / 'behind'))} && {kill}"
    wanted = [clause for clause in clauses("P") if not only or clause.number in only]
    try:
        address = Address("127.0.0.1", broker.port, "pit/v1")
        if fire_minutes is not None:
            fire_deeds = Deeds(PIT_DEEDS, {**deeds, "restart": kill}, asks=False)
            return try_pit_under_fire(address, fire_deeds, fire_minutes, pit_port, lambda told: None)
        up = Wire(address, ["pit/v1/pit-key"])
        assert up.wait(lambda: bool(up.heard), PATIENCE_S), "the pit does not come"
        up.close()
        ends = {"restart": kill, "clock": clock}
        return try_pit(address, Deeds(PIT_DEEDS, {**deeds, **ends}, asks=False), wanted, lambda line: None)
    finally:
        pit.close()
        broker.stop()


_OF_METER = {"limit": "limit_cents", "price": "price_cents", "close": "into"}


def try_second_pit(
    folder: Path, home: Path = ROOT, only: Sequence[str] = (), fire_minutes: float | None = None
) -> Report:
    """Run the conformance kit on the second pit, whose program is in `home`, and return the report. If `fire_minutes`
    is given, run only the kit's stress test (its "fire"), for so many minutes."""
    program = [sys.executable, "-m", "tests.conformance.second_pit"]
    ledger = str(folder / "second.sqlite")
    act = f"cd {shlex.quote(str(home))} && {shlex.join(program)}"
    steps = {"verify": "verified", "pay": "paid", "reject": "rejected"}
    decisions = {deed: f"{act} {step} {shlex.quote(ledger)} {{award}}" for deed, step in steps.items()}
    adopt = f"{act} adopt {shlex.quote(ledger)} {{table}} {{epoch}} {{key}}"
    correct = f"{act} corrected {shlex.quote(ledger)} {{event}}"
    terms = {deed: f"{act} {deed} {shlex.quote(ledger)} {{meter}} {{{of}}}" for deed, of in _OF_METER.items()}
    run = [program[-1], "run", ledger, "{broker}"]
    deeds = {"adopt": adopt, "correct": correct, **decisions, **terms}
    return try_program(run, deeds, folder, home, only, fire_minutes)
