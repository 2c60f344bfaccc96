"""Journals that earlier commits of the project wrote, for tests of programs that must still read them.

The journals of commit f6a00a5 were written by that commit's daemon. It dealt each game over a simulated shoe, with
wagers, and was left inside an open shoe. `royal9-stopped` has a hit, a false step of its award (10^12 cents, numbered
2^63-1) and a fault inside a round. `royal9-kept` was written from a script, and its cards were drawn in error and kept
for the next round. In it the shoe reports a result from four of these cards, which was a fault at that time. A card
that the shoe kept became the next round's first card. The cut card came far from its place.

The journals of commit 0f50807 are shoes that were left open, written from scripts. In `royal9-by-hand`, wagers were
placed after a card drawn in error was seen; a typed card wins an award; and there is a void and a kept card. In
`royal9-next-card`, a whole round was dealt before its wager. `royal9-restarted` and `royal9-unplugged` end with the
table stopped by a fault: after a restart, and after the shoe was unplugged.

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
    """A copy of an old journal with its key, which a program may open and write to."""

    journal: Path
    key: Path


def original(name: str) -> Path:
    """Return the path of the old journal with this name, for a test that does not write to it."""
    return _FOLDER / (f"{name}.journal" if "/" in name else f"f6a00a5/{name}.journal")


def copied(name: str, folder: Path) -> OldJournal:
    """Copy the old journal with this name, and its key, into `folder`, with the file modes that the program
    requires."""
    old, journal = OldJournal(folder / "table.journal", folder / "table.key"), original(name)
    shutil.copyfile(journal, old.journal)
    shutil.copyfile(journal.with_suffix(".key"), old.key)
    old.key.chmod(0o600)
    return old
