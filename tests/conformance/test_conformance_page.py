"""Tests that a stranger can follow the page docs/conformance.md. Its commands start in an empty folder with the
program's wheel, and end with a report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from controller.people.cli.programs import free_port
from controller.pit.conformance.clauses import clauses
from controller.pit.conformance.deeds import PIT_DEEDS, TABLE_DEEDS
from tests.documents.blocks import ROOT, blocks
from tests.support.brokers import needs_mosquitto
from tests.support.wheel import environment, installed_wheel

_PAGE = ROOT / "docs" / "conformance.md"
_SECTIONS = {
    "P": "## A pit: from nothing to a report",
    "F": "## A pit under fire",
    "T": "## A table: from nothing to a report",
}
_PORTS = ("18840", "18830", "18842", "18843")
_WITHIN_S = 1800


def _commands(of: str) -> list[str]:
    """Return the blocks of shell commands in one section of the page docs/conformance.md. The page's ports are replaced
    by free ones, and its ten minutes of stress test by three."""
    lines = _PAGE.read_text("utf-8").splitlines()
    begins = lines.index(_SECTIONS[of])
    ends = next(place for place in range(begins + 1, len(lines)) if lines[place].startswith("## "))
    texts = [block.text for block in blocks(_PAGE) if block.kind == "sh" and begins < block.line < ends]
    for port in _PORTS:
        free = str(free_port())
        texts = [text.replace(port, free) for text in texts]
    return [text.replace("--fire 10 ", "--fire 3 ") for text in texts]


@contextmanager
def _typed(texts: list[str], folder: Path) -> Iterator[None]:
    """Run each of these blocks of shell commands in `folder`, and check that it succeeds. When the `with` block ends,
    every process that the commands started is ended."""
    shells: list[subprocess.Popen[bytes]] = []
    said = folder / "said"
    try:
        for text in texts:
            with said.open("ab") as out:
                shells.append(
                    subprocess.Popen(
                        ["bash", "-euo", "pipefail", "-c", text],
                        cwd=folder,
                        env=environment(),
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=out,
                        start_new_session=True,
                    )
                )
            assert shells[-1].wait(_WITHIN_S) == 0, f"{text}\n{said.read_text('utf-8')[-6000:]}"
        yield
    finally:
        for shell in shells:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()


@pytest.mark.parametrize(("of", "known"), [("P", PIT_DEEDS), ("T", TABLE_DEEDS)])
def test_the_page_has_a_command_for_each_deed(of: str, known: dict[str, str]) -> None:
    (deeds,) = [text for text in _commands(of) if "<<'DEEDS'" in text]
    assert tomllib.loads(deeds.split("<<'DEEDS'\n")[1].split("\nDEEDS")[0]).keys() == known.keys()


@pytest.mark.proof
@needs_mosquitto
@pytest.mark.parametrize("of", ["P", "T"])
def test_the_page_leads_from_the_wheel_to_a_report_in_which_every_clause_is_kept(
    of: str, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    (folder / ".venv").symlink_to(installed_wheel(tmp_path).parent)
    check_signature = next(text for text in _commands("P") if "<<'CHECK'" in text)
    typed = _commands(of)
    with _typed(typed if check_signature in typed else [*typed, check_signature], folder):
        report = json.loads((folder / "report.json").read_text("utf-8"))
    assert [line["number"] for line in report["lines"]] == [clause.number for clause in clauses(of)]
    assert {line["result"] for line in report["lines"]} == {"kept"}
    assert (folder / "report.html").stat().st_size > 0
    assert (folder / "report.xml").stat().st_size > 0
    figure(f"{len(report['lines'])} clauses {of} kept, as the page is written")


@pytest.mark.proof
@needs_mosquitto
def test_the_page_leads_to_a_fire_in_which_the_pit_keeps_the_contract(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    folder = tmp_path / "fire"
    folder.mkdir()
    (folder / ".venv").symlink_to(installed_wheel(tmp_path).parent)
    with _typed(_commands("F"), folder):
        report = json.loads((folder / "fire.json").read_text("utf-8"))
    assert {line["result"] for line in report["lines"]} == {"kept"}
    figure(f"{report['tried']}, as the page is written")
