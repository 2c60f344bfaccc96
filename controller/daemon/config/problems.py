"""The types for mistakes in a configuration file, and how they are shown to the person who wrote the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from controller.basics.errors import TableError
from controller.basics.near import meant


class Problem(Struct, frozen=True):
    """One mistake in a configuration file: the file, the key, what is wrong there and what to write instead."""

    file: str
    key: str
    what: str
    do: str
    place: str = ""
    """The key as people count a list's entries, where that differs from `key`: see `placed`."""

    def __str__(self) -> str:
        return f"{self.file}: {self.place or self.key}: {self.what}\n  what to do: {self.do}"


class ConfigError(TableError):
    """The error of a configuration that cannot be used. `problems` holds every mistake in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        what = f"the configuration has {count} {'mistake' if count == 1 else 'mistakes'}"
        super().__init__("config_invalid", what, "Correct each, then run `tablectl check` again.")

    def __str__(self) -> str:
        return "\n".join([f"{self.code}: {self.what}", *map(str, self.problems)])


Mistake = tuple[str, str, str]
"""What a check finds: the key, what is wrong and what to write. `values.check` adds the file."""


def placed(key: str, values: object) -> str:
    """Return a file's key in the form that people read: each list entry is counted from 1 and has its name.

    For example, `bets.1.rows.0.pays` becomes `bets entry 2 (banker), rows entry 1, pays`. A key without a list entry
    stays as it is. `values` are the file's values.
    """
    parts: list[str] = []
    at: Any = values
    for part in key.split("."):
        if isinstance(at, list) and part.isdecimal() and int(part) < len(at):
            at = at[int(part)]
            parts[-1] += f" entry {int(part) + 1}" + _name(at)
        else:
            at = at.get(part) if isinstance(at, dict) else None
            parts.append(part)
    return key if " entry " not in " ".join(parts) else ", ".join(parts)


def _name(entry: object) -> str:
    """Return, in brackets, what people call an entry of a list, such as ` (seat 2)` or ` (banker)`. Return an empty
    text if the entry has neither a spot nor a number."""
    match entry:
        case {"spot": str(spot)}:
            return f" ({spot})"
        case {"number": int(number)} if number.bit_length() < 64:  # Python would not even print some of the others
            return f" (seat {number})"
    return ""


def check_range(key: str, value: int, low: int, high: int) -> Iterable[Mistake]:
    """Check that the number `value` of the key lies from `low` to `high`. Yield a mistake if not."""
    if not low <= value <= high:
        yield key, f"{value} is out of range", f"Write a number from {low} to {high}."


def unknown(key: str, known: Sequence[str]) -> str:
    """Return a text about a key that a file has but the program does not know. If the key is near a known one, the text
    asks whether that was meant."""
    return f"there is no key {key}{meant(key, known)}"
