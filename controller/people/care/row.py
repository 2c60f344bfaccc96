"""The rows of the report of `tablectl doctor`. Each row says what a check found about one part of the machine."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, to_builtins


class Verdict(Enum):
    """What a check says about one part of the machine. `ABSENT` means that this machine has no such part, or that this
    user may not look at it."""

    OK = "ok"
    ABSENT = "absent"
    WARNING = "warning"
    FAULT = "fault"


class Row(Struct, frozen=True):
    """What a check found about one part of the machine: a stable code, a sentence (`says`), and what to do about it
    (`do`), most often a whole command."""

    part: str
    verdict: Verdict
    code: str
    says: str
    do: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the row as a dictionary of JSON values."""
        values: dict[str, str] = to_builtins(self)
        return values


def ok(part: str, says: str) -> Row:
    """Return a row of the report that says that this part of the machine is as it should be."""
    return Row(part, Verdict.OK, "ok", says)


def absent(part: str, says: str, do: str = "") -> Row:
    """Return a row of the report that says that the machine has no such part, or that this user cannot look at it."""
    return Row(part, Verdict.ABSENT, "absent", says, do)


def warning(part: str, code: str, says: str, do: str) -> Row:
    """Return a row of the report that says that the table works, but that a person should look at this part."""
    return Row(part, Verdict.WARNING, code, says, do)


def fault(part: str, code: str, says: str, do: str) -> Row:
    """Return a row of the report that says that the table does not work, or loses something, as long as this part is as
    it is."""
    return Row(part, Verdict.FAULT, code, says, do)
