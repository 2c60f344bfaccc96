"""The journals that commit 0f50807 wrote, for whatever must still read them.

They are shoes that were left open, given to that commit as scripts. `royal9-by-hand` has wagers placed after a card
drawn in error was seen, a typed card that wins an award, a void, and a kept card. `royal9-next-card` dealt a whole
round before its wager. `royal9-restarted` and `royal9-unplugged` stand in the fault of their name.

Beside each journal lies the key that signed it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "0f50807"

NAMES = sorted(path.stem for path in _FOLDER.glob("*.journal"))
"""Every old journal by its name, `royal9-by-hand` and the like."""


@dataclass(frozen=True, slots=True)
class OldJournal:
    """A copy of an old journal that a program may open, and its key."""

    journal: Path
    key: Path


def original(name: str) -> Path:
    """The old journal itself, for a test that only reads."""
    return _FOLDER / f"{name}.journal"


def copied(name: str, folder: Path) -> OldJournal:
    """Copy the journal and its key into `folder`, with the modes that the program wants."""
    old, journal = OldJournal(folder / "table.journal", folder / "table.key"), original(name)
    shutil.copyfile(journal, old.journal)
    shutil.copyfile(journal.with_suffix(".key"), old.key)
    old.key.chmod(0o600)
    return old
