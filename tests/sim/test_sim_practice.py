"""Checks that a practice table leaves no process running, however it is ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest

from controller.words.language import language
from tests.pit.house import ROOT
from tests.support.brokers import needs_mosquitto
from tests.support.waiting import PATIENCE_S, lines_of, until


def of_folder(folder: Path) -> list[str]:
    """Return the command lines of all running processes that contain the path of this folder."""
    told = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            told.append(process.read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it has just ended
    return [words for words in told if str(folder) in words]


@contextmanager
def practising(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Queue[str]]]:
    """Run a practice table while the `with` block runs. Yields the process, and a queue of the lines that it prints
    after the table is ready."""
    command = [sys.executable, "-m", "controller.people.cli.main", "practice", str(folder)]
    practice = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert practice.stdout is not None
    try:
        lines = lines_of(practice.stdout)
        until(lines, "The pit's ledger")
        yield practice, lines
    finally:
        practice.kill()
        practice.wait()
        for words in of_folder(folder):
            subprocess.run(["pkill", "-f", words.strip()], check=False)


def ended(practice: subprocess.Popen[str], folder: Path, by: signal.Signals) -> None:
    """Send the signal `by` to the practice table's process, wait until it ends, and check that no process of the table
    is left."""
    assert len(of_folder(folder)) >= 3, "its broker, its pit and its table"
    practice.send_signal(by)
    practice.wait(PATIENCE_S)
    assert of_folder(folder) == []


@needs_mosquitto
@pytest.mark.proof
def test_ended_by_a_hangup_it_leaves_no_broker_no_pit_and_no_table(tmp_path: Path) -> None:
    with practising(tmp_path) as (practice, _):
        ended(practice, tmp_path, signal.SIGHUP)


@needs_mosquitto
def test_each_refused_press_is_told_with_its_reason_and_a_signal_ends_broker_pit_and_table(tmp_path: Path) -> None:
    """The practice table prints each refused press of a button with the reason, and a signal ends its broker, pit and
    table. If the same refusal comes several times, the practice table prints every one. A real table's log writes the
    first and only counts equal lines for a minute."""
    with practising(tmp_path) as (practice, lines):
        assert practice.stdin is not None
        for typed, act, code in (
            ("press deal", "deal", "no_shoe"),
            ("release deal\npress void", "void", "no_supervisor"),
            ("press deal", "deal", "no_shoe"),
        ):
            practice.stdin.write(f"{typed}\n")
            practice.stdin.flush()
            until(lines, f"refused {act}: {code}: {language().refusal(code)}")
        practice.stdin.write("tap new_shoe\nchips 2b tie 500\n")
        practice.stdin.flush()
        until(lines, "bet recognition is told: 2b tie 500: recognition_key_due")
        ended(practice, tmp_path, signal.SIGTERM)
