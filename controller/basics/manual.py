"""Makes a program's manual page, and the completion for shells, from the entries of its commands."""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator, Sequence
from typing import Any, cast

from controller import __version__
from controller.basics.command import Command, Program
from controller.basics.errors import TableError

_FILES = ("TABLE.toml", "JOURNAL", "SCRIPT", "LOG", "FILE.toml", "OTHER.toml", "FILE", "FILE|URL", "PEM")
_FOLDERS = ("FOLDER", "MODELS")


def add_completion(parser: ArgumentParser) -> None:
    """Add the option `--completion` to the parser of the command `manual`. With this option the command prints the
    completion script for a shell."""
    shell = "print completion for this shell instead of the page"
    parser.add_argument("--completion", choices=("bash", "zsh", "fish"), help=shell)


def manual(program: Program, commands: Sequence[Command], shell: str | None) -> int:
    """Print the program's manual page in the form that `man -l -` reads. If `shell` is given, print the completion
    script for that shell instead. Returns the exit code 0."""
    parser = program.parser(commands)
    print(_page(program, parser, commands) if shell is None else _completion(parser, shell), end="")
    return 0


def parsers(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Return the argument parser of each command of a program, by the command's name. `parser` is the parser of the
    whole program."""
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
    """Escape a text so that troff prints every character of it literally."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{text}" if text.startswith(".") else text


def _completion(parser: ArgumentParser, shell: str) -> str:
    if shell == "fish":
        return "".join(f"{line}\n" for line in _fish(parser))
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


def _fish(parser: ArgumentParser) -> Iterator[str]:
    """Yield the lines of a completion script for the shell fish: the name of each command, and the options that may
    follow that name. For other shells the library shtab makes the script, but it cannot make one for fish."""
    program, own = parser.prog, parsers(parser)
    seconds: dict[str, list[str]] = {}
    for name in own:
        first, _, second = name.partition(" ")
        seconds.setdefault(first, []).extend([second] if second else [])
    yield f"complete -c {program} -f"
    for first, below in seconds.items():
        says = "" if below else _fish_text(own[first].description or "")
        yield f"complete -c {program} -n __fish_use_subcommand -a {first} -d '{says}'"
    for name, each in own.items():
        first, _, second = name.partition(" ")
        typed = f"__fish_seen_subcommand_from {first}"
        if second:
            others = " ".join(seconds[first])
            says = _fish_text(each.description or "")
            not_yet = f"{typed}; and not __fish_seen_subcommand_from {others}"
            yield f"complete -c {program} -n '{not_yet}' -a {second} -d '{says}'"
            typed += f"; and __fish_seen_subcommand_from {second}"
        for action in each._actions:
            yield from _fish_option(program, typed, action)


def _fish_option(program: str, typed: str, action: Action) -> Iterator[str]:
    files = " -F" if action.metavar in (*_FILES, *_FOLDERS) else ""
    if not action.option_strings:
        if files:
            yield f"complete -c {program} -n '{typed}'{files}"
        return
    long = next((word.removeprefix("--") for word in action.option_strings if word.startswith("--")), None)
    if long is not None:
        value = "" if action.nargs == 0 else " -r"
        choices = f" -a '{' '.join(map(str, action.choices))}'" if action.choices else ""
        says = _fish_text((action.help or "") % {"default": action.default, "prog": program})
        yield f"complete -c {program} -n '{typed}' -l {long}{value}{files}{choices} -d '{says}'"


def _fish_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
