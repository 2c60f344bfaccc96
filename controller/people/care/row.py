"""What a check of one part of a table found: a row of `tablectl doctor`."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, to_builtins


class Verdict(Enum):
    """How a part is. `ABSENT`: this machine has no such part, or this user may not look at it."""

    OK = "ok"
    ABSENT = "absent"
    WARNING = "warning"
    FAULT = "fault"


class Row(Struct, frozen=True):
    """What was found at one part: a stable code, a sentence, and what to do, most often a whole command."""

    part: str
    verdict: Verdict
    code: str
    says: str
    do: str = ""

    def as_json(self) -> dict[str, str]:
        """The row as JSON values."""
        values: dict[str, str] = to_builtins(self)
        return values


def ok(part: str, says: str) -> Row:
    """The part is as it should be."""
    return Row(part, Verdict.OK, "ok", says)


def absent(part: str, says: str, do: str = "") -> Row:
    """The part is not here, or cannot be looked at by this user."""
    return Row(part, Verdict.ABSENT, "absent", says, do)


def warning(part: str, code: str, says: str, do: str) -> Row:
    """The table works, and a person should look at this part."""
    return Row(part, Verdict.WARNING, code, says, do)


def fault(part: str, code: str, says: str, do: str) -> Row:
    """With this part as it is, the table does not work, or loses something."""
    return Row(part, Verdict.FAULT, code, says, do)
