"""The parts of the `tablectl` command line that the project's other programs do not have: the groups in its help, its
exit codes, and the file that a command takes as its first argument."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from enum import Enum

from controller.basics.command import Command, Program

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
    (1, "an error: standard error has a code, what happened, and what to do"),
    (2, "the command line itself is wrong"),
    (78, "the configuration, the journal or the key stays wrong until a person corrects it"),
    (130, "ended by Ctrl-C"),
)
"""What each exit code means."""

PROGRAM = Program(
    "tablectl",
    "everything a person does with a casino table from a shell",
    GROUPS,
    EXIT_CODES,
    operand="[TABLE.toml] …",
    notes=("Without TABLE.toml: the file in TABLE_CONTROLLER_TABLE, or the only one in /etc/table-controller.",),
    families={
        "sim": ("a simulated device", "DEVICE"),
        "shoe": ("the shoe's wire: recorded, said again, read", "WHAT"),
        "words": ("a house's own words", "WHAT"),
    },
)


class File(Enum):
    """The kinds of file that a command of `tablectl` may take as its first argument. If the person types no file, the
    command uses the default table's file, or the journal of the default table."""

    TABLE = "TABLE.toml"
    JOURNAL = "JOURNAL"


def parser_of(commands: Iterable[Command]) -> ArgumentParser:
    """Return the command-line parser of `tablectl` with these commands."""
    return PROGRAM.parser(commands)
