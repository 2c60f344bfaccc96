"""A program's manual page and the shells' completion, made from the entries of its commands."""

from __future__ import annotations

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Sequence
from typing import Any, cast

from controller import __version__
from controller.basics.command import Command, Program
from controller.basics.errors import TableError

_FILES = ("TABLE.toml", "JOURNAL", "SCRIPT", "LOG", "FILE.toml", "OTHER.toml", "FILE", "FILE|URL", "PEM")
_FOLDERS = ("FOLDER", "MODELS")


def add_completion(parser: ArgumentParser) -> None:
    """Let the command line of a `manual` ask for a shell's completion."""
    shell = "print completion for this shell instead of the page"
    parser.add_argument("--completion", choices=("bash", "zsh"), help=shell)


def manual(program: Program, commands: Sequence[Command], shell: str | None) -> int:
    """Print the page of all commands, as `man -l -` reads it, or the completion of a shell."""
    parser = program.parser(commands)
    print(_page(program, parser, commands) if shell is None else _completion(parser, shell), end="")
    return 0


def parsers(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """The parser of each command, by the command's name."""
    found: dict[str, ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for name, own in action.choices.items():
                below = parsers(own)
                found |= {f"{name} {second}": each for second, each in below.items()} or {name: own}
    return found


def _page(program: Program, parser: ArgumentParser, commands: Sequence[Command]) -> str:
    name, own = program.name, parsers(parser)
    lines = [
        f'.TH {name.upper()} 1 "" "{name} {__version__}" "Table controller"',
        ".SH NAME",
        f"{name} \\- {_roff(program.summary)}",
        ".SH SYNOPSIS",
        f".B {name}",
        f"COMMAND {program.operand}".rstrip().replace("…", "..."),
        ".SH DESCRIPTION",
        *map(_roff, program.notes),
        "An error is printed to standard error: a code, what happened, what to do.",
    ]
    for group in program.groups:
        lines.append(f".SH {group.upper()}")
        for command in (each for each in commands if each.group == group):
            lines += _entry(name, command, own[command.name])
    lines += [".SH EXIT STATUS"]
    for code, says in program.exit_codes:
        lines += [".TP", f".B {code}", _sentence(says)]
    return "\n".join((*lines, ""))


def _entry(program: str, command: Command, parser: ArgumentParser) -> list[str]:
    lines = [".TP", f".B {program} {_roff(command.name)}", _sentence(command.says)]
    for action in parser._actions:
        if action.dest != "help" and action.help:
            name = action.option_strings[0] if action.option_strings else ""
            word = action.metavar if isinstance(action.metavar, str) else ""
            says = action.help % {"default": action.default}
            lines += [".br", f".I {_roff(f'{name} {word}'.strip())}", _sentence(says)]
    return [*lines, ".br", f"Example: {_roff(f'{program} {command.name} {command.example}'.rstrip())}"]


def _sentence(text: str) -> str:
    return _roff(f"{text[0].upper()}{text[1:]}.")


def _roff(text: str) -> str:
    """The text as troff takes it literally."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{text}" if text.startswith(".") else text


def _completion(parser: ArgumentParser, shell: str) -> str:
    try:
        import shtab
    except ImportError:
        do = "Install shtab on the machine where you make the file, and not on the table's: pip install shtab."
        raise TableError("shtab_missing", "The library shtab makes completion, and is not installed.", do) from None
    for own in parsers(parser).values():
        for action in own._actions:
            kind = shtab.DIRECTORY if action.metavar in _FOLDERS else shtab.FILE if action.metavar in _FILES else None
            if kind is not None:
                cast(Any, action).complete = kind  # shtab reads it, and argparse has no such attribute
    return str(shtab.complete(parser, shell))
