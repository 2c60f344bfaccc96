"""A command of `tablectl` is one entry. Parser, help, manual page and documents are made from the entries."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from controller import __version__
from controller.people.cli.colours import painted

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


class File(Enum):
    """The file that a command's first argument names. Without that argument, the default table's file."""

    TABLE = "TABLE.toml"
    JOURNAL = "JOURNAL"


class Command(NamedTuple):
    """One command. `name` may have two words, such as "sim shoe". `example` is what a person may type after the name.

    `add` adds the arguments to the command's parser. `run` runs the command and returns the exit code.
    """

    name: str
    group: str
    says: str
    example: str
    run: Callable[[Namespace], int]
    add: Callable[[ArgumentParser], object] = lambda _parser: None
    file: File | None = None


def parser_of(commands: Iterable[Command]) -> ArgumentParser:
    """The parser of these commands."""
    commands = tuple(commands)
    parser = _Parser(prog="tablectl", description="A casino table's controller, from a shell.")
    parser.commands = commands
    parser.add_argument("--version", action="version", version=f"tablectl {__version__}")
    top = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=ArgumentParser)
    below: dict[str, _SubParsersAction[ArgumentParser]] = {}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if second and first not in below:
            below[first] = top.add_parser(first, help="a simulated device").add_subparsers(
                required=True, metavar="DEVICE"
            )
        own = (below[first] if second else top).add_parser(
            second or first,
            help=command.says,
            description=f"{command.says[0].upper()}{command.says[1:]}.",
            epilog=f"example:\n  tablectl {command.name} {command.example}".rstrip(),
            formatter_class=RawDescriptionHelpFormatter,
        )
        if command.file is not None:
            name = command.file.name.lower()
            help_ = "default: this machine's table" if name == "table" else "default: this machine's journal"
            own.add_argument(name, type=Path, metavar=command.file.value, help=help_)
        command.add(own)
        own.set_defaults(command=command)
    return parser


class _Parser(ArgumentParser):
    """The parser of all commands. Its help shows them in groups."""

    commands: tuple[Command, ...] = ()

    def format_help(self) -> str:
        lines = [
            "usage: tablectl [--version] COMMAND [TABLE.toml] …",
            "",
            f"{self.description} `tablectl COMMAND --help` tells more.",
            "Without TABLE.toml: the file in TABLE_CONTROLLER_TABLE, or the only one in /etc/table-controller.",
        ]
        for group in GROUPS:
            lines += ["", painted(f"{group}:", "bold", sys.stdout)]
            for command in self.commands:
                if command.group == group:
                    lines.append(f"    {command.name:<13} {command.says}")
                    lines.append(f"                    tablectl {command.name} {command.example}".rstrip())
        return "\n".join((*lines, "", "Exit codes:", *(f"    {code:<13} {says}" for code, says in EXIT_CODES), ""))
