"""Journals that earlier commits wrote, for tests of programs that must still read them.

Of commit f6a00a5: that commit's daemon dealt each game over a simulated shoe, with wagers, and was left inside an open
shoe. `royal9-stopped` has a hit, a false step of its award (10^12 cents, numbered 2^63-1) and a fault inside a round.
`royal9-kept` keeps cards that were drawn in error. When the shoe reported a result from four of them, that was a fault
at the time. A card that the shoe kept became the next round's first, and the cut card came far from its place. A script
was given to that commit to write it.

Of commit 0f50807: shoes that were left open, given to that commit as scripts. `royal9-by-hand` has wagers placed after
a card drawn in error was seen, a typed card that wins an award, a void, and a kept card. `royal9-next-card` dealt a
whole round before its wager. `royal9-restarted` and `royal9-unplugged` stand in the fault of their name.

Beside each journal lies the key that signed it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent


def _named(commit: str) -> list[str]:
    return sorted(path.stem for path in (_FOLDER / commit).glob("*.journal"))


NAMES = _named("f6a00a5")
"""Every journal of commit f6a00a5 by its name, `royal9` and the like."""

OF_0F50807 = [f"0f50807/{name}" for name in _named("0f50807")]
"""Every journal of commit 0f50807 by its name, `0f50807/royal9-by-hand` and the like."""


@dataclass(frozen=True, slots=True)
class OldJournal:
    """A copy of an old journal that a program may open, with its key."""

    journal: Path
    key: Path


def original(name: str) -> Path:
    """Return the path of the old journal itself, for a test that only reads."""
    return _FOLDER / (f"{name}.journal" if "/" in name else f"f6a00a5/{name}.journal")


def copied(name: str, folder: Path) -> OldJournal:
    """Copy the journal and its key into `folder`, with the file modes that the program requires."""
    old, journal = OldJournal(folder / "table.journal", folder / "table.key"), original(name)
    shutil.copyfile(journal, old.journal)
    shutil.copyfile(journal.with_suffix(".key"), old.key)
    old.key.chmod(0o600)
    return old
