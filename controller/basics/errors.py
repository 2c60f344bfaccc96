"""One shape for every error a person will read: a stable code, what happened, what to do."""

from __future__ import annotations

from collections.abc import Sequence


class TableError(Exception):
    """Something that a person has to know and can act on.

    `code` is stable and never reworded (scripts and documents name it); `what` says what happened, in one
    sentence; `do` says what to do about it. The text form is all three, ready for a terminal.
    """

    def __init__(self, code: str, what: str, do: str) -> None:
        super().__init__(code, what, do)
        self.code = code
        self.what = what
        self.do = do

    def __str__(self) -> str:
        return f"{self.code}: {self.what}\n  what to do: {self.do}"


def listed(names: Sequence[str], most: int) -> str:
    """These names in a sentence: the first `most` of them, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
