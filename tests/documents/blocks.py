"""Reads the fenced code blocks of the documents: which of them are commands, and whether a test runs them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTS = tuple(
    sorted(
        [
            *ROOT.glob("*.md"),
            *(page for page in ROOT.glob("docs/*.md") if not page.is_symlink()),
            ROOT / "tests/README.md",
        ]
    )
)
"""Every document for people; a link to another of them is not counted twice."""

_FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*?) -->\n)?```(?P<kind>[a-z0-9]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
NOTES = {"not run": "not_run", "run by": "run_by", "machine": "machine"}
"""What a note above a block may say of its commands, besides "proof"."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced code block of a document. `kind` is "sh" for commands, "practice" for lines typed at the practice table,
    "text" for the output of the commands before it, or the language of an example.

    `not_run` is the reason why no test runs the commands. Most blocks are run by one test for all pages. `run_by` names
    the test that runs this block instead. `machine` is the block's name if it is typed at a pretended machine
    (`machine.py`). `proof` means that the commands are run only with `--proof`.
    """

    kind: str
    text: str
    line: int
    not_run: str = ""
    run_by: str = ""
    machine: str = ""
    proof: bool = False

    @property
    def elsewhere(self) -> bool:
        """Return True if the test that runs the commands of all pages must leave this block out."""
        return bool(self.not_run or self.run_by or self.machine)


def blocks(document: Path) -> list[Block]:
    """Return the fenced code blocks of a document, in the document's order."""
    text = document.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        note = match["note"] or ""
        kind, _, what = note.partition(": ")
        told = {NOTES[kind]: what} if kind in NOTES else {}
        line = text.count("\n", 0, match.start("text"))
        found.append(Block(match["kind"], match["text"], line, **told, proof=note == "proof"))
    return found


def without_code(text: str) -> str:
    """Return a document's text with an empty line in place of each line of a fenced code block."""
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
