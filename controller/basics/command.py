"""Describes each command of a program as an entry, from which the parser, the help, the manual page and the shell
completion are made."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from controller import __version__
from controller.basics.colours import painted
from controller.basics.near import meant


class Command(NamedTuple):
    """One command of a program. `name` may have two words, such as "sim shoe". `example` shows what a person may type
    after the name.

    `says` is the line about the command in the help. `add` is a function that adds the arguments to the command's
    parser. `run` is the function that runs the command and returns the exit code.
    """

    name: str
    group: str
    says: str
    example: str
    run: Callable[[Namespace], int]
    add: Callable[[ArgumentParser], object] = lambda _parser: None
    file: Enum | None = None
    """The file that the first argument names, if any: the name of its kind, and the word that stands for the file."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add every argument of the command to its parser."""
        if self.file is not None:
            kind = self.file.name.lower()
            parser.add_argument(kind, type=Path, metavar=self.file.value, help=f"default: this machine's {kind}")
        self.add(parser)


class Program(NamedTuple):
    """A program of several commands: its name, and the texts of its help and its manual page that belong to no single
    command."""

    name: str
    summary: str
    """The end of the sentence "this program is"."""
    groups: tuple[str, ...]
    """The headings of the help, in their order."""
    exit_codes: tuple[tuple[int, str], ...]
    """Each exit code, and what the code means."""
    operand: str = ""
    """What follows a command's name in the line of usage."""
    notes: tuple[str, ...] = ()
    """Sentences about every command."""
    families: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """Of commands with two words: by the first word its sentence, and what the second word is."""

    def parser(self, commands: Iterable[Command]) -> ArgumentParser:
        """Return an argument parser for these commands. After parsing, `options.command` is the `Command` that the
        person typed."""
        commands = tuple(commands)
        parser = _ProgramParser(prog=self.name)
        parser.program, parser.commands = self, commands
        parser.add_argument("--version", action="version", version=f"{self.name} {__version__}")
        top = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=OptionParser)
        below: dict[str, _SubParsersAction[OptionParser]] = {}
        for command in commands:
            first, _, second = command.name.partition(" ")
            if second and first not in below:
                says, what = self.families[first]
                below[first] = top.add_parser(first, help=says).add_subparsers(required=True, metavar=what)
            own = (below[first] if second else top).add_parser(
                second or first,
                help=command.says,
                description=f"{command.says[0].upper()}{command.says[1:]}.",
                epilog=f"example:\n  {self.name} {command.name} {command.example}".rstrip(),
                formatter_class=RawDescriptionHelpFormatter,
            )
            command.add_arguments(own)
            own.set_defaults(command=command)
        return parser


def named(words: Sequence[str], commands: Iterable[Command]) -> Command | None:
    """Return the command whose name (one or two words) is at the start of the command line `words`, or None if there is
    no such command."""
    return next((each for each in commands if [*words[: len(each.name.split())]] == each.name.split()), None)


class OptionParser(ArgumentParser):
    """An argument parser that accepts no shortened options. For an unknown option or command, its error message
    suggests the known name that is most like it."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **given})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else [*args]
        choices = next((each.choices for each in self._actions if isinstance(each, _SubParsersAction)), None)
        own = [*takewhile(lambda word: word != "--" and (choices is None or word.startswith("-")), words)]
        for option in (word.partition("=")[0] for word in own if word.startswith("--") and " " not in word):
            if option not in self._option_string_actions:
                self.error(f"there is no option {option}{meant(option, self._option_string_actions)}")
        if choices is not None and (words := words[len(own) :]) and words[0] not in choices:
            program, _, family = self.prog.partition(" ")
            name, known = f"{family} {words[0]}".lstrip(), [f"{family} {each}".lstrip() for each in sorted(choices)]
            self.error(f"there is no command {name}{meant(name, known)}; {program} --help lists all")
        return super().parse_known_args(args, namespace)


class _ProgramParser(OptionParser):
    """The argument parser of a whole program. Its help lists the program's commands in groups."""

    program: Program
    commands: tuple[Command, ...] = ()

    def format_help(self) -> str:
        name = self.program.name
        lines = [
            f"usage: {name} [--version] COMMAND {self.program.operand}".rstrip(),
            "",
            f"{self.program.summary[0].upper()}{self.program.summary[1:]}. `{name} COMMAND --help` tells more.",
            *self.program.notes,
        ]
        for group in self.program.groups:
            lines += ["", painted(f"{group}:", "bold", sys.stdout)]
            for command in self.commands:
                if command.group == group:
                    lines.append(f"    {command.name:<13} {command.says}")
                    lines.append(f"                    {name} {command.name} {command.example}".rstrip())
        codes = (f"    {code:<13} {says}" for code, says in self.program.exit_codes)
        return "\n".join((*lines, "", "Exit codes:", *codes, ""))
