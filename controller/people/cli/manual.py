"""`tablectl manual`: the manual page and the shells' completion, made from the commands' entries."""

from __future__ import annotations

from argparse import ArgumentParser, _SubParsersAction
from typing import Any, cast

from controller import __version__
from controller.basics.errors import TableError
from controller.people.cli.command import EXIT_CODES, GROUPS, Command

_FILES = ("TABLE.toml", "JOURNAL", "SCRIPT", "LOG", "FILE.toml", "OTHER.toml")


def manual(parser: ArgumentParser, commands: tuple[Command, ...], shell: str | None) -> int:
    """Print the page of all commands, as `man -l -` reads it, or the completion of a shell."""
    print(_page(parser, commands) if shell is None else _completion(parser, shell), end="")
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


def _page(parser: ArgumentParser, commands: tuple[Command, ...]) -> str:
    own = parsers(parser)
    lines = [
        f'.TH TABLECTL 1 "" "tablectl {__version__}" "Table controller"',
        ".SH NAME",
        "tablectl \\- everything a person does with a casino table from a shell",
        ".SH SYNOPSIS",
        ".B tablectl",
        "COMMAND [TABLE.toml] ...",
        ".SH DESCRIPTION",
        "Without TABLE.toml, the command uses the file in TABLE_CONTROLLER_TABLE, or the only one in",
        "/etc/table-controller. An error is printed to standard error: a code, what happened, what to do.",
    ]
    for group in GROUPS:
        lines.append(f".SH {group.upper()}")
        for command in (each for each in commands if each.group == group):
            lines += [
                ".TP",
                f".B tablectl {_roff(command.name)}",
                f"{_roff(command.says[0].upper() + command.says[1:])}.",
            ]
            for action in own[command.name]._actions:
                if action.dest != "help" and action.help:
                    name = action.option_strings[0] if action.option_strings else ""
                    word = action.metavar if isinstance(action.metavar, str) else ""
                    says = action.help % {"default": action.default}
                    lines += [".br", f".I {_roff(f'{name} {word}'.strip())}", _sentence(says)]
            lines += [".br", f"Example: {_roff(f'tablectl {command.name} {command.example}'.rstrip())}"]
    lines += [".SH EXIT STATUS"]
    for code, says in EXIT_CODES:
        lines += [".TP", f".B {code}", _sentence(says)]
    return "\n".join((*lines, ""))


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
            kind = shtab.DIRECTORY if action.metavar == "FOLDER" else shtab.FILE if action.metavar in _FILES else None
            if kind is not None:
                cast(Any, action).complete = kind  # shtab reads it, and argparse has no such attribute
    return str(shtab.complete(parser, shell))
