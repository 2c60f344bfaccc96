"""Checks that the paths which the setup proposes lie in folders that the shipped systemd unit makes, so that the table
can start."""

from __future__ import annotations

from pathlib import Path

from controller.people.cli.setup import wiring, wizard

_UNIT = (Path(__file__).resolve().parents[2] / "systemd" / "table-controller.service").read_text("utf-8")


def _made(setting: str, below: str) -> Path:
    (line,) = (line for line in _UNIT.splitlines() if line.startswith(f"{setting}="))
    return Path(below, line.partition("=")[2])


def test_a_proposed_file_lies_in_a_folder_that_the_unit_makes() -> None:
    """Each file that the setup proposes lies in a folder that the shipped systemd unit makes.

    An earlier version proposed a folder for the simulated header's file that nobody makes on a clean Debian, so that no
    table started.
    """
    state = _made("StateDirectory", "/var/lib")
    assert Path(wiring._HEADER_FILE).parent == state
    assert Path(wizard._STATE) == state
    assert Path(wizard._RUN) == _made("RuntimeDirectory", "/run")
