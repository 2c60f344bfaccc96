"""A pit for tests as a process: the reference pit, started with `pitctl run`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from controller.pit.reference.opening import Place
from tests.support.waiting import PATIENCE_S, lines_of

_ROOT = Path(__file__).resolve().parents[2]


class PitProcess:
    """A process `pitctl run`, connected to the broker. `out` and `err` are queues of the lines that it prints."""

    def __init__(
        self,
        port: int,
        ledger: Place,
        *options: str,
        host: str = "127.0.0.1",
        program: Sequence[str] = (sys.executable,),
    ) -> None:
        self._pitctl, self._ledger = [*program, "-m", "controller.pit.reference"], str(ledger)
        self._run = [*self._pitctl, "run", "--broker", f"{host}:{port}", "--ledger", self._ledger, *options]
        self.start()

    def start(self) -> None:
        """Start the pit, for the first time or after it ended."""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self._run, cwd=_ROOT, stdout=pipe, stderr=pipe, text=True)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out = lines_of(self.process.stdout)
        self.err = lines_of(self.process.stderr)

    def says(self, *words: str) -> str:
        """Run a command of `pitctl` on this pit's ledger, and return what the command prints."""
        command = [*self._pitctl, *words, "--ledger", self._ledger]
        return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout

    def ended(self, by: signal.Signals) -> int:
        """End the pit by a signal, and return its exit code."""
        self.process.send_signal(by)
        return self.process.wait(PATIENCE_S)
