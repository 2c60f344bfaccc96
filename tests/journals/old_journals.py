"""The journals that commit f6a00a5 wrote, for whoever must still read them.

Each game was dealt by that commit's daemon over a simulated shoe, with wagers, and left inside an open shoe.
`royal9-stopped` has a hit, a false step of its award (10^12 cents, numbered 2^63-1) and a fault inside a round.
`royal9-kept` keeps cards that are drawn in error: the shoe's result of four of them was a fault then, a card that the
shoe kept became the next round's first, and the cutting card came far from its place. A script gave it to that commit.
Beside each journal lies the key that signed it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "f6a00a5"

NAMES = sorted(path.stem for path in _FOLDER.glob("*.journal"))
"""Every journal by its name, `royal9` and the like."""


@dataclass(frozen=True, slots=True)
class OldJournal:
    """A copy of one of them that a program may open, and its key."""

    journal: Path
    key: Path


def original(name: str) -> Path:
    """The journal itself, for whoever only reads."""
    return _FOLDER / f"{name}.journal"


def copied(name: str, folder: Path) -> OldJournal:
    """Copy the journal and its key into `folder`, with the modes that the program wants."""
    old = OldJournal(folder / "table.journal", folder / "table.key")
    shutil.copyfile(_FOLDER / f"{name}.journal", old.journal)
    shutil.copyfile(_FOLDER / f"{name}.key", old.key)
    old.key.chmod(0o600)
    return old
