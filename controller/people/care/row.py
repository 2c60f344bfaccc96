"""The rows of `tablectl doctor`: each says what a check of one part of a table found."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, to_builtins


class Verdict(Enum):
    """The verdict on a part. `ABSENT`: this machine has no such part, or this user may not look at it."""

    OK = "ok"
    ABSENT = "absent"
    WARNING = "warning"
    FAULT = "fault"


class Row(Struct, frozen=True):
    """The finding on one part: a stable code, a sentence, and what to do about it, most often a whole command."""

    part: str
    verdict: Verdict
    code: str
    says: str
    do: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the row as JSON values."""
        values: dict[str, str] = to_builtins(self)
        return values


def ok(part: str, says: str) -> Row:
    """Return a row that says that the part is as it should be."""
    return Row(part, Verdict.OK, "ok", says)


def absent(part: str, says: str, do: str = "") -> Row:
    """Return a row that says that the machine has no such part, or that this user cannot look at it."""
    return Row(part, Verdict.ABSENT, "absent", says, do)


def warning(part: str, code: str, says: str, do: str) -> Row:
    """Return a row that says that the table works, but a person should look at this part."""
    return Row(part, Verdict.WARNING, code, says, do)


def fault(part: str, code: str, says: str, do: str) -> Row:
    """Return a row that says that with this part as it is, the table does not work, or loses something."""
    return Row(part, Verdict.FAULT, code, says, do)
