"""Checks that every command that may take longer than a second says so at a terminal, and says nothing into a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from threading import Event

import pytest

from controller.basics import waited
from controller.contract.keeping import seal
from controller.people.cli.main import main as tablectl
from controller.people.cli.programs import EXAMPLE_TABLE, example_game
from controller.pit.head_office.main import main as head_office
from controller.pit.reference.__main__ import main as pitctl
from controller.pit.reference.ledger import Ledger
from tests.documents.blocks import ROOT


class Terminal(StringIO):
    """A standard error that a person reads at a terminal. The event `heard` is set when something is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        self.heard.set()
        return written


def test_a_terminal_is_told_for_how_long_it_has_gone_on_and_the_line_is_cleared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(waited, "_FIRST_S", 0.0)
    with waited.waited_for("Checking every row"):
        assert terminal.heard.wait(30)
    assert terminal.getvalue().startswith("\r\x1b[KChecking every row: ")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_is_done_within_the_second_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(waited, "_FIRST_S", 3600.0)
    with suppress(KeyError), waited.waited_for("Checking every row"):
        raise KeyError
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (tablectl, "check {game}"),
        (tablectl, "par {game} --csv"),
        (tablectl, "verify {nothing}"),
        (tablectl, "rounds {nothing} --json"),
        (tablectl, "replay {nothing} 1/1"),
        (tablectl, "evidence {nothing} 1/1 -o {nothing}.json"),
        (tablectl, "verify {nothing}.backup"),
        (tablectl, "restore {nothing}.backup --by Smith --table {table}"),
        pytest.param(tablectl, "doctor {table}", marks=pytest.mark.proof),
        (pitctl, "account --ledger {ledger}"),
        (pitctl, "day 2026-01-01 --ledger {ledger}"),
        (pitctl, "verify {nothing}"),
        (pitctl, "restore {nothing} --ledger {ledger}"),
        (pitctl, "backup {nothing} --ledger {ledger} --passphrase-file {words}"),
        (head_office, "north={nothing}"),
    ],
)
def test_each_long_work_tells_a_terminal_and_no_pipe(
    program: Callable[[list[str]], int], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command that takes long prints a message about the waiting at a terminal, and prints no such message into a
    pipe.

    Most of these commands end with an error in this test, which does not matter here.
    """
    ledger, passphrase, told = tmp_path / "ledger", tmp_path / "words", list[str]()
    if "{ledger}" in words:
        Ledger(ledger).close()
        passphrase.write_text("seven words that nobody else would write\n")
        passphrase.chmod(0o600)
    of = {"table": EXAMPLE_TABLE, "game": example_game("kansas_star"), "nothing": tmp_path / "nothing"}
    typed = [word.format(**of, ledger=ledger, words=passphrase) for word in words.split()]
    monkeypatch.setattr(waited, "_keep_telling", lambda what, _done: told.append(what))
    monkeypatch.setattr(seal, "_COST", 2)
    program(typed)
    assert told == []
    if "backup {nothing}" in words:
        (tmp_path / "nothing").unlink()
    monkeypatch.setattr(sys, "stderr", Terminal())
    program(typed)
    assert told


def test_the_package_names_its_steps_at_a_terminal_and_not_in_a_pipe() -> None:
    script = (ROOT / "tools" / "package.sh").read_text("utf-8")
    (step,) = (line for line in script.splitlines() if line.startswith("step() "))
    assert script.count("\nstep ") + script.count(" step ") > 5
    command = ["bash", "-euc", f"{step}\nstep Making the wheel"]
    assert subprocess.run(command, stderr=subprocess.PIPE, check=True).stderr == b""
    master, slave = pty.openpty()
    subprocess.run(command, stderr=slave, check=True)
    assert b"s] Making the wheel" in os.read(master, 1000)
    os.close(slave)
    os.close(master)
