"""A command of `tablectl` is one entry: the parser, the help, the manual page and the documents are made from it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

GROUPS = (
    "Look",
    "The shoe",
    "The round",
    "When the table has stopped",
    "Seats and money",
    "The table itself",
    "The record",
    "Without hardware",
)
"""The headings of the help, in their order."""

EXIT_CODES = (
    (0, "done"),
    (1, "trouble: standard error has a code, what happened, and what to do"),
    (2, "the command line itself is wrong"),
    (78, "the configuration, the journal or the key stays wrong until a person mends it"),
    (130, "ended by Ctrl-C"),
)
"""What an exit code says."""


class File(Enum):
    """The file that a command's first argument names. Where none is said, it is the default table's."""

    TABLE = "TABLE.toml"
    JOURNAL = "JOURNAL"


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `name` may be of two words, as "sim shoe"; `example` is what follows the name.

    `add` adds the arguments to the command's parser, `run` does it and returns the exit code.
    """

    name: str
    group: str
    says: str
    example: str
    run: Callable[[Namespace], int]
    add: Callable[[ArgumentParser], object] = lambda _parser: None
    file: File | None = None
