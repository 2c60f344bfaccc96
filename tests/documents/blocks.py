"""The fenced blocks of the documents: which of them are commands, and whether a test runs them."""

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
_NOT_RUN = "not run: "


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `kind` is "sh" for commands, "practice" for what is typed at the practice table, "text" for what
    the commands before it print, or the language of an example.

    `not_run` is why no test runs the commands; `proof` leaves them to `--proof`.
    """

    kind: str
    text: str
    line: int
    not_run: str = ""
    proof: bool = False


def blocks(document: Path) -> list[Block]:
    """The fenced blocks of a document, in their order."""
    text = document.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        note = match["note"] or ""
        not_run = note.removeprefix(_NOT_RUN) if note.startswith(_NOT_RUN) else ""
        line = text.count("\n", 0, match.start("text"))
        found.append(Block(match["kind"], match["text"], line, not_run, note == "proof"))
    return found


def without_code(text: str) -> str:
    """The document without its fenced blocks, whose lines stay as empty ones."""
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
