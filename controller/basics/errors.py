"""The form of every error that a person will read: a stable code, what happened, and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class TableError(Exception):
    """An error that a person has to know about and can act on.

    `code` is stable and never reworded, because scripts and documents name it. `what` is one sentence that says what
    happened. `do` says what to do about it. `str()` gives all three, ready for a terminal.
    """

    def __init__(self, code: str, what: str, do: str) -> None:
        super().__init__(code, what, do)
        self.code = code
        self.what = what
        self.do = do

    def __str__(self) -> str:
        return f"{self.code}: {self.what}\n  what to do: {self.do}"


def listed(names: Sequence[str], most: int) -> str:
    """Return the first `most` of these names, joined with commas, followed by how many more names there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
