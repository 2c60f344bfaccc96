"""The practice table leaves nothing running, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pit.house import ROOT
from tests.support.brokers import needs_mosquitto
from tests.support.waiting import PATIENCE_S, lines_of, until


def of_folder(folder: Path) -> list[str]:
    """The command lines of the processes that run on this folder."""
    told = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            told.append(process.read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it has just ended
    return [words for words in told if str(folder) in words]


@needs_mosquitto
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_ended_by_a_signal_it_leaves_no_broker_no_pit_and_no_table(by: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "controller.cli.main", "practice", str(tmp_path)]
    practice = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert practice.stdout is not None
    try:
        until(lines_of(practice.stdout), "The pit's ledger")
        assert len(of_folder(tmp_path)) >= 3, "its broker, its pit and its table"
        practice.send_signal(by)
        practice.wait(PATIENCE_S)
        assert of_folder(tmp_path) == []
    finally:
        practice.kill()
        practice.wait()
        for words in of_folder(tmp_path):
            subprocess.run(["pkill", "-f", words.strip()], check=False)
